"""Lookups and their steps, kept between reruns.

A lookup searches as one of the three Kafka releases in `VERSIONS` does. The warm section of the
index has Kafka's size, except in lessons, which use a smaller one.
"""

from dataclasses import replace

import streamlit as st

from kafkaviz import messages, versions
from kafkaviz.analysis.inferred_release import assume_release
from kafkaviz.analysis.lookup import lookup_source, search_race, why_offset
from kafkaviz.analysis.lookup.lookup_source import KAFKAS_WARM, TIMESTAMP, LookupSource
from kafkaviz.analysis.lookup.search_race import SearchRace
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.cache.lookup_sources import SOURCE_HASH_FUNCS
from kafkaviz.app.cache.segment_cache import HASH_FUNCS
from kafkaviz.errors import KafkavizError
from kafkaviz.figures.lookup import LookupContext, stepper
from kafkaviz.figures.lookup import search_race as race_figure
from kafkaviz.figures.lookup import why_offset as why_figure
from kafkaviz.figures.lookup.stepper import StepperView
from kafkaviz.figures.lookup.why_offset import OffsetExplanationView
from kafkaviz.messages import language
from kafkaviz.search import index
from kafkaviz.search.fetch import READ_UNCOMMITTED, Bounds, find_bounds
from kafkaviz.search.log_view import LogView
from kafkaviz.search.lookup import Lookup, by_offset, by_timestamp
from kafkaviz.versions import PLAIN, WARM, SearchProfile

VERSIONS = {versions.NEWEST: "newest", "3.9": "middle", "2.0": "oldest"}
# the behaviour that distinguishes each release from the next older one
FIRST_BEHAVIOURS = {versions.NEWEST: versions.BASE_OFFSET_SCAN, "3.9": versions.WARM_SEARCH}


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
        return next(
            (name for name, behaviour in FIRST_BEHAVIOURS.items() if behaviour.applies_to(release)),
            "2.0",
        )
    except KafkavizError:
        return None


def release_profile(version: str, warm_entries: int, target_kind: str) -> SearchProfile:
    """Returns the search profile of a release: how the release searches an index.

    Args:
        warm_entries: the number of entries in the warm section of the index. KAFKAS_WARM: as many
            as fit into Kafka's 8 KiB.
    """
    search_profile = versions.search_profile(version)
    if warm_entries == KAFKAS_WARM:
        return search_profile
    return replace(
        search_profile, warm_bytes=lookup_source.warm_section_bytes(warm_entries, target_kind)
    )


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
    result = (
        _search_keys(source.log, target_kind, target, search_profile)
        if source.is_index_only
        else _look_up(source, target_kind, target, search_profile, isolation)
    )
    return LookupContext(
        result=result,
        log=source.log,
        batches=source.batches,
        records=source.records,
        page_bytes=lookup_source.drawn_page_bytes(search_profile.warm_bytes, target_kind),
        is_index_alone=source.is_index_only,
        lagging_target=lagging_target,
    )


def _search_keys(
    log: LogView, target_kind: str, target: int, search_profile: SearchProfile
) -> Lookup:
    is_time = target_kind == TIMESTAMP
    find = index.find_time if is_time else index.find_offset
    searches = (find(log.segments[0], target, search_profile),)
    return Lookup(
        partition=log.name,
        profile=search_profile,
        bounds=Bounds(0, 0, 0, 0, 0),
        choices=(),
        searches=searches,
        scans=(),
        record=None,
        answer=None,
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
    """Returns `payload` with each search's index pages. Each page is marked as in memory or not."""
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
