"""The logs of lessons: whole batches, indexes by Kafka's rule, and lookups that end at the target."""

from dataclasses import replace

import numpy as np
import pytest

from kafkaviz import versions
from kafkaviz.format import batch_records
from kafkaviz.format.walk import walk
from kafkaviz.search.lookup import by_offset, by_timestamp
from kafkaviz.simulate import lesson_logs

PROFILE = versions.search_profile()
SMALL = (lesson_logs.five, lesson_logs.twenty)


def test_the_index_of_the_article():
    log = lesson_logs.five().log
    slots = [(6, 156), (14, 459), (22, 656), (26, 838), (31, 1050)]
    assert log.segments[0].offset_slots.tolist() == slots
    lookup = by_offset(log, 23, PROFILE)
    assert [probe.slot for probe in lookup.searches[0].slot_search.probes] == [0, 2, 3]
    record = lookup.record
    assert (record.offset, record.batch_position) == (23, 838)
    assert record.timestamp_ms == lesson_logs.START_MS + 3240


@pytest.mark.parametrize("build_log", SMALL)
def test_the_bytes_are_whole_batches(build_log):
    log, rows = build_log().log.segments[0].log, build_log().batches
    data = log.content()
    batches, end = walk(data)
    assert end.reason == "end" and len(data) == log.size_bytes
    for name in lesson_logs.ROW.names:
        assert batches[name].tolist() == rows[name].tolist(), name
    for row in rows:
        stored = data[row["position"] : row["position"] + row["size_bytes"]]
        assert batch_records.is_crc_valid(stored)
        assert batch_records.read_batch(stored)[-1].timestamp_ms == row["max_timestamp_ms"]


@pytest.mark.parametrize("build_log", SMALL)
@pytest.mark.parametrize("version", ["4.3.1", "3.9", "2.0"])
def test_every_offset_is_found(build_log, version):
    made = build_log()
    for offset in range(int(made.batches["last_offset"][-1]) + 1):
        record = by_offset(made.log, offset, versions.search_profile(version)).record
        row = np.searchsorted(made.batches["last_offset"], offset)
        assert record.offset == offset
        assert record.batch_position == made.batches["position"][row]


def test_a_small_warm_section():
    """32 bytes are four entries after the first of the section, so twenty entries have a cold part."""
    lookup = by_offset(lesson_logs.twenty().log, 66, replace(PROFILE, warm_bytes=32))
    slot_search = lookup.searches[0].slot_search
    assert (slot_search.warm_from_slot, slot_search.section) == (15, "cold")
    assert [probe.slot for probe in slot_search.probes] == [15, 0, 8, 12, 10, 9]


def test_a_full_index_is_searched_to_the_record():
    """Bytes of a log of 500 MiB are created only where they are read."""
    made = lesson_logs.full()
    assert made.log.segments[0].index.size_bytes == 10 << 20
    lookup = by_offset(made.log, 1_234_567, PROFILE)
    slot_search = lookup.searches[0].slot_search
    assert (slot_search.slot, len(slot_search.probes)) == (308_640, 21)
    reads = [(read.position, read.size) for read in lookup.scan.reads]
    assert reads == [(123_456_400, 17), (123_456_800, 17), (123_456_400, 61)]
    assert by_timestamp(made.log, made.timestamp_ms, PROFILE).answer.offset == 2_469_128
    last = int(made.batches["last_offset"][-1])
    assert by_offset(made.log, last, PROFILE).record.offset == last


def test_typed_keys():
    keys = [6, 14, 22, 26, 31]
    (segment,) = lesson_logs.log_of_keys(keys).segments
    assert segment.offset_slots["relative_offset"].tolist() == keys and segment.size_bytes == 0
