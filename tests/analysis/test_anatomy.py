"""A segment read whole: with every file, without one, with a tail, and while it grows."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from kafkaviz.analysis.segment import anatomy
from kafkaviz.analysis.segment.tail import Tail
from kafkaviz.log import file
from kafkaviz.log.broker import open_broker
from kafkaviz.log.segment import LogSegment
from tests.analysis import arrays


def test_a_segment_is_read_whole(clean):
    """The arrays cannot be changed, because they are shared."""
    read = anatomy.read(open_broker(clean).partition("payments-0").segment(7975))
    assert (len(read.batches), len(read.index.entries), len(read.times.entries)) == (906, 209, 206)
    assert (
        read.end.position == read.segment.log.size_bytes
        and read.tail is None
        and read.grown_bytes is None
    )
    for array in (
        read.batches.window(0, 9),
        read.index.entries,
        read.times.entries,
        read.links.entry_home,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[0]


@pytest.mark.parametrize(
    ("directory", "base_offset", "tail"),
    [
        ("append-time-0", 0, Tail("garbage", 561_373, 45)),
        ("weblogs-0", 12138, Tail("zeros", 406_105, 512)),
        ("clicks-zstd-0", 0, Tail("torn", 263_795, 464)),
        ("empty-room-1", 0, None),
    ],
)
def test_what_follows_the_last_batch(killed, directory, base_offset, tail):
    """The three tails that were made by hand after the kill, and an empty log."""
    assert anatomy.read(open_broker(killed).partition(directory).segment(base_offset)).tail == tail


def test_bytes_that_are_no_batch(tmp_path):
    """A length below the minimum, or an impossible header, is garbage; zeros are zeros."""
    # a length of 16 million, of magic 1: cut
    assert anatomy.read(segment(tmp_path, b"\x01" * 30)).tail.kind == "torn"
    # a magic that does not exist
    assert anatomy.read(segment(tmp_path, b"\x7f" * 30)).tail.kind == "garbage"
    assert anatomy.read(segment(tmp_path, b"\x01" * 8 + b"\0" * 30)).tail.kind == "garbage"
    assert anatomy.read(segment(tmp_path, b"\0" * 30)).tail == Tail("zeros", 0, 30)
    assert anatomy.read(segment(tmp_path, b"")).tail is None


def test_a_log_that_grows_while_it_is_read(tmp_path, monkeypatch):
    opened = segment(tmp_path, b"\0" * 30)
    real = file.info
    pending = [b"\0" * 5]  # written once, at the first use
    monkeypatch.setattr(
        file, "info", lambda path: (pending and append(path, pending.pop()), real(path))[1]
    )
    assert anatomy.read(opened).grown_bytes == (30, 35)


def test_a_log_that_goes_while_it_is_read(tmp_path, monkeypatch):
    opened = segment(tmp_path, b"\0" * 30)
    real = anatomy._tail

    def read_and_unlink(*arguments: object) -> object:
        tail = real(*arguments)
        opened.log.path.unlink()
        return tail

    monkeypatch.setattr(anatomy, "_tail", read_and_unlink)
    assert anatomy.read(opened).grown_bytes is None


def segment(folder: Path, data: bytes) -> LogSegment:
    path = folder / f"{0:020d}.log"
    path.write_bytes(data)
    return LogSegment(base_offset=0, state="active", log=file.info(path))


def append(path: Path, data: bytes) -> None:
    with open(path, "ab") as log:
        log.write(data)


def test_positions_are_those_of_the_walk(clean):
    read = anatomy.read(open_broker(clean).partition("dense-index-0").segment(0))
    rows = read.links.entry_batch
    assert np.array_equal(read.batches.all_rows()["position"][rows], read.index.entries["position"])


def test_offsets_that_a_wrong_entry_hides():
    """From the entry's key to the batch it points at, or to the next key."""
    table = arrays.batches([100] * 9)

    def hidden(pairs):
        return arrays.anatomy(table, arrays.offset_entries(pairs), None).missed_offsets(0)

    assert hidden([(2, 500)]) == (2, 4)
    assert hidden([(2, 500), (4, 400)]) == (2, 3)
    assert hidden([(2, 200)]) is None


def test_entries_of_batches_that_came_later(clean, tmp_path):
    """An entry for a batch written after the .log was read is left out."""
    shutil.copytree(clean / "payments-0", tmp_path / "payments-0")
    log = tmp_path / "payments-0" / f"{7975:020d}.log"
    data = log.read_bytes()
    log.write_bytes(data[:479_997])  # a batch with an entry begins here
    before = open_broker(tmp_path).partition("payments-0").segment(7975)
    log.write_bytes(data)
    read = anatomy.read(before)
    assert (
        len(read.links.wrong_entries) == len(read.links.wrong_times) == 0
        and len(read.batches) == 413
    )
    assert (len(read.index.entries), read.grown_bytes) == (95, (479_997, len(data)))
