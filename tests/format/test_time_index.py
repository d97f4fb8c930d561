"""The time index, compared with files of Kafka 4.3.1 and what its dump tool printed of them."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaviz.format.time_index import ENTRY, build, count_entries, parse

ENTRIES = st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**31), 2**31 - 1)))


def test_an_entry_is_12_bytes_timestamp_first():
    """TimeIndex of Kafka 4.3.1 appends (1526384718283, 28) in a segment with base offset 0."""
    data = bytes.fromhex("00000163639e71cb0000001c")
    assert parse(data).tolist() == [(1526384718283, 28)]
    assert build(parse(data)) == data


@pytest.mark.parametrize(
    ("path", "slots", "entries"),
    [
        ("kafka-4.3.1/tiny-index-0/00000000000000000049.timeindex", 24, 24),
        ("kafka-4.3.1/epoch-zero-0/00000000000000000000.timeindex", 4, 4),
        ("kafka-4.3.1/nulls-0/00000000000000000000.timeindex", 3, 3),
        ("kafka-4.3.1-killed/heartbeat-0/00000000000000010905.timeindex", 5461, 142),
        ("kafka-4.3.1-killed/tiny-index-0/00000000000000000882.timeindex", 25, 8),
        ("kafka-4.3.1-damaged/metrics-0/00000000000000001201.timeindex", 28, 14),
    ],
)
def test_real_indexes(data, path, slots, entries):
    """Trimmed, preallocated, and half zeroed."""
    parsed = parse((data / path).read_bytes())
    dumped = [
        tuple(map(int, re.findall(r"-?[0-9]+", line)))
        for line in (data / f"{path}.dump").read_text().splitlines()[1:]
    ]
    base_offset = int(Path(path).stem)
    assert (len(parsed), count_entries(parsed)) == (slots, entries)
    assert [
        (timestamp_ms, base_offset + relative)
        for timestamp_ms, relative in parsed[:entries].tolist()
    ] == dumped


@given(ENTRIES, st.binary(max_size=11))
def test_entries_come_back_and_a_torn_slot_is_left_out(entries, torn):
    built = build(np.array(entries, ENTRY))
    assert parse(memoryview(built + torn)).tolist() == entries
    assert len(built) == 12 * len(entries)


@pytest.mark.parametrize(
    ("entries", "count"),
    [
        ([], 0),
        ([(0, 0)], 1),  # a trimmed file: a record of 1970 at the base offset
        ([(0, 0), (0, 0)], 0),  # a preallocated one, nothing written
        ([(0, 0), (7, 3), (0, 0)], 2),  # a record of 1970, then a later one
        ([(5, 0), (0, 0)], 1),  # the first record of a segment holds its largest timestamp
        ([(5, 1), (0, 0), (9, 3), (0, 0)], 3),  # a hole hides nothing
    ],
)
def test_which_slots_are_written(entries, count):
    """Slot 0 may hold real zeros; no other slot does."""
    assert count_entries(np.array(entries, ENTRY)) == count


@given(st.lists(st.sampled_from([(0, 0), (3, 0), (0, 3), (-1, 2), (5, 7)]), min_size=2))
def test_written_is_up_to_the_last_slot_that_is_not_zero(entries):
    expected = max((slot + 1 for slot, entry in enumerate(entries) if entry != (0, 0)), default=0)
    assert count_entries(np.array(entries, ENTRY)) == expected
