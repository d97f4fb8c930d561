"""Figures about sample directories: findings, retention, and a comparison of replicas."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import streamlit as st

from kafkaviz import units
from kafkaviz.analysis import broker_health
from kafkaviz.analysis.broker_health import Health
from kafkaviz.analysis.comparison.comparison import SIDES, PartitionComparison
from kafkaviz.analysis.findings import Finding
from kafkaviz.analysis.retention import LogRetention, RetentionLimits, log_retention
from kafkaviz.app import page_state
from kafkaviz.app.cache.broker_cache import HASH_FUNCS, BrokerSnapshot
from kafkaviz.app.widgets import elements, replica_logs
from kafkaviz.config_def import DAY_MS
from kafkaviz.figures.comparison import replica_axis
from kafkaviz.figures.text import retention_text
from kafkaviz.figures.text.sentences import to_sentence
from kafkaviz.messages import message, render, say
from kafkaviz.workshop.figures import block_location
from kafkaviz.workshop.figures.figure import (
    UNKNOWN,
    Destination,
    Group,
    LessonFigure,
    Part,
    drawing,
    titled_table,
)
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue

FORECAST = "recovery-will-"  # prefix of the codes of findings that predict the next broker start


def _make(block: LessonBlock) -> list[Finding]:
    location = block_location.locate(block)
    health = _health(location.snapshot, location.partition.directory)
    findings = [
        finding for finding in health.findings if not block["code"] or finding.code in block["code"]
    ]
    missing = set(block["code"]) - {finding.code for finding in findings}
    if missing:
        raise NoValue(
            message("lesson.no_finding", partition=block["tp"], codes=tuple(sorted(missing)))
        )
    return findings


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=HASH_FUNCS)
def _health(snapshot: BrokerSnapshot, directory: str) -> Health:
    return broker_health.check(snapshot.broker, partition=directory)


def _draw(
    findings: Sequence[Finding], block: LessonBlock, key: str, *, is_answered: bool = True
) -> list[Part]:
    """Returns the table of findings. Before the answer, hides what broker start-up will do."""
    rows = [
        _row(finding, is_answered=is_answered)
        for finding in findings
        if is_answered or not finding.code.startswith(FORECAST)
    ]
    heads = [say(f"workshop.{name}") for name in ("file", "what_is_there", "what_kafka_does")]
    return titled_table(
        f"{block['tp']}, {block['data']}", say("workshop.findings_below"), heads, rows, "mww"
    )


def _row(finding: Finding, *, is_answered: bool) -> tuple[str, str, str]:
    consequence = to_sentence(render(finding.consequence)) if is_answered else UNKNOWN
    return Path(finding.file or "").name, render(finding.message), consequence


FINDINGS = LessonFigure(
    _make, _draw, block_location.to_health, question=partial(_draw, is_answered=False)
)


def _make_retention(block: LessonBlock) -> LogRetention:
    location = block_location.locate(block)
    health = _health(location.snapshot, location.partition.directory)
    segment_ages = [segment.age for log in health.retention for segment in log.segments]
    times = [
        segment_age.timestamp_ms
        for segment_age in segment_ages
        if segment_age.timestamp_ms is not None
    ]
    if not times:
        raise NoValue(message("lesson.no_timed_record", partition=block["tp"]))
    limits = RetentionLimits(deletes=True, retention_ms=block["retention-days"] * DAY_MS)
    return log_retention(
        location.partition.directory,
        segment_ages,
        limits,
        now_ms=max(times) + block["days"] * DAY_MS,
    )


def _draw_retention(
    log: LogRetention, block: LessonBlock, key: str, *, is_answered: bool = True
) -> list[Part]:
    heads = [say(f"workshop.{name}") for name in ("segment", "newest_record", "at_the_check")]
    rows = (
        (
            units.format_count(segment.age.base_offset),
            retention_text.newest_text(segment.age),
            retention_text.reason_text(log, segment) if is_answered else UNKNOWN,
        )
        for segment in log.segments
    )
    caption = say("workshop.retention_below", when=retention_text.moment_text(log.now_ms))
    return titled_table(f"{log.partition}, {block['data']}", caption, heads, rows, "rlw")


RETENTION = LessonFigure(
    _make_retention,
    _draw_retention,
    block_location.to_health,
    question=partial(_draw_retention, is_answered=False),
)


def compare_replicas(block: LessonBlock) -> PartitionComparison:
    """Compares a topic-partition in the two samples that a block names.

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


def _draw_replicas(comparison: PartitionComparison, block: LessonBlock, key: str) -> list[Part]:
    walk = replica_axis.follower_truncation(comparison, _leader(block))
    if walk is None:
        return _draw_unordered(comparison, block, key)
    return [
        _axis(comparison, block, key, steps=len(walk.steps)),
        replica_logs.steps_html(walk, 0),
    ]


def _draw_unordered(comparison: PartitionComparison, block: LessonBlock, key: str) -> list[Part]:
    """Draws two replicas before truncation, without showing which one is the leader."""
    return [_axis(comparison, block, key, steps=0), replica_logs.epochs_html(comparison)]


def _axis(comparison: PartitionComparison, block: LessonBlock, key: str, *, steps: int) -> Group:
    view = replica_axis.view(comparison, _leader(block) if steps else None, steps)
    below = replica_logs.key_html()
    return drawing(replica_axis.figure, view, block, f"{key}_{steps}", below=below)


def _replicas_on_paper(comparison: PartitionComparison, block: LessonBlock, key: str) -> list[Part]:
    leader = _leader(block)
    walk = replica_axis.follower_truncation(comparison, leader)
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


REPLICAS = LessonFigure(
    compare_replicas, _draw_replicas, _to_compare, _replicas_on_paper, _draw_unordered
)
