"""Simulates a whole log: a Run carries out a SimulationPlan and returns the files (Simulated).

    simulate("orders", {"index.interval.bytes": 1024}).segments[0].roll_reason.numbers()
    "1 048 300 + 520 > 1 048 576 B"

The result is a broker directory with one topic-partition. folder.write writes it to disk,
folder.archive into a .tar.gz.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import takewhile
from pathlib import Path
from typing import NoReturn, cast

import numpy as np

from kafkaviz import config_def, versions
from kafkaviz.binary.file_view import FileView
from kafkaviz.config_def import Value
from kafkaviz.errors import KafkavizError, RefusedSetting
from kafkaviz.format import names
from kafkaviz.format.names import MAX_OFFSET
from kafkaviz.messages import message, verbatim
from kafkaviz.simulate.appends import AppendChunk, LogBytes, MemoryLogs
from kafkaviz.simulate.config import LogConfig, ReleaseBehaviour, log_config, release_behaviour
from kafkaviz.simulate.directory import broker_files, replay_stream
from kafkaviz.simulate.directory.broker_files import BrokerState
from kafkaviz.simulate.directory.folder import archive, new_files, write
from kafkaviz.simulate.producers import streams
from kafkaviz.simulate.producers.workload import PRESETS, Workload, load, preset
from kafkaviz.simulate.steps import StoredLog
from kafkaviz.simulate.writer.refusals import AppendFailed
from kafkaviz.simulate.writer.roll_reason import RollReason
from kafkaviz.simulate.writer.writer import CannotLoad, Event, UnifiedLog
from kafkaviz.units import file_stem
from kafkaviz.versions import Release

WATERMARK_EVERY_MS = 5000  # replica.high.watermark.checkpoint.interval.ms
RECOVERY_POINT_EVERY_MS = 60_000  # log.flush.offset.checkpoint.interval.ms
DIGEST_BYTES = 1 << 20


@dataclass(frozen=True, kw_only=True)
class SimulationPlan:
    """The settings and appends of a log that is to be written."""

    directory: str  # the name of the topic-partition
    config: LogConfig
    behaviour: ReleaseBehaviour
    settings: Mapping[str, Value]  # those that differ from the release's defaults
    seed: int
    start_ms: int  # when the partition is created
    chunks: Callable[[], Iterator[AppendChunk]]  # each call starts from the first append
    start_offset: int = 0  # the log end offset when the partition is created
    silent_ms: int = 0  # the time without appends at the end
    is_leader: bool = True
    has_valid_checksums: bool = True  # if False, checksums may be wrong and are checked


@dataclass(frozen=True)
class SimulatedSegment:
    """A segment that was written."""

    base_offset: int
    log_bytes: int  # without preallocated bytes
    offset_index: np.ndarray  # an array of offset_index.ENTRY
    time_index: np.ndarray  # an array of time_index.ENTRY
    roll_reason: RollReason | None  # None for the active segment, or without a roll


@dataclass(frozen=True, kw_only=True)
class Simulated:
    """A simulated broker directory with one topic-partition."""

    directory: str  # the name of the topic-partition
    segments: tuple[SimulatedSegment, ...]  # ordered by base offset
    events: tuple[Event, ...]  # everything except appends, such as rolls, in order
    files: tuple[FileView, ...]  # a name is a path in the broker directory
    log_start_offset: int
    log_end_offset: int

    @property
    def has_records(self) -> bool:
        return self.log_end_offset > self.log_start_offset

    def write(self, folder: Path | str) -> Path:
        """Writes the broker directory into a folder, new or not, and returns the folder's path.

        Raises CannotOpen if a broker may use `folder`, or if `folder` already contains one of the
        files.
        """
        with new_files(Path(folder)) as staging:
            write(self.files, staging.path)
        return staging.out

    def archive(self) -> bytes:
        return archive(self.files, _partition(self.directory).topic)

    def digests(self, base_offset: int) -> dict[str, str]:
        """Returns the SHA-256 of each file of a segment, in hexadecimal, by file name."""
        stem = f"{self.directory}/{file_stem(base_offset)}."
        return {
            file.name.rpartition("/")[2]: digest(file)
            for file in self.files
            if file.name.startswith(stem)
        }


def simulate(
    workload: Workload | Path | str,
    settings: Mapping[str, Value] | None = None,
    seed: int | None = None,
    version: str | None = None,
    *,
    clean: bool = True,
) -> Simulated:
    """Returns the broker directory that Kafka writes for a workload, with all bytes in memory.

    The segments are byte for byte those of UnifiedLog in the workload's release. The same arguments
    give the same bytes.

    Args:
        workload: a Workload, the path of a TOML file, or the name of a preset such as "orders".
        settings: settings that replace the workload's, by topic-level or broker-level name.
        seed: the seed of the random numbers; by default the workload's.
        version: Kafka's release, such as "4.3.1"; by default the workload's.
        clean: whether the broker is shut down cleanly at the end; otherwise it crashes.

    Raises:
        RefusedSetting: Kafka refuses a setting. The error has Kafka's reason.
        KafkavizError: Kafka answers an append with an exception, or the log cannot be opened.
    """
    settings = settings or {}
    workload = open_workload(workload, version, settings)
    plan = plan_workload(workload, settings, seed, version)
    return Run(plan, MemoryLogs()).carry_out(clean=clean)


def open_workload(
    workload: Workload | Path | str, version: str | None = None, overrides: Iterable[str] = ()
) -> Workload:
    """Returns a workload by the name of a preset or the path of a file; see workload.load."""
    if isinstance(workload, Workload):
        return workload
    if workload in PRESETS:
        return preset(workload, version, overrides)
    path = Path(workload)
    is_name = isinstance(workload, str) and path.name == workload and not path.suffix
    if is_name and not path.exists():
        refuse_name(path.name)
    return load(path, version=version, overrides=overrides)


def refuse_name(name: str) -> NoReturn:
    """Raises KafkavizError: the name is neither a preset nor a file."""
    raise KafkavizError(message("errors.no_such_workload", name=name, names=tuple(PRESETS)))


def plan_workload(
    workload: Workload, settings: Mapping[str, Value], seed: int | None, version: str | None
) -> SimulationPlan:
    """Returns the plan of a workload. The other arguments replace the workload's values."""
    release = versions.parse(version or workload.kafka_version)
    topic_settings = _settings(dict(workload.settings), settings, release)
    config = log_config(topic_settings, release)
    seed = workload.seed if seed is None else seed
    return _plan(workload, config, topic_settings, seed, release)


def plan_config(workload: Workload, config: LogConfig) -> SimulationPlan:
    """Returns the plan of a workload whose settings are replaced by `config`."""
    default_config = log_config({}, workload.release)
    topic_settings = {
        field.name.replace("_", "."): getattr(config, field.name)
        for field in fields(config)
        if getattr(config, field.name) != getattr(default_config, field.name)
    }
    return _plan(workload, config, topic_settings, workload.seed, workload.release)


def _plan(
    workload: Workload,
    config: LogConfig,
    topic_settings: Mapping[str, Value],
    seed: int,
    release: Release,
) -> SimulationPlan:
    behaviour = release_behaviour(release)
    silences_ms = (phase.silence_ms or 0 for phase in reversed(workload.phases))
    return SimulationPlan(
        directory=workload.directory,
        config=config,
        behaviour=behaviour,
        settings=topic_settings,
        seed=seed,
        start_ms=workload.start_ms,
        chunks=lambda: streams.chunks(workload, config, behaviour, seed),
        start_offset=workload.start_offset,
        silent_ms=sum(takewhile(bool, silences_ms)),
        is_leader=workload.is_leader,
    )


def plan_log(
    log: StoredLog,
    log_settings: Mapping[str, Value],
    settings: Mapping[str, Value],
    seed: int,
    release: Release,
) -> SimulationPlan:
    """Returns the plan that appends the batches of an existing log to a new one.

    `log_settings` are the existing log's. `settings` replace some of them, as for `simulate`.
    """
    behaviour = release_behaviour(release)
    topic_settings = _settings(dict(log_settings), settings, release)
    first = next(iter(replay_stream.chunks(log, behaviour, payload=False)), None)
    start_ms = 0 if first is None else int(first.rows["now_ms"][0])
    return SimulationPlan(
        directory=log.directory,
        config=log_config(topic_settings, release),
        behaviour=behaviour,
        settings=topic_settings,
        seed=seed,
        start_ms=start_ms,
        chunks=lambda: replay_stream.chunks(log, behaviour),
        start_offset=replay_stream.start_offset(log),
        has_valid_checksums=False,
    )


class Run:
    """A simulation that is running: writes the appends of a `SimulationPlan` into a log."""

    def __init__(self, plan: SimulationPlan, logs: LogBytes) -> None:
        """Creates the log of the plan. Raises KafkavizError if Kafka cannot create it."""
        self.plan = plan
        self.now_ms = plan.start_ms
        self._written_ms: dict[int, int] = {}  # base offset -> time of the segment's last append
        self._last_ms = plan.start_ms
        self._watermark = plan.start_offset
        try:
            self.log = UnifiedLog(
                plan.config,
                plan.behaviour,
                now_ms=plan.start_ms,
                start_offset=plan.start_offset,
                seed=plan.seed & 0xFFFFFFFFFFFFFFFF,
                is_leader=plan.is_leader,
                partition=plan.directory,
                logs=logs,
            )
        except CannotLoad as fault:
            problem = verbatim(str(fault.exception))
            raise KafkavizError(
                message("errors.of_path", path=plan.directory, problem=problem)
            ) from None
        logs.append(plan.start_offset, b"")

    def carry_out(self, *, clean: bool = True) -> Simulated:
        """Writes all appends of the plan, then stops or crashes the broker.

        Raises KafkavizError if Kafka answers an append with an exception.
        """
        for chunk in self.plan.chunks():
            self.take(chunk)
        self.silence(self.now_ms + self.plan.silent_ms)
        return self.end(clean=clean)

    def take(self, chunk: AppendChunk) -> None:
        """Writes the next appends. Raises KafkavizError if Kafka answers with an exception."""
        if not len(chunk.rows):
            return
        first = self.log.active.base_offset
        directory = self.plan.directory
        valid = None if self.plan.has_valid_checksums else replay_stream.count_valid(chunk)
        try:
            self.log.append(chunk.rows, chunk.data, valid)
        except AppendFailed as fault:
            problem = message(
                "errors.append_fails",
                directory=directory,
                number=fault.append,
                exception=str(fault.exception),
            )
            raise KafkavizError(problem) from None
        if self.log.log_end_offset > MAX_OFFSET:
            raise KafkavizError(
                message("errors.no_offset_left", directory=directory, offset=MAX_OFFSET)
            )
        self._note_times(chunk.rows, first)

    def silence(self, until_ms: int) -> None:
        """Moves the clock forward without appends."""
        self.now_ms = max(self.now_ms, until_ms)

    def end(self, *, clean: bool = True) -> Simulated:
        if clean:
            self.log.close(self.now_ms)
        return self.result(clean=clean)

    def result(self, *, clean: bool = False) -> Simulated:
        """Returns the result so far: as after a crash, or after a clean shutdown if `clean`."""
        log = self.log
        segments = tuple(
            SimulatedSegment(
                segment.base_offset,
                segment.log_bytes,
                segment.index.entries.copy(),
                segment.timeindex.entries.copy(),
                segment.roll_reason,
            )
            for segment in log.segments
        )
        own_files = broker_files.own_files(self._state(clean=clean))
        return Simulated(
            directory=self.plan.directory,
            segments=segments,
            events=tuple(log.events),
            files=(*self._partition_files(clean=clean), *own_files),
            log_start_offset=log.log_start_offset,
            log_end_offset=log.log_end_offset,
        )

    def _note_times(self, rows: np.ndarray, first: int) -> None:
        bases = [
            segment.base_offset for segment in self.log.segments if segment.base_offset >= first
        ]
        ends = np.searchsorted(rows["base_offset"], [*bases[1:], np.iinfo(np.int64).max])
        self._written_ms |= {
            base: int(rows["now_ms"][end - 1])
            for base, end in zip(bases, ends.tolist(), strict=True)
            if end
        }
        self.now_ms = max(self.now_ms, int(rows["now_ms"][-1]))
        checkpoint_ms = self._checkpoint_ms(WATERMARK_EVERY_MS)
        watermark_count = int(np.searchsorted(rows["now_ms"], checkpoint_ms, "right"))
        if watermark_count:
            self._watermark = int(rows["last_offset"][watermark_count - 1]) + 1
        elif self._last_ms <= checkpoint_ms:
            self._watermark = int(rows["base_offset"][0])
        self._last_ms = self.now_ms

    def _checkpoint_ms(self, every_ms: int) -> int:
        return self.now_ms - (self.now_ms - self.plan.start_ms) % every_ms

    def _state(self, *, clean: bool) -> BrokerState:
        log = self.log
        name = _partition(self.plan.directory)
        high_watermark = log.log_end_offset
        recovery_point = log.log_end_offset
        if not clean:
            if self._last_ms > self._checkpoint_ms(WATERMARK_EVERY_MS):
                high_watermark = self._watermark
            flushed_ms = self._checkpoint_ms(RECOVERY_POINT_EVERY_MS)
            rolls = [event for event in log.events if event.kind == "roll"]
            flushed = [cast(int, roll.offset) for roll in rolls if roll.now_ms <= flushed_ms]
            recovery_point = max(flushed, default=self.plan.start_offset)
        start = log.log_start_offset if log.log_start_offset > log.segments[0].base_offset else None
        return BrokerState(
            release=self.plan.behaviour.release,
            topic=name.topic,
            partition=name.partition,
            clean=clean,
            high_watermark=high_watermark,
            recovery_point=recovery_point,
            log_start_offset=start,
            started_ms=self.plan.start_ms,
            ended_ms=self.now_ms,
            seed=self.plan.seed,
            settings=self.plan.settings,
        )

    def _partition_files(self, *, clean: bool) -> Iterator[FileView]:
        plan = self.plan
        rolls = [event for event in self.log.events if event.kind == "roll"]
        rolled_ms = {roll.segment: roll.now_ms for roll in rolls}
        created_ms = {roll.offset: roll.now_ms for roll in rolls}
        release = plan.behaviour.release
        metadata_files = broker_files.partition_metadata(release, plan.seed, plan.start_ms)
        for file in (*self.log.stored_log().files, *metadata_files):
            name = names.parse_file(file.name)
            modified_ms = self.now_ms
            if name is None:  # leader-epoch-checkpoint, partition.metadata
                modified_ms = plan.start_ms
            elif name.kind == "log":
                first_ms = created_ms.get(name.base_offset, plan.start_ms)
                modified_ms = self._written_ms.get(name.base_offset, first_ms)
                is_active = name.base_offset == self.log.active.base_offset
                if is_active and plan.config.preallocate and not clean:
                    file = file.pad(plan.config.segment_bytes)
            elif name.kind == "snapshot":
                modified_ms = created_ms.get(name.base_offset, self.now_ms)
            else:
                modified_ms = rolled_ms.get(name.base_offset, self.now_ms)
            yield replace(file, name=f"{plan.directory}/{file.name}", modified_ms=modified_ms)


def _partition(directory: str) -> names.PartitionName:
    return cast(names.PartitionName, names.parse_directory(directory))


def digest(file: FileView) -> str:
    sha256 = hashlib.sha256()
    buffer = np.empty(DIGEST_BYTES, np.uint8)
    position = 0
    with file.open_reader() as read:
        while position < file.size_bytes:
            length = read(position, buffer[: file.size_bytes - position])
            if not length:
                break
            sha256.update(buffer[:length].data)
            position += length
    return sha256.hexdigest()


def _settings(
    own_settings: dict[str, Value], overrides: Mapping[str, Value], release: Release
) -> dict[str, Value]:
    parsed_settings = {}
    for name, value in overrides.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        topic_name, parsed_value = config_def.parse(name, text, release)
        if topic_name not in config_def.TOPIC_SETTINGS:
            raise RefusedSetting(name, None, message("errors.is_no_topic_setting", name=name))
        parsed_settings[topic_name] = parsed_value
    if "segment.bytes" in parsed_settings and "internal.segment.bytes" not in parsed_settings:
        own_settings.pop("internal.segment.bytes", None)  # else the override would have no effect
    return own_settings | parsed_settings
