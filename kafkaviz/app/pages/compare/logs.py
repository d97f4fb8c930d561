"""One topic-partition on both sides: how the logs relate, and what a follower would drop."""

from typing import TYPE_CHECKING, Any

import streamlit as st

from kafkaviz import units
from kafkaviz.analysis.comparison.comparison import SIDES
from kafkaviz.app import page_state
from kafkaviz.app.frame import pages
from kafkaviz.app.pages.compare.batches import render_batches, render_indexes
from kafkaviz.app.state import page_location
from kafkaviz.app.state.comparisons import SnapshotPair
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.widgets import charts, choice, elements, replica_logs
from kafkaviz.figures.comparison import partition_map, replica_axis
from kafkaviz.figures.text.comparison_text import describe_facts, describe_relation
from kafkaviz.figures.text.sentences import end_sentence, to_sentence
from kafkaviz.messages import render, say

if TYPE_CHECKING:
    from kafkaviz.analysis.comparison.comparison import BrokerComparison, PartitionComparison

# their words in the address
NOBODY = "none"
FULL = "all"
AROUND = "parting"


@st.fragment
def render_logs(location: Location, pair: SnapshotPair, comparison: "BrokerComparison") -> None:
    """Draws the chosen topic-partition, by default the one that differs most."""
    with st.container(gap=None):
        partition = _choose_partition(comparison)
        _render_relation(location, partition)
        st.space(16)
        _render_axis(partition)
        st.space(28)
        render_batches(pair, partition)
        if partition.indexes:
            st.space(28)
            render_indexes(partition)


def _choose_partition(comparison: "BrokerComparison") -> "PartitionComparison":
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


def _render_relation(location: Location, comparison: "PartitionComparison") -> None:
    facts = [render(fact) for fact in describe_facts(comparison)]
    severity = partition_map.severity(comparison.relation)

    def list_facts() -> None:
        items = "".join(f"<li>{elements.escape(_fact_sentence(fact))}</li>" for fact in facts)
        st.html(f'<ul class="kv-list">{items}</ul>')

    with elements.state(
        "relation",
        severity,
        partition_map.partition_label(comparison),
        to_sentence(render(describe_relation(comparison))),
        list_facts if facts else None,
    ):
        second = page_location.compared_directory()
        offset = replica_axis.parting_offset(comparison)
        for side, replica, directory in zip(
            SIDES, comparison.replicas, (location.directory, second), strict=True
        ):
            if replica is None or not replica.segments:
                continue
            last_offset = max(replica.log_end_offset - 1, replica.log_start_offset)
            pin = None if offset is None else min(offset, last_offset)
            st.page_link(
                pages()["Segment"].script,
                label=say("compare.open_in", side=side),
                icon=":material/straighten:",
                query_params=page_state.address(directory, replica.directory, pin=pin),
            )


def _render_axis(comparison: "PartitionComparison") -> None:
    with st.container(key="kv_fig_logs"):
        titles = st.container(gap=None)
        controls = st.container(horizontal=True, key="kv_logs_head")
        leader = _choose_leader(controls, comparison)
        walk = replica_axis.walk_of(comparison, leader)
        step = _choose_step(controls, len(walk.steps)) if walk else 0
        view = replica_axis.view(
            comparison, leader, step, is_around=_choose_window(controls, comparison)
        )
        with titles:
            elements.figure_head(view.title, view.caption)
        charts.plot(
            replica_axis.figure(view, charts.mode()),
            "kv_logs",
            say("common.titled", title=view.title, below=view.caption),
        )
        st.html(replica_logs.key_html())
        st.space(8)
        left, right = st.columns((1.7, 1), gap=24)
        with left, st.container(gap=None):
            if walk:
                st.html(replica_logs.steps_html(walk, step))
            elif comparison.truncations:
                hint = elements.escape(say("compare.leader_hint"))
                st.html(f'<p class="kv-sm kv-fnt">{hint}</p>')
        right.html(replica_logs.epochs_html(comparison))


def _fact_sentence(text: str) -> str:
    """Returns the text as a sentence; the name of a side at its start stays lowercase."""
    is_named = text.startswith(tuple(f"{side} " for side in SIDES))
    return end_sentence(text) if is_named else to_sentence(text)


def _choose_leader(head: Any, comparison: "PartitionComparison") -> int | None:
    """Draws the leader control and returns the leading side, 0 or 1, or None."""
    if comparison.truncations is None:
        return None
    word = choice.draw_bound(
        head.segmented_control,
        say("compare.leader"),
        (NOBODY, *SIDES),
        NOBODY,
        page_state.LEADER,
        format_func=lambda side: (
            say("compare.as_they_lie") if side == NOBODY else say("compare.leads", side=side)
        ),
        required=True,
        label_visibility="collapsed",
    )
    return None if word == NOBODY else SIDES.index(word)


def _choose_step(head: Any, count: int) -> int:
    """Draws the step control and returns after which step the follower's log is shown.

    0 is the log before the first step; the last is the default.
    """
    if count < 2:
        return count
    options = [str(number) for number in range(count + 1)]
    word = choice.draw_bound(
        head.segmented_control,
        say("compare.step"),
        options,
        options[-1],
        page_state.FOLLOWER_STEP,
        format_func=lambda number: (
            say("compare.as_they_lie") if number == "0" else say("stepper.step", n=number)
        ),
        required=True,
        label_visibility="collapsed",
    )
    return int(word)


def _choose_window(head: Any, comparison: "PartitionComparison") -> bool:
    """Draws the zoom control and returns whether only the divergence is drawn."""
    if not replica_axis.can_zoom(comparison):
        return False
    offset = units.format_count(replica_axis.parting_offset(comparison))
    word = choice.draw_bound(
        head.segmented_control,
        say("compare.window"),
        (FULL, AROUND),
        FULL,
        page_state.COMPARED_WINDOW,
        format_func=lambda name: (
            say("compare.whole") if name == FULL else say("compare.around", offset=offset)
        ),
        required=True,
        label_visibility="collapsed",
    )
    return word == AROUND
