"""The logs of lessons: whole batches, indexes by Kafka's rule, and lookups that end at the target."""

from dataclasses import replace

import numpy as np
import pytest

from kafkaviz import versions
from kafkaviz.format import batch_records
from kafkaviz.format.walk import walk
from kafkaviz.search.lookup import by_offset, by_timestamp
from kafkaviz.simulate import lesson_logs

SMALL = (lesson_logs.five, lesson_logs.twenty)


def test_the_index_of_the_article():
    """Keys, positions, and the three probes of target 23."""
    lookup = by_offset(lesson_logs.five().log, 23, versions.search_profile())
    assert lesson_logs.five().log.segments[0].offset_slots.tolist() == [
        (6, 156),
        (14, 459),
        (22, 656),
        (26, 838),
        (31, 1050),
    ]
    assert [probe.slot for probe in lookup.searches[0].slot_search.probes] == [0, 2, 3]
    assert (lookup.record.offset, lookup.record.timestamp_ms, lookup.record.batch_position) == (
        23,
        lesson_logs.START_MS + 3240,
        838,
    )


@pytest.mark.parametrize("build_log", SMALL)
def test_the_bytes_are_whole_batches(build_log):
    """The checksums are right, and the last record has the newest time."""
    log, rows = build_log().log.segments[0].log, build_log().batches
    data = log.content()
    batches, end = walk(data)
    assert end.reason == "end" and len(data) == log.size_bytes
    for name in lesson_logs.ROW.names:
        assert batches[name].tolist() == rows[name].tolist(), name
    for row in rows:
        stored = data[row["position"] : row["position"] + row["size_bytes"]]
        records = batch_records.read_batch(stored)
        assert (
            batch_records.is_crc_valid(stored)
            and records[-1].timestamp_ms == row["max_timestamp_ms"]
        )


@pytest.mark.parametrize("build_log", SMALL)
@pytest.mark.parametrize("version", ["4.3.1", "3.9", "2.0"])
def test_every_offset_is_found(build_log, version):
    for offset in range(int(build_log().batches["last_offset"][-1]) + 1):
        result = by_offset(build_log().log, offset, versions.search_profile(version))
        row = np.searchsorted(build_log().batches["last_offset"], offset)
        assert (result.record.offset, result.record.batch_position) == (
            offset,
            build_log().batches["position"][row],
        )


def test_a_small_warm_section():
    """32 bytes are four entries after the first of the section, so twenty entries have a cold part."""
    slot_search = (
        by_offset(lesson_logs.twenty().log, 66, replace(versions.search_profile(), warm_bytes=32))
        .searches[0]
        .slot_search
    )
    assert (slot_search.warm_from_slot, slot_search.section) == (15, "cold")
    assert [probe.slot for probe in slot_search.probes] == [15, 0, 8, 12, 10, 9]


def test_a_full_index_is_searched_to_the_record():
    """Bytes of a log of 500 MiB are created only where they are read."""
    practice_log = lesson_logs.full()
    assert practice_log.log.segments[0].index.size_bytes == 10 << 20
    lookup = by_offset(practice_log.log, 1_234_567, versions.search_profile())
    assert (
        lookup.searches[0].slot_search.slot == 308_640
        and len(lookup.searches[0].slot_search.probes) == 21
    )
    assert [(read.position, read.size) for read in lookup.scan.reads] == [
        (123_456_400, 17),
        (123_456_800, 17),
        (123_456_400, 61),
    ]
    assert (
        by_timestamp(
            practice_log.log, practice_log.timestamp_ms, versions.search_profile()
        ).answer.offset
        == 2_469_128
    )
    last = int(practice_log.batches["last_offset"][-1])
    assert by_offset(practice_log.log, last, versions.search_profile()).record.offset == last


def test_typed_keys():
    segment = lesson_logs.log_of_keys([6, 14, 22, 26, 31]).segments[0]
    assert (
        segment.offset_slots["relative_offset"].tolist() == [6, 14, 22, 26, 31]
        and segment.size_bytes == 0
    )
