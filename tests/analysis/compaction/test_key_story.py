"""The story of each key and the fate of each record, compared with what Kafka's Cleaner removed."""

from collections import Counter, defaultdict
from dataclasses import replace

import pytest

from kafkaviz.analysis.compaction import record_fates
from kafkaviz.analysis.compaction.compaction import DecidedLog
from kafkaviz.analysis.compaction.record_fates import (
    GOES,
    Fate,
    KeyRecord,
    find_fate,
    key_story,
    log_records,
)
from kafkaviz.format.batch import is_control
from kafkaviz.log.broker import open_broker
from kafkaviz.units import DAY_MS
from tests.analysis.compaction.recorded import clean_recorded, decide_recorded, lines, write_broker
from tests.support.cases import all_cases

# a map that takes only a part of the keys decides otherwise, and a damaged log cannot be read
KEYS = 12  # of each log
NEVER_OF_A_KEY = {
    Fate.AFTER_MAP,
    Fate.REPLACED_AFTER_MAP,
    Fate.MARKER,
    Fate.MARKER_DUE,
    Fate.KEYLESS,
    Fate.KEYLESS_UNCLEANABLE,
}
CLEANED = [line for line in lines() if "cleaned" in line and line["kind"] != "small-map"]
WHOLE = [line for line in lines() if "cleaned" in line and not line["damage"]]
PLAIN = next(line for line in CLEANED if line["kind"] == "plain")


def open_line(line: dict, folder):
    return open_again(line, write_broker(line, folder / line["id"]) / "t-0")


def open_again(line: dict, path):
    """Returns the partition, and its log with the decision about it."""
    [partition] = open_broker(path).partitions
    state, decision = decide_recorded(line, partition)
    log = DecidedLog(
        partition="t-0", log_directory=None, settings={}, state=state, decision=decision
    )
    return partition, log


def offsets_by_key(partition) -> dict[bytes, list[int]]:
    offsets = defaultdict(list)
    for segment in partition.live:
        batches = segment.batches()
        for batch in batches[~is_control(batches)]:
            for record in segment.records(int(batch["position"])):
                if record.key is not None:
                    offsets[record.key].append(record.offset)
    return offsets


def removed_of(line: dict) -> set[int]:
    removed = line["cleaned"]["removed"]
    return {offset for first, last in removed for offset in range(first, last + 1)}


@all_cases("line", CLEANED, ids=lambda line: line["id"])
def test_the_records_that_go_are_those_that_kafka_removed(line, tmp_path):
    removed = removed_of(line)
    partition, log = open_line(line, tmp_path)
    offsets = offsets_by_key(partition)
    for key in list(offsets)[:KEYS]:
        story = key_story(log, key, line["now"])
        assert [found.offset for found in story.records] == offsets[key]
        for found in story.records:
            assert (found.fate in GOES) == (found.offset in removed), found


@all_cases("line", WHOLE, ids=lambda line: line["id"])
def test_every_record_of_a_log_has_its_fate(line, tmp_path):
    log, cleaning = clean_recorded(line, tmp_path)
    records = log_records(log, cleaning, line["now"], max_records=10_000)
    assert {record.offset for record in records if record.fate in GOES} == removed_of(line)
    fates = Counter(record.fate for record in records)
    assert [fates[fate] for fate in GOES] == [
        cleaning.expired_tombstones,
        cleaning.replaced_records,
        cleaning.aborted_records,
        cleaning.removed_markers,
        cleaning.keyless_records,
    ]
    mapped = {record.key.decode(): record.offset for record in records if record.is_mapped}
    assert mapped == line["cleaned"]["map"]


def test_every_fate_is_in_the_recorded_logs(tmp_path):
    """Except NEITHER_IS_DIRTY: the recorded cleaner never left two records of a key behind. A
    tombstone waits a day before its delete horizon.
    """
    fates = set()
    for line in CLEANED[::3]:
        partition, log = open_line(line, tmp_path)
        for key in list(offsets_by_key(partition))[:KEYS]:
            for now_ms in (line["now"], line["now"] - DAY_MS):
                fates |= {found.fate for found in key_story(log, key, now_ms).records}
    assert fates == set(Fate) - {Fate.NEITHER_IS_DIRTY} - NEVER_OF_A_KEY


def test_two_records_below_the_checkpoint_both_stay(tmp_path):
    """For example, if the checkpoint file was copied from another broker."""
    partition, log = open_line(PLAIN, tmp_path)
    stop = log.decision.first_uncleanable_segment
    log = replace(log, decision=replace(log.decision, first_dirty_offset=stop))
    key = next(
        key
        for key, offsets in offsets_by_key(partition).items()
        if sum(offset < stop for offset in offsets) > 1
    )
    story = key_story(log, key, PLAIN["now"])
    earlier, later = [found for found in story.records if found.offset < stop][:2]
    assert earlier.fate == Fate.NEITHER_IS_DIRTY and earlier.replaced_by == later.offset


def test_a_key_that_no_record_has(tmp_path):
    _, log = open_line(PLAIN, tmp_path)
    story = key_story(log, b"no such key", PLAIN["now"])
    assert (story.records, story.record_count, story.unread_from) == ((), 0, None)


def test_the_last_records_are_listed(tmp_path, monkeypatch):
    monkeypatch.setattr(record_fates, "LISTED_RECORDS", 1)
    partition, log = open_line(PLAIN, tmp_path)
    key, offsets = max(offsets_by_key(partition).items(), key=lambda item: len(item[1]))
    story = key_story(log, key, PLAIN["now"])
    assert len(offsets) > 2 and story.record_count == len(offsets)
    assert [found.offset for found in story.records] == offsets[-1:]


def test_the_example_of_the_module(tmp_path):
    """A key at 12, 60 and 95 in a log that is clean below 50, with an active segment from 90 on."""
    _, log = open_line(PLAIN, tmp_path)
    decision = replace(log.decision, first_dirty_offset=50, first_uncleanable_segment=90)
    fates = [
        find_fate(match_at(offset), replaced_by, 60, decision, 0)
        for offset, replaced_by in ((12, 60), (60, 95), (95, None))
    ]
    assert fates == [Fate.REPLACED, Fate.REPLACED_LATER, Fate.LATEST]


def match_at(offset: int) -> KeyRecord:
    return KeyRecord(
        segment=0,
        position=0,
        offset=offset,
        timestamp_ms=0,
        size_bytes=10,
        value_bytes=1,
        is_aborted=False,
        delete_horizon_ms=None,
    )


@pytest.mark.parametrize("tail", [b"\0" * 512, b"\0" * 7 + b"x" * 60])
def test_a_tail_of_the_active_segment_that_cannot_be_read(tmp_path, tail):
    """A broker that was killed leaves such tails; the records before them are shown."""
    partition, log = open_line(PLAIN, tmp_path)
    key = next(iter(offsets_by_key(partition)))
    whole = key_story(log, key, PLAIN["now"])
    with open(partition.live[-1].log.path, "ab") as file:
        file.write(tail)
    _, log = open_again(PLAIN, partition.path)
    story = key_story(log, key, PLAIN["now"])
    read = [[record.offset for record in found.records] for found in (story, whole)]
    assert read[0] == read[1]
    active = partition.live[-1]
    assert story.unread_from == record_fates.UnreadPart(
        segment=active.base_offset, position=active.log.size_bytes
    )
