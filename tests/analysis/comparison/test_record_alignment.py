"""Two logs on one offset axis, compared record by record and with the changes that were made."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaviz.analysis.comparison.comparison import OffsetCollector
from kafkaviz.analysis.comparison.record_alignment import align
from tests.analysis.comparison.logs import batch_bytes, write_partition

OFFSETS = 24
FOLDERS = itertools.count()


@st.composite
def logs(draw):
    """A log as a list of segments, each a list of (first, last, epoch), and its records."""
    end = draw(st.integers(1, OFFSETS))
    cuts = sorted(draw(st.sets(st.integers(1, OFFSETS - 1), max_size=8)))
    bounds = [0, *[cut for cut in cuts if cut < end], end]
    batches = [(first, stop - 1) for first, stop in itertools.pairwise(bounds)]
    gaps = draw(st.sets(st.integers(0, OFFSETS - 1), max_size=6))
    changed = draw(st.sets(st.integers(0, OFFSETS - 1), max_size=2))
    epoch_start = draw(st.one_of(st.none(), st.integers(0, OFFSETS)))
    rolls = draw(st.sets(st.sampled_from([first for first, _ in batches]), max_size=3)) | {0}
    values = {
        offset: b"other" if offset in changed else f"value {offset}".encode()
        for offset in range(end)
        if offset not in gaps
    }
    epochs = {first: int(epoch_start is not None and first >= epoch_start) for first, _ in batches}
    return batches, values, epochs, sorted(rolls)


def write(folder, log):
    batches, values, epochs, rolls = log
    segments = {base: [] for base in rolls}
    for first, last in batches:
        base = max(base for base in rolls if base <= first)
        data = batch_bytes(values, first=first, last=last, epoch=epochs[first])
        segments[base].append(data)
    return write_partition(folder, segments)


def content(log):
    """(epoch, value) by offset."""
    batches, values, epochs, _ = log
    return {
        offset: (epochs[first], values[offset])
        for first, last in batches
        for offset in range(first, last + 1)
        if offset in values
    }


@given(logs(), logs())
def test_what_differs_is_what_a_plain_comparison_says(tmp_path_factory, log_a, log_b):
    folder = tmp_path_factory.getbasetemp() / f"aligned-{next(FOLDERS)}"
    a, b = write(folder / "a" / "t-0", log_a), write(folder / "b" / "t-0", log_b)
    alignment = align(a.live, b.live)
    records_a, records_b = content(log_a), content(log_b)

    def offsets(collector):
        ranges = collector.result().ranges
        return [offset for first, last in ranges for offset in range(first, last + 1)]

    common = sorted(records_a.keys() & records_b.keys())
    different = [offset for offset in common if records_a[offset] != records_b[offset]]
    assert offsets(alignment.different) == different
    assert offsets(alignment.only_in[0]) == sorted(records_a.keys() - records_b.keys())
    assert offsets(alignment.only_in[1]) == sorted(records_b.keys() - records_a.keys())
    assert alignment.first_divergent_offset == (different[0] if different else None)
    other_epochs = [offset for offset in common if records_a[offset][0] != records_b[offset][0]]
    assert alignment.diverged == len(other_epochs)
    assert alignment.altered == len(different) - len(other_epochs)
    assert alignment.damaged_batches == [0, 0]
    assert alignment.end_offsets == [log_a[0][-1][1] + 1, log_b[0][-1][1] + 1]


def test_a_long_equal_log_decodes_no_record(tmp_path, monkeypatch):
    """The segments differ but the batches do not, so bytes are compared and no record is decoded."""
    values = {offset: b"value" for offset in range(3000)}
    data = [batch_bytes(values, first=first, last=first + 9) for first in range(0, 3000, 10)]
    a = write_partition(tmp_path / "a" / "t-0", {0: data})
    b = write_partition(tmp_path / "b" / "t-0", {0: data[:100], 1000: data[100:]})
    monkeypatch.setattr("kafkaviz.format.batch_records.iterate", pytest.fail)
    alignment = align(a.live, b.live)
    assert alignment.difference_count == 0 and alignment.rewritten_batches == 0
    assert alignment.only_in[0].result().records == alignment.only_in[1].result().records == 0


def test_batches_that_look_alike_are_matched_by_their_offsets(tmp_path):
    values = dict.fromkeys(range(4), b"same")
    data = [batch_bytes(values, first=offset, last=offset) for offset in range(4)]
    a = write_partition(tmp_path / "a" / "t-0", {0: [data[0], *data[2:]]})
    b = write_partition(tmp_path / "b" / "t-0", {0: data[1:]})
    alignment = align(a.live, b.live)
    assert alignment.only_in[0].result().ranges == ((0, 0),)
    assert alignment.only_in[1].result().ranges == ((1, 1),)
    assert alignment.different.result().records == 0


def test_a_cut_end_is_no_batch(tmp_path):
    values = {offset: b"value" for offset in range(6)}
    data = [batch_bytes(values, first=first, last=first + 1) for first in (0, 2, 4)]
    a = write_partition(tmp_path / "a" / "t-0", {0: data})
    b = write_partition(tmp_path / "b" / "t-0", {0: [*data[:2], data[2][:-7]]})
    alignment = align(a.live, b.live)
    assert alignment.end_offsets == [6, 4]
    assert alignment.only_in[0].result().ranges == ((4, 5),)
    tail = alignment.tails[1]
    assert (tail.position, tail.kind) == (len(data[0]) + len(data[1]), "torn")


def test_offsets_of_many_batches_are_joined():
    collector = OffsetCollector()
    firsts = np.arange(0, 100_000, 10)
    collector.add_ranges(firsts, firsts + 9)
    collector.add_offsets(np.array([100_000, 100_002]))
    assert collector.result().ranges == ((0, 100_000), (100_002, 100_002))
    assert collector.result().records == 100_002


def test_the_field_of_a_record_that_differs(tmp_path):
    """A single differing field is named; several fields are reported as the record."""
    written = {0: b"aa", 1: b"value one", 2: b"cc"}
    batch = bytearray(batch_bytes(written, first=0, last=2))
    sound = write_partition(tmp_path / "a" / "t-0", {0: [bytes(batch)]})
    value, time = batch.index(b"value one"), batch.index(b"cc") - 5  # before 04 02 6b 04
    cases = {"value": [value], "timestamp": [time], "record": [time - 1, time]}
    for name, places in cases.items():
        damaged = bytearray(batch)
        for place in places:
            damaged[place] ^= 2
        other = write_partition(tmp_path / name / "t-0", {0: [bytes(damaged)]})
        assert [item.what for item in align(sound.live, other.live).differences] == [name]
