"""The tabs below the ruler: batches, index and time index around the pin, and bytes."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from kafkaviz import units
from kafkaviz.analysis.segment.anatomy import Anatomy
from kafkaviz.app import page_state
from kafkaviz.app.pages.segment import bytes_tab
from kafkaviz.app.pages.segment.head import current_pin
from kafkaviz.app.state.page_location import PartitionLocation
from kafkaviz.app.widgets import elements, segment_widgets
from kafkaviz.app.widgets.tables import download
from kafkaviz.figures.segment import segment_tables
from kafkaviz.figures.segment.segment_tables import PinnedRow
from kafkaviz.figures.text import segment_text
from kafkaviz.log.segment import Index
from kafkaviz.messages import say, say_count

# their words in the address
BATCHES = "Batches"
INDEX = "Index"
TIMES = "Time index"


def tab_names() -> dict[str, str]:
    """Returns the labels of the tabs, by their words in the address."""
    names = {
        BATCHES: "common.batches",
        INDEX: "segment.tab_index",
        TIMES: "segment.tab_times",
        bytes_tab.TAB: "segment.bytes_heading",
    }
    return {word: say(key) for word, key in names.items()}


def render_tables(location: PartitionLocation, anatomy: Anatomy) -> None:
    pin = current_pin(anatomy)
    counts = len(anatomy.batches), len(anatomy.index.entries), len(anatomy.times.entries)
    elements.tab_counts(page_state.TAB, counts)
    batches, index, times, raw_bytes = st.tabs(
        list(tab_names().values()), key=page_state.TAB, on_change="rerun"
    )
    with batches:
        st.html(segment_widgets.batches_html(segment_tables.batch_rows(anatomy, pin)))
        _render_download(
            location,
            anatomy,
            "batches",
            say_count("segment.download_batches", counts[0]),
        )
    with index:
        _render_index(location, anatomy, pin)
    with times:
        _render_time_index(location, anatomy, pin)
    if raw_bytes.open:
        with raw_bytes:
            bytes_tab.render_pin_bytes(location, anatomy, pin)


def _render_index(location: PartitionLocation, anatomy: Anatomy, pin: PinnedRow) -> None:
    if _has_entries(anatomy, "index", anatomy.index, segment_text.no_entry_reason):
        st.html(segment_widgets.index_html(segment_tables.index_rows(anatomy, pin)))
        _render_download(location, anatomy, "index", _entries_label(len(anatomy.index.entries)))


def _render_time_index(location: PartitionLocation, anatomy: Anatomy, pin: PinnedRow) -> None:
    if _has_entries(anatomy, "timeindex", anatomy.times, segment_text.no_time_reason):
        rows = segment_tables.time_rows(anatomy, pin, segment_text.closing_event(anatomy))
        st.html(segment_widgets.time_index_html(rows))
        _render_download(location, anatomy, "timeindex", _entries_label(len(anatomy.times.entries)))


def _has_entries(
    anatomy: Anatomy, kind: str, index: Index, describe_reason: Callable[[Anatomy], str]
) -> bool:
    """Returns whether an index file has entries. If not, draws a notice with the reason."""
    if getattr(anatomy.segment, kind) is None:
        with elements.state(
            f"no_{kind}",
            "warning",
            say("segment.no_file", file=f".{kind}"),
            say(f"segment.without_{kind}"),
        ):
            return False
    if not len(index.entries):
        with elements.empty(
            kind, say("segment.no_entry", file=f".{kind}"), describe_reason(anatomy)
        ):
            return False
    return True


def _entries_label(count: int) -> str:
    return say_count("segment.download_entries", count)


def _render_download(location: PartitionLocation, anatomy: Anatomy, table: str, label: str) -> None:
    name = (
        f"{units.escape_controls(location.partition.directory)}-{anatomy.segment.name}-{table}.csv"
    )
    download(label, partial(segment_tables.csv_bytes, anatomy, table), name, f"kv_csv_{table}")
