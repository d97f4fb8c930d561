"""One topic-partition in two directories: how its logs differ, and what a follower drops.

Also the batches of both logs, one pair of batches byte by byte, and the indexes that differ.
"""

from functools import partial
from typing import Any

import streamlit as st

from kafkaviz import units
from kafkaviz.analysis.comparison import batches
from kafkaviz.analysis.comparison.comparison import SIDES, BrokerComparison, PartitionComparison
from kafkaviz.app import page_state
from kafkaviz.app.cache.broker_cache import HASH_FUNCS, MAX_BROKERS, BrokerSnapshot
from kafkaviz.app.state import page_location
from kafkaviz.app.state.comparisons import SnapshotPair
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.widgets import charts, choice, elements, replica_logs, tables
from kafkaviz.errors import KafkavizError
from kafkaviz.figures.comparison import batch_pairs, partition_map, replica_axis
from kafkaviz.figures.comparison.batch_pairs import BatchPairsView, HexPairView, PairRow
from kafkaviz.html import Html, join, tag
from kafkaviz.log.partition import Partition
from kafkaviz.messages import language, render, say
from kafkaviz.render.comparison_text import describe_facts, describe_index, describe_relation
from kafkaviz.render.sentences import describe_error_sentence, end_sentence, to_sentence

# values in the address: no leader; the entire axis; the part around the divergence
NOBODY = "none"
FULL = "all"
AROUND = "parting"
MAX_OFFSETS = 40  # maximum number of offsets to choose from


@st.fragment
def render_logs(location: Location, pair: SnapshotPair, comparison: BrokerComparison) -> None:
    """Draws the chosen topic-partition, by default the topic-partition that differs most."""
    with st.container(gap=None):
        partition = _choose_partition(comparison)
        _render_relation(location, partition)
        st.space(16)
        _render_axis(partition)
        st.space(28)
        render_batches(pair, partition)
        if partition.indexes:
            st.space(28)
            elements.heading(say("compare.indexes"), say("compare.indexes_below"), gap=8)
            texts = map(render, map(describe_index, partition.indexes))
            elements.draw_list(map(to_sentence, texts))


def _choose_partition(comparison: BrokerComparison) -> PartitionComparison:
    partitions = {units.escape_controls(item.partition): item for item in comparison.worst_first}
    with st.container(horizontal=True, vertical_alignment="bottom", key="kv_compared_head"):
        heading = st.container(width="stretch")
        name = choice.draw_bound(
            st.selectbox,
            say("common.topic_partition"),
            partitions,
            next(iter(partitions)),
            page_state.TOPIC_PARTITION,
            width=280,
        )
    with heading:
        elements.heading(name)
    return partitions[name]


def _render_relation(location: Location, comparison: PartitionComparison) -> None:
    facts = [render(fact) for fact in describe_facts(comparison)]
    severity = partition_map.severity(comparison.relation)
    label = partition_map.partition_label(comparison)
    relation = to_sentence(render(describe_relation(comparison)))
    draw_facts = partial(elements.draw_list, map(_fact_sentence, facts)) if facts else None
    with elements.state("relation", severity, label, relation, draw_facts):
        directories = (location.directory, page_location.compared_directory())
        offset = replica_axis.first_difference(comparison)
        for side, replica, directory in zip(SIDES, comparison.replicas, directories, strict=True):
            if replica is None or not replica.segments:
                continue
            last_offset = max(replica.log_end_offset - 1, replica.log_start_offset)
            pin = None if offset is None else min(offset, last_offset)
            address = page_state.address(directory, replica.directory, pin=pin)
            elements.page_link("Segment", say("compare.open_in", side=side), address)


def _render_axis(comparison: PartitionComparison) -> None:
    with st.container(key="kv_fig_logs"):
        titles = st.container(gap=None)
        controls = st.container(horizontal=True, key="kv_logs_head")
        leader = _choose_leader(controls, comparison)
        walk = replica_axis.follower_truncation(comparison, leader)
        step = _choose_step(controls, len(walk.steps)) if walk else 0
        view = replica_axis.view(
            comparison, leader, step, is_around=_choose_window(controls, comparison)
        )
        with titles:
            elements.figure_head(view.title, view.caption)
        alt = say("common.titled", title=view.title, below=view.caption)
        charts.plot(replica_axis.figure(view, charts.mode()), "kv_logs", alt)
        st.html(replica_logs.key_html())
        st.space(8)
        left, right = st.columns((1.7, 1), gap=24)
        with left, st.container(gap=None):
            if walk:
                st.html(replica_logs.steps_html(walk, step))
            elif comparison.truncations:
                st.html(tag("p", say("compare.leader_hint"), class_="kv-sm kv-fnt"))
        right.html(replica_logs.epochs_html(comparison))


def _fact_sentence(text: str) -> str:
    is_named = text.startswith(tuple(f"{side} " for side in SIDES))
    return end_sentence(text) if is_named else to_sentence(text)


def _choose_leader(head: Any, comparison: PartitionComparison) -> int | None:
    if comparison.truncations is None:
        return None
    names = {NOBODY: say("compare.as_they_lie")}
    names |= {side: say("compare.leads", side=side) for side in SIDES}
    with head:
        word = choice.buttons(
            say("compare.leader"), names, NOBODY, page_state.LEADER, names.__getitem__
        )
    return None if word == NOBODY else SIDES.index(word)


def _choose_step(head: Any, count: int) -> int:
    """Draws a control with the steps in which a follower truncates its log.

    Returns the chosen step, by default the last one, `count`. 0 is the state before the first step.
    """
    if count < 2:
        return count
    names = {"0": say("compare.as_they_lie")}
    names |= {str(number): say("stepper.step", n=number) for number in range(1, count + 1)}
    with head:
        word = choice.buttons(
            say("compare.step"), names, str(count), page_state.FOLLOWER_STEP, names.__getitem__
        )
    return int(word)


def _choose_window(head: Any, comparison: PartitionComparison) -> bool:
    if not replica_axis.can_zoom(comparison):
        return False
    offset = units.format_count(replica_axis.first_difference(comparison))
    names = {FULL: say("compare.whole"), AROUND: say("compare.around", offset=offset)}
    with head:
        word = choice.buttons(
            say("compare.window"), names, FULL, page_state.COMPARED_WINDOW, names.__getitem__
        )
    return word == AROUND


def render_batches(pair: SnapshotPair, comparison: PartitionComparison) -> None:
    """Draws the batches around an offset. The default is the offset where the logs diverge."""
    offsets = offsets_of_interest(comparison)
    with st.container(horizontal=True, vertical_alignment="bottom", key="kv_pairs_head"):
        heading = st.container(width="stretch")
        word = choice.draw_bound(
            st.selectbox,
            say("compare.pin"),
            map(str, offsets),
            str(offsets[0]),
            page_state.PIN,
            format_func=lambda number: units.format_count(int(number)),
            width=200,
        )
        offset = int(word)
    first, second = (replica.directory if replica else "" for replica in comparison.replicas)
    try:
        view = _view(pair, (first, second), offset, language())
    except KafkavizError as fault:
        elements.state("unread", "error", say("compare.not_ended"), describe_error_sentence(fault))
        return
    with heading:
        elements.heading(view.title, say("compare.batches_below"))
    st.space(8)
    if not view.rows:
        st.html(tag("p", say("compare.nothing_to_show"), class_="kv-sm kv-fnt"))
        return
    with st.container(key="kv_pairs"):
        elements.table(_head_html(), (_row_html(row) for row in view.rows))
    tables.download(
        say("compare.batches_csv"), lambda: pairs_csv(view), "batches.csv", "kv_pairs_csv"
    )
    if view.hex_pair:
        st.space(12)
        _render_hex(view.hex_pair)


def offsets_of_interest(comparison: PartitionComparison) -> list[int]:
    """Returns 1 to MAX_OFFSETS offsets at which the logs diverge, differ, begin or end."""
    ranges = (comparison.different, comparison.unreadable, *comparison.only_in)
    offsets = [
        replica_axis.first_difference(comparison),
        *(difference.offset for difference in comparison.differences),
        *(first for records in ranges for first, _ in records.ranges[:MAX_OFFSETS]),
        *(replica.log_end_offset - 1 for replica in comparison.replicas if replica),
        *(replica.log_start_offset for replica in comparison.replicas if replica),
    ]
    known = dict.fromkeys(offset for offset in offsets if offset is not None and offset >= 0)
    return list(known)[:MAX_OFFSETS] or [0]


@st.cache_resource(max_entries=8 * MAX_BROKERS, show_spinner=False, hash_funcs=HASH_FUNCS)
def _view(
    snapshots: SnapshotPair, directories: tuple[str, str], offset: int, language_code: str
) -> BatchPairsView:
    a, b = map(_partition, snapshots, directories)
    pairs = batches.find_batches(a, b, offset)
    return batch_pairs.view(pairs, offset)


def _partition(snapshot: BrokerSnapshot, directory: str) -> Partition | None:
    return snapshot.broker.partition(directory) if directory else None


def _head_html() -> Html:
    names = [say(key) for key in batch_pairs.COLUMNS.values()]
    cells = []
    for side in SIDES:
        start = " kv-pair" if side == "b" else ""
        for name in (say(f"compare.column_offsets_{side}"), *names[1:]):
            cells.append(tag("th", name, class_=f"r{start}"))
            start = ""
    return join((*cells, tag("th")))


def _row_html(row: PairRow) -> Html:
    cells = []
    for side, side_cells in enumerate(row.cells):
        start = " kv-pair" if side else ""
        if not side_cells:
            cells.append(tag("td", class_=start, colspan=len(batch_pairs.COLUMNS)))
        for cell in side_cells:
            text = tag("mark", cell.text) if cell.is_other else cell.text
            cells.append(tag("td", text, class_=f"r{start}"))
            start = ""
    relation = tag("td", row.text, class_=None if row.is_equal else "kv-other")
    return tag("tr", *cells, relation, class_="on" if row.is_chosen else None)


def _render_hex(view: HexPairView) -> None:
    with st.container(key="kv_fig_bytes_pair"):
        elements.figure_head(view.title, view.caption)
        head = tag("tr", *(tag("th", name) for name in (say("workshop.byte"), *SIDES)))
        rows = (
            tag(
                "tr",
                tag("td", units.format_count(row.position)),
                *(tag("td", _digits_html(digits)) for digits in row.digits),
            )
            for row in view.rows
        )
        table = tag("table", tag("thead", head), tag("tbody", *rows))
        st.html(tag("div", table, class_="kv-hexpair", tabindex=0))
        elements.hidden_count("compare.hidden_rows", view.hidden_rows)
    if not view.fields:
        return
    st.space(12)
    heads = [
        say("workshop.field"),
        say("workshop.byte"),
        *(say(f"compare.column_{side}", name=say("workshop.value")) for side in SIDES),
    ]
    with st.container(key="kv_pair_fields"):
        tables.table(heads, ([row.field, row.position, *row.values] for row in view.fields), "mrcc")


def _digits_html(digits: tuple[tuple[str, bool], ...]) -> Html:
    texts = [tag("mark", text) if is_other else text for text, is_other in digits]
    halves = (join(part, " ") for part in (texts[:8], texts[8:]) if part)
    return tag("code", join(halves, " \u00a0"))


def pairs_csv(view: BatchPairsView) -> str:
    heads = [f"{column}_{side}" for side in SIDES for column in batch_pairs.COLUMNS]
    missing = [""] * len(batch_pairs.COLUMNS)
    rows = []
    for row in view.rows:
        first, second = ([cell.text for cell in cells] or missing for cells in row.cells)
        rows.append([*first, *second, row.text])
    return tables.to_csv([*heads, "relation"], rows)
