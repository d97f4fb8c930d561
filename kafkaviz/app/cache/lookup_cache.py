"""What a lookup looks things up in, and the lookup there, both kept between reruns.

The source is the open topic-partition as a broker would serve it, a log made for lessons, or an
index of keys that somebody typed. The lookup is that of one of the three releases of Kafka that
differ, with Kafka's warm section or, of a lesson, a smaller one.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

import numpy as np
import streamlit as st

from kafkaviz import units, versions
from kafkaviz.analysis.inference import version
from kafkaviz.analysis.inference.interval import IntervalBounds, interval_bounds
from kafkaviz.analysis.inference.version import AssumedRelease
from kafkaviz.analysis.lookup import lookups, warm_targets, why_offset
from kafkaviz.analysis.lookup.warm_targets import WarmTargets
from kafkaviz.app.cache import segment_cache
from kafkaviz.app.cache.broker_cache import BrokerSnapshot, HashFuncs
from kafkaviz.app.cache.segment_cache import HASH_FUNCS
from kafkaviz.app.state.page_location import SegmentLocation
from kafkaviz.errors import KafkavizError
from kafkaviz.figures.lookup import why_offset as why_figure
from kafkaviz.figures.lookup.why_offset import OffsetExplanationView
from kafkaviz.figures.stepper import LookupContext, LookupRecord
from kafkaviz.figures.text.join_text import join_sentences
from kafkaviz.figures.text.sentence_text import to_sentence
from kafkaviz.format import batch_records, offset_index
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import language, render, say, say_count
from kafkaviz.search import index, slots
from kafkaviz.search.fetch import READ_UNCOMMITTED, Bounds, find_bounds
from kafkaviz.search.index import ENTRY_BYTES
from kafkaviz.search.log_view import KeyColumn, LogView, SegmentView
from kafkaviz.search.lookup import Lookup, by_offset, by_timestamp
from kafkaviz.search.slots import PAGE_BYTES
from kafkaviz.simulate.lessons import practice
from kafkaviz.simulate.lessons.practice import PracticeLog
from kafkaviz.units import group
from kafkaviz.versions import PLAIN, WARM, SearchProfile

OFFSET, TIMESTAMP = "offset", "timestamp"
OWN_SET, KEYS_SET = "real", "keys"
PRACTICE = {"five": practice.five, "twenty": practice.twenty, "full": practice.full}
SETS = (*PRACTICE, KEYS_SET)
SLIDER_LIMIT = 1 << 53  # a slider of the browser counts no further
READ_BYTES = 256 << 20  # of .log, read for the times of an entire partition
MAX_LABEL = 14
MAX_KEYS = 4096
VERSIONS = {versions.NEWEST: "newest", "3.9": "middle", "2.0": "oldest"}
# 2.0 goes neither way
FIRST_BEHAVIOURS = {versions.NEWEST: versions.BASE_OFFSET_SCAN, "3.9": versions.WARM_SEARCH}
KAFKAS_WARM = slots.warm_entries(ENTRY_BYTES[index.OFFSET])  # entries of the offset index
WARM_ENTRIES = (2, 4, 8, 16, 64, 256, KAFKAS_WARM)  # to choose from for a lesson
FEW_WARM = {"twenty": 4}  # entries, of the lessons with a small warm section
SMALL_PAGE_SLOTS, SMALL_WARM = 4, 64  # slots of a page where fewer entries than that are warm


@dataclass(frozen=True)
class LookupSource:
    """Something to look things up in.

    Attributes:
        key: changes when its content does.
        first_offset, last_offset: the offsets that can be asked for.
        first_ms, last_ms: the times, None without any.
        segment: the one that is open.
        offset, timestamp_ms: a target of it to begin with where none shows the warm section.
        last_of_segment, last_ms_of_segment: the last targets that are searched in it.
        batches, records: as of figures.stepper.LookupContext.
        times: the batches of a segment as far as they may be read for a picture of the entire
            partition, else None.
    """

    key: str
    title: str
    note: str
    log: LogView
    first_offset: int
    last_offset: int
    first_ms: int | None
    last_ms: int | None
    segment: SegmentView
    last_of_segment: int
    last_ms_of_segment: int
    offset: int
    timestamp_ms: int
    batches: Callable[[int], np.ndarray]
    records: Callable[[int, int], Sequence[LookupRecord]]
    times: Callable[[int], np.ndarray | None]
    is_synthetic: bool = False
    is_index_only: bool = False
    warm_entries: int = KAFKAS_WARM

    def default(self, target_kind: str) -> int:
        """The target to begin with: one that shows what the warm section does, if any does."""
        target = choose_targets(self, target_kind, self.warm_entries).default
        if target is not None:
            return target
        return self.timestamp_ms if target_kind == TIMESTAMP else self.offset

    def warm_targets(self, target_kind: str, warm_entries: int) -> WarmTargets:
        """Targets of the open segment, with so many entries warm."""
        warm_bytes = _warm_bytes(warm_entries, target_kind)
        bounds = {segment.base_offset: targets for segment, *targets in self._searched(target_kind)}
        first, last = bounds.get(self.segment.base_offset, (0, -1))
        last_here = self.last_ms_of_segment if target_kind == TIMESTAMP else self.last_of_segment
        column, base = _key_column(self.segment, target_kind)
        return warm_targets.choose_targets(
            column.astype(np.int64) + base,
            first,
            min(last, last_here),
            _entry_bytes(target_kind),
            warm_bytes=warm_bytes,
            page_bytes=_page_bytes(warm_bytes, target_kind),
        )

    def warm_ranges(self, target_kind: str, warm_entries: int) -> list[tuple[int, int]]:
        """The targets whose search ends in the warm section of an index, a range a segment."""
        ranges = (
            warm_targets.warm_range(
                KeyColumn(*_key_column(segment, target_kind)),
                first,
                last,
                _entry_bytes(target_kind),
                warm_bytes=_warm_bytes(warm_entries, target_kind),
            )
            for segment, first, last in self._searched(target_kind)
        )
        return [targets for targets in ranges if targets]

    def _searched(self, target_kind: str) -> Iterator[tuple[SegmentView, int, int]]:
        """Each segment with the first and the last target that are looked up in it."""
        segments = self.log.segments
        if target_kind == TIMESTAMP:
            reached_ms = (self.first_ms or 0) - 1
            for segment in segments:
                if segment.largest_timestamp_ms > reached_ms:
                    yield segment, reached_ms + 1, segment.largest_timestamp_ms
                    reached_ms = segment.largest_timestamp_ms
            return
        bases = [segment.base_offset for segment in segments]
        firsts = [self.first_offset, *(max(self.first_offset, base) for base in bases[1:])]
        lasts = [*(base - 1 for base in bases[1:]), self.last_offset]
        for segment, first, last in zip(segments, firsts, lasts, strict=True):
            if first <= last:
                yield segment, first, last

    def span(self, target_kind: str) -> tuple[int, int] | None:
        """The first and last target that a slider offers.

        Returns:
            None where there are none, or too large for one.
        """
        low, high = (
            (self.first_ms, self.last_ms)
            if target_kind == TIMESTAMP
            else (self.first_offset, self.last_offset)
        )
        return (
            (low, high)
            if low is not None and high is not None and low < high < SLIDER_LIMIT
            else None
        )


SOURCE_HASH_FUNCS: HashFuncs = {LookupSource: attrgetter("key")}


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs=SOURCE_HASH_FUNCS)
def choose_targets(source: LookupSource, target_kind: str, warm_entries: int) -> WarmTargets:
    """The targets of a source at its tail and far behind.

    Args:
        warm_entries: of the offset index; a time index has as many unless they are Kafka's 8 KiB.
    """
    return source.warm_targets(target_kind, warm_entries)


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs=SOURCE_HASH_FUNCS)
def warm_ranges(source: LookupSource, target_kind: str, warm_entries: int) -> list[tuple[int, int]]:
    """The ranges of a source whose searches end in a warm section; entries as in choose_targets."""
    return source.warm_ranges(target_kind, warm_entries)


def open_partition(location: SegmentLocation) -> LookupSource:
    """The open topic-partition, its open segment first.

    Raises:
        KafkavizError: as reading it does.
    """
    partition, open_segment = location.partition, location.segment
    snapshot, directory = location.snapshot, os.fsencode(partition.directory)
    log = _log_view(snapshot, directory)
    rows = _rows(partition, log, open_segment.base_offset)
    segment_view = next(
        (segment for segment in log.segments if segment.base_offset == open_segment.base_offset),
        log.segments[0],
    )
    first, last = (
        open_segment.base_offset,
        int(rows["last_offset"][-1]) if len(rows) else open_segment.base_offset,
    )
    times = rows["max_timestamp_ms"][rows["max_timestamp_ms"] >= 0]
    low_ms, high_ms = (
        (int(times.min()), int(times.max()))
        if len(times)
        else (0, segment_view.largest_timestamp_ms)
    )
    return LookupSource(
        f"{snapshot.key}|{partition.directory!r}|{segment_cache.key(open_segment)}",
        _title(location, log, segment_view),
        _note(location, log),
        log,
        log.log_start_offset,
        _last_offset(log),
        _earliest_ms(partition, low_ms),
        max(high_ms, max(segment.max_timestamp[0] for segment in log.segments)),
        segment_view,
        last,
        high_ms,
        first + (last - first) * 3 // 8,
        low_ms + (high_ms - low_ms) * 3 // 8 + 1,
        lambda base_offset: _rows(partition, log, base_offset),
        _record_reader(partition),
        _batch_reader(location, log),
    )


def _title(location: SegmentLocation, log: LogView, segment_view: SegmentView) -> str:
    number, name = (
        offset_index.count_entries(segment_view.offset_slots),
        units.escape_controls(location.partition.label),
    )
    entries = say_count("lookup.entries", number) if number else say("lookup.no_entries")
    if len(log.segments) == 1:
        return say("lookup.place", name=name, entries=entries)
    stem = units.file_stem(segment_view.base_offset)
    return say(
        "lookup.place_among",
        name=name,
        entries=entries,
        segment=stem,
        count=group(len(log.segments)),
    )


def _note(location: SegmentLocation, log: LogView) -> str:
    bounds = _interval(location.segment.with_log())
    notes = []
    if bounds.high_bytes is not None:
        notes.append(
            say("lookup.interval", low=group(bounds.low_bytes or 0), high=group(bounds.high_bytes))
        )
    if log.start_error:
        has_unopened = lookups.has_unopened_log(log.segments)
        failed_start = lookups.describe_failed_start(log.start_error, has_unopened=has_unopened)
        notes.append(to_sentence(render(failed_start)))
    if recovery := lookups.describe_recovered(log.recovered_files):
        notes.append(to_sentence(render(recovery)))
    return join_sentences(notes)


@st.cache_data(max_entries=32, show_spinner=False, hash_funcs=HASH_FUNCS)
def _interval(segment: LogSegment) -> IntervalBounds:
    """Which index.interval.bytes fits the open segment, as far as its entries tell."""
    anatomy = segment_cache.read(segment)
    return interval_bounds(anatomy.batches, anatomy.index.entries)


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=HASH_FUNCS)
def _log_view(snapshot: BrokerSnapshot, directory: bytes) -> LogView:
    """The topic-partition as a broker has it open: where it was not stopped cleanly, as its next
    start would leave it.
    """
    return lookups.open_log_view(snapshot.broker.partition(os.fsdecode(directory)))


def _rows(partition: Partition, log: LogView, base_offset: int) -> np.ndarray:
    """The batches of a segment, as far as the log that is served reaches."""
    return _clip_batches(
        segment_cache.read(partition.segment(base_offset).with_log()).batches, log, base_offset
    )


def _clip_batches(rows: np.ndarray, log: LogView, base_offset: int) -> np.ndarray:
    end = next(
        (segment.size_bytes for segment in log.segments if segment.base_offset == base_offset), 0
    )
    return rows[: int(np.searchsorted(rows["position"] + rows["size_bytes"], end, "right"))]


def _last_offset(log: LogView) -> int:
    return max(log.log_start_offset, find_bounds(log, versions.search_profile()).end_offset - 1)


def _earliest_ms(partition: Partition, low_ms: int) -> int:
    """The time of the first record of the log, or an earlier one that is known."""
    first = next(partition.live[0].scan(0, 1 << 16).__iter__(), None)
    first_timestamps = [
        int(timestamp_ms)
        for timestamp_ms in (first["base_timestamp_ms"][:1] if first is not None else ())
        if timestamp_ms >= 0
    ]
    return min([low_ms, *first_timestamps])


def _record_reader(partition: Partition) -> Callable[[int, int], Sequence[LookupRecord]]:
    def records(base_offset: int, position: int) -> list[LookupRecord]:
        return [
            LookupRecord(record.offset, record.timestamp_ms, _label(record.key))
            for record in partition.segment(base_offset).records(position)
        ]

    return records


def _batch_reader(location: SegmentLocation, log: LogView) -> Callable[[int], np.ndarray | None]:
    partition = location.partition
    if partition.log_bytes > READ_BYTES:
        return lambda base_offset: (
            _rows(partition, log, base_offset)
            if base_offset == location.segment.base_offset
            else None
        )

    def times(base_offset: int) -> np.ndarray | None:
        batches = _all_batches(location.snapshot, os.fsencode(partition.directory))
        rows = batches.get(base_offset)
        return None if rows is None else _clip_batches(rows, log, base_offset)

    return times


@st.cache_resource(max_entries=4, show_spinner=False, hash_funcs=HASH_FUNCS)
def _all_batches(snapshot: BrokerSnapshot, directory: bytes) -> dict[int, np.ndarray]:
    partition = snapshot.broker.partition(os.fsdecode(directory))
    return {segment.base_offset: segment.batches() for segment in partition.live}


def _label(key: bytes | None) -> str:
    text = (key or b"")[: 4 * MAX_LABEL].decode("utf-8", "replace")
    return text[:MAX_LABEL] if text.isprintable() else ""


def practice_source(name: str) -> LookupSource:
    """A log made for lessons, by its name in PRACTICE."""
    practice_log, title, note = (
        _practice(name),
        say(f"lookup.{name}_title"),
        say(f"lookup.{name}_note"),
    )
    rows = practice_log.batches

    def records(base_offset: int, position: int) -> list[LookupRecord]:
        row = rows[np.searchsorted(rows["position"], position)]
        return [
            LookupRecord(record.offset, record.timestamp_ms)
            for record in batch_records.read_batch(practice.batch_bytes(row, practice_log.apart_ms))
        ]

    return LookupSource(
        name,
        title,
        note,
        practice_log.log,
        0,
        int(rows["last_offset"][-1]),
        int(rows["max_timestamp_ms"][0]),
        int(rows["max_timestamp_ms"][-1]),
        practice_log.log.segments[0],
        int(rows["last_offset"][-1]),
        int(rows["max_timestamp_ms"][-1]),
        practice_log.offset,
        practice_log.timestamp_ms,
        lambda _base_offset: rows,
        records,
        lambda _base_offset: rows,
        is_synthetic=True,
        warm_entries=FEW_WARM.get(name, KAFKAS_WARM),
    )


@st.cache_resource(show_spinner=False)
def _practice(name: str) -> PracticeLog:
    return PRACTICE[name]()


def keys_source(keys: Sequence[int]) -> LookupSource:
    """An index of these keys, without a log."""
    title = say_count("lookup.keys_title", len(keys))
    low, high = (min(keys), max(keys)) if keys else (0, 0)
    log = practice.log_of_keys(keys)
    return LookupSource(
        f"keys {' '.join(map(str, keys))}",
        title,
        say("lookup.keys_note"),
        log,
        min(0, low),
        high + 1,
        None,
        None,
        log.segments[0],
        high + 1,
        0,
        keys[len(keys) * 3 // 5] + 1 if keys else 0,
        0,
        lambda _base_offset: np.empty(0, practice.ROW),
        lambda _base_offset, _position: (),
        lambda _base_offset: None,
        is_synthetic=True,
        is_index_only=True,
    )


def parse_keys(text: str) -> list[int]:
    """The whole numbers of a line.

    Raises:
        ValueError: says in words what is no number, too large for an index, or too much.
    """
    parts = re.split(r"[\s,;]+", text.strip()) if text.strip() else []
    for part in parts:
        if not re.fullmatch(r"-?\d{1,10}", part) or abs(int(part)) >= 1 << 31:
            raise ValueError(say("lookup.no_key", said=part[:20]))
    if len(parts) > MAX_KEYS:
        raise ValueError(say_count("lookup.many_keys", len(parts), most=group(MAX_KEYS)))
    return [int(part) for part in parts]


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=HASH_FUNCS)
def assume_release(snapshot: BrokerSnapshot) -> AssumedRelease:
    """The release that the open directory looks like."""
    return version.assume_release(snapshot.broker)


def equivalent_version(version: str) -> str | None:
    """Which of VERSIONS searches as this one does: 3.9 for 3.6.

    Also plain and warm are taken.

    Returns:
        None for what is no release.
    """
    if version in (PLAIN, WARM):
        return "2.0" if version == PLAIN else versions.NEWEST
    try:
        release = versions.parse(version)
        return next(
            (name for name, behaviour in FIRST_BEHAVIOURS.items() if behaviour.applies_to(release)),
            "2.0",
        )
    except KafkavizError:
        return None


def release_profile(version: str, warm_entries: int, target_kind: str) -> SearchProfile:
    """What a release does.

    Args:
        warm_entries: of the index that is searched first, Kafka's are 8 KiB of them.
    """
    search_profile = versions.search_profile(version)
    if warm_entries == KAFKAS_WARM:
        return search_profile
    return replace(search_profile, warm_bytes=_warm_bytes(warm_entries, target_kind))


def _warm_bytes(warm_entries: int, target_kind: str) -> int:
    """Kafka's are 8 KiB of either index."""
    if warm_entries == KAFKAS_WARM:
        return versions.WARM_BYTES
    return warm_entries * _entry_bytes(target_kind)


def warm_entries(search_profile: SearchProfile, target_kind: str) -> int:
    """How many entries a search has as warm, counted as WARM_ENTRIES are."""
    if search_profile.warm_bytes == versions.WARM_BYTES:
        return KAFKAS_WARM
    return search_profile.warm_bytes // _entry_bytes(target_kind)


def _key_column(segment: SegmentView, target_kind: str) -> tuple[np.ndarray, int]:
    """What the index that is searched first is sorted by, and what is added to each value."""
    if target_kind == TIMESTAMP:
        return segment.time_slots["timestamp_ms"], 0
    return segment.offset_slots["relative_offset"], segment.base_offset


def _page_bytes(warm_bytes: int, target_kind: str) -> int:
    """The pages that are drawn: 4 KiB, or of a lesson with a small warm section four slots."""
    return (
        SMALL_PAGE_SLOTS * _entry_bytes(target_kind)
        if warm_bytes < SMALL_WARM * ENTRY_BYTES[index.OFFSET]
        else PAGE_BYTES
    )


def _entry_bytes(target_kind: str) -> int:
    """Of the index that is searched first."""
    return ENTRY_BYTES[index.TIME if target_kind == TIMESTAMP else index.OFFSET]


def lookup_context(
    source: LookupSource,
    target_kind: str,
    target: int,
    search_profile: SearchProfile,
    isolation: str = READ_UNCOMMITTED,
) -> LookupContext:
    """The lookup and what is drawn around it.

    Raises:
        CorruptFile: the way leads into damage.
    """
    result = (
        _search_keys(source.log, target, search_profile)
        if source.is_index_only
        else _look_up(source, target_kind, target, search_profile, isolation)
    )
    return LookupContext(
        result,
        source.log,
        source.batches,
        source.records,
        _page_bytes(search_profile.warm_bytes, target_kind),
        source.is_index_only,
    )


def _search_keys(log: LogView, target: int, search_profile: SearchProfile) -> Lookup:
    """A search in an index that has no log."""
    searches = (index.find_offset(log.segments[0], target, search_profile),)
    return Lookup(
        log.name, search_profile, Bounds(0, 0, 0, 0, 0), (), searches, (), None, None, offset=target
    )


@st.cache_data(max_entries=64, show_spinner=False, hash_funcs=SOURCE_HASH_FUNCS)
def _look_up(
    source: LookupSource,
    target_kind: str,
    target: int,
    search_profile: SearchProfile,
    isolation: str,
) -> Lookup:
    bounds = _bounds(source, search_profile.version, isolation)
    return (by_timestamp if target_kind == TIMESTAMP else by_offset)(
        source.log, target, search_profile, isolation, bounds
    )


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs=SOURCE_HASH_FUNCS)
def _bounds(source: LookupSource, version: str, isolation: str) -> Bounds:
    return find_bounds(source.log, versions.search_profile(version), isolation)


def searched_segment(context: LookupContext) -> SegmentView | None:
    """The first segment that was searched."""
    searches = context.result.searches
    return context.find_segment(searches[0].segment) if searches else None


def explain_offset(
    source: LookupSource, context: LookupContext, search_profile: SearchProfile
) -> OffsetExplanationView:
    """Why a timestamp gave this offset."""
    return _explain_offset(
        source, context.target, search_profile, context.result.bounds, language(), context
    )


@st.cache_data(max_entries=32, show_spinner=False, hash_funcs=SOURCE_HASH_FUNCS)
def _explain_offset(
    source: LookupSource,
    target_ms: int,
    search_profile: SearchProfile,
    bounds: Bounds,
    language_code: str,
    _context: LookupContext,
) -> OffsetExplanationView:
    return why_figure.view(
        why_offset.explain_offset(_context.result, _context.log, source.times, source.records)
    )
