from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaviz import versions
from kafkaviz.analysis.cost import lookup_cost
from kafkaviz.analysis.segment.batch_table import BatchTable, table_of_rows
from kafkaviz.format import offset_index
from kafkaviz.log.archives.archive import unpack_if_archive
from kafkaviz.log.broker import open_broker
from kafkaviz.search.fetch import find_bounds
from kafkaviz.search.log_view import LogView, SegmentView, view_partition
from kafkaviz.search.lookup import by_offset, by_timestamp
from kafkaviz.simulate.lessons import practice
from kafkaviz.versions import SearchProfile

PRACTICE_LOGS = (practice.five, practice.twenty)


def counted(counts: np.ndarray) -> dict[int, int]:
    return {number: int(targets) for number, targets in enumerate(counts) if targets}


def each(lookups: list) -> list[dict[int, int]]:
    headers = [len({read.position for read in lookup.scan.reads}) for lookup in lookups]
    first = [lookup.searches[0].slot_search for lookup in lookups]
    return [
        Counter(len(search.probes) for search in first),
        Counter(len(search.pages) for search in first),
        Counter(headers),
    ]


@pytest.mark.parametrize("version", ["4.3.1", "3.9", "2.0"])
@pytest.mark.parametrize("build_log", PRACTICE_LOGS)
def test_of_offsets(build_log, version):
    """Every offset of the log is looked up, one after the other."""
    log, search_profile = build_log().log, versions.search_profile(version)
    costs = lookup_cost.offset_lookup_counts(
        log.segments[0], table_of_rows(build_log().batches), search_profile
    )
    assert (costs.first, costs.last) == (0, build_log().batches["last_offset"][-1])
    one_by_one = each([by_offset(log, offset, search_profile) for offset in range(costs.targets)])
    assert [counted(costs.counts_of(what)) for what in ("probes", "pages", "headers")] == one_by_one


@pytest.mark.slow
@pytest.mark.parametrize("build_log", PRACTICE_LOGS)
def test_of_timestamps(build_log):
    log, search_profile = build_log().log, versions.search_profile()
    costs = lookup_cost.timestamp_lookup_counts(
        log.segments[0], table_of_rows(build_log().batches), search_profile
    )
    one_by_one = each(
        [by_timestamp(log, target, search_profile) for target in range(costs.first, costs.last + 1)]
    )
    assert [counted(costs.counts_of(what)) for what in ("probes", "pages", "headers")] == one_by_one
    assert costs.last == log.segments[0].largest_timestamp_ms


def one_by_one_to(last: int, log: LogView, search_profile: SearchProfile) -> list[dict[int, int]]:
    bounds = find_bounds(log, search_profile)
    return each(
        [
            by_offset(log, offset, search_profile, bounds=bounds)
            for offset in range(log.segments[0].base_offset, last + 1)
        ]
    )


@pytest.mark.parametrize("version", ["4.3.1", "4.0", "2.0"])
def test_of_a_compacted_log(version, tmp_path):
    """Missing offsets between batches are counted with the next batch."""
    rows = np.zeros(6, practice.ROW)
    rows["base_offset"], rows["record_count"], rows["size_bytes"] = (
        (0, 7, 12, 30, 34, 50),
        (2, 3, 1, 4, 2, 1),
        150,
    )
    rows["max_timestamp_ms"], folder = practice.START_MS, tmp_path / "compacted-0"
    folder.mkdir()
    (folder / f"{0:020}.log").write_bytes(b"".join(practice.batch_bytes(row, 0) for row in rows))
    entries = np.array([(12, 300), (35, 600)], offset_index.ENTRY)
    (folder / f"{0:020}.index").write_bytes(offset_index.build(entries))
    partition = open_broker(folder).partitions[0]
    log, search_profile = view_partition(partition), versions.search_profile(version)
    costs = lookup_cost.offset_lookup_counts(
        log.segments[0], table_of_rows(partition.live[0].batches()), search_profile
    )
    assert [
        counted(costs.counts_of(what)) for what in ("probes", "pages", "headers")
    ] == one_by_one_to(50, log, search_profile)


@pytest.mark.slow
@pytest.mark.parametrize("version", ["2.8.2", "4.3.1"])
def test_of_a_real_compacted_log(version, shared):
    """Every offset of a log that a cleaner of 2.8.2 wrote."""
    partition = open_broker(
        unpack_if_archive(shared / "data" / "kafka-2.8.2-legacy.tar.gz")
    ).partition("v2.compacted-0")
    log, search_profile = view_partition(partition), versions.search_profile(version)
    costs = lookup_cost.offset_lookup_counts(
        log.segments[0], table_of_rows(partition.live[0].batches()), search_profile
    )
    assert [
        counted(costs.counts_of(what)) for what in ("probes", "pages", "headers")
    ] == one_by_one_to(costs.last, log, search_profile)


@pytest.mark.slow
def test_of_a_full_index():
    """Five million targets; nearly all take at least 21 probes."""
    log_view = practice.full()
    costs = lookup_cost.offset_lookup_counts(
        log_view.log.segments[0], table_of_rows(log_view.batches), versions.search_profile()
    )
    assert (
        costs.targets == costs.probes.sum() == costs.pages.sum() == costs.headers.sum() == 5_242_884
    )
    assert counted(costs.probes)[23] == 1_827_837 and len(costs.probes) == 24


def in_pieces(rows: np.ndarray, count: int) -> BatchTable:
    """Returns the table of a log that is read again, array by array."""
    return replace(table_of_rows(rows), scan=lambda: iter(np.array_split(rows, count)))


def plain_headers(segment: SegmentView, rows: np.ndarray, target_ms: int) -> int | None:
    """Returns how many headers a scan for a timestamp reads, or None where it finds none."""
    offset = position = 0
    for entry in segment.time_slots:
        offset = entry["relative_offset"] if entry["timestamp_ms"] <= target_ms else offset
    for entry in segment.offset_slots:
        position = entry["position"] if entry["relative_offset"] <= offset else position
    for read, row in enumerate(rows[rows["position"] >= position], 1):
        if row["max_timestamp_ms"] >= target_ms:
            return read
    return None


@given(
    st.lists(st.integers(0, 84), min_size=50, max_size=50),
    st.integers(1, 9),
    st.sampled_from(["4.3.1", "3.9", "2.0"]),
)
def test_times_in_any_order(times_ms, count, version):
    """A plain scan for each millisecond, for batches in any order, some without time."""
    segment, rows = practice.twenty().log.segments[0], practice.twenty().batches.copy()
    rows["max_timestamp_ms"] = np.where(np.array(times_ms) < 4, -1, times_ms)
    rows["max_timestamp_ms"][7] = 30  # one has
    rows["max_timestamp_ms"] += np.where(rows["max_timestamp_ms"] < 0, 0, practice.START_MS)
    costs = lookup_cost.timestamp_lookup_counts(
        segment, in_pieces(rows, count), versions.search_profile(version)
    )
    targets = range(costs.first, costs.last + 1)
    headers = Counter(plain_headers(segment, rows, target) for target in targets)
    del headers[None]
    assert counted(costs.headers) == headers
    assert costs.first == rows["max_timestamp_ms"][rows["max_timestamp_ms"] >= 0].min()


@pytest.mark.parametrize("version", ["4.3.1", "3.9", "2.0"])
@pytest.mark.parametrize("count", [2, 7, 50])
def test_a_log_that_is_read_in_pieces(version, count):
    """The same for every offset."""
    practice_log, profile = practice.twenty(), versions.search_profile(version)
    segment, rows = practice_log.log.segments[0], practice_log.batches
    whole = lookup_cost.offset_lookup_counts(segment, table_of_rows(rows), profile)
    pieces = lookup_cost.offset_lookup_counts(segment, in_pieces(rows, count), profile)
    assert [counted(whole.counts_of(what)) for what in ("probes", "pages", "headers")] == [
        counted(pieces.counts_of(what)) for what in ("probes", "pages", "headers")
    ]


def test_small_pages():
    practice_log = practice.twenty()
    costs = lookup_cost.offset_lookup_counts(
        practice_log.log.segments[0],
        table_of_rows(practice_log.batches),
        versions.search_profile(),
        page_bytes=32,
    )
    assert counted(costs.pages).keys() == {1, 2, 3, 4} and costs.pages.sum() == 141


def test_an_index_that_points_nowhere():
    practice_log = practice.five()
    costs = lookup_cost.offset_lookup_counts(
        practice_log.log.segments[0],
        table_of_rows(practice_log.batches[2:]),
        versions.search_profile(),
    )
    assert costs.headers.sum() < costs.probes.sum() == costs.targets


def test_no_entry_and_no_time():
    segment, none = practice.log_of_keys([]).segments[0], practice.five().batches.copy()
    none["max_timestamp_ms"] = -1
    costs = lookup_cost.offset_lookup_counts(
        segment, table_of_rows(practice.five().batches), versions.search_profile()
    )
    assert counted(costs.probes) == {0: 32}
    assert (
        lookup_cost.timestamp_lookup_counts(segment, table_of_rows(none), versions.search_profile())
        is None
    )


def test_borders():
    """One target per stretch, and how many targets it stands for."""
    targets, weights = lookup_cost.representatives(np.array([6, 7, 14, 15, 99]), 0, 20)
    assert targets.tolist() == [0, 6, 7, 14, 15] and weights.tolist() == [6, 1, 7, 1, 6]
