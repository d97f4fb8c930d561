"""The table of the topic-partitions: to sort, to filter, to take along; a row that is selected
opens.
"""

from typing import Any

import streamlit as st

from kafkaviz import units
from kafkaviz.analyse.overview import Overview, Row
from kafkaviz.ui import parts, state, tables
from kafkaviz.ui.broker import partition_table
from kafkaviz.ui.frame import pages
from kafkaviz.ui.pick import Place
from kafkaviz.words import counted, say

ROW_PX, HEAD_PX, TABLE_ROWS, PAPER_ROWS = 31, 33, 14, 400
COLUMNS = {  # by their names in partition_table.READS
    "name": st.column_config.TextColumn(width=158),
    "offsets": st.column_config.TextColumn(alignment="right", width=110),
    "codec": st.column_config.TextColumn(width=150),
    "newest": st.column_config.NumberColumn(alignment="left", width=150),
}


@st.fragment
def partition_rows(place: Place, known: Overview) -> None:
    """One row a topic-partition, to sort, to filter, to take along; a row that is selected
    opens.
    """
    wanted, rows = _head(known)
    if not rows:
        return _no_row(wanted, len(known.partitions))
    with st.container(key="kv_table", gap=None):
        chosen = _table_of(rows)
        _more("broker.more_scroll", len(rows) - TABLE_ROWS)
    _on_paper(rows)
    if chosen is not None:
        st.switch_page(
            pages()["Segment"].script, query_params=state.address(place.directory, chosen.directory)
        )


def _head(known: Overview) -> tuple[str, list[Row]]:
    """The heading, the filter and the CSV file; what is filtered by, and the rows that are left."""
    with st.container(horizontal=True, vertical_alignment="center", key="kv_table_head"):
        parts.heading(say("broker.table"), say("broker.table_aside"))
        look: dict[str, Any] = {
            "placeholder": say("broker.filter"),
            "label_visibility": "collapsed",
            "live": "300ms",
            "width": 200,
        }
        wanted = (
            st.text_input(say("broker.filter"), key=state.FILTER, bind="query-params", **look) or ""
        ).strip()
        rows = partition_table.ordered(
            [row for row in known.partitions if wanted.lower() in row.directory.lower()]
        )
        save: dict[str, Any] = {
            "data": lambda: partition_table.csv(rows),
            "file_name": "topic-partitions.csv",
            "on_click": "ignore",
        }
        st.download_button("CSV", icon=":material/download:", key="kv_csv", **save)
    return wanted, rows


def _on_paper(rows: list[Row]) -> None:
    """The rows once more as a plain table: what scrolls on the screen is whole on paper."""
    with st.container(key="kv_paper_rows"):
        heads = [partition_table.heading(column) for column in partition_table.READS]
        tables.table(heads, partition_table.cells(rows[:PAPER_ROWS]), "lrrrrrrrll")
        _more("common.n_more", len(rows) - PAPER_ROWS)


def _more(key: str, count: int) -> None:
    """How many rows are not in sight, where there are any."""
    if count > 0:
        st.html(f'<div class="kv-more">{say(key, n=units.group(count))}</div>')


def _no_row(wanted: str, count: int) -> None:
    """The filter fits nothing."""
    why = counted("broker.filter_none_why", count, n=units.group(count))
    with parts.empty("filter", say("broker.filter_none", text=units.legible(wanted)), why):
        st.button(
            say("broker.filter_clear"),
            key="kv_filter_clear",
            on_click=lambda: st.session_state.update({state.FILTER: ""}),
        )


def _table_of(rows: list[Row]) -> Row | None:
    """The table of these rows, and the one that was selected in this run."""
    event = st.dataframe(
        partition_table.styled(partition_table.frame(rows)),
        hide_index=True,
        height=min(TABLE_ROWS, len(rows)) * ROW_PX + HEAD_PX,
        row_height=ROW_PX,
        key="kv_partitions",
        column_config={partition_table.heading(column): look for column, look in COLUMNS.items()},
        placeholder=units.MISSING,
        on_select="rerun",
        selection_mode="single-row",
        alt=say("broker.table_alt", count=len(rows)),
    )
    return rows[event.selection.rows[0]] if event.selection.rows else None
