"""A simulated log, kept between reruns: its lanes, what was appended, where Kafka refused; and the
directory as an archive.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import streamlit as st

from kafkaviz.analyse import lanes
from kafkaviz.analyse.lanes import APPENDED, Lanes
from kafkaviz.analyse.limits import Load
from kafkaviz.simulate.config import LogConfig, profile
from kafkaviz.simulate.incoming import INCOMING, Chunk
from kafkaviz.simulate.log_bytes import InMemory
from kafkaviz.simulate.sending import streams
from kafkaviz.simulate.sending.workload import Workload
from kafkaviz.simulate.whole import simulation
from kafkaviz.simulate.whole.simulation import Run
from kafkaviz.simulate.writing.refusals import AppendFailed
from kafkaviz.simulate.writing.writer import CannotLoad, Log
from kafkaviz.ui.rolls.options import GIB, MIB, config_of

MOST_BATCHES = 400_000  # of a workload, on this page
# what is compressed must be made to know its size
MOST_BYTES, MOST_COMPRESSED_BYTES = 64 * GIB, 64 * MIB
MOST_SEGMENTS = 1000  # of a log
PIECE, FEW_ROLLS = 512, 16  # batches before the segments are counted; fewer rolls: more batches


@dataclass(frozen=True)
class Simulated:
    """A simulated log. failed: Kafka's exception, where it refused an append or could not open the
    log; is_cut: not all batches.
    """

    lanes: Lanes
    appended: np.ndarray  # lanes.APPENDED
    load: Load
    failed: str = ""
    is_cut: bool = False
    key: str = ""


@st.cache_resource(max_entries=8, show_spinner=False)
def run(of: Workload, config: LogConfig) -> Simulated:
    """A workload written to a log with these settings."""
    rows, is_cut = stream(of)
    load = load_of(rows["size_bytes"], rows["record_count"])
    empty = np.empty(0, APPENDED)
    try:
        log = Log(
            config,
            profile(of.release),
            now_ms=of.start_ms,
            start_offset=of.start_offset,
            seed=of.seed,
            is_leader=of.is_leader,
        )
    except CannotLoad as fault:
        return Simulated(Lanes((), config), empty, load, fault.raised, is_cut)
    failed = _write(log, rows)
    taken = lanes.thin(rows[rows["last_offset"] < log.log_end_offset])
    is_cut = is_cut or (not failed and len(taken) < len(rows))
    return Simulated(
        lanes.of_log(log.segments, taken, config), taken, load, failed, is_cut, key_of(of, config)
    )


@st.cache_resource(max_entries=4, show_spinner=False)
def stream(of: Workload) -> tuple[np.ndarray, bool]:
    """The batches of a workload, without their bytes; whether there are more."""
    found, count, size_bytes, is_cut = [], 0, 0, False
    most_bytes = (
        MOST_COMPRESSED_BYTES if any(phase.codec != "none" for phase in of.phases) else MOST_BYTES
    )
    for chunk in _chunks(of, config_of(of, {}), payload=False):
        found.append(chunk.rows)
        count += len(chunk.rows)
        size_bytes += int(chunk.rows["size_bytes"].sum())
        is_cut = count > MOST_BATCHES or size_bytes > most_bytes
        if is_cut:
            break
    rows = np.concatenate(found) if found else np.empty(0, INCOMING)
    return rows[:MOST_BATCHES], is_cut


def _chunks(of: Workload, config: LogConfig, payload: bool) -> Iterator:
    return streams.chunks(of, config, profile(of.release), of.seed, payload=payload)


def key_of(of: Workload, config: LogConfig) -> str:
    """What tells one run from another."""
    return hashlib.sha256(repr((of, config)).encode()).hexdigest()[:16]


def _write(log: Log, rows: np.ndarray) -> str:
    """Appends in pieces until there are as many segments as a page takes; Kafka's exception where
    it refuses one.
    """
    start, piece = 0, PIECE
    while start < len(rows) and len(log.segments) < MOST_SEGMENTS:
        end, before = start + piece, len(log.segments)
        while end < len(rows) and rows["append"][end] == rows["append"][end - 1]:
            end += 1
        try:
            log.append(rows[start:end].copy())
        except AppendFailed as fault:
            return str(fault.raised)
        start = end
        piece = piece * 4 if len(log.segments) - before < FEW_ROLLS else PIECE
    return ""


def load_of(sizes: np.ndarray, counts: np.ndarray) -> Load:
    """What was written, in means."""
    if not len(sizes):
        return Load(1)
    mean = float(sizes.mean())
    return Load(mean, max(float(counts.mean()), 1e-9), float(sizes.std()) / mean)


@st.cache_resource(max_entries=2, show_spinner=False)
def archive(of: Workload, config: LogConfig) -> bytes:
    """The simulated directory as a .tar.gz, with every record.

    Raises KafkavizError where Kafka does not take it all.
    """
    plan = replace(
        simulation.of_config(of, config),
        chunks=lambda: _first_batches(_chunks(of, config, payload=True)),
    )
    return Run(plan, InMemory()).carry_out().archive()


def _first_batches(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    """As many as the page shows."""
    left = MOST_BATCHES
    for chunk in chunks:
        rows = chunk.rows[:left]
        data = memoryview(cast(bytes, chunk.data))[: int(rows["size_bytes"].sum())]
        yield Chunk(rows, cast(bytes, data))  # a view is written as its bytes are
        left -= len(rows)
        if left <= 0:
            return
