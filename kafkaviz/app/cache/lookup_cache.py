"""Lookups and the sources in which they search, kept between reruns.

A source is a partition as a broker would serve it, the indexes of a segment without .log, or a
practice log of a lesson. A lookup searches like one of the Kafka releases in `VERSIONS`. The warm
section of the index has Kafka's size. For practice logs and typed keys, it may be smaller.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from operator import attrgetter

import numpy as np
import streamlit as st

from kafkaviz import messages, units, versions
from kafkaviz.analysis.inferred_release import assume_release
from kafkaviz.analysis.lookup import lookup_targets, search_race, served_log, why_offset
from kafkaviz.analysis.lookup.lookup_targets import (
    KAFKAS_WARM,
    OFFSET,
    TIMESTAMP,
    LookupRecord,
    LookupSource,
    key_column,
    searched_entry_bytes,
)
from kafkaviz.analysis.lookup.search_race import SearchRace, WarmTargets
from kafkaviz.analysis.segment import batch_table
from kafkaviz.analysis.segment.batch_table import BatchTable, table_of_rows
from kafkaviz.app.cache import segment_cache
from kafkaviz.app.cache.broker_cache import BrokerSnapshot, HashFuncs
from kafkaviz.app.cache.segment_cache import HASH_FUNCS
from kafkaviz.binary.file_view import in_memory
from kafkaviz.errors import KafkavizError
from kafkaviz.figures.lookup import LookupContext, stepper
from kafkaviz.figures.lookup import search_race as race_figure
from kafkaviz.figures.lookup import why_offset as why_figure
from kafkaviz.figures.lookup.stepper import StepperView
from kafkaviz.figures.lookup.why_offset import OffsetExplanationView
from kafkaviz.format import batch_records, offset_index
from kafkaviz.log import file
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.messages import language, render, say, say_count
from kafkaviz.render.sentences import join_sentences, to_sentence
from kafkaviz.search import index_search
from kafkaviz.search.fetch import READ_UNCOMMITTED, Bounds, find_bounds
from kafkaviz.search.log_view import LogView, SegmentView
from kafkaviz.search.lookup import Lookup, by_offset, by_timestamp
from kafkaviz.simulate import lesson_logs
from kafkaviz.simulate.lesson_logs import PracticeLog
from kafkaviz.versions import PLAIN, WARM, SearchProfile

VERSIONS = {versions.NEWEST: "newest", "3.9": "middle", "2.0": "oldest"}
# the behaviour that distinguishes each release from the next older one
FIRST_BEHAVIOURS = {versions.NEWEST: versions.BASE_OFFSET_SCAN, "3.9": versions.WARM_SEARCH}
# the names of the sources: the visitor's own log, an index of typed keys, and the practice logs
OWN_LOG = "real"
TYPED_KEYS = "keys"
PRACTICE = {
    "pages": lesson_logs.fourteen_pages,
    "full": lesson_logs.full,
    "five": lesson_logs.five,
    "twenty": lesson_logs.twenty,
}
EXAMPLE = "pages"  # an index in which plain binary search meets a cold page
SOURCES = (*PRACTICE, TYPED_KEYS)
# bytes of .log; the batches of an entire partition are read only up to this size
READ_BYTES = 256 << 20
KEPT_ROWS = 1 << 18  # batches of a partition; if it has more, only parts are kept
MAX_LABEL = 14
FEW_WARM = {"twenty": 4}  # entries of the warm section, for practice logs with a small one


SOURCE_HASH_FUNCS: HashFuncs = {LookupSource: attrgetter("key")}


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs=SOURCE_HASH_FUNCS)
def choose_targets(source: LookupSource, target_kind: str, warm_entries: int) -> WarmTargets:
    """Returns lookup targets that show how the warm section (the end of an index) works.

    `warm_entries` is the number of entries in the warm section. KAFKAS_WARM stands for Kafka's
    size: the entries that fit into 8 KiB.
    """
    return source.warm_targets(target_kind, warm_entries)


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs=SOURCE_HASH_FUNCS)
def warm_ranges(source: LookupSource, target_kind: str, warm_entries: int) -> list[tuple[int, int]]:
    return source.warm_ranges(target_kind, warm_entries)


def default_target(source: LookupSource, target_kind: str) -> int:
    """Returns the target shown first, preferably one that shows the warm section's effect."""
    target = choose_targets(source, target_kind, source.warm_entries).default
    if target is not None:
        return target
    return source.default_timestamp_ms if target_kind == TIMESTAMP else source.default_offset


def open_partition(
    snapshot: BrokerSnapshot, partition: Partition, open_segment: Segment
) -> LookupSource:
    """Returns a LookupSource for a topic-partition. Raises KafkavizError if a file is unreadable.

    The default target is in `open_segment`, the segment that the page shows.
    """
    partition_name = snapshot.broker.partition_name(partition)
    log = _log_view(snapshot, partition)
    first = open_segment.base_offset
    rows = _rows(partition, log, first)
    segment_view = next(
        (segment for segment in log.segments if segment.base_offset == first), log.segments[0]
    )
    last = int(rows.row(len(rows) - 1)["last_offset"]) if len(rows) else first
    low_ms, high_ms = rows.known_ms or (0, segment_view.largest_timestamp_ms)
    end_offset = find_bounds(log, versions.search_profile()).end_offset
    return LookupSource(
        key=f"{snapshot.key}|{partition_name!r}|{segment_cache.key(open_segment)}",
        title=_title(partition, log, segment_view),
        note=_note(log),
        log=log,
        first_offset=log.log_start_offset,
        last_offset=max(log.log_start_offset, end_offset - 1),
        first_ms=_earliest_ms(partition, low_ms),
        last_ms=max(high_ms, max(segment.max_timestamp[0] for segment in log.segments)),
        segment=segment_view,
        last_offset_of_segment=last,
        last_ms_of_segment=high_ms,
        default_offset=first + (last - first) * 3 // 8,
        default_timestamp_ms=low_ms + (high_ms - low_ms) * 3 // 8 + 1,
        batches=lambda base_offset: _rows(partition, log, base_offset),
        records=_record_reader(partition),
        times=_batch_reader(snapshot, partition, open_segment, log),
    )


def open_index_only(segment: Segment) -> LookupSource:
    """Returns a LookupSource for an .index or .timeindex that was opened without a .log.

    Raises CannotOpen if a file cannot be read.
    """
    lone_files = {OFFSET: segment.index, TIMESTAMP: segment.timeindex}
    slots_read = {OFFSET: segment.offset_slots, TIMESTAMP: segment.time_slots}
    views = {
        kind: in_memory(
            info.path.name,
            file.read(info.path, 0, len(slots_read[kind].entries) * searched_entry_bytes(kind)),
        )
        for kind, info in lone_files.items()
        if info
    }
    view = SegmentView(
        base_offset=segment.base_offset,
        log=in_memory(f"{segment.name}.log", b""),
        index=views.get(OFFSET),
        timeindex=views.get(TIMESTAMP),
    )
    log = LogView(segment.name, (view,))
    return index_only_source(segment_cache.key(segment), log, tuple(views))


def index_only_source(key: str, log: LogView, kinds: tuple[str, ...] = (OFFSET,)) -> LookupSource:
    """Returns a LookupSource for a segment that has indexes but no .log.

    `kinds` has OFFSET if there is an .index, and TIMESTAMP if there is a .timeindex.
    """
    segment = log.segments[0]
    first_offset, last_offset, default_offset = _index_targets(segment, OFFSET)
    first_ms, last_ms, default_timestamp_ms = _index_targets(segment, TIMESTAMP)
    return LookupSource(
        key=key,
        title=say_count("lookup.keys_title", len(key_column(segment, kinds[0])[0])),
        note=say("lookup.keys_note"),
        log=log,
        first_offset=min(segment.base_offset, first_offset),
        last_offset=last_offset,
        first_ms=first_ms,
        last_ms=last_ms,
        segment=segment,
        last_offset_of_segment=last_offset,
        last_ms_of_segment=last_ms,
        default_offset=default_offset,
        default_timestamp_ms=default_timestamp_ms,
        batches=lambda _base_offset: table_of_rows(np.empty(0, lesson_logs.ROW)),
        records=lambda _base_offset, _position: (),
        times=lambda _base_offset: None,
        kinds=kinds,
        is_synthetic=True,
        is_index_only=True,
    )


def _index_targets(segment: SegmentView, target_kind: str) -> tuple[int, int, int]:
    """Returns the first, the last and the default target of an index."""
    column, base = key_column(segment, target_kind)
    if not len(column):
        return base, base, base
    default = int(column[len(column) * 3 // 5]) + base + 1
    return int(column.min()) + base, int(column.max()) + base + 1, default


def _title(partition: Partition, log: LogView, segment_view: SegmentView) -> str:
    number = offset_index.count_entries(segment_view.offset_slots)
    name = units.escape_controls(partition.label)
    entries = say_count("lookup.entries", number) if number else say("lookup.no_entries")
    if len(log.segments) == 1:
        return say("lookup.place", name=name, entries=entries)
    stem = units.file_stem(segment_view.base_offset)
    return say(
        "lookup.place_among", name=name, entries=entries, segment=stem, count=len(log.segments)
    )


def _note(log: LogView) -> str:
    notes = []
    if log.start_error:
        has_unopened = served_log.has_unopened_log(log.segments)
        failed_start = served_log.describe_failed_start(log.start_error, has_unopened=has_unopened)
        notes.append(to_sentence(render(failed_start)))
    is_assumed = any(segment.has_assumed_settings for segment in log.segments)
    if recovery := served_log.describe_recovered(log.recovered_files, is_assumed=is_assumed):
        notes.append(to_sentence(render(recovery)))
    return join_sentences(notes)


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=HASH_FUNCS)
def _log_view(snapshot: BrokerSnapshot, partition: Partition) -> LogView:
    """Returns the topic-partition as a broker sees it after start-up, with recovery if needed."""
    version = default_version(snapshot)
    return served_log.open_log_view(partition, version, broker=snapshot.broker)


def _rows(partition: Partition, log: LogView, base_offset: int) -> BatchTable:
    batches = segment_cache.read(partition.segment(base_offset).with_log()).batches
    return batches.until(_end_position(log, base_offset))


def _end_position(log: LogView, base_offset: int) -> int:
    return next(
        (segment.size_bytes for segment in log.segments if segment.base_offset == base_offset), 0
    )


def _earliest_ms(partition: Partition, low_ms: int) -> int:
    first = next(iter(partition.live[0].scan(0, 1 << 16)), None)
    if first is None or not len(first) or first["base_timestamp_ms"][0] < 0:
        return low_ms
    return min(low_ms, int(first["base_timestamp_ms"][0]))


def _record_reader(partition: Partition) -> Callable[[int, int], Iterable[LookupRecord]]:
    def records(base_offset: int, position: int) -> Iterator[LookupRecord]:
        for record in partition.segment(base_offset).iterate(position):
            yield LookupRecord(record.offset, record.timestamp_ms, _label(record.key))

    return records


def _batch_reader(
    snapshot: BrokerSnapshot, partition: Partition, open_segment: Segment, log: LogView
) -> Callable[[int], BatchTable | None]:
    if partition.log_bytes > READ_BYTES:
        return lambda base_offset: (
            _rows(partition, log, base_offset) if base_offset == open_segment.base_offset else None
        )

    def times(base_offset: int) -> BatchTable | None:
        rows = _all_batches(snapshot, partition).get(base_offset)
        return None if rows is None else rows.until(_end_position(log, base_offset))

    return times


@st.cache_resource(max_entries=4, show_spinner=False, hash_funcs=HASH_FUNCS)
def _all_batches(snapshot: BrokerSnapshot, partition: Partition) -> dict[int, BatchTable]:
    kept_rows = KEPT_ROWS // len(partition.live)
    return {segment.base_offset: batch_table.read(segment, kept_rows) for segment in partition.live}


def _label(key: bytes | None) -> str:
    text = (key or b"")[: 4 * MAX_LABEL].decode("utf-8", "replace")
    return text[:MAX_LABEL] if text.isprintable() else ""


def practice_source(name: str) -> LookupSource:
    practice_log, table = _practice(name)
    rows = practice_log.batches

    def records(_base_offset: int, position: int) -> list[LookupRecord]:
        row = rows[np.searchsorted(rows["position"], position)]
        batch = batch_records.read_batch(lesson_logs.batch_bytes(row, practice_log.apart_ms))
        return [LookupRecord(record.offset, record.timestamp_ms) for record in batch]

    return LookupSource(
        key=name,
        title=say(f"lookup.{name}_title"),
        note=say(f"lookup.{name}_note"),
        log=practice_log.log,
        first_offset=0,
        last_offset=int(rows["last_offset"][-1]),
        first_ms=int(rows["max_timestamp_ms"][0]),
        last_ms=int(rows["max_timestamp_ms"][-1]),
        segment=practice_log.log.segments[0],
        last_offset_of_segment=int(rows["last_offset"][-1]),
        last_ms_of_segment=int(rows["max_timestamp_ms"][-1]),
        default_offset=practice_log.offset,
        default_timestamp_ms=practice_log.timestamp_ms,
        batches=lambda _base_offset: table,
        records=records,
        times=lambda _base_offset: table,
        is_synthetic=True,
        warm_entries=FEW_WARM.get(name, KAFKAS_WARM),
    )


@st.cache_resource(show_spinner=False)
def _practice(name: str) -> tuple[PracticeLog, BatchTable]:
    practice_log = PRACTICE[name]()
    return practice_log, table_of_rows(practice_log.batches)


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=HASH_FUNCS)
def default_version(snapshot: BrokerSnapshot) -> str:
    """Returns the release inferred from the directory, used until the reader chooses one."""
    return assume_release(snapshot.broker).version


def equivalent_version(version: str) -> str | None:
    """Returns the release in `VERSIONS` that searches like `version`: "3.9" for "3.6".

    "plain" (the old search) becomes "2.0". "warm" (warm section first) becomes the newest
    release. Returns None for any other text.
    """
    if version in (PLAIN, WARM):
        return "2.0" if version == PLAIN else versions.NEWEST
    try:
        release = versions.parse(version)
    except KafkavizError:
        return None
    names = (name for name, behaviour in FIRST_BEHAVIOURS.items() if behaviour.applies_to(release))
    return next(names, "2.0")


def release_profile(version: str, warm_entries: int, target_kind: str) -> SearchProfile:
    """Returns how a release searches an index. See `choose_targets` for `warm_entries`."""
    search_profile = versions.search_profile(version)
    if warm_entries == KAFKAS_WARM:
        return search_profile
    warm_bytes = lookup_targets.warm_section_bytes(warm_entries, target_kind)
    return replace(search_profile, warm_bytes=warm_bytes)


def lookup_context(
    source: LookupSource,
    target_kind: str,
    target: int,
    search_profile: SearchProfile,
    isolation: str = READ_UNCOMMITTED,
    *,
    lagging_target: int | None = None,
) -> LookupContext:
    """Runs a lookup. Returns the lookup with the values that its figures show.

    Raises:
        FailedBounds: the end of the log cannot be found.
        CorruptFile: the lookup needs bytes that kafkaviz refuses to read.
    """
    if source.is_index_only:
        result = _search_keys(source.log, target_kind, target, search_profile)
    else:
        result = _look_up(source, target_kind, target, search_profile, isolation)
    return LookupContext(
        result=result,
        log=source.log,
        batches=source.batches,
        records=source.records,
        page_bytes=lookup_targets.drawn_page_bytes(search_profile.warm_bytes, target_kind),
        is_index_only=source.is_index_only,
        lagging_target=lagging_target,
    )


def _search_keys(
    log: LogView, target_kind: str, target: int, search_profile: SearchProfile
) -> Lookup:
    is_time = target_kind == TIMESTAMP
    find = index_search.find_time if is_time else index_search.find_offset
    searches = (find(log.segments[0], target, search_profile),)
    return Lookup(
        partition=log.name,
        profile=search_profile,
        bounds=Bounds(0, 0, 0, 0, 0),
        choices=(),
        searches=searches,
        offset=None if is_time else target,
        timestamp_ms=target if is_time else None,
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
    look_up = by_timestamp if target_kind == TIMESTAMP else by_offset
    return look_up(source.log, target, search_profile, isolation, bounds)


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs=SOURCE_HASH_FUNCS)
def _bounds(source: LookupSource, version: str, isolation: str) -> Bounds:
    return find_bounds(source.log, versions.search_profile(version), isolation)


def steps(context: LookupContext, key: str) -> tuple[StepperView, dict]:
    """Returns a lookup's steps as a view, and as JSON for the browser."""
    return _steps(key, language(), context)


@st.cache_resource(max_entries=64, show_spinner=False)
def _steps(key: str, language_code: str, _context: LookupContext) -> tuple[StepperView, dict]:
    view = stepper.view(_context)
    return view, stepper.browser_payload(view, _context, key)


def race_payload(context: LookupContext, key: str) -> dict:
    """Returns the comparison of plain and warm search as JSON. {} for an empty index."""
    race = next(iter(_races(key, context)), None)
    if race is None:
        return {}
    first = context.result.searches[0]
    segment = context.find_segment(first.base_offset)
    before = search_race.race_without_last_entry(segment, first.slot_search.target, race)
    # without a legend, because the page draws one above the race
    return race_figure.browser_payload(race_figure.views(race, before), key) | {"legend": None}


def memory_payload(context: LookupContext, key: str, payload: dict) -> dict:
    """Returns `payload` with the index pages of each search. Pages in memory are marked."""
    is_warm = context.result.profile.is_warm
    # the number after the dot is the lane in the race: 0 is plain binary search, 1 is
    # warm-section-first
    memories = [
        race and race_figure.memory_payload(race, is_warm=is_warm, name=f"{number}.{int(is_warm)}")
        for number, race in enumerate(_races(key, context))
    ]
    searches = [
        search | {"memory": memory}
        for search, memory in zip(payload["searches"], memories, strict=True)
    ]
    first_probe = next((n for n, step in enumerate(payload["steps"]) if step["probes"]), 0)
    words = {"searches": searches, "race_words": messages.table("search_race")}
    return payload | race_figure.disks_payload() | words | {"begin": first_probe}


@st.cache_resource(max_entries=64, show_spinner=False)
def _races(key: str, _context: LookupContext) -> tuple[SearchRace | None, ...]:
    races = (
        search_race.race(
            _context.find_segment(search.base_offset),
            search.kind,
            search.slot_search.target,
            warm_bytes=_context.result.profile.warm_bytes,
            page_bytes=_context.page_bytes,
            lagging_target=_context.lagging_target,
        )
        for search in _context.result.searches
    )
    return tuple(race if race.entries else None for race in races)


def explain_offset(
    source: LookupSource, context: LookupContext, search_profile: SearchProfile
) -> OffsetExplanationView:
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
