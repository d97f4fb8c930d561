"""Broker: what a broker directory holds, and how densely it is indexed."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kafkaviz import units
from kafkaviz.analyse import overview as table
from kafkaviz.analyse.overview import Overview, Row
from kafkaviz.figures import map_rows
from kafkaviz.figures.map_rows import AT_ONCE, LARGEST, ORDERS
from kafkaviz.ui import cache, faults, partition_table, parts, pick, state, upload, work
from kafkaviz.ui.cache import Listed
from kafkaviz.ui.components import art
from kafkaviz.ui.frame import frame, pages
from kafkaviz.ui.pick import Place

ROW_PX, HEAD_PX, TABLE_ROWS = 31, 33, 14
KEY = [
    ("closed", "closed"),
    ("active", "active"),
    ("deleted", "deleted"),
    ("torn", "torn, not to scale"),
    ("dense", "index, sparse to dense"),
]
COLUMNS = {
    "Topic-partition": st.column_config.TextColumn(width=158),
    "Offsets": st.column_config.TextColumn(alignment="right", width=110),
    "Codec": st.column_config.TextColumn(width=150),
    "Newest record (UTC)": st.column_config.NumberColumn(alignment="left", width=150),
}


def path_form(place: Place) -> DeltaGenerator:
    """The path to open, or an archive to upload; and the place for a word about what was read."""
    with st.container(horizontal=True, key="kv_path", vertical_alignment="center"):
        # a new place is a new field, with that place in it; so is a place that is come back to: a browser keeps what was typed
        key = f"kv_directory {st.session_state.get(state.OPENED, 0)} {place.directory}"
        asks = {"on_change": asks_to_open, "args": (key, place.directory)}
        st.text_input("Broker directory, .tar.gz or .zip", place.directory, label_visibility="collapsed", key=key, width=520, **asks)
        st.button("Open", type="primary", key="kv_open", on_click=asks_to_open, args=(key, place.directory))
        if (asked := st.session_state.pop(state.ASKED_TO_OPEN, None)) is not None:
            st.session_state[state.OPENED] = st.session_state.get(state.OPENED, 0) + 1
            st.switch_page("app.py", query_params=state.address(asked))
        if st.button("Upload an archive", icon=":material/upload:", key="kv_upload"):
            upload.dialog()
        return st.empty()


def asks_to_open(key: str, directory: str) -> None:
    """Somebody typed another path, or pressed Open: only then is it opened, not whenever the field and the address differ."""
    st.session_state[state.ASKED_TO_OPEN] = pick.cleaned(st.session_state.get(key, directory))


def head(here: Listed, known: Overview) -> None:
    """What the directory holds, in a line, in chips and in figures."""
    total = known.total
    by_index = f", found by {units.size(total.index_bytes)} of index" if total.index_bytes is not None else ""
    parts.title(f"{_count(len(known.partitions), 'topic-partition')}, {units.size(total.log_bytes)} of log{by_index}", gap=12)
    chips(here, known)
    empty = sum(row.sums.log_bytes == 0 for row in known.partitions)
    sparse = ", sparse" if total.allocated_bytes < total.length_bytes else ""
    covered = None if total.bytes_an_entry is None else round(total.bytes_an_entry)
    parts.metrics(
        [
            ("Topic-partitions", units.group(len(known.partitions)), f"{units.group(empty)} empty"),
            ("Segments", units.group(total.segments), _kinds(known)),
            ("Log", units.size(total.log_bytes), f"{units.group(total.batches)} batches, {units.group(total.records)} records"),
            ("Index", units.size(total.index_bytes), f"{units.share(total.index_share, 1)} of the log"),
            (
                "Bytes an entry covers",
                units.size(covered),
                f"{units.group(total.offset_entries)} offset, {units.group(total.time_entries)} time entries",
            ),
            ("On disk", units.size(total.allocated_bytes), f"{units.size(total.length_bytes)} by length{sparse}"),
        ],
        owed=cache.is_awaited(here),
    )


def _count(number: int, noun: str) -> str:
    return f"{units.group(number)} {noun}{'' if number == 1 else 's'}"


def _kinds(known: Overview) -> str:
    """How many segments of each kind but closed, the kinds that are there."""
    counts = {kind: known.count(kind) for kind in ("active", "deleted", "cleaned", "swap")}
    return ", ".join(f"{units.group(count)} {kind}" for kind, count in counts.items() if count or kind == "active")


def chips(here: Listed, known: Overview) -> None:
    """How it was left, what wrote it, and what it calls itself."""
    broker, looks = here.broker, cache.looks(here)
    clean = (
        ("ok", parts.icon("check", True) + "stopped cleanly")
        if broker.clean
        else ("warning", parts.icon("warning", True) + "not stopped cleanly")
    )
    named = [("cluster", broker.cluster_id), ("directory", broker.directory_id)]
    node = [("", f"node {parts.escape(broker.node_id)}")] if broker.node_id else []
    ids = [("", f"{word} {parts.mono(value)}") for word, value in named if value]
    unread = [("warning", parts.icon("warning", True) + f"{_count(len(known.problems), 'file')} not read")] if known.problems else []
    parts.chips([clean, *unread, ("", f"Kafka {parts.escape(looks.text)}"), *node, *ids], after=looks.because)


def doors(place: Place, known: Overview) -> None:
    """Three ways on: learn, inspect, tune."""
    st.space(16)
    telling, largest = table.telling(known) or table.largest(known), table.largest(known)
    learn, inspect, tune = st.columns(3, gap=12)
    with door(learn, "Learn", "See how three files find a record"):
        segment_link("Learn", place, telling)
    with door(inspect, "Inspect", "Open a segment, down to its bytes"):
        segment_link("Inspect", place, largest)
    with door(tune, "Tune", "What would another interval cost here?"):
        whole = state.address(place.directory) | {state.TUNING_OF: state.WHOLE_BROKER}
        st.page_link(pages()["Tuning"].script, label="Tune", query_params=whole)


@contextmanager
def door(column: DeltaGenerator, name: str, text: str) -> Iterator[None]:
    """A card that is all one link: the with block draws the link, which lies over it."""
    with column.container(key=f"kv_door_{name.lower()}"):
        yield
        with st.container(horizontal=True, gap=14, wrap=False):
            art(name.lower(), 64, 46)
            st.html(f'<div class="kv-door">{parts.escape(text)}</div>')


def segment_link(label: str, place: Place, target: tuple[str, int] | None) -> None:
    """A link to a segment; where there is none, to the page of the directory."""
    script = pages()["Segment"].script if target else "app.py"
    st.page_link(script, label=label, query_params=state.address(place.directory, *(target or ())))


def segment_map(place: Place, here: Listed, known: Overview) -> None:
    """The map; a click on a bar opens that segment."""
    with st.container(key="kv_fig_map"):
        head, middle, foot = (
            st.container(horizontal=True, key="kv_map_head"),
            st.container(),
            st.container(horizontal=True, key="kv_map_foot"),
        )
        words = head.container()
        order = head.segmented_control(
            "Order", ORDERS, default=LARGEST, required=True, label_visibility="collapsed", key=state.ORDER, bind="query-params"
        )
        foot.html(parts.key([*KEY, *((kind, kind) for kind in ("cleaned", "swap") if known.count(kind))]))
        drawn = cache.broker_map(here, order or LARGEST, pages_of_rows(foot, len(known.partitions)), st.context.theme.type or "light")
        with words:
            parts.figure_head(drawn.view.title, drawn.view.below)
        event = middle.plotly_chart(
            drawn.figure,
            theme=None,
            key="kv_map",
            on_select="rerun",
            selection_mode="points",
            config={"displayModeBar": False},
            alt=f"{drawn.view.title}. Segments of {len(drawn.view.rows)} topic-partitions, to scale.",
        )
    if event.selection.points:
        directory, base_offset = event.selection.points[0]["customdata"]
        st.switch_page(pages()["Segment"].script, query_params=state.address(place.directory, directory, int(base_offset)))


def pages_of_rows(foot: DeltaGenerator, count: int) -> int:
    """Which of the map's pages is shown, from 0; where one is enough there is nothing to choose."""
    if map_rows.pages(count) == 1:
        return 0
    page = foot.pagination(map_rows.pages(count), key=state.ROWS, bind="query-params") - 1
    first, last = page * AT_ONCE + 1, min((page + 1) * AT_ONCE, count)
    foot.html(f'<div class="kv-sm kv-fnt">rows {units.group(first)}–{units.group(last)} of {units.group(count)}</div>')
    return page


@st.fragment
def partition_rows(place: Place, known: Overview) -> None:
    """One row a topic-partition, to sort, to filter, to take along; a row that is selected opens."""
    with st.container(horizontal=True, vertical_alignment="center", key="kv_table_head"):
        parts.heading("Topic-partitions", "select a row to open it")
        look = {"placeholder": "Filter", "label_visibility": "collapsed", "live": "300ms", "width": 200}
        wanted = (st.text_input("Filter", key=state.FILTER, bind="query-params", **look) or "").strip()
        rows = partition_table.ordered([row for row in known.partitions if wanted.lower() in row.directory.lower()])
        save = {"data": lambda: partition_table.csv(rows), "file_name": "topic-partitions.csv", "on_click": "ignore"}
        st.download_button("CSV", icon=":material/download:", key="kv_csv", **save)
    if not rows:
        return no_row(wanted, len(known.partitions))
    with st.container(key="kv_table", gap=None):
        chosen = table_of(rows)
        if len(rows) > TABLE_ROWS:
            st.html(f'<div class="kv-more">{units.group(len(rows) - TABLE_ROWS)} more; scroll</div>')
    if chosen is not None:
        st.switch_page(pages()["Segment"].script, query_params=state.address(place.directory, chosen.directory))


def no_row(wanted: str, count: int) -> None:
    """The filter fits nothing."""
    why = f"{_count(count, 'topic-partition')} {'is' if count == 1 else 'are'} here. A filter fits anywhere in a name."
    with parts.empty("filter", f"No topic-partition has “{units.legible(wanted)}” in its name", why):
        st.button("Clear the filter", key="kv_filter_clear", on_click=lambda: st.session_state.update({state.FILTER: ""}))


def table_of(rows: list[Row]) -> Row | None:
    """The table of these rows, and the one that was selected in this run."""
    event = st.dataframe(
        partition_table.styled(partition_table.frame(rows)),
        hide_index=True,
        height=min(TABLE_ROWS, len(rows)) * ROW_PX + HEAD_PX,
        row_height=ROW_PX,
        key="kv_partitions",
        column_config=COLUMNS,
        placeholder=units.MISSING,
        on_select="rerun",
        selection_mode="single-row",
        alt=f"{len(rows)} topic-partitions, largest log first",
    )
    return rows[event.selection.rows[0]] if event.selection.rows else None


place = frame("Broker")
said = path_form(place)
here = pick.listed(place)
known = cache.overview(here)
if not known.partitions:
    faults.no_partition(here.broker.path, known.problems)
    st.stop()
read = "read in full" if cache.is_fresh(here) else "names and sizes are read"
said.html(f'<div class="kv-sm kv-fnt kv-right">{read}, nothing was changed</div>')
head(here, known)
doors(place, known)
st.space(24)
segment_map(place, here, known)
st.space(12)
strip = st.container()
st.space(28)
partition_rows(place, known)
if known.problems:
    st.space(28)
    faults.partial(int((~known.segments["left_out"]).sum()), len(known.segments), here.broker.path, known.problems)
with strip:  # last, because it may start Spark: all else is on its way to the reader by then
    work.strip(here)
