import itertools
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from kafkaviz.binary import codec
from kafkaviz.errors import CannotOpen, CorruptFile
from kafkaviz.log import file
from kafkaviz.log import segment as segment_module
from kafkaviz.log.segment import LogSegment, Segment, segment_of_files
from tests.support.legacy_messages import build_message

TINY = Path(__file__).parents[1] / "data" / "kafka-4.3.1" / "tiny-index-0" / "00000000000000000049"


def segment_at(stem: Path) -> Segment:
    paths = {kind: stem.with_suffix(f".{kind}") for kind in ("log", "index", "timeindex")}
    files = {kind: file.info(path) for kind, path in paths.items() if path.exists()}
    return segment_of_files(int(stem.name), "closed", files)


def test_a_stretch_between_two_entries_is_what_the_whole_has_there():
    segment = segment_at(TINY)
    all_batches = segment.batches()
    cuts = [0, *segment.offset_index["position"].tolist(), segment.log.size_bytes]
    parts = [part for start, stop in itertools.pairwise(cuts) for part in segment.scan(start, stop)]
    assert (np.concatenate(parts) == all_batches).all()


def test_a_stretch_that_ends_inside_a_batch_says_so():
    """A wrong cut is noticed: the batch across it is left out, and the reported end differs."""
    scan = segment_at(TINY).scan(0, 119 + 50)
    assert [len(part) for part in scan] == [1]
    assert (scan.end.position, scan.end.reason) == (119, "torn")


def test_a_segment_without_a_log_is_not_part_of_a_log(tmp_path):
    """It has no batch, and a request for its .log names the existing files."""
    segment = segment_at(Path(shutil.copy(f"{TINY}.index", tmp_path)).with_suffix(""))
    assert type(segment) is Segment and len(segment.offset_index) and not len(segment.batches())
    with pytest.raises(CannotOpen) as fault:
        segment.with_log()
    assert (fault.value.kind, fault.value.what.key) == ("missing", "errors.not_there")


def test_a_segment_with_a_log_is_one_of_a_log():
    segment = segment_at(TINY)
    assert isinstance(segment, LogSegment) and segment.with_log() is segment
    with pytest.raises(TypeError):
        LogSegment(base_offset=0, state="closed")


def test_an_index_of_holes_has_no_written_slot(tmp_path):
    stem = tmp_path / "00000000000000000000"
    with open(f"{stem}.index", "wb") as out:
        out.truncate(10 << 20)
    index = segment_at(stem).offset_slots
    assert (len(index.entries), index.trailing_bytes) == (0, 0)
    assert index.slots == index.unwritten_slots == 1_310_720


@pytest.mark.parametrize("size", [288, 289, 4096, 10_485_756])
def test_entries_before_a_hole(tmp_path, size):
    """They are all kept, whatever the block size of the filesystem."""
    stem = tmp_path / "00000000000000000049"
    shutil.copy(f"{TINY}.timeindex", f"{stem}.timeindex")
    os.truncate(f"{stem}.timeindex", size)
    slots, tiny_slots = segment_at(stem).time_slots, segment_at(TINY).time_slots
    assert (slots.entries == tiny_slots.entries).all() and len(slots.entries) == 24
    assert (slots.slots, slots.trailing_bytes) == divmod(size, 12)


def test_a_vanished_log_is_one_clear_line(tmp_path):
    stem = tmp_path / "00000000000000000049"
    shutil.copy(f"{TINY}.log", f"{stem}.log")
    segment = segment_at(stem)
    os.unlink(f"{stem}.log")
    with pytest.raises(CannotOpen, match="is not there"):
        segment.batches()


def test_a_stretch_of_a_file_stops_at_its_end():
    log = TINY.with_name(TINY.name + ".log")
    assert file.read(log, 5800, 1000) == log.read_bytes()[5800:] and file.read(log, 9999) == b""


def all_records(segment: Segment) -> list:
    positions = segment.batches()["position"].tolist()
    return [record for position in positions for record in segment.records(position)]


def test_records_of_every_magic_from_one_log(tmp_path):
    """A message of magic 0, a wrapper of magic 1 and a batch of magic 2 in a row."""
    stem = tmp_path / "00000000000000000000"
    inner = build_message(1, 0, b"k1", b"v1", timestamp_ms=5)
    inner += build_message(1, 1, b"k2", None, timestamp_ms=6)
    old = [
        build_message(0, 0, b"k0", b"v0"),
        build_message(1, 2, None, codec.compress("gzip", inner), timestamp_ms=6, attributes=1),
    ]
    new = Path(f"{TINY}.log").read_bytes()[:119]
    Path(f"{stem}.log").write_bytes(b"".join([*old, new]))
    segment = segment_at(stem)
    *first, last = all_records(segment)
    found = [(record.offset, record.timestamp_ms, record.key, record.value) for record in first]
    assert found == [(0, -1, b"k0", b"v0"), (1, 5, b"k1", b"v1"), (2, 6, b"k2", None)]
    assert [record.is_valid for record in (*first, last)] == [True, True, True, None]
    assert last.offset == segment.batches()["base_offset"][-1]


def wrapped(tmp_path: Path) -> Segment:
    """Returns a segment of three wrappers of magic 1: two of three messages each, and one with
    damaged compressed bytes.
    """
    inner = b"".join(
        build_message(1, offset, b"k", b"v", timestamp_ms=5 + offset) for offset in range(3)
    )
    batches = [
        build_message(1, offset, None, codec.compress("gzip", inner), timestamp_ms=7, attributes=1)
        for offset in (2, 9, 12)
    ]
    batches[2] = batches[2][:50] + b"\xff" * 9 + batches[2][59:]
    log = tmp_path / "00000000000000000000.log"
    log.write_bytes(b"".join(batches))
    return segment_at(log.with_suffix(""))


def test_wrappers_are_looked_into_for_what_they_hide(tmp_path):
    """First offset, first time and count come from their records, if readable."""
    columns = [
        "base_offset",
        "last_offset",
        "base_timestamp_ms",
        "max_timestamp_ms",
        "record_count",
    ]
    assert wrapped(tmp_path).batches()[columns].tolist() == [
        (0, 2, 5, 7, 3),
        (7, 9, 5, 7, 3),
        (-1, 12, -1, 7, -1),
    ]


def test_a_scan_of_headers_alone_leaves_wrappers_closed(tmp_path, monkeypatch):
    """Unless it is asked to; the same for the header walk of a large log."""
    segment = wrapped(tmp_path)
    assert [batches["record_count"].tolist() for batches in segment.scan()] == [[-1, -1, -1]]
    monkeypatch.setattr(segment_module, "FILLED_LIMIT_BYTES", segment.log.size_bytes - 1)
    assert segment.batches()["record_count"].tolist() == [-1, -1, -1]


@pytest.mark.parametrize(
    ("position", "what"),
    [
        (-1, "no batch in 0 bytes"),
        (1, "a batch of 27404 bytes, of which only 5830 are there"),
        (118, "is too large to be read"),
        (5800, "is too large to be read"),
        (5829, "no batch in 2 bytes"),
        (10**12, "no batch in 0 bytes"),
    ],
)
def test_no_batch_at_a_byte_says_where(position, what):
    with pytest.raises(CorruptFile, match=what) as fault:
        segment_at(TINY).records(position)
    assert fault.value.position == position


def test_a_batch_of_more_than_fits_is_not_read(tmp_path):
    log = tmp_path / "00000000000000000000.log"
    with open(log, "wb") as file:
        file.write(bytes(8) + (2**30).to_bytes(4, "big") + bytes(4) + b"\2" + bytes(44))
        file.truncate(2**30 + 12)
    with pytest.raises(CorruptFile, match="is too large to be read"):
        segment_at(log.with_suffix("")).records(0)


def test_records_of_a_batch():
    segment = segment_at(TINY)
    records = all_records(segment)
    assert len(records) == segment.batches()["record_count"].sum()
    assert all(record.value for record in records)
