"""Figures about sample directories: findings, retention, and a comparison of replicas."""

from collections.abc import Sequence
from dataclasses import replace
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
from kafkaviz.figures.comparison import replica_axis
from kafkaviz.messages import message, render, say
from kafkaviz.render import retention_text
from kafkaviz.render.sentences import to_sentence
from kafkaviz.units import DAY_MS
from kafkaviz.workshop.figures import block_location
from kafkaviz.workshop.figures.figure import (
    UNKNOWN,
    Destination,
    Part,
    drawing,
    quiz_figure,
    titled_table,
)
from kafkaviz.workshop.lab.start_trial import FORECAST
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue


def _make(block: LessonBlock) -> list[Finding]:
    location = block_location.locate(block)
    health = _health(location.snapshot, location.partition.directory)
    codes = block["code"]
    findings = [finding for finding in health.findings if not codes or finding.code in codes]
    missing = tuple(sorted(set(codes) - {finding.code for finding in findings}))
    if missing:
        raise NoValue(message("lesson.no_finding", partition=block["tp"], codes=missing))
    return findings


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=HASH_FUNCS)
def _health(snapshot: BrokerSnapshot, directory: str) -> Health:
    return broker_health.check(snapshot.broker, partition=directory)


def _draw(
    findings: Sequence[Finding], block: LessonBlock, key: str, *, is_answered: bool
) -> list[Part]:
    """Returns the table of findings. Before the answer, hides what broker start-up will do."""
    rows = [
        (
            Path(finding.file or "").name,
            render(finding.message),
            to_sentence(render(finding.consequence)) if is_answered else UNKNOWN,
        )
        for finding in findings
        if is_answered or not finding.code.startswith(FORECAST)
    ]
    heads = [say(f"workshop.{name}") for name in ("file", "what_is_there", "what_kafka_does")]
    title = f"{block['tp']}, {block['data']}"
    return titled_table(title, say("workshop.findings_below"), heads, rows, "mww")


FINDINGS = quiz_figure(_make, _draw, block_location.to_health)


def _make_retention(block: LessonBlock) -> LogRetention:
    location = block_location.locate(block)
    health = _health(location.snapshot, location.partition.directory)
    ages = [segment.age for log in health.retention for segment in log.segments]
    times = [age.timestamp_ms for age in ages if age.timestamp_ms is not None]
    if not times:
        raise NoValue(message("lesson.no_timed_record", partition=block["tp"]))
    limits = RetentionLimits(deletes=True, retention_ms=block["retention-days"] * DAY_MS)
    now_ms = max(times) + block["days"] * DAY_MS
    return log_retention(location.partition.directory, ages, limits, now_ms=now_ms)


def _draw_retention(
    log: LogRetention, block: LessonBlock, key: str, *, is_answered: bool
) -> list[Part]:
    title = f"{log.partition}, {block['data']}"
    caption = say("workshop.retention_below", when=retention_text.moment_text(log.now_ms))
    return retention_table(log, title, caption, is_answered=is_answered)


def retention_table(
    log: LogRetention, title: str, caption: str, *, is_answered: bool
) -> list[Part]:
    """Returns a row per segment: base offset, newest record, why the segment stays or goes."""
    heads = [say(f"workshop.{name}") for name in ("segment", "newest_record", "at_the_check")]
    rows = (
        (
            units.format_count(segment.age.base_offset),
            retention_text.newest_text(segment.age),
            retention_text.reason_text(log, segment) if is_answered else UNKNOWN,
        )
        for segment in log.segments
    )
    return titled_table(title, caption, heads, rows, "rlw")


RETENTION = quiz_figure(_make_retention, _draw_retention, block_location.to_health)


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
            broker,
            partitions=(broker.partition(directory),),
            log_directories=tuple(replace(each, problems=()) for each in broker.log_directories),
        )
        for broker in (a.broker, b.broker)
    ]
    return compare_brokers(pair[0], pair[1]).partitions[0]


def _leader(block: LessonBlock) -> int | None:
    return None if block["leader"] is None else SIDES.index(block["leader"])


def _draw_replicas(
    comparison: PartitionComparison, block: LessonBlock, key: str, *, is_answered: bool
) -> list[Part]:
    """Draws two replicas. Before the answer, hides the truncation and the leader."""
    leader = _leader(block)
    walk = replica_axis.follower_truncation(comparison, leader) if is_answered else None
    steps = len(walk.steps) if walk else 0
    view = replica_axis.view(comparison, leader if steps else None, steps)
    below = replica_logs.key_html()
    axis = drawing(replica_axis.figure, view, block, f"{key}_{steps}", below=below)
    table = replica_logs.steps_html(walk, 0) if walk else replica_logs.epochs_html(comparison)
    return [axis, table]


def _replicas_on_paper(comparison: PartitionComparison, block: LessonBlock, key: str) -> list[Part]:
    leader = _leader(block)
    walk = replica_axis.follower_truncation(comparison, leader)
    head = elements.figure_head_html(replica_axis.view(comparison, leader).title, "")
    steps = [replica_logs.steps_html(walk, 0)] if walk else []
    return [head, replica_logs.epochs_html(comparison), *steps]


def _to_compare(block: LessonBlock) -> Destination:
    address = page_state.address(block_location.sample(block["data"]), block["tp"])
    compared = {page_state.COMPARED_DIRECTORY: str(block_location.sample(block["with"]))}
    leader = {page_state.LEADER: block["leader"]} if block["leader"] else {}
    return "Compare", address | compared | leader


REPLICAS = quiz_figure(compare_replicas, _draw_replicas, _to_compare, _replicas_on_paper)
