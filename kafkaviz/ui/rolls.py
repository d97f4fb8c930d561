"""What the Rolls page works out, kept between reruns: simulated logs, the lanes of real ones, and the archive of a simulated one."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from kafkaviz import config_def, words
from kafkaviz.analyse import lanes
from kafkaviz.analyse.lanes import APPENDED, Lanes
from kafkaviz.analyse.limits import IndexRoom, Load, index_room
from kafkaviz.config_def import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from kafkaviz.figures import growth as growth_figure
from kafkaviz.figures import limit_curves, roll_timeline
from kafkaviz.figures.growth import GrowthView
from kafkaviz.figures.limit_curves import LimitCurvesView
from kafkaviz.figures.roll_timeline import RollTimelineView
from kafkaviz.log import settings as found_settings
from kafkaviz.log.partition import Partition
from kafkaviz.log.settings import Origin
from kafkaviz.simulate.config import LogConfig, log_config, profile
from kafkaviz.simulate.incoming import INCOMING, Chunk
from kafkaviz.simulate.lessons import growth
from kafkaviz.simulate.log_bytes import InMemory
from kafkaviz.simulate.sending import streams, workload
from kafkaviz.simulate.sending.draws import Spread
from kafkaviz.simulate.sending.traffic import MOST_RECORDS
from kafkaviz.simulate.sending.workload import Workload
from kafkaviz.simulate.whole import simulation
from kafkaviz.simulate.whole.simulation import Run
from kafkaviz.simulate.writing.refusals import AppendFailed
from kafkaviz.simulate.writing.writer import CannotLoad, Log
from kafkaviz.ui.cache import Listed
from kafkaviz.units import duration, group, size
from kafkaviz.words import say

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
KEPT = 24
MOST_BATCHES = 400_000  # of a workload, on this page
MOST_BYTES, MOST_COMPRESSED_BYTES = 64 * GIB, 64 * MIB  # what is compressed must be made to know its size
MOST_SEGMENTS, PIECE, FEW_ROLLS = (
    1000,
    512,
    16,
)  # segments of a log; batches before they are counted; fewer rolls: more batches
MOST_ARCHIVE_BYTES = 256 * MIB  # of .log
SHOWN_APPENDS = 120  # of the log above, step by step
OWN = "Your own"
AS_IT_IS, NONE = "as it is", "none"
SPEEDS = {AS_IT_IS: 1.0, "a tenth": 0.1, "a quarter": 0.25, "half": 0.5, "twice": 2.0, "4 times": 4.0, "10 times": 10.0, "100 times": 100.0}
SPEED_ORDER = ["a tenth", "a quarter", "half", AS_IT_IS, "twice", "4 times", "10 times", "100 times"]
BATCHES = {"one record": 1, **{size(one): one for one in (256, 512, 1 * KIB, 2 * KIB, 8 * KIB, 16 * KIB, 64 * KIB, 256 * KIB)}}
BATCH_ORDER = [AS_IT_IS, *BATCHES]
TOLD = {  # names of options that are words; sizes and times are the same in every language
    AS_IT_IS: "as_it_is", NONE: "none", "one record": "one_record", "a tenth": "a_tenth", "a quarter": "a_quarter", "half": "half",
    "twice": "twice", "4 times": "4_times", "10 times": "10_times", "100 times": "100_times", OWN: "own",
}  # fmt: skip
SETTINGS = {  # of a topic: the values a slider offers
    "segment.bytes": (4 * KIB, 64 * KIB, MIB, 4 * MIB, 8 * MIB, 16 * MIB, 32 * MIB, 64 * MIB, 256 * MIB, GIB),
    "segment.ms": (
        10 * SECOND_MS, 30 * SECOND_MS, MINUTE_MS, 2 * MINUTE_MS, 5 * MINUTE_MS, 10 * MINUTE_MS, HOUR_MS, 6 * HOUR_MS, DAY_MS, 7 * DAY_MS,
    ),
    "segment.index.bytes": (8, 12, 24, 300, 4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 128 * KIB, MIB, 10 * MIB),
    "index.interval.bytes": (0, 150, KIB, 2 * KIB, 4 * KIB, 8 * KIB, 16 * KIB, 64 * KIB),
    "segment.jitter.ms": (0, 5 * SECOND_MS, 30 * SECOND_MS, MINUTE_MS, 10 * MINUTE_MS, HOUR_MS, DAY_MS),
}  # fmt: skip
LEAST_SEGMENT_BYTES = MIB  # from 4.1 on
DAY = """
title = "A day in ten minutes"
story = "Morning, a quiet noon, an evening of small batches, and the night. Each part of the day ends segments for another reason."
topic = "day"
[settings]
"segment.bytes" = 16777216
"segment.ms" = 60000
"segment.index.bytes" = 32768
[[phase]]
name = "morning"
duration = "150s"
bytes_per_s = 400000
value_bytes = { least = 60, most = 140 }
batch_bytes = 8192
[[phase]]
name = "noon"
duration = "180s"
bytes_per_s = 30000
value_bytes = { least = 60, most = 140 }
batch_bytes = 2048
[[phase]]
name = "evening"
duration = "150s"
bytes_per_s = 600000
value_bytes = { least = 60, most = 140 }
batch_bytes = 500
[[phase]]
name = "night"
duration = "120s"
bytes_per_s = 400000
value_bytes = { least = 60, most = 140 }
batch_bytes = 8192
"""
STEADY = """
title = "Steady 400 kB/s"
story = "One speed, one batch size: the closed forms below say when it rolls."
topic = "steady"
[settings]
"segment.bytes" = 16777216
"segment.ms" = 60000
"segment.index.bytes" = 32768
[[phase]]
duration = "600s"
bytes_per_s = 400000
value_bytes = { least = 60, most = 140 }
batch_bytes = 8192
"""


@dataclass(frozen=True)
class Simulated:
    """A simulated log. failed: Kafka's exception, where it refused an append or could not open the log; is_cut: not all batches."""

    lanes: Lanes
    appended: np.ndarray  # lanes.APPENDED
    load: Load
    failed: str = ""
    is_cut: bool = False
    key: str = ""


@dataclass(frozen=True)
class Real:
    """The lanes of a partition on disk, and where each of its settings came from, by its name; lanes.inferred has those of its rolls."""

    lanes: Lanes
    load: Load
    key: str
    origins: Mapping[str, Origin]


# ---- workloads


@st.cache_resource(show_spinner=False)
def workloads() -> dict[str, Workload]:
    """What there is to choose from, by its English title, which links name."""
    return {one.title: one for one in _by_name().values()}


@st.cache_resource(show_spinner=False)
def _by_name() -> dict[str, Workload]:
    return {"day": workload.load(DAY, "day"), "steady": workload.load(STEADY, "steady"), **workload.presets()}


def told(option: str) -> str:
    """The name of an option, or the title of a workload, as the reader's language has it."""
    if option in TOLD:
        return say(f"rolls.option_{TOLD[option]}")
    name = next((name for name, one in _by_name().items() if one.title == option), "")
    return say(f"workloads.{name}_title") if name else option


def story_of(title: str) -> str:
    """What a workload is about, in a sentence or two; nothing of one's own."""
    name = next((name for name, one in _by_name().items() if one.title == title), "")
    return say(f"workloads.{name}_story") if name else ""


def own_text(of: Workload) -> str:
    """What the field of one's own workload starts with."""
    return workload.to_toml(of)


def own(text: str) -> Workload:
    """The workload that somebody wrote. Raises KafkavizError with the key that is wrong."""
    return workload.load(text, "your workload")


def changed(of: Workload, speed: str, batch: str) -> Workload:
    """The workload so many times as fast, and in batches of another size."""
    return replace(of, phases=tuple(_changed(phase, SPEEDS[speed], BATCHES.get(batch)) for phase in of.phases))


def _changed(phase, speed: float, batch_bytes: int | None):
    if phase.silence_ms is not None:
        return phase
    phase = replace(phase, rate=phase.rate * speed)
    if batch_bytes is None:
        return phase
    if batch_bytes == 1:
        return replace(phase, records_per_batch=Spread())
    return replace(phase, batch_bytes=batch_bytes, records_per_batch=Spread(mean=MOST_RECORDS))


def setting(of: Workload, name: str) -> int:
    """A setting's value where nothing else is chosen."""
    return dict(of.settings).get(name, config_def.TOPIC_SETTINGS[name].default(of.release))


def choices(of: Workload, name: str) -> dict[str, int]:
    """What a slider offers, by name: the usual values, and the workload's own."""
    values = sorted({*SETTINGS[name], setting(of, name)})
    return {written(name, one): one for one in values}


def written(name: str, value: int) -> str:
    """A value as the slider has it."""
    if name.endswith(".ms"):
        return NONE if name == "segment.jitter.ms" and not value else duration(value)
    return size(value)


def config_of(of: Workload, chosen: Mapping[str, int]) -> LogConfig:
    """What the log is run with: the workload's settings, and what was chosen instead."""
    return log_config({**config_def.defaults(of.release), **dict(of.settings), **chosen})


# ---- a simulated log


@st.cache_resource(max_entries=4, show_spinner=False)
def _stream(of: Workload) -> tuple[np.ndarray, bool]:
    """The batches of a workload, without their bytes; whether there are more."""
    found, count, size_bytes, is_cut = [], 0, 0, False
    most_bytes = MOST_COMPRESSED_BYTES if any(phase.codec != "none" for phase in of.phases) else MOST_BYTES
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


@st.cache_resource(max_entries=8, show_spinner=False)
def simulated(of: Workload, config: LogConfig) -> Simulated:
    """A workload written to a log with these settings."""
    rows, is_cut = _stream(of)
    load = load_of(rows["size_bytes"], rows["record_count"])
    empty = np.empty(0, APPENDED)
    try:
        log = Log(config, profile(of.release), now_ms=of.start_ms, start_offset=of.start_offset, seed=of.seed, is_leader=of.is_leader)
    except CannotLoad as fault:
        return Simulated(Lanes((), config), empty, load, fault.raised, is_cut)
    failed = _write(log, rows)
    taken = lanes.thin(rows[rows["last_offset"] < log.log_end_offset])
    is_cut = is_cut or (not failed and len(taken) < len(rows))
    return Simulated(lanes.of_log(log.segments, taken, config), taken, load, failed, is_cut, _key(of, config))


def _key(of: Workload, config: LogConfig) -> str:
    """What tells one run from another."""
    return hashlib.sha256(repr((of, config)).encode()).hexdigest()[:16]


def _write(log: Log, rows: np.ndarray) -> str:
    """Appends in pieces until there are as many segments as a page takes; Kafka's exception where it refuses one."""
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


def room(config: LogConfig) -> IndexRoom:
    """Whether a log with this segment.index.bytes can work."""
    return index_room(config.segment_index_bytes)


# ---- drawn


@dataclass(frozen=True)
class Drawn:
    """A view and its figure in one mode."""

    view: RollTimelineView | LimitCurvesView
    figure: object


def timeline(key: str, first: int, mode: str, shown: Lanes, appended: np.ndarray | None) -> Drawn:
    """The lanes from a row on. key: of the run, or of the partition as it lies there."""
    return _timeline(key, first, mode, words.language(), shown, appended)


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _timeline(key: str, first: int, mode: str, language: str, _shown: Lanes, _appended: np.ndarray | None) -> Drawn:
    view = roll_timeline.view(_shown, first, _appended)
    return Drawn(view, roll_timeline.figure(view, mode))


def curves(key: str, mode: str, shown: Lanes, load: Load) -> Drawn:
    """The curves of a run, or of a partition."""
    return _curves(key, mode, words.language(), shown, load)


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _curves(key: str, mode: str, language: str, _shown: Lanes, _load: Load) -> Drawn:
    view = limit_curves.view(_shown.config, _load, _shown.bytes_per_s)
    return Drawn(view, limit_curves.figure(view, mode))


# ---- step by step

ABOVE = "The log above"
STORIES = {"From the first batch": growth.first_segments, "A full time index": growth.full_time_index}
STORY_KEYS = {"From the first batch": "first_batch", "A full time index": "full_time_index", ABOVE: "above"}


def story(name: str) -> GrowthView:
    """One of the stories that come along."""
    return _story(name, words.language())


@st.cache_resource(max_entries=8, show_spinner=False)
def _story(name: str, language: str) -> GrowthView:
    return growth_figure.view(STORIES[name](), name)


def story_above(of: Workload, config: LogConfig) -> GrowthView:
    """The beginning of a simulated log. Raises CannotLoad where it cannot be opened."""
    return _story_above(of, config, words.language())


@st.cache_resource(max_entries=8, show_spinner=False)
def _story_above(of: Workload, config: LogConfig, language: str) -> GrowthView:
    rows, _ = _stream(of)
    shown = growth.grow_by_rows(config, rows[:SHOWN_APPENDS].copy(), of.start_ms)
    return growth_figure.view(shown, _key(of, config))


# ---- to take along


@st.cache_resource(max_entries=2, show_spinner=False)
def archive(of: Workload, config: LogConfig) -> bytes:
    """The simulated directory as a .tar.gz, with every record. Raises KafkavizError where Kafka does not take it all."""
    plan = replace(simulation.of_config(of, config), chunks=lambda: _first_batches(_chunks(of, config, payload=True)))
    return Run(plan, InMemory()).carry_out().archive()


def _first_batches(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    """As many as the page shows."""
    left = MOST_BATCHES
    for chunk in chunks:
        rows = chunk.rows[:left]
        yield Chunk(rows, memoryview(chunk.data)[: int(rows["size_bytes"].sum())])
        left -= len(rows)
        if left <= 0:
            return


# ---- a partition on disk


def real(here: Listed, directory: str) -> Real:
    """The lanes of a topic-partition. Raises KafkavizError as reading it does."""
    return _real(f"{here.key}|{directory}", here, directory)


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _real(key: str, _here: Listed, directory: str) -> Real:
    partition = _here.broker.partition(directory)
    known = found_settings.open_settings(_here.broker).of_topic(partition.topic)
    config = log_config({name: one.value for name, one in known.items()})
    told = [name for name, one in known.items() if one.origin != Origin.DEFAULT]
    shown = lanes.of_partition(partition, config, told)
    return Real(shown, _load_on_disk(partition), key, {name: known[name].origin for name in SETTINGS if name in known})


def source(found: Real, name: str) -> str:
    """Where a setting came from, in a few words; nothing where that is not known."""
    bounds = found.lanes.inferred.get(name)
    if bounds:
        return say("rolls.inferred", low=group(bounds.low), high=group(bounds.high))
    origin = found.origins.get(name)
    return say(f"rolls.origin_{origin.name.lower()}") if origin else ""


def _load_on_disk(partition: Partition) -> Load:
    """The batches' mean size, from the headers of a part of one segment: enough for curves that are drawn on log axes."""
    one = next((segment for segment in reversed(partition.live) if segment.log and segment.log.size_bytes), None)
    if one is None:
        return Load(1)
    for rows in one.scan(0, 4 * MIB):
        return load_of(rows["size_bytes"], rows["record_count"])
    return Load(1)
