"""Batches after damage: those that an index entry proves, wherever reading starts."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kafkaviz.format import offset_index, record
from kafkaviz.format.walk import CHUNK_BYTES
from kafkaviz.log.batch_starts import open_batch_starts
from kafkaviz.log.broker import open_broker
from kafkaviz.log.scans import HeaderScan, Hole
from kafkaviz.log.segment import Segment
from tests.pipeline import whole_logs

BATCHES = [
    whole_logs.batch(10 * number, [whole_logs.START_MS + number] * 10, 80) for number in range(60)
]
STARTS = np.cumsum([0, *map(len, BATCHES)]).tolist()


@pytest.fixture
def stem(tmp_path) -> Path:
    return whole_logs.write(whole_logs.broker(tmp_path / "made") / "a-0", BATCHES)


def segment(stem: Path) -> Segment:
    return open_broker(stem.parents[1]).partition("a-0").segments[0]


def passed(segment: Segment, chunk_bytes: int = CHUNK_BYTES) -> tuple[list[int], list[Hole]]:
    """Returns where batches were read, and the damaged ranges, including one at the end."""
    positions, holes = [], []
    with open_batch_starts(segment) as batch_starts:
        scan = HeaderScan(batch_starts, 0, segment.log.size_bytes, chunk_bytes)
        for part in scan:
            if isinstance(part, Hole):
                holes.append(part)
            else:
                positions += part["position"].tolist()
    if scan.end.position < segment.log.size_bytes:
        holes.append(Hole(scan.end.position, segment.log.size_bytes, scan.end.reason))
    return positions, holes


def with_length(stem: Path, number: int, length: int) -> None:
    log = stem.with_suffix(".log")
    data = bytearray(log.read_bytes())
    data[STARTS[number] + 8 : STARTS[number] + 12] = length.to_bytes(4, "big", signed=True)
    log.write_bytes(data)


@pytest.mark.parametrize("chunk_bytes", [61, 5000, CHUNK_BYTES])
def test_without_damage_it_is_the_plain_scan(stem, clean, chunk_bytes):
    assert passed(segment(stem), chunk_bytes) == (STARTS[:-1], [])
    for partition in open_broker(clean).partitions[:12]:
        for live_segment in partition.live:
            positions, _ = passed(live_segment, chunk_bytes)
            assert positions == live_segment.batches()["position"].tolist()


@pytest.mark.parametrize("length", [0, 13, -5, 2**31 - 1])
def test_a_length_that_cannot_be_is_passed(stem, length):
    """Up to the next entry; the batches in between cannot be found."""
    entries = segment(stem).offset_index["position"].tolist()
    with_length(stem, 21, length)
    resumed = next(entry for entry in entries if entry > STARTS[21])
    positions, holes = passed(segment(stem))
    assert positions == [start for start in STARTS[:-1] if start < STARTS[21] or start >= resumed]
    (hole,) = holes
    assert (hole.start, hole.stop) == (STARTS[21], resumed)
    assert hole.reason in ("bad-length", "torn")


def test_a_length_that_leads_past_an_entry_is_reported(stem):
    """The batch's checksum is wrong and the entry's is right, so the entry is used."""
    entries = segment(stem).offset_index["position"].tolist()
    with_length(stem, 21, STARTS[40] - STARTS[21] - 12)
    resumed = next(entry for entry in entries if entry > STARTS[21])
    positions, holes = passed(segment(stem))
    assert positions == [start for start in STARTS[:-1] if start < STARTS[21] or start >= resumed]
    assert holes == [Hole(STARTS[21], resumed, "misled")]


def test_an_entry_into_a_whole_batch_is_not_believed(stem):
    """Every entry leads into the middle of a batch: nothing is lost, and no hole is reported."""
    entries = offset_index.parse(stem.with_suffix(".index").read_bytes()).copy()
    entries["position"] += 100
    stem.with_suffix(".index").write_bytes(offset_index.build(entries))
    assert passed(segment(stem)) == (STARTS[:-1], [])


def test_a_torn_tail_is_a_hole(stem):
    log = stem.with_suffix(".log")
    log.write_bytes(log.read_bytes()[:-10])
    torn = segment(stem)
    expected = (STARTS[:-2], [Hole(STARTS[-2], STARTS[-1] - 10, "torn")])
    assert passed(torn) == passed(replace(torn, index=None, timeindex=None)) == expected


def test_a_batch_in_the_value_of_a_record_is_ignored(tmp_path):
    """A segment sent as a message: the batch around it is whole, so the entry is ignored."""
    start_ms = whole_logs.START_MS
    inner = whole_logs.batch(2, [start_ms])
    value = b"x" * 500 + inner
    message = record.Record(offset_delta=0, timestamp_delta_ms=0, key=None, value=value)
    outer = whole_logs.framed(2, record.build([message]), [start_ms])
    batches = [whole_logs.batch(0, [start_ms] * 2), outer, whole_logs.batch(3, [start_ms])]
    stem = whole_logs.write(whole_logs.broker(tmp_path / "made") / "a-0", batches)
    position = b"".join(batches).index(inner)
    entries = np.array([(2, position)], offset_index.ENTRY)
    stem.with_suffix(".index").write_bytes(offset_index.build(entries))
    with open_batch_starts(segment(stem)) as batch_starts:
        assert batch_starts.find_first(position, position + 1) == position
    assert passed(segment(stem)) == (np.cumsum([0, *map(len, batches)]).tolist()[:-1], [])
