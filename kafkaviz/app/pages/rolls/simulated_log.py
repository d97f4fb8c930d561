"""Notes on a simulated log, its comparison with another run, and its download."""

import io
from typing import cast

import streamlit as st

from kafkaviz import config_def, units
from kafkaviz.analysis.rolls.limits import IndexRoom, index_room
from kafkaviz.analysis.rolls.roll_history import RollHistory
from kafkaviz.app import page_state
from kafkaviz.app.cache import simulation_cache
from kafkaviz.app.cache.simulation_cache import RollSimulation
from kafkaviz.app.pages.rolls.controls import AS_IT_IS, MIB, option_text
from kafkaviz.app.widgets import elements, upload
from kafkaviz.app.widgets.tables import table
from kafkaviz.app.workloads import OWN_TITLE, format_setting
from kafkaviz.figures.rolls import roll_summary
from kafkaviz.figures.rolls.roll_summary import RunSummary
from kafkaviz.messages import say, say_count
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.producers.workload import Workload

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
        st.html(f'<p class="kv-sm" style="color:var(--kv-ink-2)">{text}</p>')
        return
    changes = roll_summary.describe_changes(previous, current, _setting_text)
    st.html(
        '<p class="kv-sm" style="color:var(--kv-ink-2);margin-bottom:8px">'
        f"{elements.escape(changes)}"
        "</p>"
    )
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
            st.html(
                f'<p class="kv-sm kv-fnt">{say(text_key, size=units.format_bytes(size_bytes))}</p>'
            )
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
        st.html(f'<span class="kv-sm kv-fnt">{text}</span>')
