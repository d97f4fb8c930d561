"""The result of a retention check on a real topic-partition, some days after its newest record."""

from collections.abc import Sequence

import streamlit as st

from kafkaviz import units
from kafkaviz.analysis.health import broker_health
from kafkaviz.analysis.retention import policy
from kafkaviz.analysis.retention.policy import LogRetention, RetentionLimits, SegmentAge
from kafkaviz.app.cache.broker_cache import HASH_FUNCS, BrokerSnapshot
from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.tables import table_html
from kafkaviz.config_def import DAY_MS
from kafkaviz.figures.text import retention_text
from kafkaviz.messages import message, say
from kafkaviz.workshop.figures import block_location
from kafkaviz.workshop.figures.figure import UNKNOWN, LessonFigure, Part
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue


def _make(block: LessonBlock) -> LogRetention:
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
    return policy.log_retention(
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


def _draw(log: LogRetention, block: LessonBlock, key: str) -> list[Part]:
    return _parts(
        log, block, [retention_text.reason_text(log, segment) for segment in log.segments]
    )


def _draw_question(log: LogRetention, block: LessonBlock, key: str) -> list[Part]:
    return _parts(log, block, [UNKNOWN] * len(log.segments))


def _parts(log: LogRetention, block: LessonBlock, results: Sequence[str]) -> list[Part]:
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


RETENTION = LessonFigure(_make, _draw, block_location.to_health, question=_draw_question)
