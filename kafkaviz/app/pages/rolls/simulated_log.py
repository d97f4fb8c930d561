"""A simulated log, kept between reruns.

Its segments, the notes where its settings do not work, its comparison with the run before, and the
directory to take along.
"""

import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import streamlit as st

from kafkaviz import config_def, units
from kafkaviz.analysis.rolls import roll_history
from kafkaviz.analysis.rolls.limits import IndexRoom, WriteLoad, index_room
from kafkaviz.analysis.rolls.roll_history import APPEND, RollHistory
from kafkaviz.app.pages.rolls.controls import AS_IT_IS, GIB, MIB, config_of, option_text
from kafkaviz.app.state import page_state
from kafkaviz.app.widgets import elements, upload
from kafkaviz.app.widgets.tables import table
from kafkaviz.app.workloads import OWN_TITLE, format_setting
from kafkaviz.figures.rolls import roll_summary
from kafkaviz.figures.rolls.roll_summary import RunSummary
from kafkaviz.messages import say, say_count
from kafkaviz.simulate.append_batches import INCOMING, AppendChunk
from kafkaviz.simulate.config import LogConfig, release_behaviour
from kafkaviz.simulate.directory import simulation
from kafkaviz.simulate.directory.simulation import Run
from kafkaviz.simulate.log_bytes import MemoryLogs
from kafkaviz.simulate.producers import streams
from kafkaviz.simulate.producers.workload import Workload
from kafkaviz.simulate.writer.refusals import AppendFailed
from kafkaviz.simulate.writer.writer import CannotLoad, UnifiedLog

MOST_BATCHES = 400_000  # of a workload, on this page
# what is compressed must be made to know its size
MOST_BYTES, MOST_COMPRESSED_BYTES = 64 * GIB, 64 * MIB
MOST_SEGMENTS = 1000  # of a log
PIECE_BATCHES, FEW_ROLLS = (
    512,
    16,
)  # batches before the segments are counted; fewer rolls: more batches
WORKLOAD_KEYS = ("workload", "throughput", "batches")
MOST_ARCHIVE_BYTES = 256 * MIB  # of .log


@dataclass(frozen=True)
class RollSimulation:
    """A simulated log.

    Attributes:
        error: Kafka's exception, where it refused an append or could not open the log.
        is_cut: not all batches.
    """

    history: RollHistory
    appended_batches: np.ndarray  # rows of roll_history.APPEND
    load: WriteLoad
    error: str = ""
    is_cut: bool = False
    key: str = ""


@st.cache_resource(max_entries=8, show_spinner=False)
def simulate(workload: Workload, config: LogConfig) -> RollSimulation:
    """A workload written to a log with these settings."""
    rows, is_cut = stream(workload)
    load = load_of(rows["size_bytes"], rows["record_count"])
    empty = np.empty(0, APPEND)
    try:
        log = UnifiedLog(
            config,
            release_behaviour(workload.release),
            now_ms=workload.start_ms,
            start_offset=workload.start_offset,
            seed=workload.seed,
            is_leader=workload.is_leader,
        )
    except CannotLoad as fault:
        return RollSimulation(RollHistory((), config), empty, load, fault.exception, is_cut)
    error = _write(log, rows)
    appended_batches = roll_history.appended_rows(rows[rows["last_offset"] < log.log_end_offset])
    is_cut = is_cut or (not error and len(appended_batches) < len(rows))
    return RollSimulation(
        roll_history.history_of_log(log.segments, appended_batches, config),
        appended_batches,
        load,
        error,
        is_cut,
        key_of(workload, config),
    )


@st.cache_resource(max_entries=4, show_spinner=False)
def stream(workload: Workload) -> tuple[np.ndarray, bool]:
    """The batches of a workload, without their bytes; whether there are more."""
    row_arrays, count, size_bytes, is_cut = [], 0, 0, False
    most_bytes = (
        MOST_COMPRESSED_BYTES
        if any(phase.codec != "none" for phase in workload.phases)
        else MOST_BYTES
    )
    for chunk in _chunks(workload, config_of(workload, {}), payload=False):
        row_arrays.append(chunk.rows)
        count += len(chunk.rows)
        size_bytes += int(chunk.rows["size_bytes"].sum())
        is_cut = count > MOST_BATCHES or size_bytes > most_bytes
        if is_cut:
            break
    rows = np.concatenate(row_arrays) if row_arrays else np.empty(0, INCOMING)
    return rows[:MOST_BATCHES], is_cut


def _chunks(workload: Workload, config: LogConfig, *, payload: bool) -> Iterator:
    return streams.chunks(
        workload, config, release_behaviour(workload.release), workload.seed, payload=payload
    )


def key_of(workload: Workload, config: LogConfig) -> str:
    """What distinguishes one run from another."""
    return hashlib.sha256(repr((workload, config)).encode()).hexdigest()[:16]


def _write(log: UnifiedLog, rows: np.ndarray) -> str:
    """Appends in pieces until there are as many segments as a page takes.

    Kafka's exception where it refuses one.
    """
    start, piece = 0, PIECE_BATCHES
    while start < len(rows) and len(log.segments) < MOST_SEGMENTS:
        end, segments_before = start + piece, len(log.segments)
        while end < len(rows) and rows["append"][end] == rows["append"][end - 1]:
            end += 1
        try:
            log.append(rows[start:end].copy())
        except AppendFailed as fault:
            return str(fault.exception)
        start = end
        piece = piece * 4 if len(log.segments) - segments_before < FEW_ROLLS else PIECE_BATCHES
    return ""


def load_of(sizes: np.ndarray, counts: np.ndarray) -> WriteLoad:
    """What was written, in means."""
    if not len(sizes):
        return WriteLoad(1)
    mean = float(sizes.mean())
    return WriteLoad(mean, max(float(counts.mean()), 1e-9), float(sizes.std()) / mean)


@st.cache_resource(max_entries=2, show_spinner=False)
def archive(workload: Workload, config: LogConfig) -> bytes:
    """The simulated directory as a .tar.gz, with every record.

    Raises:
        KafkavizError: Kafka does not take it all.
    """
    plan = replace(
        simulation.plan_config(workload, config),
        chunks=lambda: _first_batches(_chunks(workload, config, payload=True)),
    )
    return Run(plan, MemoryLogs()).carry_out().archive()


def _first_batches(chunks: Iterator[AppendChunk]) -> Iterator[AppendChunk]:
    """As many as the page shows."""
    remaining = MOST_BATCHES
    for chunk in chunks:
        rows = chunk.rows[:remaining]
        data = memoryview(cast(bytes, chunk.data))[: int(rows["size_bytes"].sum())]
        yield AppendChunk(rows, cast(bytes, data))  # a view is written as its bytes are
        remaining -= len(rows)
        if remaining <= 0:
            return


def render_notes(workload: Workload, config: LogConfig, run: RollSimulation) -> None:
    """In place of a traceback: what Kafka does with such settings."""
    room = index_room(config.segment_index_bytes)
    if room == IndexRoom.NONE:
        key = "rolls.no_offset_entry" if config.segment_index_bytes < 8 else "rolls.no_time_entry"
        _render_note(
            "room",
            "error",
            say("rolls.no_log"),
            say(key, room=units.size(config.segment_index_bytes), failed=run.error),
        )
    elif room == IndexRoom.ALWAYS_FULL:
        _render_note(
            "room",
            "warning",
            say("rolls.every_append"),
            say("rolls.always_full", room=units.size(config.segment_index_bytes)),
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
        counts = {
            "batches": units.group(len(run.appended_batches)),
            "segments": units.group(len(run.history.segments)),
        }
        _render_note("cut", "info", say("rolls.cut", **counts), say("rolls.cut_below"))


def _render_note(name: str, mark: str, finding: str, reason: str) -> None:
    """A sentence in its place.

    Args:
        name: its own on this page: two of one mark may stand together.
    """
    with elements.state(f"note_{name}", mark, finding, reason):
        pass
    st.space(16)


def render_comparison(workload: Workload, config: LogConfig, history: RollHistory) -> None:
    """What this run came to, beside the run before or the one that was kept."""
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
    """The run that this one is compared with; this one is kept for the next."""
    last, st.session_state[page_state.RUN] = st.session_state.get(page_state.RUN), current
    if last not in (None, current) and not st.session_state.get(page_state.KEEPS_PREVIOUS_RUN):
        st.session_state[page_state.PREVIOUS_RUN] = last
    return st.session_state.get(page_state.PREVIOUS_RUN)


def _render_comparison_head() -> None:
    """The heading, and the button that keeps a run or lets it go."""
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
    """What may have been changed; its words are those of links, the same in every language."""
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
    """A name or a value of _setting_texts in the reader's language."""
    return say(f"rolls.changed_{text}") if text in WORKLOAD_KEYS else option_text(text)


def _pin() -> None:
    """What is shown now stays the one that is compared with."""
    st.session_state[page_state.PREVIOUS_RUN], st.session_state[page_state.KEEPS_PREVIOUS_RUN] = (
        st.session_state.get(page_state.RUN),
        True,
    )


def _unpin() -> None:
    """The run before the last change counts again."""
    st.session_state[page_state.KEEPS_PREVIOUS_RUN] = False


def render_download(workload: Workload, config: LogConfig, run: RollSimulation) -> None:
    """The directory as an archive, and opened here like any other."""
    st.space(16)
    size_bytes = run.history.log_bytes
    with st.container(horizontal=True, vertical_alignment="center", gap=16, key="kv_take"):
        if run.error or run.is_cut or size_bytes > MOST_ARCHIVE_BYTES:
            text_key = (
                "rolls.take_refused"
                if run.error
                else "rolls.take_cut"
                if run.is_cut
                else "rolls.take_large"
            )
            st.html(f'<p class="kv-sm kv-fnt">{say(text_key, size=units.size(size_bytes))}</p>')
            return
        name = f"{workload.topic}.tar.gz"
        build_archive = lambda: archive(workload, config)  # noqa: E731 - made when it is asked for
        widget_options: dict[str, Any] = {
            "on_click": "ignore",
            "icon": ":material/download:",
            "key": "kv_archive",
        }
        st.download_button(
            say("rolls.take_archive"), build_archive, name, "application/gzip", **widget_options
        )
        if st.button(say("rolls.open_result"), icon=":material/folder_open:", key="kv_open_result"):
            path = upload.save(io.BytesIO(build_archive()), name)
            st.switch_page("app.py", query_params=page_state.address(path))
        count = len(run.history.segments)
        text = say(
            "rolls.take_words",
            size=units.size(size_bytes),
            segments=say_count("common.n_segments", count),
        )
        st.html(f'<span class="kv-sm kv-fnt">{text}</span>')
