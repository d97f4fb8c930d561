"""The tabs below the ruler: batches, index and time index around the pin, each with the way to take
it along, and the bytes.
"""

from collections.abc import Callable

import streamlit as st

from kafkaviz import units
from kafkaviz.analyse.anatomy import Anatomy
from kafkaviz.figures import segment_tables, segment_words
from kafkaviz.figures.segment_tables import Chosen
from kafkaviz.log.segment import Index
from kafkaviz.ui import parts, segment_parts, state
from kafkaviz.ui.pick import InPartition
from kafkaviz.ui.segment import bytes_tab
from kafkaviz.ui.segment.pinned import chosen
from kafkaviz.words import counted, say

BATCHES, INDEX, TIMES = "Batches", "Index", "Time index"  # as the address has them


def tabs() -> dict[str, str]:
    """The names of the tabs, by their words in the address."""
    names = {
        BATCHES: "segment.tab_batches",
        INDEX: "segment.tab_index",
        TIMES: "segment.tab_times",
        bytes_tab.TAB: "segment.tab_bytes",
    }
    return {word: say(key) for word, key in names.items()}


def tables(place: InPartition, anatomy: Anatomy) -> None:
    """What is in the files around the pin."""
    around = chosen(place, anatomy)
    counts = len(anatomy.batches), len(anatomy.index.entries), len(anatomy.times.entries)
    parts.tab_counts(state.TAB, counts)
    batches, index, times, stored = st.tabs(list(tabs().values()), key=state.TAB, on_change="rerun")
    with batches:
        segment_parts.batches(segment_tables.batch_rows(anatomy, around))
        _download(
            place,
            anatomy,
            "batches",
            counted("segment.download_batches", counts[0], n=units.group(counts[0])),
        )
    with index:
        _index_table(place, anatomy, around)
    with times:
        _time_table(place, anatomy, around)
    if stored.open:
        with stored:
            bytes_tab.show(place, anatomy, around)


def _index_table(place: InPartition, anatomy: Anatomy, around: Chosen) -> None:
    """The .index around the slot that goes with the pin."""
    if _has_entries(anatomy, "index", anatomy.index, segment_words.no_entry):
        segment_parts.index(segment_tables.index_rows(anatomy, around))
        _download(place, anatomy, "index", _entries(len(anatomy.index.entries)))


def _time_table(place: InPartition, anatomy: Anatomy, around: Chosen) -> None:
    """The .timeindex around the slot that goes with the pin."""
    if _has_entries(anatomy, "timeindex", anatomy.times, segment_words.no_time):
        segment_parts.time_index(
            segment_tables.time_rows(anatomy, around, segment_words.closing(anatomy))
        )
        _download(place, anatomy, "timeindex", _entries(len(anatomy.times.entries)))


def _has_entries(anatomy: Anatomy, kind: str, index: Index, why: Callable[[Anatomy], str]) -> bool:
    """Whether an index file has an entry to show; where it has none, or is not there, the tab says
    so, and why.
    """
    if getattr(anatomy.segment, kind) is None:
        with parts.state(
            f"no_{kind}",
            "warning",
            say("segment.no_file", file=f".{kind}"),
            say(f"segment.without_{kind}"),
        ):
            return False
    if not len(index.entries):
        with parts.empty(kind, say("segment.no_entry", file=f".{kind}"), why(anatomy)):
            return False
    return True


def _entries(count: int) -> str:
    return counted("segment.download_entries", count, n=units.group(count))


def _download(place: InPartition, anatomy: Anatomy, table: str, label: str) -> None:
    """The whole of a table, made when it is asked for."""
    name = f"{units.legible(place.partition.directory)}-{anatomy.segment.name}-{table}.csv"
    data = lambda: segment_tables.csv(anatomy, table)  # noqa: E731 - the button calls it on click
    st.download_button(
        label,
        data,
        name,
        "text/csv",
        on_click="ignore",
        type="tertiary",
        icon=":material/download:",
        key=f"kv_csv_{table}",
    )
