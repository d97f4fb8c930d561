"""Retention: how many bytes the next retention passes will free, and what keeps each segment.

Sizes are bytes of .log files. Times count from the next retention pass.
"""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, cast

from kafkaviz import units
from kafkaviz.analysis.retention import (
    LogRetention,
    SegmentAge,
    SegmentRetention,
    sort_by_urgency,
    with_limits,
)
from kafkaviz.analysis.retention_sums import SCHEDULE_MS, RetentionChange, deletion_schedule
from kafkaviz.analysis.tuning.tuning_text import BOOTSTRAP
from kafkaviz.html import Html, tag
from kafkaviz.messages import message, say, say_count
from kafkaviz.render import retention_text
from kafkaviz.render.sentences import capitalize, join_comma
from kafkaviz.units import duration, format_bytes

if TYPE_CHECKING:
    from kafkaviz.analysis.broker_health import Health

MAX_ROWS = 300  # most rows of a table that are shown
MAX_BARS = 12  # most logs with a bar of their own; the others share one
MAX_COMMAND_TOPICS = 50


def named_logs(health: "Health") -> list[LogRetention]:
    """Returns the logs that have segments, renamed for display.

    If the broker has several log directories, `partition` begins with the log directory's name.
    """
    prefixes = health.broker.name_prefixes
    return [
        replace(log, partition=f"{prefixes.get(log.log_directory or '', '')}{log.partition}")
        for log in health.retention
        if log.segments
    ]


class SegmentRow(NamedTuple):
    kind: str  # the severity that the mark of the row shows; "" for no mark
    cells: tuple[str, ...]
    hover: tuple[str, ...]  # the full text of each cell
    partition: str
    base_offset: int


class SegmentTable(NamedTuple):
    title: str
    notes: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[SegmentRow, ...]
    more: int  # number of rows that are left out


def segment_table(logs: Sequence[LogRetention]) -> SegmentTable | None:
    """Returns what keeps each segment, and until when. None: no log has segments."""
    logs_segments = sort_by_urgency(logs)
    if not logs_segments:
        return None
    rows = [_segment_row(log, segment) for log, segment in logs_segments[:MAX_ROWS]]
    heads = (say(f"retention.column_{name}") for name in ("newest", "of", "kept"))
    return SegmentTable(
        retention_text.headline_text(logs),
        retention_text.basis_notes([log for log in logs if log.segments]),
        (say("common.segment"), *heads),
        tuple(rows),
        len(logs_segments) - len(rows),
    )


def _segment_row(log: LogRetention, segment: SegmentRetention) -> SegmentRow:
    age = segment.age
    is_odd = age.counted_by in ("unwritten", "entry") or retention_text.is_of_another_unit(age)
    kind = "info" if segment.is_due else ""
    if is_odd or segment.is_waiting_long:
        kind = "warning"
    cells = (
        f"{log.partition} {units.format_count(age.base_offset)}",
        units.moment(age.timestamp_ms, fraction=False),
        _origin_text(age),
        capitalize(retention_text.reason_text(log, segment)),
    )
    hover = (
        f"{log.partition} {units.file_stem(age.base_offset)}, {format_bytes(age.size_bytes)}",
        f"{units.format_count(age.timestamp_ms)} ms",
        retention_text.newest_text(age),
        retention_text.basis_text(log.limits),
    )
    return SegmentRow(kind, cells, hover, log.partition, age.base_offset)


def _origin_text(age: SegmentAge) -> str:
    if age.counted_by == "record":
        return say("common.offset", offset=units.format_count(age.offset))
    if age.counted_by == "mtime":
        return say("retention.of_mtime")
    return "" if age.counted_by == "unknown" else say(f"retention.origin_{age.counted_by}")


class ProposedLimits(NamedTuple):
    """Retention limits that the reader chose. None keeps the current limit."""

    retention_ms: int | None = None
    retention_bytes: int | None = None

    def applied_to(self, log: LogRetention) -> LogRetention:
        """Returns the log with these limits, or unchanged if its cleanup.policy does not delete."""
        limits = log.limits
        source = message("retention.chosen_here")
        if self.retention_ms is not None:
            limits = replace(limits, retention_ms=self.retention_ms, ms_source=source)
        if self.retention_bytes is not None:
            limits = replace(limits, retention_bytes=self.retention_bytes, bytes_source=source)
        if limits == log.limits or not limits.deletes:
            return log
        return with_limits(log, limits)


def setting_name(name: str, *, is_tiered: bool) -> str:
    """Adds the prefix "local." to the name of a retention setting, for a tiered topic."""
    return f"local.{name}" if is_tiered else name


def alter_command(topics: Sequence[str], settings: Mapping[str, float | None]) -> str:
    """Returns the kafka-configs.sh command that changes settings of topics; "" without a change.

    A setting with the value None is removed from the topics.
    """
    if not topics or not settings:
        return ""
    added = [f"{name}={value}" for name, value in settings.items() if value is not None]
    removed = [name for name, value in settings.items() if value is None]
    options = f"--add-config {','.join(added)}" if added else ""
    if removed:
        options = f"{options} --delete-config {','.join(removed)}".strip()
    command = f"kafka-configs.sh --bootstrap-server {BOOTSTRAP} --entity-type topics"
    if len(topics) == 1:
        return f"{command} --entity-name {shlex.quote(topics[0])} --alter {options}"
    names = " ".join(map(shlex.quote, topics))
    loop_body = f'  {command} --entity-name "$topic" --alter {options}'
    return f"for topic in {names}; do\n{loop_body}\ndone"


def bars_finding(changes: Sequence[RetentionChange], *, is_changed: bool) -> str:
    """Says how much the next retention pass frees; if `is_changed`, also how much more or less."""
    freed_bytes = sum(change.due_bytes for change in changes)
    current_bytes = sum(change.current_due_bytes for change in changes)
    total_bytes = sum(change.log_bytes for change in changes)
    values = {"freed": format_bytes(freed_bytes), "total": format_bytes(total_bytes)}
    if not is_changed:
        return say("retention.frees_today", **values)
    if freed_bytes == current_bytes:
        return say("retention.frees_same", **values)
    key = "frees_more" if freed_bytes > current_bytes else "frees_less"
    return say(f"retention.{key}", by=format_bytes(abs(freed_bytes - current_bytes)), **values)


def bars(changes: Sequence[RetentionChange]) -> Html:
    """Draws one bar per log, all on the same scale. Logs after the first `MAX_BARS` share a bar."""
    drawn = list(changes[:MAX_BARS])
    rest = changes[MAX_BARS:]
    if rest:
        drawn.append(
            RetentionChange(
                name=say_count("retention.other_bars", len(rest)),
                current_bytes=_add_up([change.current_bytes for change in rest]),
                proposed_bytes=_add_up([change.proposed_bytes for change in rest]),
            )
        )
    widest = max((change.log_bytes for change in drawn), default=0)
    return tag("div", *(_bar(change, widest) for change in drawn), class_="kv-freed")


def _add_up(parts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for sizes in parts:
        total.update(sizes)
    return total


def _bar(change: RetentionChange, widest: int) -> Html:
    sizes = {name: getattr(change, f"{name}_bytes") for name in ("due", "dated", "undated")}
    sizes = {name: size for name, size in sizes.items() if size}
    words = join_comma(
        say(f"retention.bar_{name}", size=format_bytes(size)) for name, size in sizes.items()
    )

    def style(size_bytes: int) -> str:
        return f"width:{100 * size_bytes / max(1, widest):.3f}%"

    parts = [tag("i", class_=name, style=style(size)) for name, size in sizes.items()]
    if change.current_due_bytes not in (0, change.due_bytes):
        parts.append(tag("s", style=style(change.current_due_bytes)))
    total = format_bytes(change.log_bytes)
    freed = say("retention.bar_freed", freed=format_bytes(change.due_bytes), total=total)
    return tag(
        "div",
        tag("span", change.name, class_="n", title=change.name),
        tag("span", *parts, class_="b", role="img", aria_label=words, title=words),
        tag("span", freed, class_="v"),
    )


class ScheduleTable(NamedTuple):
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]  # the row of sums, then a row per log, the largest first
    values: tuple[tuple[str | int, ...], ...]  # a row for every log, sizes in bytes, for a CSV file
    more: int  # number of logs that are left out of `rows`


VALUE_COLUMNS = (
    "log", "log_bytes", "freed_today", "freed", "within_1h", "within_24h", "within_7d", "later",
    "no_date", "no_date_because",
)  # fmt: skip


def schedule_table(
    logs: Sequence[LogRetention], proposed_logs: Sequence[LogRetention], *, is_changed: bool
) -> ScheduleTable:
    """Returns a table: how many bytes of each log the proposed limits delete, and when.

    If `is_changed`, a column shows how many bytes the current limits of `logs` delete.
    """
    pairs = sorted(zip(logs, proposed_logs, strict=True), key=lambda pair: -pair[0].log_bytes)
    values = [_schedule_values(log, proposed) for log, proposed in pairs]
    sums = tuple(sum(cast(int, row[place]) for row in values) for place in range(1, 9))
    total_row = (say("retention.all_logs"), *sums, "")
    columns = (
        say("broker.column_log"),
        say("segment.head_size"),
        *(say(f"retention.column_{name}") for name in ("today", "due")),
        *(say("retention.column_within", time=duration(time_ms)) for time_ms in SCHEDULE_MS),
        *(say(f"retention.column_{name}") for name in ("later", "undated", "why")),
    )
    rows = [
        (str(row[0]), *(format_bytes(cast(int, size)) for size in row[1:9]), str(row[9]))
        for row in (total_row, *values[:MAX_ROWS])
    ]
    if not is_changed:  # the columns of today's and of the proposed limits would be the same
        columns = (*columns[:2], *columns[3:])
        rows = [(*row[:2], *row[3:]) for row in rows]
    return ScheduleTable(columns, tuple(rows), tuple(values), max(0, len(values) - MAX_ROWS))


def _schedule_values(log: LogRetention, proposed: LogRetention) -> tuple[str | int, ...]:
    schedule = deletion_schedule(proposed)
    return (
        log.partition,
        log.log_bytes,
        log.due_bytes,
        schedule.due_bytes,
        *schedule.within_bytes,
        schedule.later_bytes,
        sum(schedule.undated_bytes.values()),
        join_comma(map(retention_text.held_text, schedule.undated_bytes)),
    )
