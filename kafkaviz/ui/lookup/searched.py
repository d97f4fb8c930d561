"""A lookup, kept between reruns; what all other targets would have cost, and why a timestamp gave
its offset.
"""

import streamlit as st

from kafkaviz.analyse import cost, why_offset
from kafkaviz.analyse.cost import HEADERS, PROBES, Costs
from kafkaviz.figures import why_offset as why_figure
from kafkaviz.figures.lookup_made import Made
from kafkaviz.figures.why_offset import WhyView
from kafkaviz.search import index, slots
from kafkaviz.search.bounds import READ_UNCOMMITTED, Bounds, bounds_of
from kafkaviz.search.index import ENTRY_BYTES
from kafkaviz.search.lookup import Lookup, by_offset, by_timestamp
from kafkaviz.search.profile import SearchProfile, profile
from kafkaviz.search.served import ServedLog, ServedSegment
from kafkaviz.ui.lookup.releases import page_bytes
from kafkaviz.ui.lookup.source import Source
from kafkaviz.ui.lookup.targets import TIMESTAMP
from kafkaviz.words import language


def made(
    source: Source, by: str, target: int, of: SearchProfile, isolation: str = READ_UNCOMMITTED
) -> Made:
    """The lookup and what is drawn around it.

    Raises CorruptFile where the way leads into damage.
    """
    found = (
        _in_keys(source.log, target, of)
        if source.is_alone
        else _looked_up(source.key, by, target, of, isolation, source.log)
    )
    return Made(
        found, source.log, source.batches, source.records, page_bytes(of, by), source.is_alone
    )


def _in_keys(log: ServedLog, target: int, of: SearchProfile) -> Lookup:
    """A search in an index that has no log."""
    searches = (index.find_offset(log.segments[0], target, of),)
    return Lookup(log.name, of, Bounds(0, 0, 0, 0, 0), (), searches, (), None, None, offset=target)


@st.cache_data(max_entries=64, show_spinner=False)
def _looked_up(
    key: str, by: str, target: int, of: SearchProfile, isolation: str, _log: ServedLog
) -> Lookup:
    bounds = _bounds(key, of.version, isolation, _log)
    return (by_timestamp if by == TIMESTAMP else by_offset)(_log, target, of, isolation, bounds)


@st.cache_resource(max_entries=32, show_spinner=False)
def _bounds(key: str, version: str, isolation: str, _log: ServedLog) -> Bounds:
    return bounds_of(_log, profile(version), isolation)


def chosen(found: Made) -> ServedSegment | None:
    """The first segment that was searched."""
    if found.found.scans:
        return found.segment(found.found.scans[0].segment)
    if not found.found.searches:
        return None
    return next(
        (found.segment(one.base_offset) for one in found.found.choices if one.chosen),
        found.log.segments[0],
    )


def costs(source: Source, found: Made, by: str, of: SearchProfile) -> Costs | None:
    """Of all targets of the segment that was searched."""
    segment = chosen(found)
    return _costs(source.key, segment.base_offset, by, of, found) if segment else None


@st.cache_resource(max_entries=32, show_spinner=False)
def _costs(key: str, base_offset: int, by: str, of: SearchProfile, _found: Made) -> Costs | None:
    segment, rows = _found.segment(base_offset), _found.batches(base_offset)
    if by == TIMESTAMP:
        return cost.of_timestamps(segment, rows, of, _found.page_bytes)
    return cost.of_offsets(segment, rows, of, _found.page_bytes)


def why(source: Source, found: Made, of: SearchProfile) -> WhyView:
    """Why a timestamp gave this offset."""
    return _why(source.key, found.target, of, found.found.bounds, language(), source, found)


@st.cache_data(max_entries=32, show_spinner=False)
def _why(
    key: str,
    target_ms: int,
    of: SearchProfile,
    bounds: Bounds,
    spoken: str,
    _source: Source,
    _found: Made,
) -> WhyView:
    return why_figure.view(why_offset.why(_found.found, _found.log, _source.times, _source.records))


def count_of(found: Made, what: str) -> int:
    """How many probes, pages or headers this lookup takes, counted as `costs` counts."""
    if what == HEADERS:
        return len({read.position for scan in found.found.scans[:1] for read in scan.reads})
    first = found.found.searches[0]
    touched = (
        slots.pages_of(probe.slot, ENTRY_BYTES[first.kind], found.page_bytes)
        for probe in first.found.probes
    )
    return (
        len(first.found.probes)
        if what == PROBES
        else len({page for pages in touched for page in pages})
    )
