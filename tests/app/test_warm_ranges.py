"""The targets of a source whose search ends in a warm section, compared with a search for each."""

from dataclasses import replace

import pytest

from kafkaviz.analysis.lookup.lookup_targets import OFFSET, TIMESTAMP, LookupSource
from kafkaviz.app.cache import lookup_cache
from kafkaviz.log.broker import open_broker
from kafkaviz.search import by_time, index_search
from kafkaviz.search.log_view import view_partition
from kafkaviz.versions import NEWEST


def is_warm(source: LookupSource, kind: str, target: int, warm_entries: int) -> bool:
    log, profile = source.log, lookup_cache.release_profile(NEWEST, warm_entries, kind)
    reaching = by_time.first_segment_reaching if kind == TIMESTAMP else type(log).floor_segment
    place = reaching(log, target)
    if place is None:
        return False
    find = index_search.find_time if kind == TIMESTAMP else index_search.find_offset
    return find(log.segments[place], target, profile).slot_search.section == "warm"


def assert_edges(source: LookupSource, kind: str, warm_entries: int, targets: range) -> None:
    """Asserts that these targets end warm inside the ranges and at no edge outside."""
    ranges = source.warm_ranges(kind, warm_entries)
    edges = {edge + by for both in ranges for edge in both for by in (-1, 0, 1)}
    for target in sorted(edges.intersection(range(targets.start, targets.stop)).union(targets)):
        inside = any(first <= target <= last for first, last in ranges)
        assert is_warm(source, kind, target, warm_entries) == inside, target


@pytest.mark.parametrize("kind", [OFFSET, TIMESTAMP])
@pytest.mark.parametrize("warm_entries", [2, 4, 1024])
@pytest.mark.parametrize("name", ["five", "twenty"])
def test_of_every_target(name, warm_entries, kind):
    source = lookup_cache.practice_source(name)
    low, high = source.span(kind) or (0, 0)
    assert len(source.warm_ranges(kind, warm_entries)) == 1
    assert_edges(source, kind, warm_entries, range(low, high + 1, 1 if kind == OFFSET else 13))


@pytest.fixture(scope="module")
def segments(clean) -> LookupSource:
    """Returns four segments of a 4.3.1 broker with an index and a warm section each."""
    log = view_partition(open_broker(clean).partition("heartbeat-0"))
    times = [segment.largest_timestamp_ms for segment in log.segments]
    first_ms = int(log.segments[0].time_slots["timestamp_ms"][0])
    return replace(
        lookup_cache.practice_source("five"),
        log=log,
        first_offset=log.log_start_offset,
        last_offset=39_999,
        first_ms=first_ms,
        last_ms=max(times),
    )


@pytest.mark.parametrize("kind", [OFFSET, TIMESTAMP])
@pytest.mark.parametrize("warm_entries", [16, 1024])
def test_each_segment_has_a_range(segments, kind, warm_entries):
    """At its end, or all of it from its first key on."""
    low, high = segments.span(kind) or (0, 0)
    assert len(segments.warm_ranges(kind, warm_entries)) == len(segments.log.segments)
    assert_edges(segments, kind, warm_entries, range(low, high + 1, (high - low) // 50))
