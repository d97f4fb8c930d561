"""A lookup, kept between reruns; what all other targets would have cost, and why a timestamp gave
its offset.
"""

import streamlit as st

from kafkaviz.analysis import cost, why_offset
from kafkaviz.analysis.cost import HEADERS, PROBES, LookupCounts
from kafkaviz.app.pages.lookup.releases import page_bytes
from kafkaviz.app.pages.lookup.source import LookupSource
from kafkaviz.app.pages.lookup.targets import TIMESTAMP
from kafkaviz.figures import why_offset as why_figure
from kafkaviz.figures.stepper.context import LookupContext
from kafkaviz.figures.why_offset import OffsetExplanationView
from kafkaviz.search import index, slots
from kafkaviz.search.bounds import READ_UNCOMMITTED, Bounds, find_bounds
from kafkaviz.search.index import ENTRY_BYTES
from kafkaviz.search.log_view import LogView, SegmentView
from kafkaviz.search.lookup import Lookup, by_offset, by_timestamp
from kafkaviz.search.profile import SearchProfile, profile
from kafkaviz.words import language


def lookup_context(
    source: LookupSource,
    target_kind: str,
    target: int,
    search_profile: SearchProfile,
    isolation: str = READ_UNCOMMITTED,
) -> LookupContext:
    """The lookup and what is drawn around it.

    Raises CorruptFile where the way leads into damage.
    """
    result = (
        _search_keys(source.log, target, search_profile)
        if source.is_index_only
        else _look_up(source.key, target_kind, target, search_profile, isolation, source.log)
    )
    return LookupContext(
        result,
        source.log,
        source.batches,
        source.records,
        page_bytes(search_profile, target_kind),
        source.is_index_only,
    )


def _search_keys(log: LogView, target: int, search_profile: SearchProfile) -> Lookup:
    """A search in an index that has no log."""
    searches = (index.find_offset(log.segments[0], target, search_profile),)
    return Lookup(
        log.name, search_profile, Bounds(0, 0, 0, 0, 0), (), searches, (), None, None, offset=target
    )


@st.cache_data(max_entries=64, show_spinner=False)
def _look_up(
    key: str,
    target_kind: str,
    target: int,
    search_profile: SearchProfile,
    isolation: str,
    _log: LogView,
) -> Lookup:
    bounds = _bounds(key, search_profile.version, isolation, _log)
    return (by_timestamp if target_kind == TIMESTAMP else by_offset)(
        _log, target, search_profile, isolation, bounds
    )


@st.cache_resource(max_entries=32, show_spinner=False)
def _bounds(key: str, version: str, isolation: str, _log: LogView) -> Bounds:
    return find_bounds(_log, profile(version), isolation)


def searched_segment(context: LookupContext) -> SegmentView | None:
    """The first segment that was searched."""
    searches = context.result.searches
    return context.find_segment(searches[0].segment) if searches else None


def costs(
    source: LookupSource, context: LookupContext, target_kind: str, search_profile: SearchProfile
) -> LookupCounts | None:
    """Of all targets of the segment that was searched."""
    segment = searched_segment(context)
    return (
        _costs(source.key, segment.base_offset, target_kind, search_profile, context)
        if segment
        else None
    )


@st.cache_resource(max_entries=32, show_spinner=False)
def _costs(
    key: str,
    base_offset: int,
    target_kind: str,
    search_profile: SearchProfile,
    _context: LookupContext,
) -> LookupCounts | None:
    segment, rows = _context.find_segment(base_offset), _context.batches(base_offset)
    if target_kind == TIMESTAMP:
        return cost.timestamp_lookup_counts(segment, rows, search_profile, _context.page_bytes)
    return cost.offset_lookup_counts(segment, rows, search_profile, _context.page_bytes)


def explain_offset(
    source: LookupSource, context: LookupContext, search_profile: SearchProfile
) -> OffsetExplanationView:
    """Why a timestamp gave this offset."""
    return _explain_offset(
        source.key,
        context.target,
        search_profile,
        context.result.bounds,
        language(),
        source,
        context,
    )


@st.cache_data(max_entries=32, show_spinner=False)
def _explain_offset(
    key: str,
    target_ms: int,
    search_profile: SearchProfile,
    bounds: Bounds,
    language_code: str,
    _source: LookupSource,
    _context: LookupContext,
) -> OffsetExplanationView:
    return why_figure.view(
        why_offset.explain_offset(_context.result, _context.log, _source.times, _source.records)
    )


def count(context: LookupContext, quantity: str) -> int:
    """How many probes, pages or headers this lookup takes, counted as `costs` counts."""
    if quantity == HEADERS:
        return len({header.position for scan in context.result.scans[:1] for header in scan.reads})
    first = context.result.searches[0]
    probe_pages = (
        slots.pages_of(probe.slot, ENTRY_BYTES[first.kind], context.page_bytes)
        for probe in first.slot_search.probes
    )
    return (
        len(first.slot_search.probes)
        if quantity == PROBES
        else len({page for pages in probe_pages for page in pages})
    )
