"""The figures of the lesson on the cleaner: the log, the cleaner's decisions, the cleaned log."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from kafkaviz import units
from kafkaviz.analysis.checks.plan import cleaner_offsets, plan_check
from kafkaviz.analysis.compaction.compaction import decide_log
from kafkaviz.analysis.compaction.decision import CompactionRules
from kafkaviz.analysis.compaction.record_fates import GOES, KeyStory, LogRecord, key_story
from kafkaviz.analysis.retention import LogRetention, RetentionLimits, SegmentAge, log_retention
from kafkaviz.app import page_state
from kafkaviz.app.cache.broker_cache import HASH_FUNCS, BrokerSnapshot
from kafkaviz.app.widgets import elements
from kafkaviz.figures.disk import cleaning_figure
from kafkaviz.messages import message, render, say, say_count
from kafkaviz.render import log_text
from kafkaviz.render.sentences import join_comma, to_sentence
from kafkaviz.simulate import lesson_logs
from kafkaviz.simulate.cleaner.batch_chunks import BatchChunks
from kafkaviz.units import DAY_MS, format_bytes, format_count
from kafkaviz.workshop.figures import block_location, customer_log
from kafkaviz.workshop.figures.checks import retention_table
from kafkaviz.workshop.figures.customer_log import CleanerCheck, TopicSettings
from kafkaviz.workshop.figures.figure import (
    UNKNOWN,
    Destination,
    Part,
    frame,
    quiz_figure,
    titled_table,
)
from kafkaviz.workshop.lessons.grammar import CLEANING_STEPS, LessonBlock, NoValue

SAMPLE = "kafka-4.3.1-clean"  # links from these figures open this sample on the page Disk
COMPACTION = "Compaction"
RETENTION = "Retention"


def _to_disk(tab: str, _block: LessonBlock) -> Destination:
    return "Disk", page_state.address(block_location.sample(SAMPLE)) | {page_state.TAB: tab}


def _check(block: LessonBlock) -> CleanerCheck:
    return customer_log.check(block["log"], block["day"])


def _day(now_ms: int) -> str:
    return units.moment(now_ms, fraction=False)[:16]


def _make_retention(block: LessonBlock) -> LogRetention:
    log = _check(block).log
    limits = RetentionLimits(deletes=True, retention_ms=block["retention-days"] * DAY_MS)
    ages = [
        SegmentAge(view.base_offset, view.size_bytes, *_newest(view.log))
        for view in log.state.views
    ]
    return log_retention(lesson_logs.PARTITION, ages, limits, now_ms=lesson_logs.day(block["day"]))


def _newest(log) -> tuple[int, str, int]:
    """Returns (newest timestamp, "record", last offset of the first batch with that timestamp)."""
    newest = max(
        (int(batch["max_timestamp_ms"]), -int(batch["last_offset"]))
        for chunk in BatchChunks(log)
        for batch in chunk.batches
    )
    return newest[0], "record", -newest[1]


def _draw_retention(
    log: LogRetention, block: LessonBlock, _key: str, *, is_answered: bool
) -> list[Part]:
    title = say("cleaner_lesson.retention_title", name=log.partition, day=_day(log.now_ms))
    caption = say("cleaner_lesson.retention_below", days=block["retention-days"])
    return retention_table(log, title, caption, is_answered=is_answered)


LOG_RETENTION = quiz_figure(_make_retention, _draw_retention, partial(_to_disk, RETENTION))


def _draw_log(
    check: CleanerCheck, _block: LessonBlock, key: str, *, is_answered: bool
) -> list[Part]:
    state = _reason_text(check) if is_answered else say("cleaner_lesson.log_ask")
    title = say(
        "cleaner_lesson.log_title", name=lesson_logs.PARTITION, day=_day(check.now_ms), state=state
    )
    head = elements.figure_head_html(title, say("cleaning.below_cells"))
    drawn = cleaning_figure.view(check.log, None, check.records, cleaning_figure.RANGE)
    return [frame(key, head, cleaning_figure.figure(drawn))]


def _reason_text(check: CleanerCheck) -> str:
    """Returns why the cleaner takes the log, or why not."""
    decision = check.log.decision
    if decision.cleanable_bytes:
        return render(log_text.describe_reason(decision, check.log.settings))
    barrier = log_text.describe_barrier(decision, check.log.state.oldest_transaction)
    return say("cleaner_lesson.held", barrier=barrier)


CLEANER_LOG = quiz_figure(_check, _draw_log, partial(_to_disk, COMPACTION))

STEPS = dict(zip(CLEANING_STEPS, cleaning_figure.STEPS, strict=True))


def _draw_cleaning(
    check: CleanerCheck, block: LessonBlock, key: str, *, is_answered: bool
) -> list[Part]:
    step = STEPS[block["shows"]] if is_answered else cleaning_figure.RANGE
    drawn = cleaning_figure.view(check.log, check.cleaning, check.records, step)
    head = elements.figure_head_html(drawn.title, drawn.caption)
    return [frame(key, head, cleaning_figure.figure(drawn))]


def _make_cleaning(block: LessonBlock) -> CleanerCheck:
    check = _check(block)
    if check.cleaning is None:
        raise NoValue(message("lesson.not_cleaned", day=block["day"]))
    return check


CLEANING = quiz_figure(_make_cleaning, _draw_cleaning, partial(_to_disk, COMPACTION))


def _make_weeks(block: LessonBlock) -> list[CleanerCheck]:
    return [customer_log.check(block["log"], day) for day in block["day"]]


def _draw_weeks(
    checks: Sequence[CleanerCheck], block: LessonBlock, _key: str, *, is_answered: bool
) -> list[Part]:
    key = block["key"]
    offsets = sorted({record.offset for check in checks for record in check.records_of(key)})
    heads = [
        say("cleaner_lesson.head_day"),
        say("cleaner_lesson.row_ratio"),
        *(say("common.offset", offset=offset) for offset in offsets),
    ]
    rows = []
    is_shown = True
    for check in checks:
        records = {record.offset: record for record in check.records_of(key)}
        texts = [_ratio_text(check), *(_week_text(check, records.get(each)) for each in offsets)]
        rows.append((_day(check.now_ms), *(texts if is_shown else [UNKNOWN] * len(texts))))
        # before the answer, the rows end with the first tombstone that gets a delete horizon
        is_shown &= is_answered or not _gives_horizon(check)
    title = say("cleaner_lesson.weeks_title", key=key, count=len(offsets))
    caption = say("cleaner_lesson.weeks_below")
    return titled_table(title, caption, heads, rows, "lw" + "w" * len(offsets))


def _gives_horizon(check: CleanerCheck) -> bool:
    tombstones = check.cleaning.tombstones_left if check.cleaning else ()
    return any(time is not None for _, time in tombstones)


def _ratio_text(check: CleanerCheck) -> str:
    decision = check.log.decision
    share = units.format_percent(decision.cleanable_bytes, decision.total_bytes)
    decision_word = "taken" if check.cleaning else "not_taken"
    return say(f"cleaner_lesson.{decision_word}", share=share)


def _week_text(check: CleanerCheck, record: LogRecord | None) -> str:
    if record is None:
        return say("cleaner_lesson.gone")
    if check.cleaning is None:
        return say("cleaner_lesson.stays")
    if record.fate in GOES:
        return say("cleaner_lesson.goes")
    horizon_ms = dict(check.cleaning.tombstones_left).get(record.offset)
    if horizon_ms is not None:
        return say("cleaner_lesson.gets_horizon", time=_day(horizon_ms))
    return say("cleaner_lesson.stays")


CLEANER_WEEKS = quiz_figure(_make_weeks, _draw_weeks, partial(_to_disk, COMPACTION))


def _draw_files(
    check: CleanerCheck, _block: LessonBlock, key: str, *, is_answered: bool
) -> list[Part]:
    cleaning = check.cleaning
    heads = [
        say("workshop.segment"),
        *(say(f"cleaner_lesson.head_{name}") for name in ("log", "index", "timeindex")),
    ]
    before = map(_file_cells, check.log.state.views)
    title = say("cleaner_lesson.files_title", day=_day(check.now_ms))
    if is_answered and cleaning:
        title = say_count(
            "cleaner_lesson.files_freed",
            sum(len(segment.sources) for segment in cleaning.segments),
            before=cleaning.source_bytes,
            after=cleaning.log_bytes,
        )
    parts = titled_table(title, say("cleaner_lesson.files_before"), heads, before, "rrrr")
    if is_answered:
        title = say("cleaner_lesson.files_after")
        after = map(_file_cells, check.segments)
        parts += titled_table(title, say("cleaner_lesson.files_below"), heads, after, "rrrr")
    return [frame(key, *parts)]


def _file_cells(view) -> tuple[str, str, str, str]:
    return (
        format_count(view.base_offset),
        format_bytes(view.size_bytes),
        format_count(len(view.offset_slots)),
        format_count(len(view.time_slots)),
    )


CLEANED_FILES = quiz_figure(_make_cleaning, _draw_files, partial(_to_disk, COMPACTION))

YEAR_MS = 365 * DAY_MS
VARIANTS = {  # the message key of each changed setting
    "ratio": TopicSettings(rules=CompactionRules(min_cleanable_dirty_ratio=1.0)),
    "roll": TopicSettings(segment_ms=YEAR_MS),
    "lag": TopicSettings(rules=CompactionRules(min_compaction_lag_ms=30 * DAY_MS)),
    "transaction": TopicSettings(open_week=2),
    "map": TopicSettings(most_keys=3),
    "batch": TopicSettings(broken_segment=12),
    "retention": TopicSettings(delete_retention_ms=YEAR_MS),
}


def _make_settings(block: LessonBlock) -> dict[str, CleanerCheck]:
    return {
        name: customer_log.check(block["log"], block["day"], settings)
        for name, settings in VARIANTS.items()
    }


def _draw_settings(
    checks: dict[str, CleanerCheck], block: LessonBlock, _key: str, *, is_answered: bool
) -> list[Part]:
    heads = [say(f"cleaner_lesson.head_{name}") for name in ("changed", "cleaner", "value_left")]
    unread = _check(block).records_of(block["key"])
    rows = (
        (
            say(f"cleaner_lesson.variant_{name}"),
            to_sentence(_cleaner_text(check)) if is_answered else UNKNOWN,
            _left_text(check, unread, block["key"]) if is_answered else UNKNOWN,
        )
        for name, check in checks.items()
    )
    first = next(iter(checks.values()))
    title = say("cleaner_lesson.settings_title", day=_day(first.now_ms))
    caption = say("cleaner_lesson.settings_below", key=block["key"])
    return titled_table(title, caption, heads, rows, "wwl")


def _cleaner_text(check: CleanerCheck) -> str:
    if check.error:
        return say("cleaner_lesson.fails", error=check.error.partition(":")[0].rpartition(".")[2])
    if check.cleaning is None:
        return _reason_text(check)
    if check.cleaning.passes and check.cleaning.passes > 1:
        return say("cleaner_lesson.takes_passes", passes=check.cleaning.passes)
    return say("cleaner_lesson.takes")


def _left_text(check: CleanerCheck, unread: Sequence[LogRecord], key: str) -> str:
    """Lists the records of a key that stay in the log after `check`, as text.

    If `check` has no records of the key because it could not read the log, lists `unread` instead.
    """
    records = check.records_of(key) or unread
    if check.cleaning:
        records = [record for record in records if record.fate not in GOES]
    kinds = {True: "tombstone", False: "value"}
    texts = [
        say(f"cleaner_lesson.left_{kinds[record.is_tombstone]}", offset=record.offset)
        for record in records
    ]
    return join_comma(texts) or say("common.none")


CLEANER_SETTINGS = quiz_figure(_make_settings, _draw_settings, partial(_to_disk, COMPACTION))


def _make_story(block: LessonBlock) -> KeyStory:
    location = block_location.locate(block)
    story = _story(location.snapshot, location.partition.directory, block["key"])
    if not story.records:
        raise NoValue(message("key_story.none", partition=location.partition.directory))
    return story


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=HASH_FUNCS)
def _story(snapshot: BrokerSnapshot, directory: str, key: str) -> KeyStory:
    partition = snapshot.broker.partition(directory)
    plan = plan_check(snapshot.broker, partition=directory)
    offsets = cleaner_offsets(snapshot.broker)
    checkpointed = offsets.get((partition.topic, partition.partition))
    log = decide_log(plan, partition, checkpointed=checkpointed)
    return key_story(log, key.encode(), plan.now_ms)


def _draw_story(story: KeyStory, block: LessonBlock, _key: str, *, is_answered: bool) -> list[Part]:
    heads = [
        say("segment.head_offset"),
        say("cleaner_lesson.head_time"),
        say("workshop.segment"),
        say("cleaner_lesson.head_fate"),
    ]
    rows = (
        (
            format_count(record.offset),
            units.moment(record.timestamp_ms),
            format_count(record.segment),
            to_sentence(render(log_text.describe_fate(record, story.log)))
            if is_answered
            else UNKNOWN,
        )
        for record in story.records
    )
    removed = sum(record.fate in GOES for record in story.records)
    title = say_count("key_story.title", story.record_count, partition=block["tp"], removed=removed)
    command = f"kafkaviz key {block['data']}/{block['tp']} {block['key']}"
    return titled_table(title, command, heads, rows, "rlrw")


def _to_story(block: LessonBlock) -> Destination:
    address = page_state.address(block_location.sample(block["data"]), block["tp"])
    return "Disk", address | {page_state.TAB: COMPACTION}


KEY_STORY = quiz_figure(_make_story, _draw_story, _to_story)
