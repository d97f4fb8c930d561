"""The table of the topic-partitions: to sort, to filter, to take along; a row that is selected
opens.
"""

from typing import Any

import streamlit as st

from kafkaviz import units
from kafkaviz.analysis.overview import BrokerOverview, PartitionRow
from kafkaviz.app.frame import pages
from kafkaviz.app.pages.broker import partition_table
from kafkaviz.app.state import page_state
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.widgets import elements, tables
from kafkaviz.words import say, say_count

ROW_PX, HEAD_PX, TABLE_ROWS, PAPER_ROWS = 31, 33, 14, 400
COLUMNS = {  # by their names in partition_table.READS
    "name": st.column_config.TextColumn(width=158),
    "offsets": st.column_config.TextColumn(alignment="right", width=110),
    "codec": st.column_config.TextColumn(width=150),
    "newest": st.column_config.NumberColumn(alignment="left", width=150),
}


@st.fragment
def render_partition_table(location: Location, overview: BrokerOverview) -> None:
    """One row a topic-partition, to sort, to filter, to take along; a row that is selected
    opens.
    """
    filter_text, rows = _render_filter(overview)
    if not rows:
        return _render_no_match(filter_text, len(overview.partitions))
    with st.container(key="kv_table", gap=None):
        selected_row = _select_row(rows)
        _render_hidden_count("broker.more_scroll", len(rows) - TABLE_ROWS)
    _render_paper_table(rows)
    if selected_row is not None:
        st.switch_page(
            pages()["Segment"].script,
            query_params=page_state.address(location.directory, selected_row.directory),
        )


def _render_filter(overview: BrokerOverview) -> tuple[str, list[PartitionRow]]:
    """The heading, the filter and the CSV file; what is filtered by, and the rows that are left."""
    with st.container(horizontal=True, vertical_alignment="center", key="kv_table_head"):
        elements.heading(say("broker.table"), say("broker.table_aside"))
        widget_options: dict[str, Any] = {
            "placeholder": say("broker.filter"),
            "label_visibility": "collapsed",
            "live": "300ms",
            "width": 200,
        }
        filter_text = (
            st.text_input(
                say("broker.filter"), key=page_state.FILTER, bind="query-params", **widget_options
            )
            or ""
        ).strip()
        rows = partition_table.sort_by_log_size(
            [row for row in overview.partitions if filter_text.lower() in row.directory.lower()]
        )
        download_options: dict[str, Any] = {
            "data": lambda: partition_table.csv(rows),
            "file_name": "topic-partitions.csv",
            "on_click": "ignore",
        }
        st.download_button("CSV", icon=":material/download:", key="kv_csv", **download_options)
    return filter_text, rows


def _render_paper_table(rows: list[PartitionRow]) -> None:
    """The rows once more as a plain table: what scrolls on the screen is whole on paper."""
    with st.container(key="kv_paper_rows"):
        heads = [partition_table.heading(column) for column in partition_table.FORMATTERS]
        tables.table(heads, partition_table.cells(rows[:PAPER_ROWS]), "lrrrrrrrll")
        _render_hidden_count("common.n_more", len(rows) - PAPER_ROWS)


def _render_hidden_count(key: str, count: int) -> None:
    """How many rows are not in sight, where there are any."""
    if count > 0:
        st.html(f'<div class="kv-more">{say(key, n=units.group(count))}</div>')


def _render_no_match(filter_text: str, count: int) -> None:
    """The filter fits nothing."""
    reason = say_count("broker.filter_none_why", count, n=units.group(count))
    with elements.empty(
        "filter", say("broker.filter_none", text=units.escape_controls(filter_text)), reason
    ):
        st.button(
            say("broker.filter_clear"),
            key="kv_filter_clear",
            on_click=lambda: st.session_state.update({page_state.FILTER: ""}),
        )


def _select_row(rows: list[PartitionRow]) -> PartitionRow | None:
    """The table of these rows, and the one that was selected in this run."""
    event = st.dataframe(
        partition_table.style_table(partition_table.frame(rows)),
        hide_index=True,
        height=min(TABLE_ROWS, len(rows)) * ROW_PX + HEAD_PX,
        row_height=ROW_PX,
        key="kv_partitions",
        column_config={
            partition_table.heading(column): column_config
            for column, column_config in COLUMNS.items()
        },
        placeholder=units.MISSING,
        on_select="rerun",
        selection_mode="single-row",
        alt=say("broker.table_alt", count=len(rows)),
    )
    return rows[event.selection.rows[0]] if event.selection.rows else None
