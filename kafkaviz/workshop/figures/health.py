"""Findings in a real directory, and the result of a retention check on a topic-partition."""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

import streamlit as st

from kafkaviz import units
from kafkaviz.analysis import broker_health
from kafkaviz.analysis.findings.finding import Finding
from kafkaviz.analysis.retention import LogRetention, RetentionLimits, SegmentAge, log_retention
from kafkaviz.app.cache.broker_cache import HASH_FUNCS, BrokerSnapshot
from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.tables import table_html
from kafkaviz.config_def import DAY_MS
from kafkaviz.figures.text import retention_text
from kafkaviz.figures.text.sentences import to_sentence
from kafkaviz.messages import message, render, say
from kafkaviz.workshop.figures import block_location
from kafkaviz.workshop.figures.figure import UNKNOWN, LessonFigure, Part
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue

FORECAST = "recovery-will-"  # prefix of codes about the next start
WRAP = ' style="white-space:normal"'


def _make(block: LessonBlock) -> list[Finding]:
    location = block_location.locate(block)
    partition_findings = _findings(location.snapshot, location.partition.directory)
    findings = [
        finding
        for finding in partition_findings
        if not block["code"] or finding.code in block["code"]
    ]
    missing = set(block["code"]) - {finding.code for finding in findings}
    if missing:
        raise NoValue(
            message("lesson.no_finding", partition=block["tp"], codes=tuple(sorted(missing)))
        )
    return findings


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=HASH_FUNCS)
def _findings(snapshot: BrokerSnapshot, directory: str) -> tuple[Finding, ...]:
    from kafkaviz.analysis import broker_health

    return broker_health.check(snapshot.broker, partition=directory).findings


def _draw(findings: Sequence[Finding], block: LessonBlock, key: str) -> list[Part]:
    return _parts(map(_row, findings), block)


def _draw_question(findings: Sequence[Finding], block: LessonBlock, key: str) -> list[Part]:
    """Returns the findings, with what the next start will do hidden."""
    facts = (finding for finding in findings if not finding.code.startswith(FORECAST))
    rows = ([*_there(finding), f"<td>{UNKNOWN}</td>"] for finding in facts)
    return _parts((f"<tr>{''.join(cells)}</tr>" for cells in rows), block)


def _parts(rows: Iterable[str], block: LessonBlock) -> list[Part]:
    head = "".join(
        f"<th>{say(f'workshop.{name}')}</th>"
        for name in ("file", "what_is_there", "what_kafka_does")
    )
    title = f"{block['tp']}, {block['data']}"
    return [
        elements.figure_head_html(title, say("workshop.findings_below")),
        elements.table_html(head, rows),
    ]


def _row(finding: Finding) -> str:
    consequence = escape(to_sentence(render(finding.consequence)))
    return f"<tr>{''.join(_there(finding))}<td{WRAP}>{consequence}</td></tr>"


def _there(finding: Finding) -> tuple[str, str]:
    """Returns the cells of the file and of the finding."""
    return (
        f'<td class="kv-mono">{escape(Path(finding.file or "").name)}</td>',
        f"<td{WRAP}>{escape(render(finding.message))}</td>",
    )


FINDINGS = LessonFigure(_make, _draw, block_location.to_health, question=_draw_question)


def _make_retention(block: LessonBlock) -> LogRetention:
    """Runs the check of a block.

    Raises:
        NoValue: no segment has a timestamp.
    """
    location = block_location.locate(block)
    segment_ages = _segment_ages(location.snapshot, location.partition.directory)
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


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=HASH_FUNCS)
def _segment_ages(snapshot: BrokerSnapshot, directory: str) -> tuple[SegmentAge, ...]:
    return tuple(
        segment.age
        for log in broker_health.check(snapshot.broker, partition=directory).retention
        for segment in log.segments
    )


def _draw_retention(log: LogRetention, block: LessonBlock, key: str) -> list[Part]:
    return _retention_parts(
        log, block, [retention_text.reason_text(log, segment) for segment in log.segments]
    )


def _draw_retention_question(log: LogRetention, block: LessonBlock, key: str) -> list[Part]:
    return _retention_parts(log, block, [UNKNOWN] * len(log.segments))


def _retention_parts(log: LogRetention, block: LessonBlock, results: Sequence[str]) -> list[Part]:
    """Returns the segments, oldest first.

    Args:
        results: the result of the check for each segment.
    """
    heads = [say(f"workshop.{name}") for name in ("segment", "newest_record", "at_the_check")]
    rows = (
        (
            units.format_count(segment.age.base_offset),
            retention_text.newest_text(segment.age),
            result,
        )
        for segment, result in zip(log.segments, results, strict=True)
    )
    caption = say("workshop.retention_below", when=retention_text.moment_text(log.now_ms))
    return [
        elements.figure_head_html(f"{log.partition}, {block['data']}", caption),
        table_html(heads, rows, "rlw"),
    ]


RETENTION = LessonFigure(
    _make_retention, _draw_retention, block_location.to_health, question=_draw_retention_question
)
