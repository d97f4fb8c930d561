"""Around the steps of a lookup: the other search beside it, its target among all, why a timestamp
gave its offset, every step.
"""

import json
from typing import Any, cast

import streamlit as st

from kafkaviz import units
from kafkaviz.figures import lookup_lanes, probe_histogram, stepper
from kafkaviz.figures import why_offset as why_figure
from kafkaviz.figures.lookup_lanes import LanesView
from kafkaviz.figures.lookup_made import Made
from kafkaviz.search.consumer import Record
from kafkaviz.search.lookup_object import as_object
from kafkaviz.search.profile import SearchProfile
from kafkaviz.ui import charts, choice, parts, state
from kafkaviz.ui.components import stepper as components
from kafkaviz.ui.lookup import releases, searched
from kafkaviz.ui.lookup.source import Source
from kafkaviz.ui.lookup.targets import TIMESTAMP
from kafkaviz.ui.pick import InPartition
from kafkaviz.ui.tables import csv_of, download, table
from kafkaviz.words import counted, say

WIDTHS = (0.555, 0.445)
COUNTS = ("probes", "pages", "headers")
WHY_COLUMNS = ("segment", "offsets", "newest", "largest", "fate")


def onward(place: InPartition, found: Made) -> None:
    """From the record that was found to its batch on the Segment page."""
    record = cast(Record, found.found.record)
    offset, position = units.group(record.offset), units.group(record.batch_position)
    label = say(
        "lookup.onward", offset=offset, segment=units.file_stem(record.segment), position=position
    )
    address = state.address(
        place.directory, place.partition.directory, record.segment, record.offset
    )
    st.space(8)
    with st.container(key="kv_onward"):
        st.page_link(
            "pages/segment.py", label=label, icon=":material/straighten:", query_params=address
        )


def below(source: Source, found: Made, by: str, of: SearchProfile, key: str) -> None:
    """Plain beside warm, and where this target stands among all."""
    st.space(32)
    left, right = st.columns(WIDTHS, gap=24)
    with left:
        components.lanes(lookup_lanes.message(cast(LanesView, lookup_lanes.view(found)), key))
    with right:
        _spread(source, found, by, of, key)


@st.fragment
def _spread(source: Source, found: Made, by: str, of: SearchProfile, key: str) -> None:
    """How many targets of this segment take as many probes, pages, headers."""
    look: dict[str, Any] = {"required": True, "label_visibility": "collapsed"}
    what = choice.ask(
        st.segmented_control,
        say("lookup.count"),
        COUNTS,
        COUNTS[0],
        state.COUNTED,
        _counts_words,
        **look,
    )
    mine = searched.costs(source, found, by, of)
    if mine is None:
        return
    other = searched.costs(source, found, by, releases.other(of))
    shown = probe_histogram.view(
        mine,
        other,
        what,
        searched.count_of(found, what),
        "millisecond" if by == TIMESTAMP else "offset",
    )
    charts.titled((key, what), probe_histogram.figure, shown, "kv_spread")
    with st.expander(say("lookup.as_table")):
        rows = probe_histogram.rows(shown)
        table((_counts_words(what), say("lookup.share"), say("lookup.other")), rows, "rrr")
        download(
            say("lookup.csv"),
            lambda: csv_of((what, "share", "other_search"), rows),
            f"{what}.csv",
            "kv_spread_csv",
        )


def _counts_words(what: str) -> str:
    """What is counted."""
    return say(f"lookup.count_{what}")


def why(source: Source, found: Made, of: SearchProfile, key: str) -> None:
    """The whole partition, and where the target meets it."""
    shown = searched.why(source, found, of)
    st.space(32)
    parts.heading(say("lookup.why"))
    st.space(10)
    with st.container(key="kv_fig_why"):
        charts.titled(key, why_figure.figure, shown, "kv_why")
        st.html(
            "".join(
                f"<p>{parts.escape(note)}</p>" for note in shown.notes or [say("lookup.why_same")]
            )
        )
    st.space(8)
    table([say(f"lookup.why_{name}") for name in WHY_COLUMNS], shown.rows, "lllll")
    download(say("lookup.csv"), lambda: csv_of(WHY_COLUMNS, shown.rows), "why.csv", "kv_why_csv")


def every_step(shown: stepper.StepperView, found: Made) -> None:
    """Every step as a row, to read and to take along."""
    st.space(16)
    with st.expander(counted("lookup.n_steps", len(shown.steps), n=units.group(len(shown.steps)))):
        rows = [
            (str(number), say(f"lookup.phase_{step.phase}"), step.text)
            for number, step in enumerate(shown.steps, 1)
        ]
        table((say("lookup.step"), say("lookup.phase"), say("lookup.what_happens")), rows, "lll")
        with st.container(horizontal=True):
            kept = [(number, step.phase, step.text) for number, step in enumerate(shown.steps, 1)]
            download(
                say("lookup.steps_csv"),
                lambda: csv_of(("step", "phase", "text"), kept),
                "lookup.csv",
                "kv_steps_csv",
            )
            if found.found.choices:
                data = lambda: json.dumps(as_object(found.found), indent=2)  # noqa: E731 - the button calls it on click
                look: dict[str, Any] = {
                    "on_click": "ignore",
                    "type": "tertiary",
                    "icon": ":material/download:",
                }
                st.download_button(
                    say("lookup.lookup_json"),
                    data,
                    "lookup.json",
                    "application/json",
                    key="kv_lookup_json",
                    **look,
                )
