"""Findings in a real directory, and the result of a retention check on a topic-partition."""

from collections.abc import Sequence
from functools import partial
from html import escape
from pathlib import Path

import streamlit as st

from kafkaviz import units
from kafkaviz.analysis import broker_health
from kafkaviz.analysis.broker_health import Health
from kafkaviz.analysis.findings.finding import Finding
from kafkaviz.analysis.retention import LogRetention, RetentionLimits, log_retention
from kafkaviz.app.cache.broker_cache import HASH_FUNCS, BrokerSnapshot
from kafkaviz.app.widgets import elements
from kafkaviz.config_def import DAY_MS
from kafkaviz.figures.text import retention_text
from kafkaviz.figures.text.sentences import to_sentence
from kafkaviz.messages import message, render, say
from kafkaviz.workshop.figures import block_location
from kafkaviz.workshop.figures.figure import UNKNOWN, LessonFigure, Part, titled_table
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue

FORECAST = "recovery-will-"  # prefix of codes about the next start
WRAP = ' style="white-space:normal"'


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
    """Returns the findings, and what the next start will do only if that is answered."""
    rows = [
        _row(finding, is_answered=is_answered)
        for finding in findings
        if is_answered or not finding.code.startswith(FORECAST)
    ]
    head = "".join(
        f"<th>{say(f'workshop.{name}')}</th>"
        for name in ("file", "what_is_there", "what_kafka_does")
    )
    title = f"{block['tp']}, {block['data']}"
    return [
        elements.figure_head_html(title, say("workshop.findings_below")),
        elements.table_html(head, rows),
    ]


def _row(finding: Finding, *, is_answered: bool) -> str:
    file = f'<td class="kv-mono">{escape(Path(finding.file or "").name)}</td>'
    fact = f"<td{WRAP}>{escape(render(finding.message))}</td>"
    if not is_answered:
        return f"<tr>{file}{fact}<td>{UNKNOWN}</td></tr>"
    consequence = escape(to_sentence(render(finding.consequence)))
    return f"<tr>{file}{fact}<td{WRAP}>{consequence}</td></tr>"


FINDINGS = LessonFigure(
    _make, _draw, block_location.to_health, question=partial(_draw, is_answered=False)
)


def _make_retention(block: LessonBlock) -> LogRetention:
    """Runs the check of a block.

    Raises:
        NoValue: no segment has a timestamp.
    """
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
    """Returns the segments, oldest first, and what happens to each only if that is answered."""
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
