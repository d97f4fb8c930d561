"""Two replicas of a real topic-partition by leader epoch, and what a follower truncates."""

from dataclasses import replace

import streamlit as st

from kafkaviz.analysis.comparison.comparison import SIDES, PartitionComparison
from kafkaviz.app import page_state
from kafkaviz.app.cache.broker_cache import HASH_FUNCS, BrokerSnapshot
from kafkaviz.app.widgets import elements, replica_logs
from kafkaviz.figures.comparison import replica_axis
from kafkaviz.messages import message
from kafkaviz.workshop.figures import block_location
from kafkaviz.workshop.figures.figure import Destination, Group, LessonFigure, Part, drawing
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue


def compare(block: LessonBlock) -> PartitionComparison:
    """Compares the topic-partition of a block in its two samples.

    Raises:
        NoValue: a key or sample is missing, or the two logs are not replicas.
        CannotOpen: a sample cannot be read, or lacks the topic-partition.
    """
    if block["with"] is None:
        raise NoValue(message("lesson.key_missing", key="with"))
    a = block_location.locate(block)
    b = block_location.locate_offset(block["with"], block["tp"], 0)
    comparison = _compare(a.snapshot, b.snapshot, a.partition.directory)
    if comparison.truncations is None:
        raise NoValue(message("lesson.no_replicas", partition=block["tp"]))
    return comparison


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=HASH_FUNCS)
def _compare(a: BrokerSnapshot, b: BrokerSnapshot, directory: str) -> PartitionComparison:
    from kafkaviz.analysis.comparison.comparator import compare_brokers

    pair = [
        replace(
            snapshot.broker,
            partitions=(snapshot.broker.partition(directory),),
            log_directories=tuple(
                replace(log_directory, problems=())
                for log_directory in snapshot.broker.log_directories
            ),
        )
        for snapshot in (a, b)
    ]
    return compare_brokers(pair[0], pair[1]).partitions[0]


def _leader(block: LessonBlock) -> int | None:
    return None if block["leader"] is None else SIDES.index(block["leader"])


def _draw(comparison: PartitionComparison, block: LessonBlock, key: str) -> list[Part]:
    walk = replica_axis.walk_of(comparison, _leader(block))
    if walk is None:
        return _draw_question(comparison, block, key)
    return [
        _axis(comparison, block, key, steps=len(walk.steps)),
        replica_logs.steps_html(walk, 0),
    ]


def _draw_question(comparison: PartitionComparison, block: LessonBlock, key: str) -> list[Part]:
    """Returns both logs in their current state, without a leader."""
    return [_axis(comparison, block, key, steps=0), replica_logs.epochs_html(comparison)]


def _axis(comparison: PartitionComparison, block: LessonBlock, key: str, *, steps: int) -> Group:
    view = replica_axis.view(comparison, _leader(block) if steps else None, steps)
    below = replica_logs.key_html()
    return drawing(replica_axis.figure, view, block, f"{key}_{steps}", below=below)


def _on_paper(comparison: PartitionComparison, block: LessonBlock, key: str) -> list[Part]:
    leader = _leader(block)
    walk = replica_axis.walk_of(comparison, leader)
    title = replica_axis.view(comparison, leader).title
    steps = [replica_logs.steps_html(walk, 0)] if walk else []
    return [
        elements.figure_head_html(title, ""),
        replica_logs.epochs_html(comparison),
        *steps,
    ]


def _to_compare(block: LessonBlock) -> Destination:
    directories = {
        page_state.COMPARED_DIRECTORY: str(block_location.sample(block["with"])),
    } | ({page_state.LEADER: block["leader"]} if block["leader"] else {})
    address = page_state.address(block_location.sample(block["data"]), block["tp"])
    return "Compare", address | directories


REPLICAS = LessonFigure(compare, _draw, _to_compare, _on_paper, _draw_question)
