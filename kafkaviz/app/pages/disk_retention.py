"""The tab Retention of the Disk page: what Kafka's next retention check deletes."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple
from urllib.parse import urlencode

import streamlit as st

from kafkaviz import units
from kafkaviz.analysis.broker_health import Health
from kafkaviz.analysis.compaction.compaction import DecidedLog, with_dirty_ratio
from kafkaviz.analysis.retention import LogRetention
from kafkaviz.analysis.retention_sums import retention_changes
from kafkaviz.app import page_state
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.state import cleaning_jobs
from kafkaviz.app.state.cleaning_jobs import CleaningJob
from kafkaviz.app.widgets import choice, elements, progress_strip, tables
from kafkaviz.config_def import DIRTY_RATIO
from kafkaviz.errors import CannotOpen
from kafkaviz.figures.disk import retention_view
from kafkaviz.figures.disk.retention_view import ProposedLimits, SegmentRow, setting_name
from kafkaviz.format.names import METADATA_TOPIC, topic_of
from kafkaviz.html import Html, join, tag
from kafkaviz.messages import render as render_message
from kafkaviz.messages import say, say_count
from kafkaviz.render import retention_text
from kafkaviz.render.log_text import describe_reason
from kafkaviz.render.sentences import end_sentence, join_sentences, to_sentence
from kafkaviz.units import DAY_MS, HOUR_MS

MS = "retention.ms"
BYTES = "retention.bytes"
RATIOS = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
CONTROLS = (page_state.RETENTION_TOPIC, *page_state.RETENTION.values())
ALL_TOPICS = "/"  # no directory has this name
INTERNAL = "__"  # the first characters of the topics that brokers keep for themselves
AS_SET = "as set"  # keeps each topic's own limit
NO_LIMIT = "no limit"
DAYS = (1, 2, 3, 7, 14, 30, 90, 365)
TIMES_MS = (HOUR_MS, 6 * HOUR_MS, 12 * HOUR_MS, *(days * DAY_MS for days in DAYS))
SIZE_STEPS = 8  # number of sizes to choose from; each is half of the next larger one
COLUMNS = (1.1, 1, 1)


class _Choice(NamedTuple):
    topic: str | None  # None: all topics
    logs: Sequence[LogRetention]
    proposed: ProposedLimits
    compacted: Sequence[DecidedLog]  # the compacted logs of the topic
    dirty_ratio: float | None  # None keeps the current ratio

    def is_limited(self, log: LogRetention) -> bool:
        """Returns whether the chosen limits apply to a log.

        A choice for all topics does not apply to Kafka's internal topics.
        """
        return self.topic is not None or not topic_of(log.partition).startswith(INTERNAL)


def render(snapshot: BrokerSnapshot, health: Health) -> None:
    logs = retention_view.named_logs(health)
    if logs:
        interval = health.effective_settings.find("", "log.retention.check.interval.ms")
        texts = [say("retention.clock", when=units.moment(logs[0].now_ms, fraction=False))]
        if interval.is_known:
            texts.append(say("retention.passes", time=units.duration(int(interval.value))))
        elements.figure_head(retention_text.headline_text(logs), join_sentences(texts))
        st.space(16)
        with st.container(key="kv_set"):
            chosen = _choose(snapshot, health, logs)
        _render_results(snapshot, health, chosen)
    else:
        elements.empty("retention", say("retention.empty"), say("retention.empty_below"))
    _render_metadata(health)


def _render_results(snapshot: BrokerSnapshot, health: Health, chosen: _Choice) -> None:
    logs = chosen.logs
    proposed_logs = [
        chosen.proposed.applied_to(log) if chosen.is_limited(log) else log for log in logs
    ]
    is_changed = proposed_logs != list(logs)
    changes = retention_changes(
        logs,
        proposed_logs,
        lambda log: topic_of(log.partition) if chosen.topic is None else log.partition,
    )
    st.space(20)
    elements.figure_head(
        retention_view.bars_finding(changes, is_changed=is_changed),
        say("retention.bars_below_changed" if is_changed else "retention.bars_below"),
    )
    st.space(6)
    swatches = (("due", "due"), ("closed", "dated"), ("active", "undated"))
    st.html(elements.key((kind, say(f"retention.key_{name}")) for kind, name in swatches))
    st.html(retention_view.bars(changes))
    upload_text = retention_text.upload_text(proposed_logs)
    if upload_text:
        elements.paragraph(upload_text, above_px=8)
    _render_command(health, chosen)
    if chosen.compacted:
        _render_cleaner(snapshot, chosen)
    _render_schedule(logs, proposed_logs, is_changed=is_changed)
    _render_segments(snapshot, proposed_logs)


def _choose(snapshot: BrokerSnapshot, health: Health, all_logs: Sequence[LogRetention]) -> _Choice:
    first, second, third = st.columns(COLUMNS, gap=24)
    sizes: dict[str, int] = {}
    for log in all_logs:
        sizes[topic_of(log.partition)] = sizes.get(topic_of(log.partition), 0) + log.log_bytes
    with first:
        st.html(tag("div", say("tuning.head_topic"), class_="kv-lab"))
        word = choice.draw_bound(
            st.selectbox,
            say("tuning.head_topic"),
            [ALL_TOPICS, *sorted(sizes, key=lambda topic: -sizes[topic])],
            ALL_TOPICS,
            page_state.RETENTION_TOPIC,
            format_func=_topic_text,
            label_visibility="collapsed",
        )
    topic = None if word == ALL_TOPICS else word
    logs = [log for log in all_logs if topic in (None, topic_of(log.partition))]
    limits = logs[0].limits
    compacted = _compacted_logs(snapshot, health, topic) if topic is not None else ()
    if not any(log.limits.deletes for log in logs):
        with second:
            dirty_ratio = _choose_dirty_ratio(compacted)
        with third if compacted else second:
            key = "policy_is_unknown" if limits.deletes is None else "policy_compacts"
            elements.paragraph(say(f"retention.{key}"), is_faint=True)
        return _Choice(topic, logs, ProposedLimits(), compacted, dirty_ratio)
    has_own = topic is not None and limits.is_known
    is_tiered = topic is not None and limits.is_tiered
    with second:
        own_ms = limits.retention_ms if has_own else None
        retention_ms = _choose_limit(MS, TIMES_MS, own_ms, units.duration, is_tiered=is_tiered)
    with third:
        values = _sizes(max(log.log_bytes for log in logs))
        own_bytes = limits.retention_bytes if has_own else None
        retention_bytes = _choose_limit(
            BYTES, values, own_bytes, units.format_bytes, is_tiered=is_tiered
        )
        dirty_ratio = _choose_dirty_ratio(compacted)
    proposed = ProposedLimits(retention_ms, retention_bytes)
    return _Choice(topic, logs, proposed, compacted, dirty_ratio)


def _compacted_logs(snapshot: BrokerSnapshot, health: Health, topic: str) -> Sequence[DecidedLog]:
    """Returns the compacted logs of a topic.

    If they cannot be read, draws the reason and a button to try again, and returns ().
    """
    policy = health.effective_settings.find(topic, "cleanup.policy")
    is_deleted_only = all(
        log.limits.deletes for log in health.retention if topic_of(log.partition) == topic
    ) and "compact" not in str(policy.value).split(",")
    if is_deleted_only:
        return ()
    try:
        decisions = cleaning_jobs.decisions(snapshot)
    except CannotOpen:  # a single partition was opened that is not compacted
        return ()
    except Exception as error:
        jobs = cleaning_jobs.decision_jobs()
        progress_strip.render_failure(error, lambda: jobs.forget(lambda key: key == snapshot.key))
        return ()
    return [log for log in decisions.logs if topic_of(log.partition) == topic]


def _choose_dirty_ratio(compacted: Sequence[DecidedLog]) -> float | None:
    if not compacted:
        return None
    current = float(compacted[0].settings[DIRTY_RATIO].value)
    options = [f"{ratio:g}" for ratio in sorted({*RATIOS, current})]
    default = f"{current:g}"
    word = choice.slider(DIRTY_RATIO, options, default, page_state.RETENTION[DIRTY_RATIO])
    return None if word == default else float(word)


def _topic_text(topic: str) -> str:
    return say("retention.all_topics") if topic == ALL_TOPICS else units.escape_controls(topic)


def _sizes(largest_bytes: int) -> list[int]:
    first = max(largest_bytes, 1).bit_length()
    return [1 << power for power in range(max(0, first - SIZE_STEPS + 1), first + 1)]


def _choose_limit(
    name: str, values: Sequence[int], current: int | None, format_value, *, is_tiered: bool
) -> int | None:
    """Draws the slider of a limit. Returns the chosen value, or None if the limit is unchanged.

    `current` is today's limit, or None if it is unknown or differs between topics.
    """
    numbers = sorted({*values, *(() if current is None or current < 0 else (current,))})
    options: dict[str, int | None] = {format_value(number): number for number in numbers}
    options[NO_LIMIT] = -1
    if current is None:
        options = {AS_SET: None, **options}
        default = AS_SET
    else:
        default = NO_LIMIT if current < 0 else format_value(current)
    label = setting_name(name, is_tiered=is_tiered)
    word = choice.slider(label, options, default, page_state.RETENTION[name], _option_text)
    return None if word == default else options[word]


def _option_text(word: str) -> str:
    if word == AS_SET:
        return say("retention.as_set")
    return say("retention.no_limit") if word == NO_LIMIT else word


def _render_command(health: Health, chosen: _Choice) -> None:
    logs = chosen.logs
    limits = {MS: chosen.proposed.retention_ms, BYTES: chosen.proposed.retention_bytes}
    limits = {name: value for name, value in limits.items() if value is not None}
    deleted_logs = [log for log in logs if log.limits.deletes]
    topics = list(
        dict.fromkeys(topic_of(log.partition) for log in deleted_logs if chosen.is_limited(log))
    )
    left_out = {topic_of(log.partition) for log in deleted_logs} - set(topics)
    if chosen.dirty_ratio is not None and chosen.topic:
        topics = [chosen.topic]
    elif not limits:
        return
    st.space(12)
    if len(topics) > retention_view.MAX_COMMAND_TOPICS:
        elements.paragraph(say("retention.too_many_topics", n=len(topics)), is_faint=True)
        return
    tiered_topics = {topic_of(log.partition) for log in logs if log.limits.is_tiered}
    for is_tiered in (False, True):
        names = [topic for topic in topics if (topic in tiered_topics) == is_tiered]
        settings: dict[str, float] = {
            setting_name(name, is_tiered=is_tiered): value for name, value in limits.items()
        }
        if chosen.dirty_ratio is not None:
            settings[DIRTY_RATIO] = chosen.dirty_ratio
        command = retention_view.alter_command(names, _config_changes(health, settings))
        if command:
            st.code(command, language="bash", wrap_lines=True)
        if command and is_tiered:
            elements.paragraph(say("retention.local_limit"), is_faint=True)
    if limits and left_out:
        elements.paragraph(say_count("retention.internal_left_out", len(left_out)), is_faint=True)


def _config_changes(health: Health, settings: Mapping[str, float]) -> dict[str, float | None]:
    """Returns `settings` for `alter_command`, with None for each value that the broker already has.

    The broker has a value if one of its files sets it. Kafka's default does not count, because the
    broker may have a value that no file here shows.
    """
    values: dict[str, float | None] = {}
    for name, value in settings.items():
        broker_value = health.effective_settings.find("", name)
        is_set = broker_value.is_given and broker_value.value == value
        values[name] = None if is_set else value
    return values


def _render_cleaner(snapshot: BrokerSnapshot, chosen: _Choice) -> None:
    now_ms = cleaning_jobs.decisions(snapshot).plan.now_ms
    logs = chosen.compacted
    if chosen.dirty_ratio is not None:
        logs = [with_dirty_ratio(log, chosen.dirty_ratio, now_ms) for log in logs]
    jobs: dict[str, CleaningJob] = {}
    for log, current in zip(logs, chosen.compacted, strict=True):
        if not log.decision.is_eligible:
            continue
        if cleaning_jobs.is_quick(current):
            jobs[log.partition] = cleaning_jobs.get_or_start(snapshot, current)
        elif started := cleaning_jobs.get(snapshot, log.partition):
            jobs[log.partition] = started
    for job in jobs.values():
        job.wait_until_over(progress_strip.QUICK_S)
    eligible = [log for log in logs if log.decision.is_eligible]
    freed = {name: _freed_bytes(job) for name, job in jobs.items()}
    known = [size for size in freed.values() if size is not None]
    st.space(32)
    elements.heading(
        say_count(
            "retention.cleaner_takes",
            len(eligible),
            all=say_count("common.n_logs", len(logs)),
            ratio=chosen.dirty_ratio or logs[0].settings[DIRTY_RATIO].value,
        ),
        say("retention.cleaning_frees", size=units.format_bytes(sum(known))) if known else "",
        gap=8,
    )
    heads = [say(f"retention.column_{name}") for name in ("clean", "cleanable", "frees", "taken")]
    rows = [
        (
            log.partition,
            units.format_bytes(log.decision.clean_bytes),
            units.format_bytes(log.decision.cleanable_bytes),
            units.format_bytes(freed.get(log.partition)),
            to_sentence(render_message(describe_reason(log.decision, log.settings))),
        )
        for log in logs
    ]
    tables.table((say("broker.column_log"), *heads), rows, "mrrrw")
    _render_cleanings(snapshot, chosen, [log.partition for log in eligible], jobs)


def _freed_bytes(job: CleaningJob) -> int | None:
    cleaning = job.result.cleaning if job.is_over and job.result else None
    return cleaning.bytes_freed if cleaning else None


def _render_cleanings(
    snapshot: BrokerSnapshot,
    chosen: _Choice,
    eligible: Sequence[str],
    jobs: Mapping[str, CleaningJob],
) -> None:
    running = [job for job in jobs.values() if not job.is_over]
    if running:
        _render_progress(running)
        return
    for log in chosen.compacted:
        job = jobs.get(log.partition)
        if job and job.error:
            reason = progress_strip.failure_text(job.error)
            text = say("cli_compaction.partition", name=log.partition, reason=reason)
            elements.paragraph(end_sentence(text), above_px=8)
            label = say("common.start_again")
            key = f"kv_clean_again_{log.partition}"
            st.button(label, key=key, on_click=cleaning_jobs.restart, args=(snapshot, log))
        elif job and job.result and job.result.error:
            failure = say("compaction.fails_why", error=job.result.error)
            text = say("cli_compaction.partition", name=log.partition, reason=failure)
            elements.paragraph(text, above_px=8)
    left = [
        log for log in chosen.compacted if log.partition in eligible and log.partition not in jobs
    ]
    if left:
        size_bytes = sum(map(cleaning_jobs.bytes_to_read, left))
        label = say("retention.count_freed", size=units.format_bytes(size_bytes))
        if st.button(label, key="kv_clean_left"):
            for log in left:
                cleaning_jobs.get_or_start(snapshot, log)
            st.rerun()


@st.fragment(run_every=0.4)
def _render_progress(jobs: Sequence[CleaningJob]) -> None:
    running = [job for job in jobs if not job.is_over]
    if not running:
        choice.rerun_page()
    name = units.escape_controls(running[0].progress().name)
    text = say("retention.cleaning", partition=name)
    progress_strip.render_reading_job(running[0], text, button_key="kv_clean_cancel")


def _render_schedule(
    logs: Sequence[LogRetention], proposed_logs: Sequence[LogRetention], *, is_changed: bool
) -> None:
    table = retention_view.schedule_table(logs, proposed_logs, is_changed=is_changed)
    st.space(32)
    elements.heading(say("retention.schedule"), say("retention.schedule_below"), gap=8)
    numbers = len(table.columns) - 2
    with st.container(key="kv_schedule"):
        rows = [tuple(map(_size_html, row)) for row in table.rows]
        tables.table(table.columns, rows, f"m{'r' * numbers}w")
    elements.hidden_count("common.more_in_csv", table.more)
    data = partial(tables.to_csv, retention_view.VALUE_COLUMNS, table.values)
    tables.download("CSV", data, "retention.csv", "kv_retention_csv")


def _size_html(text: str) -> str:
    return tag("span", text, class_="kv-fnt") if text == units.format_bytes(0) else text


def _render_segments(snapshot: BrokerSnapshot, logs: Sequence[LogRetention]) -> None:
    table = retention_view.segment_table(logs)
    if table is None:
        return
    st.space(24)
    elements.heading(say("retention.segments"))
    for note in table.notes:
        elements.paragraph(note.replace("`", ""), is_faint=True)
    st.space(8)
    head = join(tag("th", name, scope="col") for name in ("", *table.columns))
    with st.container(key="kv_kept"):
        elements.table(head, (_segment_row_html(snapshot, row) for row in table.rows))
    elements.hidden_count("retention.more_segments", table.more)


def _segment_row_html(snapshot: BrokerSnapshot, row: SegmentRow) -> Html:
    parameters = page_state.address(snapshot.directory, row.partition, row.base_offset)
    link = tag("a", row.cells[0], href=f"segment?{urlencode(parameters, doseq=True)}")
    cells = (link, *row.cells[1:])
    mark = elements.severity(row.kind) if row.kind else ""
    return tag(
        "tr",
        tag("td", mark),
        *(
            tag("td", cell, title=hover, class_="kv-mono" if place == 0 else None)
            for place, (cell, hover) in enumerate(zip(cells, row.hover, strict=True))
        ),
    )


def _render_metadata(health: Health) -> None:
    retention = health.metadata_retention()
    if retention is None:
        return
    st.space(32)
    elements.heading(METADATA_TOPIC, say("retention.metadata_below"))
    elements.paragraph(to_sentence(retention_text.metadata_text(retention)), above_px=4)
    if not retention.snapshots:
        return
    st.space(8)
    heads = (
        say("retention.column_snapshot"),
        say("segment.head_size"),
        say("retention.column_newest"),
        say("retention.column_kept"),
    )
    rows = [
        (
            snapshot.name,
            units.format_bytes(snapshot.size_bytes),
            units.moment(snapshot.timestamp_ms, fraction=False),
            say(f"retention.snapshot_{snapshot.deleted_by or 'stays'}"),
        )
        for snapshot in retention.snapshots
    ]
    tables.table(heads, rows, "mrll")
