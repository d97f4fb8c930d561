"""The topic-partitions of both sides: a map, a table, and the files that changed in between."""

from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from kafkaviz import units
from kafkaviz.app import page_state
from kafkaviz.app.frame import pages
from kafkaviz.app.state import page_location
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.widgets import charts, elements, tables
from kafkaviz.figures.comparison import partition_map
from kafkaviz.figures.text.comparison_text import offsets_text, outcome_text
from kafkaviz.messages import render, say

if TYPE_CHECKING:
    from kafkaviz.analysis.comparison.comparison import BrokerComparison, PartitionComparison
    from kafkaviz.analysis.comparison.start_changes import StartComparison

ROW_PX = 31
HEAD_PX = 33
TABLE_ROWS = 14
MAX_CHANGES = 400
MAX_PAPER_ROWS = 400
COLUMNS = (  # the message keys of the headings
    "common.topic_partition",
    "compare.column_relation",
    "compare.column_offsets_a",
    "compare.column_offsets_b",
    "compare.relation_only_in_a",
    "compare.relation_only_in_b",
    "compare.column_drops_b",
    "compare.column_drops_a",
)


def render_partition_map(location: Location, comparison: "BrokerComparison") -> None:
    """Draws the map. A click on a row opens that topic-partition below."""
    with st.container(key="kv_fig_compared"):
        head = st.container()
        middle = st.container()
        foot = st.container(horizontal=True)
        page = _choose_page(foot, len(comparison.partitions))
        view = partition_map.view(comparison, page)
        with head:
            elements.figure_head(view.title, view.caption)
        foot.html(
            elements.key(
                (swatch, say(f"compare.key_{kind}"))
                for kind, swatch in (("both", "closed"), ("alone", "scan"), ("other", "torn"))
            )
        )
        with middle:
            event = charts.plot(
                partition_map.figure(view, charts.mode()),
                f"kv_compared_map_{page}",
                view.alt,
                on_select="rerun",
                selection_mode="points",
            )
    if event.selection.points:
        _open(location, event.selection.points[0]["customdata"])


def _choose_page(foot: Any, count: int) -> int:
    """Draws the page control, if there are several pages, and returns the page, from 0."""
    page_count = -(-count // partition_map.ROWS_PER_PAGE)
    if page_count <= 1:
        return 0
    return foot.pagination(page_count, key=page_state.ROWS, bind="query-params") - 1


def render_partition_table(location: Location, comparison: "BrokerComparison") -> None:
    """Draws one row per topic-partition. Selecting a row opens it above."""
    elements.heading(say("compare.table"), say("compare.table_below"))
    st.space(8)
    partitions = comparison.worst_first
    heads = [say(key) for key in COLUMNS]
    rows = [_table_row(partition) for partition in partitions]
    with st.container(key="kv_table", gap=None):
        event = st.dataframe(
            # ty: ignore[invalid-argument-type] - pandas' type of a sequence admits no list
            pd.DataFrame(rows, columns=heads),
            hide_index=True,
            height=min(TABLE_ROWS, len(partitions)) * ROW_PX + HEAD_PX,
            row_height=ROW_PX,
            key="kv_compared_table",
            placeholder=units.MISSING,
            on_select="rerun",
            selection_mode="single-row",
            alt=say("compare.table_alt", count=units.format_count(len(partitions))),
        )
        elements.hidden_count("common.more_scroll", len(rows) - TABLE_ROWS)
    with st.container(key="kv_paper_rows"):  # for print, because paper cannot scroll
        tables.table(
            heads,
            (
                [cell if isinstance(cell, str) else units.format_count(cell) for cell in row]
                for row in rows[:MAX_PAPER_ROWS]
            ),
            "llllrrrr",
        )
        elements.hidden_count("common.n_more", len(rows) - MAX_PAPER_ROWS)
    if event.selection.rows:
        _open(location, partitions[event.selection.rows[0]].partition)


def _table_row(comparison: "PartitionComparison") -> list[str | int | None]:
    offsets = [
        render(offsets_text(replica, units.format_count)) if replica else None
        for replica in comparison.replicas
    ]
    drops = [walk.drop_count for walk in comparison.truncations or ()] or [None, None]
    return [
        units.escape_controls(comparison.partition),
        partition_map.describe_row(comparison),
        *offsets,
        *(records.records for records in comparison.only_in),
        *drops,
    ]


def _open(location: Location, partition: str) -> None:
    parameters = page_state.address(location.directory, partition) | {
        page_state.COMPARED_DIRECTORY: page_state.parameter(page_location.compared_directory())
    }
    st.switch_page(pages()["Compare"].script, query_params=parameters)


def render_changes(start: "StartComparison") -> None:
    """Draws the files that changed between two states of the same broker directory."""
    elements.heading(say("compare.changes"), say("compare.changes_below"))
    st.space(8)
    st.html(f'<p class="kv-sm">{elements.escape(outcome_text(start))}</p>')
    if not start.changes:
        return
    heads = [
        say("common.file"),
        say("compare.column_change"),
        say("segment.size_bytes"),
        say("compare.column_foretold"),
    ]
    tables.table(
        heads,
        (
            [
                change.file,
                say(f"comparison.change_{change.kind.value.replace('-', '_')}"),
                say(
                    "compare.sizes",
                    before=units.format_count(change.sizes[0]),
                    after=units.format_count(change.sizes[1]),
                ),
                say("compare.what_foretold" if change.is_predicted else "compare.what_unforetold")
                if start.is_started
                else units.MISSING,
            ]
            for change in start.changes[:MAX_CHANGES]
        ),
        "clrl",
    )
    elements.hidden_count("common.n_more", len(start.changes) - MAX_CHANGES)
