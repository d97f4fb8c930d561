"""Simulated logs, shared by all tabs and kept between reruns."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

import numpy as np
import streamlit as st

from kafkaviz import messages
from kafkaviz.analysis import roll_history
from kafkaviz.analysis.roll_history import RollHistory
from kafkaviz.analysis.roll_limits import WriteLoad
from kafkaviz.app.cache.broker_cache import HashFuncs
from kafkaviz.app.workloads import config_of
from kafkaviz.figures.rolls import growth as growth_figure
from kafkaviz.figures.rolls.growth import GrowthView
from kafkaviz.simulate import lesson_growth
from kafkaviz.simulate.appends import INCOMING, AppendChunk, MemoryLogs
from kafkaviz.simulate.config import LogConfig, release_behaviour
from kafkaviz.simulate.directory import simulation
from kafkaviz.simulate.directory.simulation import Run
from kafkaviz.simulate.producers import streams
from kafkaviz.simulate.producers.workload import Workload
from kafkaviz.simulate.writer.refusals import AppendFailed
from kafkaviz.simulate.writer.writer import CannotLoad, UnifiedLog

MAX_BATCHES = 400_000  # per workload
# per workload; lower with compression, because records have to be built to learn their size
MAX_BYTES = 64 << 30
MAX_COMPRESSED_BYTES = 64 << 20
MAX_SEGMENTS = 1000  # per log
# the repr of both types contains all their values; hashing each field would take Streamlit longer
# than the rest of a rerun
HASH_FUNCS: HashFuncs = {Workload: repr, LogConfig: repr}
# Batches that are appended before the segments are counted again. While few segments are rolled,
# this number grows up to MAX_PIECE_BATCHES, which limits the memory.
PIECE_BATCHES = 512
MAX_PIECE_BATCHES = 8192
FEW_ROLLS = 16
STORY_APPENDS = 120  # number of appends to a simulated log that are shown step by step
STORIES = {
    "From the first batch": lesson_growth.first_segments,
    "A full time index": lesson_growth.full_time_index,
}


@dataclass(frozen=True, kw_only=True)
class RollSimulation:
    history: RollHistory
    appended_batches: np.ndarray  # rows of roll_history.APPEND
    load: WriteLoad
    # the name of Kafka's exception if it refused an append or could not open the log, else ""
    error: str = ""
    is_cut: bool = False  # whether batches of the workload are missing
    key: str = ""


class WorkloadBatches(NamedTuple):
    rows: np.ndarray  # an array of appends.INCOMING
    appends: np.ndarray  # the same batches as an array of roll_history.APPEND
    load: WriteLoad  # the mean sizes and counts of the batches
    is_cut: bool  # whether the workload has more batches than these


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=HASH_FUNCS)
def simulate(workload: Workload, config: LogConfig) -> RollSimulation:
    rows, appends, load, is_cut = stream(workload)
    try:
        log = UnifiedLog(
            config,
            release_behaviour(workload.release),
            now_ms=workload.start_ms,
            start_offset=workload.start_offset,
            seed=workload.seed,
            is_leader=workload.is_leader,
            keeps_state=False,
        )
    except CannotLoad as fault:
        error = fault.exception
        appended_batches = appends[:0]
        history = RollHistory((), config)
    else:
        error = _write_until_refused(log, rows)
        appended_batches = appends[: np.searchsorted(rows["last_offset"], log.log_end_offset)]
        history = roll_history.history_of_log(log.segments, appended_batches, config)
    return RollSimulation(
        history=history,
        appended_batches=appended_batches,
        load=load,
        error=error,
        is_cut=is_cut or (not error and len(appended_batches) < len(rows)),
        key=key_of(workload, config),
    )


@st.cache_resource(max_entries=4, show_spinner=False, hash_funcs=HASH_FUNCS)
def stream(workload: Workload) -> WorkloadBatches:
    """Returns the batches that a workload sends. They do not depend on the settings of the log."""
    row_arrays = []
    count = 0
    size_bytes = 0
    is_cut = False
    is_compressed = any(phase.codec != "none" for phase in workload.phases)
    most_bytes = MAX_COMPRESSED_BYTES if is_compressed else MAX_BYTES
    for chunk in _chunks(workload, config_of(workload, {}), payload=False):
        row_arrays.append(chunk.rows)
        count += len(chunk.rows)
        size_bytes += int(chunk.rows["size_bytes"].sum())
        is_cut = count > MAX_BATCHES or size_bytes > most_bytes
        if is_cut:
            break
    rows = np.concatenate(row_arrays) if row_arrays else np.empty(0, INCOMING)
    rows = rows[:MAX_BATCHES]
    load = load_of(rows["size_bytes"], rows["record_count"])
    return WorkloadBatches(rows, roll_history.appended_rows(rows), load, is_cut)


def _chunks(workload: Workload, config: LogConfig, *, payload: bool) -> Iterator:
    return streams.chunks(
        workload, config, release_behaviour(workload.release), workload.seed, payload=payload
    )


def key_of(workload: Workload, config: LogConfig) -> str:
    return hashlib.sha256(repr((workload, config)).encode()).hexdigest()[:16]


def _write_until_refused(log: UnifiedLog, rows: np.ndarray) -> str:
    """Appends until Kafka refuses a batch, and returns Kafka's exception; "" if none is refused."""
    start = 0
    piece = PIECE_BATCHES
    while start < len(rows) and (segments_before := len(log.segments)) < MAX_SEGMENTS:
        end = start + piece
        while end < len(rows) and rows["append"][end] == rows["append"][end - 1]:
            end += 1
        try:
            # a bytearray is copied at once, a structured array row by row
            log.append(np.frombuffer(bytearray(rows[start:end]), rows.dtype))
        except AppendFailed as fault:
            return str(fault.exception)
        start = end
        is_slow = len(log.segments) - segments_before < FEW_ROLLS
        piece = min(piece * 4, MAX_PIECE_BATCHES) if is_slow else PIECE_BATCHES
    return ""


def load_of(sizes: np.ndarray, counts: np.ndarray) -> WriteLoad:
    if not len(sizes):
        return WriteLoad(1)
    mean = float(sizes.mean())
    return WriteLoad(mean, max(float(counts.mean()), 1e-9), float(sizes.std()) / mean)


@st.cache_resource(max_entries=2, show_spinner=False, hash_funcs=HASH_FUNCS)
def archive(workload: Workload, config: LogConfig) -> bytes:
    """Returns the simulated log directory as a .tar.gz.

    Raises KafkavizError for a workload that producers.streams.chunks refuses.
    """
    plan = replace(
        simulation.plan_config(workload, config),
        chunks=lambda: _first_batches(_chunks(workload, config, payload=True)),
    )
    return Run(plan, MemoryLogs()).carry_out().archive()


def _first_batches(chunks: Iterator[AppendChunk]) -> Iterator[AppendChunk]:
    remaining = MAX_BATCHES
    for chunk in chunks:
        rows = chunk.rows[:remaining]
        data = memoryview(cast(bytes, chunk.data))[: int(rows["size_bytes"].sum())]
        # a memoryview is written in the same way as bytes
        yield AppendChunk(rows, cast(bytes, data))
        remaining -= len(rows)
        if remaining <= 0:
            return


def lesson_story(name: str) -> GrowthView:
    return _lesson_story(name, messages.language())


@st.cache_resource(max_entries=8, show_spinner=False)
def _lesson_story(name: str, language: str) -> GrowthView:
    return growth_figure.view(STORIES[name](), name)


def simulated_story(workload: Workload, config: LogConfig) -> GrowthView:
    """Returns the first STORY_APPENDS appends of a simulated log.

    Raises CannotLoad if Kafka cannot open a log with `config`.
    """
    return _simulated_story(workload, config, messages.language())


@st.cache_resource(max_entries=8, show_spinner=False, hash_funcs=HASH_FUNCS)
def _simulated_story(workload: Workload, config: LogConfig, language: str) -> GrowthView:
    rows = stream(workload).rows
    steps = lesson_growth.grow_by_rows(config, rows[:STORY_APPENDS].copy(), workload.start_ms)
    return growth_figure.view(steps, key_of(workload, config))
