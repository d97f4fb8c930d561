"""The offset index, compared with files of Kafka 4.3.1 and what its dump tool printed of them."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from kafkaviz.format.offset_index import ENTRY, build, count_entries, parse

ENTRIES = st.lists(st.tuples(st.integers(-(2**31), 2**31 - 1), st.integers(-(2**31), 2**31 - 1)))


def test_an_entry_is_8_bytes_relative_offset_first():
    """OffsetIndex of Kafka 4.3.1 appends (35, 4096) in a segment with base offset 32."""
    data = bytes.fromhex("0000000300001000")
    assert parse(data).tolist() == [(3, 4096)]
    assert build(parse(data)) == data


@pytest.mark.parametrize(
    ("path", "slots", "entries"),
    [
        ("kafka-4.3.1/tiny-index-0/00000000000000000049.index", 24, 24),
        ("kafka-4.3.1/epoch-zero-0/00000000000000000000.index", 3, 3),
        ("kafka-4.3.1/nulls-0/00000000000000000000.index", 2, 2),
        ("kafka-4.3.1-killed/heartbeat-0/00000000000000010905.index", 8192, 142),
        ("kafka-4.3.1-killed/tiny-index-0/00000000000000000882.index", 37, 8),
        ("kafka-4.3.1-damaged/bookings-0/00000000000000000000.index", 512, 38),
        ("kafka-4.3.1-damaged/metrics-0/00000000000000000000.index", 26, 26),
    ],
)
def test_real_indexes(data, path, slots, entries):
    """Trimmed, preallocated, extended with zeros, and cut within the last slot."""
    parsed = parse((data / path).read_bytes())
    dumped = [
        tuple(map(int, re.findall(r"-?[0-9]+", line)))
        for line in (data / f"{path}.dump").read_text().splitlines()[1:]
    ]
    base_offset = int(Path(path).stem)
    assert (len(parsed), count_entries(parsed)) == (slots, entries)
    assert [
        (base_offset + relative, position) for relative, position in parsed[:entries].tolist()
    ] == dumped


@given(ENTRIES, st.binary(max_size=7))
def test_entries_come_back_and_a_torn_slot_is_left_out(entries, torn):
    built = build(np.array(entries, ENTRY))
    assert parse(memoryview(built + torn)).tolist() == entries
    assert len(built) == 8 * len(entries)


def test_building_takes_native_columns():
    table = np.array(
        [(0, 9, 109, 4096)],
        [("slot", "i8"), ("relative_offset", "i8"), ("offset", "i8"), ("position", "i8")],
    )
    assert build(table) == (9).to_bytes(4, "big") + (4096).to_bytes(4, "big")


@given(st.lists(st.sampled_from([(0, 0), (3, 0), (0, 3), (-1, 2), (5, 7)])))
def test_written_is_up_to_the_last_slot_that_is_not_zero(entries):
    expected = max((slot + 1 for slot, entry in enumerate(entries) if entry != (0, 0)), default=0)
    assert count_entries(np.array(entries, ENTRY)) == expected


def test_a_zero_slot_does_not_hide_the_entries_after_it():
    """A hole is a finding, not the end of the index."""
    assert count_entries(np.array([(1, 10), (0, 0), (3, 30), (0, 0)], ENTRY)) == 3


@given(arrays.arrays(ENTRY, st.integers(0, 5)))
def test_a_slice_of_slots_counts_alone(entries):
    assert count_entries(entries[::2]) <= len(entries[::2])
    assert count_entries(entries[:0]) == 0
