"""Broker: what a broker directory holds, and how densely it is indexed."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kafkaviz import units
from kafkaviz.analyse import overview as table
from kafkaviz.analyse.overview import Overview, Row
from kafkaviz.analyse.unused import unused
from kafkaviz.figures import map_rows, unused_words
from kafkaviz.figures.listed import beside
from kafkaviz.figures.map_rows import AT_ONCE, LARGEST, SAYS
from kafkaviz.ui import cache, choice, faults, partition_table, parts, pick, state, tables, upload, work, wrote
from kafkaviz.ui.cache import Listed
from kafkaviz.ui.components import art
from kafkaviz.ui.frame import frame, pages
from kafkaviz.ui.pick import Place
from kafkaviz.words import counted, say

if TYPE_CHECKING:
    from kafkaviz.figures.broker_map import BrokerMapView

ROW_PX, HEAD_PX, TABLE_ROWS, PAPER_ROWS = 31, 33, 14, 400
ALWAYS, SOMETIMES = ("closed", "active", "deleted"), ("cleaned", "swap")  # kinds of segments in the key
COLUMNS = {  # by their names in partition_table.READS
    "name": st.column_config.TextColumn(width=158),
    "offsets": st.column_config.TextColumn(alignment="right", width=110),
    "codec": st.column_config.TextColumn(width=150),
    "newest": st.column_config.NumberColumn(alignment="left", width=150),
}


def path_form(place: Place) -> DeltaGenerator:
    """The path to open, or an archive to upload; and the place for a word about what was read."""
    with st.container(horizontal=True, key="kv_path", vertical_alignment="center"):
        # a new place is a new field, with that place in it; so is a place that is come back to: a browser keeps what was typed
        key = f"kv_directory {st.session_state.get(state.OPENED, 0)} {place.directory}"
        asks = {"on_change": asks_to_open, "args": (key, place.directory)}
        st.text_input(say("broker.field"), place.directory, label_visibility="collapsed", key=key, width=520, **asks)
        st.button(say("broker.open"), type="primary", key="kv_open", on_click=asks_to_open, args=(key, place.directory))
        if (asked := st.session_state.pop(state.ASKED_TO_OPEN, None)) is not None:
            st.session_state[state.OPENED] = st.session_state.get(state.OPENED, 0) + 1
            st.switch_page("app.py", query_params=state.address(asked))
        if st.button(say("broker.upload"), icon=":material/upload:", key="kv_upload"):
            upload.dialog()
        return st.empty()


def asks_to_open(key: str, directory: str) -> None:
    """Somebody typed another path, or pressed Open: only then is it opened, not whenever the field and the address differ."""
    st.session_state[state.ASKED_TO_OPEN] = pick.cleaned(st.session_state.get(key, directory))


def head(here: Listed, known: Overview) -> None:
    """What the directory holds, in a line, in chips and in figures."""
    total = known.total
    number = len(known.partitions)
    held = {"partitions": counted("common.n_topic_partitions", number, n=units.group(number)), "log": units.size(total.log_bytes)}
    unread = total.index_bytes is None
    title = say("broker.title_unread", **held) if unread else say("broker.title", **held, index=units.size(total.index_bytes))
    parts.title(say("broker.title_simulated", title=title) if here.broker.is_simulated else title, gap=12)
    chips(here, known)
    parts.metrics(metrics(known), owed=cache.is_awaited(here))
    if also := unused_words.counted_too(tuple(unused(here.broker.partitions))):
        st.html(f'<div class="kv-sm kv-fnt" style="margin-top:8px">{parts.escape(also)}</div>')


def metrics(known: Overview) -> list[tuple[str, str, str]]:
    """The strip of figures: label, value, detail."""
    total, group = known.total, units.group
    empty = sum(row.sums.log_bytes == 0 for row in known.partitions)
    covered = None if total.bytes_an_entry is None else round(total.bytes_an_entry)
    by_length = "broker.by_length_sparse" if total.allocated_bytes < total.length_bytes else "broker.by_length"
    counts = {"batches": total.batches, "records": total.records}
    held = say("broker.batches_records", **{name: counted(f"common.n_{name}", count, n=group(count)) for name, count in counts.items()})
    entries = say("broker.entries", offset=group(total.offset_entries), time=group(total.time_entries))
    return [
        (say("common.topic_partitions"), group(len(known.partitions)), say("broker.n_empty", n=group(empty))),
        (say("common.segments"), group(total.segments), _kinds(known)),
        (say("broker.log"), units.size(total.log_bytes), held),
        (say("broker.index"), units.size(total.index_bytes), say("broker.share_of_log", share=units.share(total.index_share, 1))),
        (say("broker.covers"), units.size(covered), entries),
        (say("broker.on_disk"), units.size(total.allocated_bytes), say(by_length, size=units.size(total.length_bytes))),
    ]


def _kinds(known: Overview) -> str:
    """How many segments of each kind but closed, the kinds that are there."""
    counts = {kind: known.count(kind) for kind in ("active", "deleted", *SOMETIMES)}
    told = [say(f"broker.kinds_{kind}", n=units.group(count)) for kind, count in counts.items() if count or kind == "active"]
    return beside(told)


def chips(here: Listed, known: Overview) -> None:
    """How it was left, what wrote it, and what it calls itself."""
    broker, looks = here.broker, cache.looks(here)
    told, warning, unread = [], parts.icon("warning", True), len(known.problems)
    if broker.is_simulated:
        told.append(("info", parts.icon("science", True) + say("broker.simulated")))
    told.append(("ok", parts.icon("check", True) + say("broker.stopped_cleanly")) if broker.clean
                else ("warning", warning + say("broker.not_stopped_cleanly")))  # fmt: skip
    if unread:
        told.append(("warning", warning + counted("broker.not_read", unread, n=units.group(unread))))
    told.append(("", parts.escape(wrote.kafka(looks))))
    if broker.node_id:
        told.append(("", say("broker.node", id=parts.escape(broker.node_id))))
    ids = (("broker.cluster", broker.cluster_id), ("broker.directory", broker.directory_id))
    told += [("", say(key, id=parts.mono(value))) for key, value in ids if value]
    parts.chips(told, after=wrote.because(looks))


def doors(place: Place, known: Overview) -> None:
    """Three ways on: learn, inspect, tune."""
    st.space(16)
    telling, largest = table.telling(known) or table.largest(known), table.largest(known)
    learn, inspect, tune = st.columns(3, gap=12)
    with door(learn, "learn"):
        segment_link("learn", place, telling)
    with door(inspect, "inspect"):
        segment_link("inspect", place, largest)
    with door(tune, "tune"):
        whole = state.address(place.directory) | {state.TUNING_OF: state.WHOLE_BROKER}
        st.page_link(pages()["Tuning"].script, label=say("broker.tune"), query_params=whole)


@contextmanager
def door(column: DeltaGenerator, name: str) -> Iterator[None]:
    """A card that is all one link: the with block draws the link, which lies over it."""
    with column.container(key=f"kv_door_{name}"):
        yield
        with st.container(horizontal=True, gap=14, wrap=False):
            art(name, 64, 46)
            st.html(f'<div class="kv-door">{say(f"broker.{name}_below")}</div>')


def segment_link(name: str, place: Place, target: tuple[str, int] | None) -> None:
    """A link to a segment; where there is none, to the page of the directory."""
    script = pages()["Segment"].script if target else "app.py"
    st.page_link(script, label=say(f"broker.{name}"), query_params=state.address(place.directory, *(target or ())))


def segment_map(place: Place, here: Listed, known: Overview) -> None:
    """The map; a click on a bar opens that segment."""
    with st.container(key="kv_fig_map"):
        head, middle, foot = (
            st.container(horizontal=True, key="kv_map_head"),
            st.container(),
            st.container(horizontal=True, key="kv_map_foot"),
        )
        words = head.container()
        look = {"required": True, "label_visibility": "collapsed"}
        order = choice.ask(head.segmented_control, say("broker.order"), SAYS, LARGEST, state.ORDER, lambda one: say(SAYS[one]), **look)
        signs = foot.empty()
        drawn = cache.broker_map(here, order, pages_of_rows(foot, len(known.partitions)), st.context.theme.type or "light")
        signs.html(key_of(known, drawn.view))
        with words:
            parts.figure_head(drawn.view.title, drawn.view.below)
        event = middle.plotly_chart(
            drawn.figure,
            theme=None,
            key="kv_map",
            on_select="rerun",
            selection_mode="points",
            config={"displayModeBar": False},
            alt=drawn.view.alt,
        )
    if event.selection.points:
        directory, base_offset = event.selection.points[0]["customdata"]
        st.switch_page(pages()["Segment"].script, query_params=state.address(place.directory, directory, int(base_offset)))


def key_of(known: Overview, drawn: "BrokerMapView") -> str:
    """What the colours and marks of the map mean, as HTML: of the rare ones those that are there."""
    kinds = [*ALWAYS, *(kind for kind in SOMETIMES if known.count(kind))]
    swatches = {kind: f"common.kind_{kind}" for kind in kinds}
    swatches |= ({"torn": "broker.key_torn"} if table.torn(known.segments).any() else {}) | {"dense": "broker.key_dense"}
    found = {mark.severity for row in drawn.rows if (mark := row.mark)}
    swatches |= {severity: f"broker.key_{severity}" for severity in ("error", "warning") if severity in found}
    return parts.key((swatch, say(key)) for swatch, key in swatches.items())


def pages_of_rows(foot: DeltaGenerator, count: int) -> int:
    """Which of the map's pages is shown, from 0; where one is enough there is nothing to choose."""
    if map_rows.pages(count) == 1:
        return 0
    page = foot.pagination(map_rows.pages(count), key=state.ROWS, bind="query-params") - 1
    first, last = page * AT_ONCE + 1, min((page + 1) * AT_ONCE, count)
    shown = say("broker.rows_of", first=units.group(first), last=units.group(last), count=units.group(count))
    foot.html(f'<div class="kv-sm kv-fnt">{shown}</div>')
    return page


@st.fragment
def partition_rows(place: Place, known: Overview) -> None:
    """One row a topic-partition, to sort, to filter, to take along; a row that is selected opens."""
    with st.container(horizontal=True, vertical_alignment="center", key="kv_table_head"):
        parts.heading(say("broker.table"), say("broker.table_aside"))
        look = {"placeholder": say("broker.filter"), "label_visibility": "collapsed", "live": "300ms", "width": 200}
        wanted = (st.text_input(say("broker.filter"), key=state.FILTER, bind="query-params", **look) or "").strip()
        rows = partition_table.ordered([row for row in known.partitions if wanted.lower() in row.directory.lower()])
        save = {"data": lambda: partition_table.csv(rows), "file_name": "topic-partitions.csv", "on_click": "ignore"}
        st.download_button("CSV", icon=":material/download:", key="kv_csv", **save)
    if not rows:
        return no_row(wanted, len(known.partitions))
    with st.container(key="kv_table", gap=None):
        chosen = table_of(rows)
        if len(rows) > TABLE_ROWS:
            st.html(f'<div class="kv-more">{say("broker.more_scroll", n=units.group(len(rows) - TABLE_ROWS))}</div>')
    with st.container(key="kv_paper_rows"):  # what scrolls on the screen is whole on paper
        heads = [partition_table.heading(column) for column in partition_table.READS]
        tables.table(heads, partition_table.cells(rows[:PAPER_ROWS]), "lrrrrrrrll")
        if len(rows) > PAPER_ROWS:
            st.html(f'<div class="kv-more">{say("common.n_more", n=units.group(len(rows) - PAPER_ROWS))}</div>')
    if chosen is not None:
        st.switch_page(pages()["Segment"].script, query_params=state.address(place.directory, chosen.directory))


def no_row(wanted: str, count: int) -> None:
    """The filter fits nothing."""
    why = counted("broker.filter_none_why", count, n=units.group(count))
    with parts.empty("filter", say("broker.filter_none", text=units.legible(wanted)), why):
        st.button(say("broker.filter_clear"), key="kv_filter_clear", on_click=lambda: st.session_state.update({state.FILTER: ""}))


def table_of(rows: list[Row]) -> Row | None:
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


place = frame("Broker")
said = path_form(place)
here = pick.listed(place)
known = cache.overview(here)
if not known.partitions:
    faults.no_partition(here.broker.path, known.problems)
    st.stop()
read = say("broker.read_full" if cache.is_fresh(here) else "broker.read_names")
said.html(f'<div class="kv-sm kv-fnt kv-right">{read}</div>')
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
