"""Draws the figures about the rolls of a log.

For a simulated log it also draws notes, a comparison with another run, and a download button.
"""

import io
from typing import cast

import numpy as np
import streamlit as st

from kafkaviz import config_def, units
from kafkaviz.analysis.rolls import limits
from kafkaviz.analysis.rolls.limits import IndexRoom, WriteLoad, index_room, safe_index_bytes
from kafkaviz.analysis.rolls.roll_history import RollHistory
from kafkaviz.app import frontend, page_state
from kafkaviz.app.cache import simulation_cache
from kafkaviz.app.cache.simulation_cache import (
    STORIES,
    STORY_APPENDS,
    RollSimulation,
    lesson_story,
    simulated_story,
)
from kafkaviz.app.pages.rolls.controls import AS_IT_IS, MIB, option_text
from kafkaviz.app.widgets import charts, choice, elements, upload
from kafkaviz.app.widgets.tables import download, table, to_csv
from kafkaviz.app.workloads import OWN_TITLE, format_setting
from kafkaviz.figures.rolls import growth as growth_figure
from kafkaviz.figures.rolls import limit_curves, roll_summary, roll_timeline
from kafkaviz.figures.rolls.roll_summary import RunSummary
from kafkaviz.figures.text import roll_text
from kafkaviz.html import Html, join, tag
from kafkaviz.messages import say, say_count
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.producers.workload import Workload
from kafkaviz.simulate.writer.roll_reason import RollCause

WORKLOAD_KEYS = ("workload", "throughput", "batches")
MAX_ARCHIVE_BYTES = 256 * MIB  # counts only the .log files


def render_notes(workload: Workload, config: LogConfig, run: RollSimulation) -> None:
    """Draws what Kafka does with settings that do not work."""
    room = index_room(config.segment_index_bytes)
    if room == IndexRoom.NONE:
        key = "rolls.no_offset_entry" if config.segment_index_bytes < 8 else "rolls.no_time_entry"
        _render_note(
            "room",
            "error",
            say("rolls.no_log"),
            say(key, room=units.format_bytes(config.segment_index_bytes), failed=run.error),
        )
    elif room == IndexRoom.ALWAYS_FULL:
        _render_note(
            "room",
            "warning",
            say("rolls.every_append"),
            say("rolls.always_full", room=units.format_bytes(config.segment_index_bytes)),
        )
    elif run.error:
        _render_note(
            "refused", "error", say("rolls.refused"), say("rolls.refused_below", failed=run.error)
        )
    if config.segment_bytes < cast(
        int, config_def.setting("segment.bytes").topic_minimum(workload.release)
    ):
        _render_note(
            "toy_size",
            "info",
            say("rolls.toy_size"),
            say("rolls.toy_size_below", version=workload.kafka_version),
        )
    if run.is_cut:
        _render_note(
            "cut",
            "info",
            say(
                "rolls.cut",
                batches=units.format_count(len(run.appended_batches)),
                segments=units.format_count(len(run.history.segments)),
            ),
            say("rolls.cut_below"),
        )


def _render_note(name: str, mark: str, finding: str, reason: str) -> None:
    """Draws a note. `name` differs for each note, because two can have the same mark."""
    with elements.state(f"note_{name}", mark, finding, reason):
        pass
    st.space(16)


def render_comparison(workload: Workload, config: LogConfig, history: RollHistory) -> None:
    current = roll_summary.summarize(history, _setting_texts(workload, config))
    previous = _previous_run(current)
    st.space(32)
    _render_comparison_head()
    st.space(8)
    if previous is None or previous == current:
        text = say("rolls.run_kept" if previous == current else "rolls.run_first")
        elements.paragraph(text)
        return
    changes = roll_summary.describe_changes(previous, current, _setting_text)
    style = "color:var(--kv-ink-2);margin-bottom:8px"
    st.html(tag("p", changes, class_="kv-sm", style=style))
    first = say(
        "rolls.kept" if st.session_state.get(page_state.KEEPS_PREVIOUS_RUN) else "rolls.before"
    )
    table(
        ("", first, say("rolls.now"), say("common.change")),
        roll_summary.rows(previous, current),
        "lrrr",
    )


def _previous_run(current: RunSummary) -> RunSummary | None:
    """Returns the run to compare with, and stores this one for the next comparison."""
    last = st.session_state.get(page_state.RUN)
    st.session_state[page_state.RUN] = current
    if last not in (None, current) and not st.session_state.get(page_state.KEEPS_PREVIOUS_RUN):
        st.session_state[page_state.PREVIOUS_RUN] = last
    return st.session_state.get(page_state.PREVIOUS_RUN)


def _render_comparison_head() -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="kv_compare_head"):
        elements.heading(say("rolls.before_after"), say("rolls.before_after_how"))
        if st.session_state.get(page_state.KEEPS_PREVIOUS_RUN):
            st.button(
                say("rolls.unpin"),
                type="tertiary",
                icon=":material/keep_off:",
                key="kv_unpin",
                on_click=_unpin,
            )
        else:
            st.button(
                say("rolls.pin"),
                type="tertiary",
                icon=":material/keep:",
                key="kv_pin",
                on_click=_pin,
            )


def _setting_texts(workload: Workload, config: LogConfig) -> dict[str, str]:
    """Returns every setting of a run. Values are the words of the address, not translated."""
    texts = {"workload": workload.title or OWN_TITLE}
    texts |= {
        name: format_setting(name, getattr(config, name.replace(".", "_")))
        for name in page_state.SETTING
    }
    return texts | {
        "throughput": st.session_state.get(page_state.SPEED, AS_IT_IS),
        "batches": st.session_state.get(page_state.BATCH_SIZE, AS_IT_IS),
    }


def _setting_text(text: str) -> str:
    return say(f"rolls.changed_{text}") if text in WORKLOAD_KEYS else option_text(text)


def _pin() -> None:
    st.session_state[page_state.PREVIOUS_RUN] = st.session_state.get(page_state.RUN)
    st.session_state[page_state.KEEPS_PREVIOUS_RUN] = True


def _unpin() -> None:
    st.session_state[page_state.KEEPS_PREVIOUS_RUN] = False


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
            elements.paragraph(text, is_faint=True)
            return
        name = f"{workload.topic}.tar.gz"
        build_archive = lambda: simulation_cache.archive(workload, config)  # noqa: E731 - made when it is asked for
        st.download_button(
            say("rolls.take_archive"),
            build_archive,
            name,
            "application/gzip",
            on_click="ignore",
            icon=":material/download:",
            key="kv_archive",
        )
        if st.button(say("rolls.open_result"), icon=":material/folder_open:", key="kv_open_result"):
            path = upload.save(io.BytesIO(build_archive()), name)
            st.switch_page("app.py", query_params=page_state.address(path))
        count = len(run.history.segments)
        text = say(
            "rolls.take_words",
            size=units.format_bytes(size_bytes),
            segments=say_count("common.n_segments", count),
        )
        st.html(tag("span", text, class_="kv-sm kv-fnt"))


KEY_CAUSES = {
    "roll-size": RollCause.SIZE,
    "roll-time": RollCause.TIME,
    "roll-offset": RollCause.OFFSET_INDEX_FULL,
    "roll-timestamp": RollCause.TIME_INDEX_FULL,
}
ROLL_COLUMNS = ("segment", "cause", "because", "open_for")
MAX_ROWS = 400
SIMULATED_LOG = "The log above"
STORY_KEYS = {
    "From the first batch": "first_batch",
    "A full time index": "full_time_index",
    SIMULATED_LOG: "above",
}
STEP_COLUMNS = ("step", "what_happens", "counter", "offset_entries", "time_entries")


def render_timeline(history: RollHistory, key: str, appended_batches: np.ndarray | None) -> None:
    """Draws every segment until its roll.

    Args:
        key: the cache key.
        appended_batches: rows of roll_history.APPEND for a simulated log.
    """
    # the first row of each page of the timeline, by the name of the page
    slices = roll_timeline.page_slices(len(history.segments))
    pages = {f"{low + 1}–{high + 1}": low for low, high in slices}
    first = pages[choice.bind_to_address(page_state.ROLLS_ROWS, pages.keys(), next(iter(pages)))]
    figure_key = "lanes", key, first
    view = charts.view(figure_key, lambda: roll_timeline.view(history, first, appended_batches))
    with st.container(key="kv_fig_rolls"):
        with st.container(horizontal=True, key="kv_rolls_head"):
            with st.container(width="stretch"):
                elements.figure_head(view.title, view.caption)
            st.html(
                elements.key(
                    (kind, roll_text.cause_name(cause)) for kind, cause in KEY_CAUSES.items()
                ),
                width="content",
            )
        charts.render_figure(figure_key, roll_timeline.figure, view, "kv_timeline")
        if len(pages) > 1:
            _render_pager(list(pages))


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


def render_rolls(history: RollHistory) -> None:
    """Draws a table of the rolls. For a long log, only the first and last MAX_ROWS / 2."""
    elements.heading(say("rolls.every_roll"))
    st.space(8)
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
    """Returns the row of a roll, its cause in colour. None stands for the rolls left out."""
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


def render_limits(history: RollHistory, load: WriteLoad, key: str) -> None:
    """Draws the time until a roll by each limit alone, over the write rate."""
    figure_key = "limits", key
    view = charts.view(
        figure_key, lambda: limit_curves.view(history.config, load, history.bytes_per_s)
    )
    charts.render_titled(figure_key, limit_curves.figure, view, "kv_limits")
    with st.expander(say("common.limits_table")):
        text = _safe_size_text(history.config, load, history.bytes_per_s)
        st.html(tag("p", text, class_="kv-sm"))
        heads = (
            say("rolls.at"),
            say("rolls.first"),
            *(roll_text.cause_name(cause).capitalize() for cause in view.seconds),
        )
        rows = limit_curves.rows(view)
        table(heads, rows, "ll" + "r" * len(view.seconds))
        columns = ("written_per_s", "first_limit", *(cause.value for cause in view.seconds))
        download(say("common.csv"), lambda: to_csv(columns, rows), "limits.csv", "kv_limits_csv")


def _safe_size_text(config: LogConfig, load: WriteLoad, bytes_per_s: float) -> str:
    gap = limits.gap_bytes(config.index_interval_bytes, load.batch_bytes)
    share = float(limits.time_share(gap, bytes_per_s)) if bytes_per_s > 0 else 1.0
    safe = safe_index_bytes(config.segment_bytes, gap, share)
    return say(
        "rolls.safe" if config.segment_index_bytes >= safe else "rolls.unsafe",
        batch=units.format_bytes(round(load.batch_bytes)),
        gap=units.format_count(round(gap)),
        share=units.format_percent(share, 1),
        safe=units.format_count(safe),
        now=units.format_count(config.segment_index_bytes),
    )


def render_stories(simulated_log: tuple[Workload, LogConfig] | None) -> None:
    """Draws how a log grows by append: the stories, and the simulated log if one is shown."""
    names = [*STORIES, *([SIMULATED_LOG] if simulated_log else [])]
    with st.container(horizontal=True, vertical_alignment="center", key="kv_story_head"):
        elements.heading(say("rolls.by_append"), say("rolls.by_append_keys"))
        name = choice.draw_bound(
            st.segmented_control,
            say("rolls.story"),
            names,
            names[0],
            page_state.STORY,
            required=True,
            label_visibility="collapsed",
            format_func=lambda story_name: say(f"rolls.story_{STORY_KEYS[story_name]}"),
        )
    below = say(f"rolls.story_{STORY_KEYS[name]}_below", n=STORY_APPENDS)
    st.html(tag("p", below, class_="kv-sm", style="color:var(--kv-ink-2);margin:4px 0 12px"))
    view = (
        simulated_story(*cast(tuple[Workload, LogConfig], simulated_log))
        if name == SIMULATED_LOG
        else lesson_story(name)
    )
    payload_key = "growth", view.key
    frontend.growth(charts.view(payload_key, lambda: growth_figure.browser_payload(view)))
    st.space(16)
    with st.expander(say("rolls.every_step")):
        heads = [say(f"rolls.head_{column}") for column in STEP_COLUMNS]
        rows = growth_figure.rows(view)
        table(heads, rows, "rwrrr")
        download(
            say("rolls.every_step_csv"),
            lambda: to_csv(STEP_COLUMNS, rows),
            "growth.csv",
            "kv_growth_csv",
        )
