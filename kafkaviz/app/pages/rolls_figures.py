"""The figures about the rolls of a log.

For a simulated log, also notes, a comparison with the unchanged preset, and a download.
"""

import io
from collections.abc import Iterator
from typing import cast

import numpy as np
import streamlit as st

from kafkaviz import config_def, units
from kafkaviz.analysis import roll_limits
from kafkaviz.analysis.roll_history import RollHistory
from kafkaviz.analysis.roll_limits import IndexRoom, WriteLoad, index_room, safe_index_bytes
from kafkaviz.app import frontend, page_state, uploads
from kafkaviz.app.cache import simulation_cache
from kafkaviz.app.cache.simulation_cache import STORIES, STORY_APPENDS, RollSimulation
from kafkaviz.app.pages.rolls_controls import AS_IT_IS, SimulatedLog, option_text, render_controls
from kafkaviz.app.widgets import charts, choice, elements
from kafkaviz.app.widgets.tables import download, table, to_csv
from kafkaviz.app.workloads import OWN_TITLE, config_of, format_setting
from kafkaviz.figures.rolls import growth as growth_figure
from kafkaviz.figures.rolls import limit_curves, roll_summary, roll_timeline
from kafkaviz.html import Html, join, tag
from kafkaviz.messages import say, say_count
from kafkaviz.render import roll_text
from kafkaviz.render.sentences import join_sentences
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.producers.workload import Workload
from kafkaviz.simulate.writer.roll_reason import RollCause

WORKLOAD_KEYS = ("workload", "throughput", "batches")
MAX_ARCHIVE_BYTES = 256 << 20  # bytes of .log files


def render_notes(workload: Workload, config: LogConfig, run: RollSimulation) -> None:
    """Draws notes about unsuitable settings, a refused append, and an incomplete simulation."""
    room = index_room(config.segment_index_bytes)
    room_text = units.format_bytes(config.segment_index_bytes)
    if room == IndexRoom.NONE:
        key = "rolls.no_time_entry" if config.offset_slots else "rolls.no_offset_entry"
        reason = say(key, room=room_text, failed=run.error)
        _render_note("room", "error", say("rolls.no_log"), reason)
    elif room == IndexRoom.ALWAYS_FULL:
        reason = say("rolls.always_full", room=room_text)
        _render_note("room", "warning", say("rolls.every_append"), reason)
    elif run.error:
        reason = say("rolls.refused_below", failed=run.error)
        _render_note("refused", "error", say("rolls.refused"), reason)
    minimum = config_def.setting("segment.bytes").topic_minimum(workload.release)
    if config.segment_bytes < cast(int, minimum):
        reason = say("rolls.toy_size_below", version=workload.kafka_version)
        _render_note("toy_size", "info", say("rolls.toy_size"), reason)
    if run.is_cut:
        batches = len(run.appended_batches)
        finding = say("rolls.cut", batches=batches, segments=len(run.history.segments))
        _render_note("cut", "info", finding, say("rolls.cut_below"))


def _render_note(name: str, mark: str, finding: str, reason: str) -> None:
    """Draws a note with the icon `mark`. The `name` must be unique on the page."""
    elements.state(f"note_{name}", mark, finding, reason)
    st.space(16)


def render_comparison(simulated: SimulatedLog, history: RollHistory) -> None:
    own_config = config_of(simulated.preset, {})
    before_texts = _setting_texts(simulated.preset, own_config)
    now_texts = _setting_texts(simulated.workload, simulated.config) | {
        "throughput": st.session_state.get(page_state.SPEED, AS_IT_IS),
        "batches": st.session_state.get(page_state.BATCH_SIZE, AS_IT_IS),
    }
    if now_texts == before_texts:
        return
    own = simulation_cache.simulate(simulated.preset, own_config)
    before = roll_summary.summarize(own.history, before_texts)
    current = roll_summary.summarize(history, now_texts)
    st.space(24)
    changes = roll_summary.describe_changes(before, current, _setting_text)
    elements.heading(say("rolls.before_after"), changes, gap=8)
    heads = ("", say("rolls.workload_values"), say("rolls.now"), say("common.change"))
    table(heads, roll_summary.rows(before, current), "lrrr")


def _setting_texts(workload: Workload, config: LogConfig) -> dict[str, str]:
    texts = {"workload": workload.title or OWN_TITLE}
    texts |= {
        name: format_setting(name, getattr(config, name.replace(".", "_")))
        for name in page_state.SETTING
    }
    return texts | {"throughput": AS_IT_IS, "batches": AS_IT_IS}


def _setting_text(text: str) -> str:
    return say(f"rolls.changed_{text}") if text in WORKLOAD_KEYS else option_text(text)


def render_download(workload: Workload, config: LogConfig, run: RollSimulation) -> None:
    st.space(16)
    size_bytes = run.history.log_bytes
    with st.container(horizontal=True, vertical_alignment="center", gap=16, key="kv_take"):
        if run.error or run.is_cut or size_bytes > MAX_ARCHIVE_BYTES:
            if run.error:
                text_key = "rolls.take_refused"
            elif run.is_cut:
                text_key = "rolls.take_cut"
            else:
                text_key = "rolls.take_large"
            text = say(text_key, size=units.format_bytes(size_bytes))
            return elements.paragraph(text, is_faint=True)
        name = f"{workload.topic}.tar.gz"
        build_archive = lambda: simulation_cache.archive(workload, config)  # noqa: E731 - called on click
        label = say("rolls.take_archive")
        download(label, build_archive, name, "kv_archive", "application/gzip", kind="secondary")
        if st.button(say("rolls.open_result"), icon=":material/folder_open:", key="kv_open_result"):
            path = uploads.save(io.BytesIO(build_archive()), name)
            elements.open_page("Broker", page_state.address(path))
        segments = say_count("common.n_segments", len(run.history.segments))
        text = say("rolls.take_words", size=size_bytes, segments=segments)
        st.html(tag("span", text, class_="kv-sm kv-fnt"))


# each reason to roll: the CSS class of its colour, and the setting that is the limit
REASONS = {
    RollCause.SIZE: ("roll-size", "segment.bytes"),
    RollCause.TIME: ("roll-time", "segment.ms"),
    RollCause.OFFSET_INDEX_FULL: ("roll-offset", "segment.index.bytes"),
    RollCause.TIME_INDEX_FULL: ("roll-timestamp", "segment.index.bytes"),
    RollCause.OFFSET_OVERFLOW: ("roll-range", ""),
}
ROLL_COLUMNS = ("segment", "cause", "because", "open_for")
MAX_ROWS = 400
SIMULATED_LOG = "Simulated log"
STORY_KEYS = {
    "From the first batch": ("rolls.story_first_batch", "rolls.story_first_batch_below"),
    "A full time index": ("rolls.story_full_time_index", "rolls.story_full_time_index_below"),
    SIMULATED_LOG: ("rolls.story_workload", "rolls.simulated_below"),
}


def render_timeline(history: RollHistory, key: str, appended: np.ndarray | None) -> None:
    """Draws every segment from its creation to its roll, and the reasons to roll.

    `appended` are the appends of a simulated log, as an array of roll_history.APPEND.
    """
    # index of the first segment on each page of the timeline, by page name
    slices = roll_timeline.page_slices(len(history.segments))
    pages = {f"{low + 1}–{high + 1}": low for low, high in slices}
    first = pages[choice.bind_to_address(page_state.ROLLS_ROWS, pages.keys(), next(iter(pages)))]
    figure_key = "lanes", key, first
    view = charts.view(figure_key, lambda: roll_timeline.view(history, first, appended))
    with st.container(key="kv_fig_rolls"):
        elements.figure_head(view.title, view.caption)
        st.html(tag("div", *_reason_cells(history), class_="kv-reasons"))
        charts.render_figure(figure_key, roll_timeline.figure, view, "kv_timeline")
        if len(pages) > 1:
            _render_pager(list(pages))
        with st.expander(say("rolls.every_roll")):
            _render_rolls(history)


def _reason_cells(history: RollHistory) -> Iterator[Html]:
    counts = history.rolls()
    for cause, (swatch, setting) in REASONS.items():
        count = counts.get(cause, 0)
        about = elements.broker_names(setting) or None
        yield tag(
            "div",
            tag("i", class_=f"kv-sw {swatch}"),
            tag("span", roll_text.cause_name(cause)),
            tag("b", units.format_count(count)),
            tag("small", setting or say("rolls.offset_range_limit"), title=about),
            class_=None if count else "none",
        )


def _render_pager(names: list[str]) -> None:
    with st.container(key="kv_rolls_pager", horizontal=True, vertical_alignment="center", gap=12):
        st.html(tag("span", say("common.segments"), class_="kv-sm kv-fnt"), width="content")
        st.select_slider(
            say("common.segments"),
            names,
            key=page_state.ROLLS_ROWS,
            label_visibility="collapsed",
            width=420,
            on_change=choice.count_move,
            format_func=lambda name: "–".join(map(units.format_count, map(int, name.split("–")))),
        )


def _render_rolls(history: RollHistory) -> None:
    count = len(history.segments)
    rows = list(zip(roll_text.rows(history), history.segments, strict=True))
    if count > MAX_ROWS:
        rows = [*rows[: MAX_ROWS // 2], None, *rows[-MAX_ROWS // 2 :]]
    with st.container(key="kv_rolls_table"):
        heads = [say(f"rolls.head_{column}") for column in ROLL_COLUMNS]
        elements.table(
            join((*(tag("th", head) for head in heads[:-1]), tag("th", heads[-1], class_="r"))),
            (_roll_html(roll, count) for roll in rows),
        )
    download(
        say("rolls.every_roll_csv"),
        lambda: to_csv(roll_text.COLUMNS, roll_text.history_values(history)),
        "rolls.csv",
        "kv_rolls_csv",
    )


def _roll_html(roll: tuple | None, count: int) -> Html:
    """Returns the table row of a roll. For None, the row says how many rolls are left out."""
    if roll is None:
        text = say_count("common.more_in_csv", count - MAX_ROWS)
        return tag("tr", tag("td", text, colspan=4, class_="kv-fnt"))
    (segment, cause, because, span), segment_history = roll
    ink = roll_text.text_colour(segment_history).replace("_", "-")
    return tag(
        "tr",
        tag("td", segment, class_="kv-mono kv-tight"),
        tag("td", cause, style=f"font-weight:600;color:var(--kv-{ink})"),
        tag("td", because, class_="kv-fnt" if segment_history.is_active else None),
        tag("td", span, class_="r"),
    )


def render_limits(
    history: RollHistory, load: WriteLoad, key: str, workload: Workload | None = None
) -> None:
    """Draws the time until each limit rolls a segment. The x-axis is the write rate.

    `workload` is None for a log on disk.
    """
    figure_key = "limits", key
    view = charts.view(
        figure_key,
        lambda: limit_curves.view(
            history.config,
            load,
            history.bytes_per_s,
            is_workload=workload is not None,
            has_phases=workload is not None and len(workload.phases) > 1,
        ),
    )
    with st.container(key="kv_fig_limits"):
        charts.render_titled(figure_key, limit_curves.figure, view, "kv_limits")
        elements.paragraph(_safe_size_text(history, load))


def _safe_size_text(history: RollHistory, load: WriteLoad) -> str:
    """Returns a text with the smallest safe segment.index.bytes.

    A size is safe if no index gets full before the .log. If the log's own setting is not safe, the
    text also names a segment whose .log was full first, if there is one.
    """
    config = history.config
    bytes_per_s = history.bytes_per_s
    gap = roll_limits.gap_bytes(config.index_interval_bytes, load.batch_bytes)
    share = float(roll_limits.time_share(gap, bytes_per_s)) if bytes_per_s > 0 else 1.0
    safe = safe_index_bytes(config.segment_bytes, gap, share)
    is_safe = config.segment_index_bytes >= safe
    text = say(
        "rolls.safe" if is_safe else "rolls.unsafe",
        batch=round(load.batch_bytes),
        gap=round(gap),
        share=units.format_percent(share, 1),
        safe=safe,
        now=config.segment_index_bytes,
    )
    return text if is_safe else join_sentences((text, _size_roll_text(history)))


def _size_roll_text(history: RollHistory) -> str:
    for segment in history.segments:
        if segment.reason and segment.reason.cause == RollCause.SIZE and segment.time_entries:
            open_ms = max(1, segment.ended_ms - segment.opened_ms)
            return say(
                "rolls.size_all_the_same",
                segment=segment.base_offset,
                speed=1000 * segment.log_bytes / open_ms,
                gap=round(segment.log_bytes / segment.time_entries),
                size=history.config.segment_bytes,
                entries=segment.time_entries,
                slots=history.config.usable_time_slots,
            )
    return ""


def render_growth(*, is_simulated: bool) -> None:
    """Draws how a log grows append by append: one of STORIES, or the simulated log."""
    names = [*STORIES, *([SIMULATED_LOG] if is_simulated else [])]
    with st.container(horizontal=True, vertical_alignment="center", key="kv_story_head"):
        name = choice.buttons(
            say("rolls.story"),
            names,
            names[0],
            page_state.STORY,
            lambda story_name: say(STORY_KEYS[story_name][0]),
        )
        elements.paragraph(say(STORY_KEYS[name][1], n=STORY_APPENDS))
    st.space(8)
    if name == SIMULATED_LOG:
        simulated = render_controls()
        if simulated is None:
            return
        view = simulation_cache.simulated_story(simulated.workload, simulated.config)
    else:
        view = simulation_cache.lesson_story(name)
    payload_key = "growth", view.key
    frontend.growth(charts.view(payload_key, lambda: growth_figure.browser_payload(view)))
