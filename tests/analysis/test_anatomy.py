"""A segment read whole: with every file, without one, with a tail, and while it grows."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaviz.analysis.segment import anatomy
from kafkaviz.analysis.segment.anatomy import Density, Tail, density, gaps
from kafkaviz.analysis.segment.links import link
from kafkaviz.log import file
from kafkaviz.log.broker import open_broker
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import Message, message
from tests.analysis import arrays


def test_a_segment_is_read_whole(clean):
    """The arrays cannot be changed, because they are shared."""
    read = anatomy.read(open_broker(clean).partition("payments-0").segment(7975))
    assert (len(read.batches), len(read.index.entries), len(read.times.entries)) == (906, 209, 206)
    assert read.end.position == read.segment.log.size_bytes
    assert read.tail is read.grown_bytes is None
    batches = read.batches.window(0, 9)
    for array in (batches, read.index.entries, read.times.entries, read.links.entry_home):
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


@pytest.mark.parametrize(
    ("data", "tail"),
    [
        (b"\x01" * 30, Tail("torn", 0, 30)),  # a length of 16 million, of magic 1: cut
        (b"\x7f" * 30, Tail("garbage", 0, 30)),  # a magic that does not exist
        (b"\x01" * 8 + b"\0" * 30, Tail("garbage", 0, 38)),
        (b"\0" * 30, Tail("zeros", 0, 30)),
        (b"", None),
    ],
)
def test_bytes_that_are_no_batch(tmp_path, data, tail):
    """A length below the minimum, or an impossible header, is garbage; zeros are zeros."""
    assert anatomy.read(segment(tmp_path, data)).tail == tail


def test_a_log_that_grows_while_it_is_read(tmp_path, monkeypatch):
    opened = segment(tmp_path, b"\0" * 30)
    real = file.info

    def info_of_grown(path: Path) -> file.FileInfo:
        path.write_bytes(b"\0" * 35)
        return real(path)

    monkeypatch.setattr(file, "info", info_of_grown)
    assert anatomy.read(opened).grown_bytes == (30, 35)


def test_a_log_that_goes_while_it_is_read(tmp_path, monkeypatch):
    opened = segment(tmp_path, b"\0" * 30)
    real = anatomy.read_tail

    def read_and_unlink(*arguments: object) -> object:
        tail = real(*arguments)
        opened.log.path.unlink()
        return tail

    monkeypatch.setattr(anatomy, "read_tail", read_and_unlink)
    assert anatomy.read(opened).grown_bytes is None


def segment(folder: Path, data: bytes) -> LogSegment:
    path = folder / f"{0:020d}.log"
    path.write_bytes(data)
    return LogSegment(base_offset=0, state="active", log=file.info(path))


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
    assert len(read.links.wrong_entries) == len(read.links.wrong_times) == 0
    assert len(read.batches) == 413
    assert (len(read.index.entries), read.grown_bytes) == (95, (479_997, len(data)))


def test_the_first_gap_starts_at_byte_0():
    entries = arrays.offset_entries([(59, 5000), (109, 10000), (169, 16000)])
    assert gaps(entries).tolist() == [5000, 5000, 6000]
    assert density(entries, 5, 3) == Density(5000, 5000, 6000, batches=5, never_indexed=2)


def test_without_an_entry():
    assert density(arrays.offset_entries([]), 2, 0) == Density(None, None, None, 2, 2)
    assert density(arrays.offset_entries([]), 0, 0) == Density(None, None, None, 0, 0)


def test_positions_that_go_back_are_no_gaps():
    entries = arrays.offset_entries([(1, 100), (2, 900), (3, 300)])
    assert gaps(entries).tolist() == [100, 800, -600]
    assert density(entries, 1, 1).gap_min_bytes == 100


@given(st.lists(st.integers(1, 10_000), min_size=1, max_size=300))
def test_quantiles_are_gaps_that_exist(sizes):
    """The p99 of n gaps is the one with a hundredth of them above, as a plain sort finds."""
    entries = arrays.offset_entries(list(enumerate(np.cumsum(sizes).tolist())))
    densities, ordered = density(entries, 1, 1), sorted(sizes)
    assert densities.gap_min_bytes == ordered[0]
    assert densities.gap_median_bytes == ordered[min(len(sizes) - 1, len(sizes) // 2)]
    assert densities.gap_p99_bytes == ordered[min(len(sizes) - 1, int(len(sizes) * 0.99))]


@pytest.mark.parametrize(
    ("directory", "base_offset", "expected"),
    [
        ("payments-0", 7975, Density(4104, 4906, 6438, batches=906, never_indexed=697)),
        ("dense-index-0", 0, Density(134, 487, 929, batches=1127, never_indexed=1)),
        ("refunds-0", 0, Density(None, None, None, batches=1, never_indexed=1)),
    ],
)
def test_real_segments(clean, directory, base_offset, expected):
    segment = open_broker(clean).partition(directory).segment(base_offset)
    links = link(segment.batches(), segment.offset_index, segment.time_index, base_offset)
    assert density(segment.offset_index, links.batch_count, len(links.indexed_rows)) == expected


def test_gaps_around_a_wrong_entry_say_nothing():
    """Slot 1 points astray: the broker left neither the gap before it nor the one after it."""
    entries = arrays.offset_entries([(1, 100), (2, 900), (3, 1000), (4, 1100)])
    assert density(entries, 1, 1) == Density(100, 100, 800, 1, 0)
    assert density(entries, 1, 1, np.array([1])) == Density(100, 100, 100, 1, 0)
    assert density(entries, 1, 1, np.array([0, 2, 3])).gap_median_bytes is None


def test_a_whole_segment_has_its_density(damaged):
    """Slot 3 of this index points 7087 bytes too far, which must not become the largest gap."""
    read = anatomy.read(open_broker(damaged).partition("bookings-0").segment(858))
    wrong_bytes = density(read.index.entries, 1, 1).gap_p99_bytes
    assert read.density.gap_p99_bytes < 3000 < wrong_bytes


@pytest.fixture
def summary_after(clean, tmp_path):
    """Returns a function that replaces the last batch of a log, and names what is there then. It is
    given the bytes of the log and the position of the batch.
    """
    segment = open_broker(clean).partition("orders-1").active
    batches = segment.batches()
    data = file.read(segment.log.path)
    position = int(batches["position"][-1])

    def summary(end: Callable[[bytes, int], bytes]) -> Message:
        path = tmp_path / "changed.log"
        path.write_bytes(data[:position] + end(data, position))
        return anatomy.read_tail(file.info(path), position, int(batches["last_offset"][-2])).summary

    return summary


@pytest.mark.parametrize(
    ("end", "words"),
    [
        (bytes(512), "512 zero bytes at the end"),
        (bytes(1), "1 zero byte at the end"),
        (b"\xff" * 45, "45 bytes that are not a batch"),
        (b"\xff", "1 byte that is not a batch"),
        (b"garbage", "7 bytes that are not a batch"),
        (b"\x00" * 20 + b"\x01" * 25, "45 bytes that are not a batch"),
    ],
)
def test_what_is_no_batch(summary_after, end, words):
    assert str(summary_after(lambda data, position: end)) == words


@pytest.mark.parametrize("kept_bytes", [17, 61, 100])
def test_a_batch_cut_short(summary_after, kept_bytes):
    cut = summary_after(lambda data, position: data[position : position + kept_bytes])
    assert cut == message("tail.torn")


def test_a_batch_from_before_does_not_belong(summary_after):
    """Its offset is below the last one, so it does not continue the log."""
    old = summary_after(lambda data, position: data[:100])
    assert old == message("tail.garbage", n=100)


def test_a_long_tail_is_read_in_part(summary_after, monkeypatch):
    monkeypatch.setattr(anatomy, "READ_TAIL_BYTES", 4095)
    assert summary_after(lambda data, position: bytes(4096)) == message("tail.long", size=4096)
