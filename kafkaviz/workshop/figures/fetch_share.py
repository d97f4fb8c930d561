"""The share of a lookup in the time of a fetch, for several sizes of the response."""

from collections.abc import Iterator
from dataclasses import dataclass

import streamlit as st

from kafkaviz.analysis import tuning
from kafkaviz.analysis.cost import cost_model
from kafkaviz.analysis.cost.cost_model import Range
from kafkaviz.analysis.tuning.source import open_source
from kafkaviz.app.cache.broker_cache import HASH_FUNCS, BrokerSnapshot
from kafkaviz.app.state.page_location import SegmentLocation
from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.tables import table_html
from kafkaviz.messages import say
from kafkaviz.units import format_count, format_percent
from kafkaviz.workshop.figures import block_location
from kafkaviz.workshop.figures.figure import UNKNOWN, LessonFigure, Part
from kafkaviz.workshop.lessons.grammar import LessonBlock

LINK_BITS_PER_US = 10_000  # 10 Gbit/s
# the last one is the default of max.partition.fetch.bytes
FETCH_BYTES = (4 << 10, 64 << 10, 1 << 20)
FETCHES_PER_S = 10_000


@dataclass(frozen=True)
class FetchShare:
    """The lookups of a topic-partition and their costs.

    Attributes:
        lookup_us: the modelled mean time of a lookup of a batch's base offset in the page cache.
        headers: the batch headers that a lookup reads on average.
        cores: the cores that FETCHES_PER_S lookups keep busy.
    """

    location: SegmentLocation
    lookup_us: Range
    headers: float
    cores: Range


def _make(block: LessonBlock) -> FetchShare:
    location = block_location.locate(block)
    return _cached_share(location.snapshot, location.partition.directory, _location=location)


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=HASH_FUNCS)
def _cached_share(
    snapshot: BrokerSnapshot, directory: str, *, _location: SegmentLocation
) -> FetchShare:
    source = open_source(_location.partition.path)
    case = source.total
    costs = cost_model.lookup_costs(by_base_offset=source.by_base_offset)
    current = tuning.compute_current_cost(
        case.measurement, costs, case.today.interval_bytes, tuning.Budgets()
    )
    headers = float(current.row["headers_mean"])
    return FetchShare(_location, current.mean_us, headers, costs.cores(headers, FETCHES_PER_S))


def sending_us(size_bytes: int) -> float:
    return size_bytes * 8 / LINK_BITS_PER_US


def rows(fetch_share: FetchShare) -> Iterator[tuple[str, str, str, str]]:
    """Yields response size, lookup time, sending time, and the lookup's share of both."""
    lookup = fetch_share.lookup_us
    for size_bytes in FETCH_BYTES:
        sending = sending_us(size_bytes)
        yield (
            format_count(size_bytes),
            say("fetch_share.range", low=lookup.low, typical=lookup.typical, high=lookup.high),
            say("fetch_share.microseconds", us=sending),
            format_percent(lookup.typical, lookup.typical + sending),
        )


def _draw(fetch_share: FetchShare, block: LessonBlock, key: str) -> list[Part]:
    cores = fetch_share.cores
    text = say(
        "fetch_share.cores",
        fetches=FETCHES_PER_S,
        low=cores.low,
        typical=cores.typical,
        high=cores.high,
    )
    below = f'<p class="kv-sm">{elements.escape(text)}</p>'
    return [*_parts(fetch_share, block, [*rows(fetch_share)]), below]


def _draw_question(fetch_share: FetchShare, block: LessonBlock, key: str) -> list[Part]:
    """Returns the sending times, with the lookups hidden."""
    cells = [(size, UNKNOWN, sending, UNKNOWN) for size, _, sending, _ in rows(fetch_share)]
    return _parts(fetch_share, block, cells)


def _parts(
    fetch_share: FetchShare, block: LessonBlock, cells: list[tuple[str, str, str, str]]
) -> list[Part]:
    caption = say(
        "fetch_share.below",
        headers=fetch_share.headers,
        partition=fetch_share.location.partition.directory,
        source=block["data"],
    )
    heads = ("head_bytes", "head_lookup", "head_sending", "head_share")
    return [
        elements.figure_head_html(say("fetch_share.title"), caption),
        table_html([say(f"fetch_share.{name}") for name in heads], cells, "rrrr"),
    ]


FETCH_SHARE = LessonFigure(_make, _draw, block_location.to_tuning, question=_draw_question)
