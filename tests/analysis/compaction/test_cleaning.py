"""One cleaning of a log: what Kafka's Cleaner left, to the byte."""

import hashlib
from collections import defaultdict

import numpy as np

from kafkaviz import versions
from kafkaviz.simulate.cleaner.batch_chunks import CleaningFailed
from kafkaviz.simulate.cleaner.cleaner import CleanerConfig, CleaningRange, clean
from kafkaviz.simulate.cleaner.offset_map import OffsetMap
from kafkaviz.simulate.cleaner.record_filter import NO_TIMESTAMP
from kafkaviz.simulate.config import log_config
from tests.analysis.compaction.recorded import decide_recorded, lines, open_recorded
from tests.support.cases import all_cases
from tests.support.vectors import content

ELIGIBLE = [line for line in lines() if line["report"]["eligible"]]
# In these, Google's snappy writes a batch one byte longer than the library that we use.
OTHER_SNAPPY = (
    "4.4.0-compact-35-0",
    "4.4.0-compact-35-1",
    "4.4.0-compact-35-2",
    "4.4.0-compact-48-0",
)


def clean_line(line: dict, folder):
    """Returns the cleaning of a line, its map, and the bytes of each new .log."""
    state, _ = decide_recorded(line, open_recorded(line, folder))
    release = versions.parse(line["version"])
    cleaner = line["cleaner"]
    config = CleanerConfig(
        log=log_config(line["settings"], release),
        delete_retention_ms=line["settings"]["delete.retention.ms"],
        most_keys=int(cleaner["offset_map_bytes"] // 24 * cleaner["load_factor"]),
        io_buffer_bytes=cleaner["io_buffer_bytes"],
    )
    cleaning_range = CleaningRange(
        segments=state.views,
        log_start_offset=state.facts.log_start_offset,
        high_watermark=state.facts.high_watermark,
        first_dirty_offset=line["report"]["first_dirty_offset"],
        stop_offset=line["report"]["first_uncleanable_segment"],
        producers=state.producers,
    )
    logs: dict[int, bytes] = defaultdict(bytes)

    def write(base_offset: int, data: bytes) -> None:
        logs[base_offset] += data

    offset_map = OffsetMap(config.most_keys)
    cleaning = clean(
        cleaning_range, config, release, line["now"], offset_map=offset_map, write=write
    )
    return cleaning, offset_map, logs


@all_cases("line", ELIGIBLE, ids=lambda line: line["id"])
def test_a_cleaning_is_that_of_kafka(line, tmp_path):
    try:
        cleaning, offset_map, logs = clean_line(line, tmp_path)
    except CleaningFailed as error:
        expected = line["cleaning_error"]
        assert str(error.exception) == "{class}: {message}".format(**expected)
        return
    cleaned = line["cleaned"]
    before = sorted(int(name[:-4]) for name in line["files"] if name.endswith(".log"))
    last_source = cleaning.segments[-1].sources[-1]
    end = before[before.index(last_source) + 1]
    stats = cleaned["stats"]
    assert cleaning.next_first_dirty_offset == cleaned["next_first_dirty_offset"]
    assert {key: offset_map.get(key.encode()) for key in cleaned["map"]} == cleaned["map"]
    assert cleaning.map_keys == len(cleaned["map"])
    assert cleaning.removed.ranges.tolist() == cleaned["removed"]
    assert horizons(cleaning.tombstones) == below(end, cleaned["tombstones_left"])
    assert horizons(cleaning.markers) == below(end, cleaned["markers_left"])
    assert cleaning.records_read == stats["messages_read"]
    assert cleaning.records_written == stats["messages_written"]
    assert cleaning.keyless_records == stats["invalid_messages_read"]
    segments = {segment["base"]: segment for segment in cleaned["segments"]}
    gone = {base for segment in cleaning.segments for base in segment.sources[1:]}
    assert sorted(set(before) - gone) == sorted(segments)
    for segment in cleaning.segments:
        recorded = segments[segment.base_offset]
        assert segment.log_bytes == len(logs[segment.base_offset])
        if line["id"] in OTHER_SNAPPY:
            assert 0 <= recorded["log_size"] - segment.log_bytes <= 1
            continue
        digest = hashlib.sha256(logs[segment.base_offset]).hexdigest()
        assert digest == recorded["log_sha256"]
        assert segment.index == content(recorded["index"])
        assert segment.timeindex == content(recorded["timeindex"])
        assert (segment.txnindex or b"").hex() == (recorded["txnindex_hex"] or "")
    if not cleaning.aborted_records:
        folder = tmp_path / line["id"]
        read = [
            next(folder.rglob(f"{base:020}.log")).read_bytes()
            for segment in cleaning.segments
            for base in segment.sources
        ]
        freed_bytes = sum(map(bytes_of_records, read)) - sum(map(bytes_of_records, logs.values()))
        assert cleaning.superseded_bytes == max(0, freed_bytes)


def horizons(rows: np.ndarray) -> list[list[int | None]]:
    return [[None if number == NO_TIMESTAMP else number for number in row] for row in rows.tolist()]


def below(end: int, rows: list[list[int | None]]) -> list[list[int | None]]:
    """Returns the rows of cleaned segments; the recorded lists cover the whole log."""
    return [row for row in rows if row[0] < end]


def bytes_of_records(log: bytes) -> int:
    """Returns the bytes of the records in data batches; a message of magic 0 or 1 counts whole."""
    total = position = 0
    while position < len(log):
        end = position + 12 + int.from_bytes(log[position + 8 : position + 12], "big")
        if log[position + 16] < 2:
            total += end - position
        elif not log[position + 22] & 0x20:
            total += end - position - 61
        position = end
    return total
