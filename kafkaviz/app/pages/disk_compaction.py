"""The tab Compaction of the Disk page: which logs the cleaner cleans, and which records stay."""

import json
import shlex
from dataclasses import replace
from functools import partial

import streamlit as st

from kafkaviz import units
from kafkaviz.analysis.compaction.compaction import (
    CleanerDecisions,
    DecidedLog,
    decide_log,
    to_compaction,
    to_partition_compaction,
)
from kafkaviz.analysis.compaction.record_fates import GOES, KeyStory, log_records
from kafkaviz.analysis.json_objects import to_json_object
from kafkaviz.app import page_state
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.state import cleaning_jobs
from kafkaviz.app.state.cleaning_jobs import CleanedLog
from kafkaviz.app.widgets import choice, elements, progress_strip, tables
from kafkaviz.config_def import DIRTY_RATIO
from kafkaviz.errors import CannotOpen
from kafkaviz.figures.disk import cleaning_figure, compaction_view
from kafkaviz.log.archives import archive
from kafkaviz.messages import render as render_message
from kafkaviz.messages import say, say_count
from kafkaviz.render.sentences import end_sentence, to_sentence

CONTROLS = (page_state.COMPACTED_LOG, page_state.RECORD_KEY, page_state.KEY_FORM)
TEXT_KEY = "text"
HEX_KEY = "hex"
SHOWN_RECORDS = 100
MIN_RATIO = "0"
NUMBERS_PX = 560


def render(snapshot: BrokerSnapshot) -> None:
    decisions = progress_strip.wait_for_result(
        partial(cleaning_jobs.decide, snapshot),
        say("compaction.deciding"),
        partial(_render_undecided, snapshot),
    )
    if decisions is None:
        return
    if not decisions.logs and not decisions.unread:
        _render_empty(say("compaction.empty_below"))
        return
    _render_logs(decisions)
    if decisions.logs:
        st.space(32)
        _render_log(snapshot, decisions)


def _render_undecided(snapshot: BrokerSnapshot, error: Exception) -> None:
    if isinstance(error, CannotOpen):
        return _render_empty(render_message(error.what))
    jobs = cleaning_jobs.decision_jobs()
    progress_strip.render_failure(error, lambda: jobs.forget(lambda key: key == snapshot.key))


def _render_empty(reason: str) -> None:
    elements.empty("compaction", say("compaction.empty"), reason)


def _render_logs(decisions: CleanerDecisions) -> None:
    elements.figure_head(compaction_view.headline(decisions), compaction_view.map_text(decisions))
    st.space(12)
    table = compaction_view.log_table(decisions)
    with st.container(key="kv_compacted"):
        tables.table(table.columns, table.rows, "rmlrrll")
    elements.hidden_count("common.more_in_csv", table.more)
    for log in decisions.unread:
        text = say("cli_compaction.unread", partition=log.partition, problem=log.message)
        elements.paragraph(text, above_px=6)
    tables.download(
        "CSV",
        lambda: tables.to_csv(compaction_view.VALUE_COLUMNS, compaction_view.log_values(decisions)),
        "compaction.csv",
        "kv_compaction_csv",
    )


# ---- one log


def _render_log(snapshot: BrokerSnapshot, decisions: CleanerDecisions) -> None:
    logs = {log.partition: log for log in compaction_view.sorted_logs(decisions)}
    name = choice.draw_bound(
        st.selectbox,
        say("common.topic_partition"),
        list(logs),
        next(iter(logs)),
        page_state.COMPACTED_LOG,
        format_func=units.escape_controls,
        width=360,
    )
    log = logs[name]
    st.space(12)
    elements.paragraph(compaction_view.decision_text(log))
    st.space(16)
    _render_cleaning(snapshot, decisions, log)
    st.space(32)
    _render_story(snapshot, decisions, log)


def _render_cleaning(
    snapshot: BrokerSnapshot, decisions: CleanerDecisions, log: DecidedLog
) -> None:
    if not log.decision.cleanable_bytes:
        _render_figure(decisions, log, None)
        return
    job = cleaning_jobs.get(snapshot, log.partition)
    starts_now = log.decision.is_eligible and cleaning_jobs.is_quick(log)
    if job is None and starts_now:
        job = cleaning_jobs.get_or_start(snapshot, log)
    if job is None:
        return _render_start(snapshot, decisions, log)
    cleaned = progress_strip.wait_for_result(
        partial(cleaning_jobs.get_or_start, snapshot, log),
        _reading_text(log),
        partial(_render_start, snapshot, decisions, log),
    )
    if cleaned is not None:
        _render_result(snapshot, decisions, log, cleaned)


def _reading_text(log: DecidedLog) -> str:
    return say("health.reading_partition", partition=units.escape_controls(log.partition))


def _render_start(
    snapshot: BrokerSnapshot,
    decisions: CleanerDecisions,
    log: DecidedLog,
    error: Exception | None = None,
) -> None:
    """Draws the log, the error of the last cleaning if any, and a button that starts a cleaning."""
    _render_figure(decisions, log, None)
    st.space(12)
    if error is not None:
        elements.paragraph(to_sentence(progress_strip.failure_text(error)))
    key = "compaction.start" if log.decision.is_eligible else "compaction.start_anyway"
    st.button(
        say(key, size=cleaning_jobs.bytes_to_read(log)),
        key="kv_clean",
        on_click=cleaning_jobs.restart,
        args=(snapshot, log),
    )


def _render_figure(
    decisions: CleanerDecisions, log: DecidedLog, cleaned: CleanedLog | None
) -> None:
    if cleaned is None:
        cleaning = None
        records = log_records(log, None, decisions.plan.now_ms)
    else:
        cleaning = cleaned.cleaning
        records = cleaned.records
    figure_view = cleaning_figure.view(log, cleaning, records)
    with st.container(key="kv_fig_cleaning"):
        elements.figure_head(figure_view.title, figure_view.caption)
        st.html(cleaning_figure.figure(figure_view))


def _render_result(
    snapshot: BrokerSnapshot, decisions: CleanerDecisions, log: DecidedLog, cleaned: CleanedLog
) -> None:
    if not log.decision.is_eligible:
        elements.paragraph(say("compaction.what_if", setting=DIRTY_RATIO))
        st.space(8)
    _render_figure(decisions, log, cleaned)
    if cleaned.error:
        st.space(12)
        reason = say("compaction.fails_why", error=cleaned.error)
        elements.state("cleaning", "error", say("compaction.fails"), reason)
    if cleaned.cleaning:
        st.space(20)
        _render_numbers(decisions, cleaned)
    st.space(12)
    ratio = () if log.decision.is_eligible else ("--set", f"{DIRTY_RATIO}={MIN_RATIO}")
    command = _command("compaction", snapshot, decisions, log, *ratio)
    st.code(command, language="bash", wrap_lines=True)
    data = partial(cleaning_json, snapshot, decisions, log, cleaned)
    name = f"{units.escape_controls(log.partition.replace('/', '-'))}-compaction.json"
    tables.download("JSON", data, name, "kv_compaction_json", "application/json")


def _render_numbers(decisions: CleanerDecisions, cleaned: CleanedLog) -> None:
    cleaning = cleaned.cleaning
    assert cleaning is not None
    elements.heading(say("compaction.numbers"), gap=8)
    with st.container(width=NUMBERS_PX):
        rows = compaction_view.number_rows(cleaning, decisions.map.most_keys)
        tables.table((say("compaction.column_number"), ""), rows, "lr")
    st.space(20)
    elements.heading(say("compaction.horizons"), say("compaction.horizons_below"), gap=8)
    horizon_rows = compaction_view.horizon_rows(cleaning)
    if horizon_rows:
        tables.table([say(head) for head in compaction_view.HORIZON_HEADS], horizon_rows, "lrrrl")
    else:
        elements.paragraph(say("compaction.no_horizons"), is_faint=True)


def cleaning_json(
    snapshot: BrokerSnapshot, decisions: CleanerDecisions, log: DecidedLog, cleaned: CleanedLog
) -> str:
    """Returns the output of `kafkaviz compaction --json` for the partition."""
    plan = decisions.plan
    partition = snapshot.broker.partition(log.partition)
    if not log.decision.is_eligible:
        settings = replace(plan.settings, overrides={DIRTY_RATIO: MIN_RATIO})
        checkpointed = log.decision.checkpointed
        log = decide_log(replace(plan, settings=settings), partition, checkpointed=checkpointed)
    log = replace(log, partition=partition.directory)
    result = to_partition_compaction(log, cleaned.cleaning, cleaned.error)
    answer = to_json_object(to_compaction(decisions, [result], []))
    answer["directory"] = archive.display_text(partition.path)
    return json.dumps(answer, ensure_ascii=False, indent=2)


# ---- a key's story


def _render_story(snapshot: BrokerSnapshot, decisions: CleanerDecisions, log: DecidedLog) -> None:
    elements.heading(say("compaction.story"), say("compaction.story_below"), gap=8)
    with st.container(horizontal=True, vertical_alignment="bottom", gap=12):
        text = st.text_input(
            say("compaction.key"), key=page_state.RECORD_KEY, bind="query-params", width=360
        )
        form = choice.buttons(
            say("compaction.key_form"),
            (TEXT_KEY, HEX_KEY),
            TEXT_KEY,
            page_state.KEY_FORM,
            lambda word: say(f"compaction.key_{word}"),
        )
    if not text:
        return
    key = _parse_key(text, is_hex=form == HEX_KEY)
    if key is None:
        elements.paragraph(say("key_story.no_hex", text=text), above_px=8)
        return
    jobs = cleaning_jobs.story_jobs()
    place = (snapshot.key, log.partition, key)
    story = progress_strip.wait_for_result(
        partial(cleaning_jobs.story, snapshot, log, key),
        _reading_text(log),
        lambda error: progress_strip.render_failure(
            error, lambda: jobs.forget(lambda known: known == place)
        ),
    )
    if story is None:
        return
    _render_records(story, units.escape_controls(log.partition))
    if unread := story.unread_from:
        unread_text = say("key_story.unread_from", segment=unread.segment, position=unread.position)
        elements.paragraph(unread_text, above_px=8)
    options = ("--hex",) if form == HEX_KEY else ()
    command = _command("key", snapshot, decisions, log, text, *options)
    st.code(command, language="bash", wrap_lines=True)


def _parse_key(text: str, *, is_hex: bool) -> bytes | None:
    if not is_hex:
        return text.encode("utf-8", "surrogateescape")
    try:
        return bytes.fromhex(text)
    except ValueError:
        return None


def _render_records(story: KeyStory, partition: str) -> None:
    st.space(8)
    if not story.records:
        elements.paragraph(end_sentence(say("key_story.none", partition=partition)))
        return
    removed = sum(record.fate in GOES for record in story.records)
    title = say_count("key_story.title", story.record_count, partition=partition, removed=removed)
    elements.paragraph(end_sentence(title))
    st.space(8)
    rows = compaction_view.story_rows(story)
    heads = [say(head) for head in compaction_view.STORY_HEADS]
    tables.table(heads, rows[:SHOWN_RECORDS], "rlrrrw")
    elements.hidden_count("common.more_in_csv", len(rows) - SHOWN_RECORDS)
    data = partial(tables.to_csv, compaction_view.STORY_COLUMNS, rows)
    tables.download("CSV", data, "key.csv", "kv_key_csv")


def _command(
    name: str, snapshot: BrokerSnapshot, decisions: CleanerDecisions, log: DecidedLog, *options: str
) -> str:
    path = archive.display_text(snapshot.broker.partition(log.partition).path)
    words = ["kafkaviz", name, path, *options, "--now", str(decisions.plan.now_ms)]
    return units.escape_controls(shlex.join(words))
