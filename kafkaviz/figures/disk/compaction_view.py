"""The tables about compaction.

They show what the cleaner decides about each log, what one cleaning does, and what happens to the
records of one key.
"""

from collections import Counter
from typing import NamedTuple

from kafkaviz import config_def, units
from kafkaviz.analysis.compaction.compaction import CleanerDecisions, DecidedLog
from kafkaviz.analysis.compaction.decision import Barrier, DecisionReason
from kafkaviz.analysis.compaction.record_fates import KeyStory
from kafkaviz.format.names import topic_of
from kafkaviz.html import join, tag
from kafkaviz.messages import render, say, say_count
from kafkaviz.render.log_text import describe_fate, describe_reason
from kafkaviz.render.sentences import end_sentence, join_sentences, to_sentence
from kafkaviz.simulate.cleaner.cleaner import AFTER, BEFORE, Cleaning
from kafkaviz.simulate.cleaner.record_filter import NO_TIMESTAMP
from kafkaviz.units import format_bytes, format_count

MAX_ROWS = 300  # most rows of a table that are shown
# texts for barriers that are not named after a setting
BARRIER_KEYS = {
    Barrier.ACTIVE_SEGMENT: "rolls.active_segment",
    Barrier.HIGH_WATERMARK: "compare.key_watermark",
    Barrier.OPEN_TRANSACTION: "compaction.held_open_transaction",
    Barrier.CHECKPOINT: "compaction.held_checkpoint",
}
VALUE_COLUMNS = (
    "partition", "log_directory", "place_in_order", "eligible", "reason", "cleanable_ratio",
    "clean_bytes", "cleanable_bytes", "first_dirty_offset", "first_uncleanable_offset", "held_by",
)  # fmt: skip
LOG_HEADS = (
    "compaction.column_place", "common.topic_partition", "cleaner_lesson.row_ratio",
    "retention.column_cleanable", "retention.column_clean", "compaction.column_now",
    "compaction.column_ends",
)  # fmt: skip


class LogTable(NamedTuple):
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: int  # number of rows that are left out


def headline(decisions: CleanerDecisions) -> str:
    """Says how many logs the cleaner would clean now, and which log is first."""
    count = len(decisions.logs)
    order = decisions.order
    if not order:
        return say_count("compaction.headline_none", count)
    return say_count("compaction.headline", count, eligible=len(order), first=order[0])


def map_text(decisions: CleanerDecisions) -> str:
    """Returns a text with the time that counts as now, and the size of the offset map."""
    return say(
        "compaction.clock_and_map",
        when=units.moment(decisions.plan.now_ms, fraction=False),
        size=decisions.map.size_bytes,
        n=decisions.map.most_keys,
    )


def sorted_logs(decisions: CleanerDecisions) -> list[DecidedLog]:
    """Returns the logs in the cleaner's order, then those that it does not take, dirtiest first."""
    places = _places(decisions)
    return sorted(
        decisions.logs,
        key=lambda log: (
            places.get(log.partition, len(places)),
            -(log.decision.cleanable_ratio or 0),
            -log.decision.total_bytes,
        ),
    )


def log_table(decisions: CleanerDecisions) -> LogTable:
    """Returns one row per compacted log. Logs with nothing to clean share a row per topic."""
    places = _places(decisions)
    rows = []
    idle: Counter[str] = Counter()
    for log in sorted_logs(decisions):
        if log.decision.reason == DecisionReason.NOTHING_CLEANABLE:
            idle[topic_of(log.partition)] += 1
        else:
            rows.append(_log_row(log, places.get(log.partition)))
    for topic, count in idle.items():
        name = say_count("compaction.idle_logs", count, topic=topic)
        reason = say("compaction.now_nothing_cleanable")
        rows.append(("", name, "", "", "", reason, ""))
    columns = tuple(map(say, LOG_HEADS))
    return LogTable(columns, tuple(rows[:MAX_ROWS]), max(0, len(rows) - MAX_ROWS))


def log_values(decisions: CleanerDecisions) -> list[tuple[object, ...]]:
    """Returns one CSV row per log. The columns are `VALUE_COLUMNS`."""
    places = _places(decisions)
    return [
        (
            log.partition.rpartition("/")[2],
            log.log_directory or "",
            places.get(log.partition, ""),
            log.decision.is_eligible,
            log.decision.reason.value,
            log.decision.cleanable_ratio,
            log.decision.clean_bytes,
            log.decision.cleanable_bytes,
            log.decision.first_dirty_offset,
            log.decision.first_uncleanable_offset,
            log.decision.held_by.value,
        )
        for log in sorted_logs(decisions)
    ]


def _places(decisions: CleanerDecisions) -> dict[str, int]:
    return {partition: place for place, partition in enumerate(decisions.order, 1)}


def _log_row(log: DecidedLog, place: int | None) -> tuple[str, ...]:
    decision = log.decision
    ratio = decision.cleanable_ratio or 0.0
    bar = tag("span", tag("i", style=f"width:{100 * ratio:.0f}%"), class_="kv-share")
    key = BARRIER_KEYS.get(decision.held_by)
    return (
        "" if place is None else format_count(place),
        log.partition,
        join((bar, f" {ratio:.3f}")),
        format_bytes(decision.cleanable_bytes),
        format_bytes(decision.clean_bytes),
        render(describe_reason(decision, log.settings, is_short=True)),
        say(key) if key else config_def.label(decision.held_by.value),
    )


def decision_text(log: DecidedLog) -> str:
    """Says whether the cleaner takes the log, and why."""
    decision = log.decision
    reason = describe_reason(decision, log.settings)
    texts = [end_sentence(say("cli_compaction.partition", name=log.partition, reason=reason))]
    if decision.force_update_checkpoint:
        offset = decision.first_dirty_offset
        text = say("cli_compaction.forced", checkpoint=decision.checkpointed, offset=offset)
        texts.append(to_sentence(text))
    return join_sentences(texts)


def number_rows(cleaning: Cleaning, most_keys: int) -> list[tuple[str, str]]:
    """Returns one cleaning's numbers as (name, value). `most_keys`: limit of the offset map."""
    source_count = sum(len(segment.sources) for segment in cleaning.segments)
    sizes = say("compaction.from_to", before=cleaning.source_bytes, after=cleaning.log_bytes)
    counts = say("compaction.n_from_to", before=source_count, after=len(cleaning.segments))
    rows = [
        (say("compaction.row_bytes"), sizes),
        (say("compaction.row_freed"), format_bytes(cleaning.bytes_freed)),
        (say("common.segments"), counts),
        (say("compaction.row_removed"), format_count(cleaning.removed.records)),
    ]
    rows += [
        (tag("span", say(f"compaction.removed_{name}"), class_="kv-sub"), format_count(count))
        for name, count in (
            ("replaced", cleaning.replaced_records),
            ("expired", cleaning.expired_tombstones),
            ("aborted", cleaning.aborted_records),
            ("markers", cleaning.removed_markers),
            ("keyless", cleaning.keyless_records),
        )
        if count
    ]
    map_text = say("compaction.map_use", keys=cleaning.map_keys, most=most_keys)
    passes = cleaning.passes
    passes_text = say("cli_compaction.endless") if passes is None else format_count(passes)
    rows += [
        (say("compaction.row_kept"), format_count(cleaning.retained.records)),
        (say("compaction.row_checkpoint"), format_count(cleaning.next_first_dirty_offset)),
        (say("compaction.row_map"), map_text),
        (say("compaction.row_passes"), passes_text),
    ]
    return rows


class HorizonRow(NamedTuple):
    """A table row: the tombstones and transaction markers with the same delete horizon."""

    horizon: str
    tombstones: str
    markers: str
    first_offset: str
    origin: str  # whether this cleaning or an earlier one sets the horizon


HORIZON_HEADS = (
    "compaction.column_horizon", "compaction.column_tombstones", "compaction.column_markers",
    "compaction.column_first", "compaction.column_origin",
)  # fmt: skip


def horizon_rows(cleaning: Cleaning) -> list[HorizonRow]:
    """Returns one row per delete horizon, for the tombstones and markers that `cleaning` lists."""
    tombstones: Counter[tuple[int, bool]] = Counter()
    markers: Counter[tuple[int, bool]] = Counter()
    first_offsets: dict[tuple[int, bool], int] = {}
    for counter, rows in ((tombstones, cleaning.tombstones), (markers, cleaning.markers)):
        for row in rows.tolist():
            key = (row[AFTER], row[BEFORE] == NO_TIMESTAMP)
            counter[key] += 1
            first_offsets[key] = min(first_offsets.get(key, row[0]), row[0])
    return [
        HorizonRow(
            horizon=say("common.none") if key[0] == NO_TIMESTAMP else units.moment(key[0]),
            tombstones=format_count(tombstones[key]),
            markers=format_count(markers[key]),
            first_offset=format_count(first_offsets[key]),
            origin=_origin(key[0], is_new=key[1]),
        )
        for key in sorted(first_offsets)[:MAX_ROWS]
    ]


def _origin(horizon_ms: int, *, is_new: bool) -> str:
    if horizon_ms == NO_TIMESTAMP:
        return say("compaction.horizon_later")
    return say("compaction.horizon_new" if is_new else "compaction.horizon_old")


STORY_COLUMNS = ("offset", "time", "segment", "size", "value", "fate")  # columns of the CSV file
STORY_HEADS = (
    "report.record_offset", "report.record_time", "common.segment", "segment.head_size",
    "workshop.value", "compaction.column_fate",
)  # fmt: skip


def story_rows(story: KeyStory) -> list[tuple[str, ...]]:
    """Returns (offset, time, segment, size, value, fate) of each record of a key, newest first."""
    return [
        (
            format_count(record.offset),
            units.moment(record.timestamp_ms),
            format_count(record.segment),
            format_bytes(record.size_bytes),
            say("compaction.tombstone")
            if record.value_bytes is None
            else format_bytes(record.value_bytes),
            render(describe_fate(record, story.log)),
        )
        for record in reversed(story.records)
    ]
