"""The statistics of a segment are the same, however it is cut into chunks and splits."""

from dataclasses import replace
from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaviz.analysis.inferred_settings import ChunkedEvidence, IntervalEvidence, interval_evidence
from kafkaviz.format.batch import BATCH, LOG_APPEND_TIME
from kafkaviz.format.walk import observe_scan
from kafkaviz.log.broker import open_broker
from kafkaviz.log.segment import OFFSET_ENTRY
from kafkaviz.pipeline.read.rows import codec_names
from kafkaviz.pipeline.read.segment_scan import (
    BatchStatistics,
    BatchStatisticsBuilder,
    content,
    merge,
)

CUTS = st.lists(st.integers(0, 400), max_size=6)


def batches_of(sizes: list[int], **fields: object) -> np.ndarray:
    batches = np.zeros(len(sizes), BATCH)
    batches["size_bytes"], batches["position"] = sizes, np.cumsum([0, *sizes[:-1]]) if sizes else []
    batches["base_offset"] = 2 * np.arange(len(sizes))
    batches["record_count"] = batches["magic"] = 2
    batches["last_offset"] = batches["base_offset"] + 1
    for name, values in fields.items():
        batches[name] = values
    return batches


def entries_of(batches: np.ndarray, rows: list[int]) -> np.ndarray:
    entries = np.zeros(len(rows), OFFSET_ENTRY)
    entries["slot"] = np.arange(len(rows))
    entries["position"] = batches["position"][rows]
    entries["offset"] = batches["last_offset"][rows]
    return entries


def parts_of(batches: np.ndarray, cuts: list[int]) -> list[np.ndarray]:
    return np.split(batches, sorted(min(cut, len(batches)) for cut in cuts))


def gathered(parts: list[np.ndarray], entries: np.ndarray) -> IntervalEvidence:
    gaps = ChunkedEvidence(entries)
    observe_scan(parts, gaps)
    return gaps.result()


@given(st.lists(st.integers(-1, 50), max_size=40), CUTS)
def test_parts_together_give_what_the_whole_gives(times, cuts):
    codecs = np.array(times, int) % 5
    batches = batches_of(
        [100] * len(times), base_timestamp_ms=times, max_timestamp_ms=times, attributes=codecs
    )
    builder = BatchStatisticsBuilder()
    observe_scan(parts_of(batches, cuts), builder)
    assert merge(map(content, parts_of(batches, cuts))) == content(batches) == builder.result()


def test_no_batch_says_nothing():
    nothing = BatchStatistics(batches=0, records=0)
    assert content(batches_of([])) == merge([]) == merge([BatchStatistics()]) == nothing


def test_codecs_are_named():
    """One bit for each id, also one without a codec; the other attributes are ignored."""
    counts = content(batches_of([100] * 4, attributes=[4, 0x70, 7, 4 | LOG_APPEND_TIME]))
    assert counts.codecs == 0b10010001 and codec_names(counts.codecs) == ("none", "zstd", "7")
    assert codec_names(content(batches_of([])).codecs) == ()


def test_a_stored_minus_one_is_reported_where_there_is_nothing_else():
    """-1 in a header means no time, so it is not the least time of a segment that has some."""
    untimed = batches_of([100, 100], base_timestamp_ms=-1, max_timestamp_ms=-1)
    assert (content(untimed).min_timestamp_ms, content(untimed).max_timestamp_ms) == (-1, -1)
    some = batches_of([100, 100], base_timestamp_ms=[-1, 7], max_timestamp_ms=[-1, 9])
    assert (content(some).min_timestamp_ms, content(some).max_timestamp_ms) == (7, 9)


def test_a_format_without_times_has_none():
    old = batches_of(
        [100, 100],
        magic=0,
        attributes=1,
        base_offset=-1,
        record_count=-1,
        base_timestamp_ms=-1,
        max_timestamp_ms=-1,
    )
    counts = content(old)
    assert (counts.min_timestamp_ms, counts.max_timestamp_ms) == (None, None)
    assert (counts.first_offset, counts.records, counts.last_offset) == (None, None, 3)


def test_one_hidden_count_hides_the_sum():
    batches = batches_of(
        [100, 100], magic=1, attributes=[0, 1], record_count=[1, -1], base_offset=[0, -1]
    )
    assert content(batches).records is None
    assert merge(content(batches[row : row + 1]) for row in range(2)).records is None
    assert content(batches).first_offset == 0


@pytest.mark.parametrize("bits", [LOG_APPEND_TIME, 0x40])
def test_where_the_first_time_is_not_a_records_the_largest_replaces_it(bits):
    """With append time, or a delete horizon, the first time is not a record's."""
    batches = batches_of([100], attributes=bits, base_timestamp_ms=3, max_timestamp_ms=8)
    assert content(batches).min_timestamp_ms == 8


@given(st.lists(st.integers(61, 2000), min_size=1, max_size=60), st.data(), CUTS)
def test_chunks_give_the_evidence_of_one_array(sizes, data, cuts):
    batches = batches_of(sizes)
    rows = sorted(data.draw(st.sets(st.integers(0, len(sizes) - 1))))
    entries = entries_of(batches, rows)
    expected = interval_evidence(batches, entries) if rows else IntervalEvidence()
    assert gathered(parts_of(batches, cuts), entries) == expected


@given(st.data(), CUTS)
def test_stretches_cut_at_entries_give_the_evidence_of_one(data, cuts):
    """Tasks read stretches that start at an indexed batch; their evidence merges."""
    batches = batches_of(data.draw(st.lists(st.integers(61, 2000), min_size=2, max_size=60)))
    rows = sorted(data.draw(st.sets(st.integers(1, len(batches) - 1), min_size=1)))
    entries = entries_of(batches, rows)
    splits = parts_of(batches, data.draw(st.lists(st.sampled_from(rows), max_size=4)))
    evidence = [gathered(parts_of(split, cuts), entries) for split in splits]
    assert reduce(IntervalEvidence.merge, evidence) == interval_evidence(batches, entries)


def test_an_index_of_whole_appends_keeps_its_evidence():
    """Entries whose key is in a later batch: one of nine, as Kafka 3.9.0 wrote them on followers."""
    batches = batches_of([1000] * 90)
    entries = entries_of(batches, list(range(9, 90, 9)))
    entries["offset"] += 2 * 8
    evidence = interval_evidence(batches, entries)
    assert evidence.per_append
    assert all(
        gathered(parts_of(batches, [cut, cut + 5]), entries) == evidence for cut in range(90)
    )


def test_entries_that_point_between_batches_count_alike():
    batches = batches_of([1000] * 30)
    entries = entries_of(batches, [5, 10, 15, 20])
    entries["position"][1] += 10
    evidence = interval_evidence(batches, entries)
    assert all(
        gathered(parts_of(batches, [cut, cut + 2]), entries) == evidence for cut in range(30)
    )


def test_real_segments_in_chunks(clean, killed):
    partitions = [*open_broker(clean).partitions, *open_broker(killed).partitions]
    for segment in (segment for partition in partitions for segment in partition.live):
        batches, entries = segment.batches()[:3000], replace(segment).offset_index
        parts = [batches[row : row + 7] for row in range(0, len(batches), 7)]
        if len(batches):
            entries = entries[entries["position"] <= batches["position"][-1]]
        if len(entries):
            assert gathered(parts, entries) == interval_evidence(batches, entries), segment.log.path
