"""Where reading may begin: only where the .log confirms the index, and after few reads."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kafkaviz.format import offset_index, time_index
from kafkaviz.log.batch_starts import BatchStarts, IndexSlots, open_batch_starts
from kafkaviz.log.broker import open_broker
from kafkaviz.log.segment import Segment
from tests.pipeline import whole_logs

START_MS = whole_logs.START_MS
BATCHES = [
    whole_logs.batch(1000 + 10 * number, [START_MS + number] * 10, 80) for number in range(60)
]
STARTS = np.cumsum([0, *map(len, BATCHES)]).tolist()


@pytest.fixture
def stem(tmp_path) -> Path:
    """Returns 60 batches of ten records from offset 1000, an entry for about each fifth."""
    return whole_logs.write(whole_logs.broker(tmp_path / "made") / "a-0", BATCHES, 1000)


def segment(stem: Path) -> Segment:
    return open_broker(stem.parents[1]).partition("a-0").segments[0]


def around_offset(batch_starts: BatchStarts, offset: int) -> tuple[int, int]:
    return batch_starts.position_before_offset(offset), batch_starts.position_after_offset(offset)


def around_time(batch_starts: BatchStarts, time_ms: int) -> tuple[int, int]:
    return batch_starts.position_before_time(time_ms), batch_starts.position_after_time(time_ms)


def test_places_are_those_that_the_index_knows(stem):
    """The nearest indexed batch before and after an offset or time, or an end of the file."""
    known = sorted(segment(stem).offset_index["position"].tolist())
    with open_batch_starts(segment(stem)) as batch_starts:
        assert batch_starts.find_first(0, STARTS[-1]) == known[0]
        assert batch_starts.find_first(known[0] + 1, STARTS[-1]) == known[1]
        assert batch_starts.find_first(known[0] + 1, known[1]) is None
        assert batch_starts.find_first(known[-1] + 1, STARTS[-1]) is None
        assert batch_starts.positions(known[0], known[3]).tolist() == known[1:3]
        for number in range(60):
            lower = [start for start in known if start < STARTS[number]]
            upper = [start for start in known if start > STARTS[number]]
            assert around_offset(batch_starts, 1000 + 10 * number) == (
                max([0, *lower]),
                min([STARTS[-1], *upper]),
            )
            before, after = map(STARTS.index, around_time(batch_starts, START_MS + number))
            assert before <= number <= after
        assert batch_starts.position_before_time(START_MS + 30) >= known[len(known) // 2 - 2]
        assert around_offset(batch_starts, 0)[0] == around_time(batch_starts, 0)[0] == 0
        assert (
            around_offset(batch_starts, 9999)[1]
            == around_time(batch_starts, START_MS + 99)[1]
            == STARTS[-1]
        )


def test_a_search_reads_few_slots(stem, monkeypatch):
    read = []
    getitem = IndexSlots.__getitem__
    monkeypatch.setattr(
        IndexSlots, "__getitem__", lambda self, which: read.append(which) or getitem(self, which)
    )
    entries = np.zeros(100_000, offset_index.ENTRY)
    entries["relative_offset"] = entries["position"] = np.arange(1, 100_001)
    stem.with_suffix(".index").write_bytes(offset_index.build(entries))
    with open_batch_starts(segment(stem)) as batch_starts:
        batch_starts.position_before_offset(1500)
    assert sum(isinstance(which, int) for which in read) < 40


@pytest.mark.parametrize("hurt", ["crc", "length", "magic", "short"])
def test_a_batch_that_is_not_whole_is_no_place(stem, hurt):
    entry = int(segment(stem).offset_index["position"][2])
    log = stem.with_suffix(".log")
    data = bytearray(log.read_bytes())
    if hurt == "short":
        del data[entry + 300 :]
    else:
        data[entry + {"crc": 200, "length": 11, "magic": 16}[hurt]] ^= 5
    log.write_bytes(data)
    with open_batch_starts(segment(stem)) as batch_starts:
        assert not batch_starts.is_intact(entry)
        assert batch_starts.find_first(entry, entry + 1) is None
        assert batch_starts.position_before_offset(1000 + 10 * STARTS.index(entry) + 15) < entry


def test_unwritten_slots_and_missing_files(stem):
    """Zeros after the last entry do not count; without an index there is byte 0 and the end."""
    with open_batch_starts(segment(stem)) as batch_starts:
        expected = [around_offset(batch_starts, offset) for offset in range(1000, 1600, 7)]
    for suffix, layout in ((".index", offset_index), (".timeindex", time_index)):
        path = stem.with_suffix(suffix)
        path.write_bytes(path.read_bytes() + bytes(1000 * layout.ENTRY.itemsize))
    with open_batch_starts(segment(stem)) as batch_starts:
        assert [around_offset(batch_starts, offset) for offset in range(1000, 1600, 7)] == expected
        assert batch_starts.position_before_time(START_MS + 50) > 0
    with open_batch_starts(replace(segment(stem), index=None, timeindex=None)) as batch_starts:
        assert batch_starts.find_first(0, STARTS[-1]) is None
        assert around_offset(batch_starts, 1500) == (0, STARTS[-1])
        assert around_time(batch_starts, START_MS + 50) == (0, STARTS[-1])


def test_a_time_entry_must_be_that_of_its_batch(stem):
    """An entry that differs by a millisecond is ignored; the entries around it count."""
    path = stem.with_suffix(".timeindex")
    entries = time_index.parse(path.read_bytes()).copy()
    with open_batch_starts(segment(stem)) as batch_starts:
        right = batch_starts.position_before_time(int(entries["timestamp_ms"][4]) + 1)
    entries["timestamp_ms"][4] -= 1
    path.write_bytes(time_index.build(entries))
    with open_batch_starts(segment(stem)) as batch_starts:
        assert 0 < batch_starts.position_before_time(int(entries["timestamp_ms"][4]) + 1) < right
