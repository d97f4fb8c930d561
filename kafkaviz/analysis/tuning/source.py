"""What is tuned.

The batches and the settings of a partition, a topic, a broker directory, a .log, or a workload that
is made up.

A broker directory is divided by topic, because settings are: each topic is a case of its own, and
their sum is the broker.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from kafkaviz import config_def, versions
from kafkaviz.analysis.broker.inactive_segments import InactiveSegment, inactive_segments
from kafkaviz.analysis.cost.cost_model import READ_AHEAD_BYTES
from kafkaviz.analysis.inference.version import (
    CALLER_DECIDES,
    WORKLOAD_DECIDES,
    AssumedRelease,
    assume_release,
)
from kafkaviz.analysis.lookup import paths
from kafkaviz.analysis.restart.next_start import RestartLog, stored_log
from kafkaviz.analysis.tuning import current_config
from kafkaviz.analysis.tuning.log_measurement import SETTING, CurrentConfig, LogMeasurement
from kafkaviz.analysis.tuning.measurement_builder import MeasurementBuilder, merge_measurements
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.format import names
from kafkaviz.log import file
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import Broker, Problem, open_broker
from kafkaviz.log.metadata_log import MetadataImage
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import LogSegment
from kafkaviz.log.settings import Origin, Settings, SettingValue, open_settings
from kafkaviz.messages import message, verbatim
from kafkaviz.simulate.append_batches import AppendChunk
from kafkaviz.simulate.config import (
    IndexConfig,
    LogConfig,
    ReleaseBehaviour,
    log_config,
    release_behaviour,
)
from kafkaviz.simulate.directory import replay_stream, simulation
from kafkaviz.simulate.directory.simulation import SimulationPlan
from kafkaviz.simulate.producers.workload import PRESETS
from kafkaviz.simulate.writer.refusals import AppendFailed
from kafkaviz.simulate.writer.writer import CannotLoad, UnifiedLog
from kafkaviz.versions import Release

MeasureProgress = Callable[
    [str, float], None
]  # the .log that is measured, and which share of it is done
# that end a segment
BROKER_SETTINGS = ("segment.bytes", "segment.index.bytes", "segment.ms", "segment.jitter.ms")
READ_SHARE = 0.75  # of the time that a .log takes
PARTITION, TOPIC, BROKER, LOG, WORKLOAD = "partition", "topic", "broker", "log", "workload"

ChunkFactory = Callable[[], Iterable[AppendChunk]]


@dataclass(frozen=True)
class TuningCase:
    """One topic, or what was given of it, or a workload.

    Attributes:
        disk_entries: the entries that both indexes hold on disk, None where there are none to hold
            a replay against.
        index_files: the bytes that the index files look long, and that the disk gave them; None of
            a workload.
        logs: for a what-if replay, each log's appends without payload and its first offset; None
            where a .log was given alone.
    """

    name: str
    today: CurrentConfig
    measurement: LogMeasurement
    disk_entries: tuple[int, int] | None = None
    index_files: tuple[int, int] | None = None
    logs: tuple[tuple[ChunkFactory, int], ...] | None = None
    is_leader: bool = True

    @property
    def replayed_entries(self) -> tuple[int, int]:
        """The entries of both indexes that the sweep has at today's interval."""
        index = self.measurement.parts.index_of(self.today.interval_bytes)
        return int(self.measurement.parts.entries[index]), int(
            self.measurement.parts.time_entries[index]
        )

    @property
    def index_share(self) -> float:
        """Of the log, as both indexes are today."""
        current_cost = self.measurement.current_cost(self.today.interval_bytes)
        return (
            int(current_cost.parts.index_bytes[0]) / self.measurement.log_bytes
            if self.measurement.log_bytes
            else 0.0
        )

    def measurement_at(self, interval_bytes: int) -> LogMeasurement:
        """Its measures beside others of that interval.

        Its indexes as they are if they have it, else as the replay has them.
        """
        is_own = self.today.interval_bytes == interval_bytes
        return (
            self.measurement
            if is_own
            else replace(self.measurement, index_cost=self.measurement.replay_cost(interval_bytes))
        )


@dataclass(frozen=True)
class EntryCounts:
    """Of both indexes: replayed at today's interval, and of the directory.

    None where an index is missing.

    Attributes:
        is_workload: a workload has no directory.
        topics: how many, each replayed at its own interval.
    """

    replay_counts: tuple[int, int]
    directory_counts: tuple[int, int] | None
    is_workload: bool = False
    topics: int = 1


@dataclass(frozen=True)
class TuningSource:
    """Everything that a path or a workload's name stands for.

    Attributes:
        kind: "partition", "topic", "broker", "log" or "workload".
        cases: a topic each, by name.
        metadata_left_out: whether KRaft's own log was there and is no case: its small batches need
            their index.
        inactive_segments: the segments that are not in use, which are in no case either.
        default_interval: of a broker, the interval of topics that have none of their own; own:
            other settings of the broker's that its files give, by the fields of LogConfig.
    """

    name: str
    kind: str
    version: str
    assumed_release: AssumedRelease
    cases: tuple[TuningCase, ...]
    problems: tuple[Problem, ...] = ()
    metadata_left_out: bool = False
    inactive_segments: tuple[InactiveSegment, ...] = ()
    default_interval: SettingValue | None = None
    own_settings: Mapping[str, int] = field(default_factory=dict)

    @property
    def behaviour(self) -> ReleaseBehaviour:
        """How the release writes."""
        return release_behaviour(versions.parse(self.version))

    @property
    def by_base_offset(self) -> bool:
        """Whether its scan reads one stretch of a header, as from 4.1 on."""
        return versions.search_profile(self.version).by_base_offset

    @property
    def total(self) -> TuningCase:
        """All cases together.

        The one there is, or the sum over a broker's topics, as if all had the broker's interval.

        Of its other settings the largest of any topic's counts where no file of the broker's says
        so: an index must be safe for all.
        """
        if self.default_interval is None:
            return self.cases[0]
        interval = int(self.default_interval.value)
        measurement = merge_measurements([case.measurement_at(interval) for case in self.cases])
        partitions = sum(case.today.partitions for case in self.cases)
        values: dict[str, Any] = {
            _field_name(name): self._largest(name) for name in BROKER_SETTINGS
        }
        values |= self.own_settings
        config = LogConfig(**values, index_interval_bytes=interval)
        index_rooms = tuple(
            room
            for case in self.cases
            for room in case.today.partitions * (case.today.config.segment_index_bytes,)
        )
        is_coarse = any(
            case.today.is_coarse for case in self.cases if case.today.interval_bytes == interval
        )
        leaves_maps = any(case.today.leaves_maps for case in self.cases)
        today = CurrentConfig(
            interval,
            self.default_interval.source,
            config,
            partitions=partitions,
            is_coarse=is_coarse,
            index_rooms=index_rooms,
            leaves_maps=leaves_maps,
        )
        apparent_bytes, allocated_bytes = zip(
            *(case.index_files for case in self.cases), strict=True
        )
        return TuningCase(
            self.name, today, measurement, index_files=(sum(apparent_bytes), sum(allocated_bytes))
        )

    @property
    def entry_counts(self) -> EntryCounts:
        """The entries of all cases."""
        disk_entries = [case.disk_entries for case in self.cases if case.disk_entries is not None]
        return EntryCounts(
            _sum_pairs(case.replayed_entries for case in self.cases),
            _sum_pairs(disk_entries) if len(disk_entries) == len(self.cases) else None,
            self.kind == WORKLOAD,
            len(self.cases),
        )

    def _largest(self, name: str) -> int:
        """Of a setting over all topics.

        What rolls alone say of one topic counts where nothing else is known of any.
        """
        configs = [
            case.today for case in self.cases if name not in case.today.inferred_settings
        ] or [case.today for case in self.cases]
        return max(getattr(each_config.config, _field_name(name)) for each_config in configs)


def _sum_pairs(pairs: Iterable[tuple[int, int]]) -> tuple[int, int]:
    offsets, times = zip(*pairs, strict=True)
    return sum(offsets), sum(times)


def open_source(
    target: str | Path,
    version: str | None = None,
    overrides: Mapping[str, str] | None = None,
    read_ahead_bytes: int = READ_AHEAD_BYTES,
    on_progress: MeasureProgress = lambda _name, _share: None,
) -> TuningSource:
    """A path, or the name of a workload that comes along.

    Args:
        version: of Kafka, instead of what the directory's traces or the workload say.
        overrides: settings by a topic's or a broker's name, over those that the source has.
        on_progress: called with each .log before it is read, and again with how far it is.

    Raises:
        CannotOpen: the path leads to nothing that can be tuned.
        RefusedSetting: an override has a value that Kafka refuses.
        KafkavizError: the workload's file has a fault.
    """
    overrides = dict(overrides or {})
    if str(target) in PRESETS or str(target).endswith(".toml"):
        return _open_workload(str(target), version, overrides, read_ahead_bytes)
    path, topic = _split_topic(Path(target))
    if topic is None and str(target) == path.name and not path.suffix and not path.exists():
        simulation.refuse_name(str(target))
    if (topic is None and names.parse_file(path.name)) or _is_partition(path):
        return _open_partition(path, version, overrides, read_ahead_bytes, on_progress)
    return _open_broker(
        open_broker(path),
        topic,
        version,
        overrides=overrides,
        read_ahead_bytes=read_ahead_bytes,
        on_progress=on_progress,
    )


# ---- what was given


def _split_topic(path: Path) -> tuple[Path, str | None]:
    """Splits BROKER/TOPIC, which is no directory itself.

    Returns:
        The broker directory and the topic; of any other path the path, unpacked if it lies in an
        archive, and None.
    """
    path = file.absolute_path(path)
    try:
        archive.refresh(path)
    except CannotOpen as fault:
        if fault.kind != "missing":
            raise
        archive.refresh(path.parent)
    if path.exists() or not path.parent.exists() or archive.is_archive(path):
        return path, None
    root = (
        archive.unpack_if_archive(path.parent) if archive.is_archive(path.parent) else path.parent
    )
    partition_names = (
        [names.parse_directory(child.name) for child in root.iterdir()] if root.is_dir() else []
    )
    if any(
        partition_name and partition_name.topic == path.name for partition_name in partition_names
    ):
        return path.parent, path.name
    return root / path.name if (root / path.name).exists() else path, None


def _is_partition(path: Path) -> bool:
    """Whether a directory holds one partition's files, or an archive one partition and no more."""
    if not path.exists():
        return False
    root = archive.unpack_if_archive(path) if archive.is_archive(path) else path
    if root.is_dir() and any(child.suffix == ".log" for child in root.iterdir()):
        return True
    return archive.is_archive(path) and open_broker(path).is_lone


def _open_partition(
    path: Path,
    version: str | None,
    overrides: dict[str, str],
    read_ahead_bytes: int,
    on_progress: MeasureProgress,
) -> TuningSource:
    partition, base_offset = paths.open_segments(path)
    assumed_release = assume_release(None if version else paths.broker_around(path), version)
    kafka_version, release = version or assumed_release.version, assumed_release.release
    segments = [segment for segment in partition.live if base_offset in (None, segment.base_offset)]
    if not segments:
        raise CannotOpen(partition.path, message("errors.holds_no_log"), kind="missing")
    logs = {partition.directory: [(partition, segments)]}
    cases, faults = _measure_cases(
        logs,
        _open_settings(partition, release, overrides),
        kafka_version,
        read_ahead_bytes=read_ahead_bytes,
        on_progress=on_progress,
    )
    if faults:
        raise faults[0]
    case = cases[0]
    if base_offset is not None:
        case = replace(case, logs=None)
        return TuningSource(path.name, LOG, kafka_version, assumed_release, (case,))
    return TuningSource(
        path.name,
        PARTITION,
        kafka_version,
        assumed_release,
        (case,),
        inactive_segments=_inactive_segments([partition], partition.topic),
    )


def _open_broker(
    broker: Broker,
    topic: str | None,
    version: str | None,
    *,
    overrides: dict[str, str],
    read_ahead_bytes: int,
    on_progress: MeasureProgress,
) -> TuningSource:
    assumed_release = assume_release(broker, version)
    settings = open_settings(broker, assumed_release.release, overrides)
    by_topic: dict[str, list] = {}
    for partition in broker.partitions:
        if partition.state == "current" and partition.live and topic in (None, partition.topic):
            by_topic.setdefault(partition.topic, []).append((partition, list(partition.live)))
    has_metadata = topic is None and by_topic.pop(names.METADATA_TOPIC, None) is not None
    if not by_topic:
        raise CannotOpen(broker.source, message("errors.holds_no_topic_log"), kind="missing")
    default_interval = settings.find("", SETTING) if topic is None else None
    cases, faults = _measure_cases(
        by_topic,
        settings,
        assumed_release.version,
        read_ahead_bytes=read_ahead_bytes,
        on_progress=on_progress,
        extra_intervals={int(default_interval.value)} if default_interval else set(),
    )
    problems = [*broker.problems, *(Problem.from_fault(fault.path, fault) for fault in faults)]
    if not cases:
        raise CannotOpen(problems[-1].path, problems[-1].what)
    name, kind = (broker.source.name, BROKER) if topic is None else (topic, TOPIC)
    own_settings: dict[str, Any] = {
        _field_name(setting.name): setting.value
        for setting in (settings.find("", name) for name in BROKER_SETTINGS)
        if setting.origin != Origin.DEFAULT
    }
    excluded_segments = _inactive_segments(broker.partitions, topic)
    return TuningSource(
        name,
        kind,
        assumed_release.version,
        assumed_release,
        tuple(cases),
        tuple(problems),
        has_metadata,
        excluded_segments,
        default_interval,
        own_settings,
    )


def _inactive_segments(
    partitions: Sequence[Partition], topic: str | None
) -> tuple[InactiveSegment, ...]:
    """Of a topic's, or of all."""
    return tuple(
        inactive_segments(partition for partition in partitions if topic in (None, partition.topic))
    )


def _field_name(name: str) -> str:
    """A setting as LogConfig names it."""
    return name.replace(".", "_")


def _open_settings(partition: Partition, release: Release, overrides: dict[str, str]) -> Settings:
    """Those of the broker directory around the partition, if it lies in one.

    Else what was typed, and Kafka's defaults.
    """
    if not names.parse_directory(partition.directory):
        for name, text in overrides.items():
            config_def.parse(name, text, release)
        return Settings(release, MetadataImage(), overrides=overrides)
    return open_settings(open_broker(partition.path), release, overrides)


def _measure_cases(
    by_name: Mapping[str, Sequence[current_config.TunedSegments]],
    settings: Settings,
    version: str,
    *,
    read_ahead_bytes: int,
    on_progress: MeasureProgress,
    extra_intervals: Iterable[int] = (),
) -> tuple[list[TuningCase], list[CannotOpen]]:
    """Measures every topic.

    Each is swept at the interval of every one, which is known for sure once all was read: where the
    first look was wrong, all is read again.

    Returns:
        A case of each topic that can be read, and why others cannot.
    """
    intervals = {
        name: current_config.estimate_interval(logs, settings) for name, logs in by_name.items()
    }
    while True:
        cases, faults = [], []
        for name, logs in by_name.items():
            try:
                cases.append(
                    _measure_case(
                        name,
                        logs,
                        settings,
                        version=version,
                        read_ahead_bytes=read_ahead_bytes,
                        on_progress=on_progress,
                        estimated_interval=intervals[name],
                        all_intervals={*extra_intervals, *intervals.values()},
                    )
                )
            except CannotOpen as fault:
                faults.append(fault)
        new_intervals = intervals | {case.name: case.today.interval_bytes for case in cases}
        if new_intervals == intervals:
            return cases, faults
        intervals = new_intervals


def _measure_case(
    name: str,
    logs: Sequence[current_config.TunedSegments],
    settings: Settings,
    *,
    version: str,
    read_ahead_bytes: int,
    on_progress: MeasureProgress,
    estimated_interval: int,
    all_intervals: Collection[int],
) -> TuningCase:
    """A topic, or the segments given of one.

    Args:
        estimated_interval: the interval that its own are measured with, one of every that is swept.
    """
    topic, behaviour = logs[0][0].topic, release_behaviour(versions.parse(version))
    topic_settings = {
        key: setting
        for key, setting in settings.topic_settings(topic).items()
        if key in config_def.TOPIC_SETTINGS
    }
    limits = {
        key: value
        for key, value in current_config.infer_limits(logs).items()
        if topic_settings[key].origin == Origin.DEFAULT
    }
    values = {key: setting.value for key, setting in topic_settings.items()} | limits
    config = log_config(values, settings.release)
    if settings.overrides:
        _check_config(config, behaviour, logs[0][0].directory)
    by_base_offset = versions.search_profile(version).by_base_offset
    builder, estimator = (
        MeasurementBuilder(
            all_intervals,
            by_base_offset,
            read_ahead_bytes,
            behaviour.per_append,
            current_interval_bytes=estimated_interval,
        ),
        current_config.IntervalEstimator(logs),
    )
    for partition, segments in logs:
        for segment in segments:
            report_share = partial(on_progress, f"{partition.directory}/{segment.name}.log")
            report_share(0.0)
            indexes = (
                (segment.offset_index, segment.time_index)
                if segment.index and segment.timeindex
                else None
            )
            builder.add(
                _read_chunks(segment, report_share),
                indexes,
                report_share,
                *estimator.observers(segment),
            )
    measurement, (interval, source, is_coarse) = (
        builder.result(),
        current_config.current_interval(settings.find(topic, SETTING), estimator.bounds()),
    )
    config = replace(config, index_interval_bytes=interval)
    is_tiered = bool(values.get("remote.storage.enable"))
    is_coarse |= (
        behaviour.per_append
        and measurement.index_cost is not None
        and measurement.index_cost.gaps.is_coarse
    )
    leaves_maps = not versions.INDEXES_UNMAPPED.applies_to(versions.parse(version))
    inferred_settings = tuple(sorted(limits))
    today = CurrentConfig(
        interval,
        source,
        config,
        topic,
        len(logs),
        is_tiered,
        is_coarse,
        inferred_settings=inferred_settings,
        leaves_maps=leaves_maps,
    )
    replay_logs = tuple(_replay_log(partition, behaviour) for partition, _ in logs)
    return TuningCase(
        name, today, measurement, _count_entries(logs), _index_file_bytes(logs), replay_logs
    )


def _read_chunks(
    segment: LogSegment, report_share: Callable[[float], None]
) -> Iterator[np.ndarray]:
    """The batches of the .log, array by array, and which share of the work that is."""
    for batches in segment.full_scan():
        yield batches
        report_share(
            READ_SHARE
            * int(batches["position"][-1] + batches["size_bytes"][-1])
            / segment.log.size_bytes
        )


def _check_config(config: LogConfig, behaviour: ReleaseBehaviour, directory: str) -> None:
    """Refuses settings that no log can be made with.

    Raises:
        KafkavizError: the settings, which somebody typed, make Kafka throw; it has Kafka's
            exception.
    """
    try:
        UnifiedLog(config, behaviour, now_ms=0)
    except CannotLoad as fault:
        raise KafkavizError(
            message("errors.of_path", path=directory, what=verbatim(str(fault.exception)))
        ) from None


def _count_entries(logs: Sequence[current_config.TunedSegments]) -> tuple[int, int] | None:
    """How many both indexes hold.

    Returns:
        None where a segment lacks one.
    """
    segments = [segment for _, log_segments in logs for segment in log_segments]
    if not all(segment.index and segment.timeindex for segment in segments):
        return None
    return sum(len(segment.offset_index) for segment in segments), sum(
        len(segment.time_index) for segment in segments
    )


def _index_file_bytes(logs: Sequence[current_config.TunedSegments]) -> tuple[int, int]:
    """The size of every .index and .timeindex together.

    Returns:
        The apparent bytes and the allocated bytes.
    """
    files = [
        index_file
        for _, segments in logs
        for segment in segments
        for index_file in (segment.index, segment.timeindex)
        if index_file
    ]
    return sum(index_file.size_bytes for index_file in files), sum(
        index_file.allocated_bytes for index_file in files
    )


def _replay_log(partition: Partition, behaviour: ReleaseBehaviour) -> tuple[ChunkFactory, int]:
    log = stored_log(RestartLog(partition, IndexConfig()))
    return lambda: replay_stream.chunks(log, behaviour, payload=False), replay_stream.start_offset(
        log
    )


# ---- a workload


def _open_workload(
    target: str, version: str | None, overrides: dict[str, str], read_ahead_bytes: int
) -> TuningSource:
    """The log that the workload's batches become with its settings.

    The sweep holds its segments.
    """
    workload = simulation.open_workload(target, version, overrides)
    plan = simulation.plan_workload(workload, overrides, None, version)
    text = version or workload.kafka_version
    is_typed = any(config_def.setting(name).name == SETTING for name in overrides)
    is_own = SETTING in dict(workload.settings)
    source = (
        message("setting_source.typed", name=SETTING)
        if is_typed
        else message("setting_source.of_workload", name=SETTING)
        if is_own
        else message(
            "setting_source.named",
            name=SETTING,
            source=message("setting_source.default", release=text),
        )
    )
    by_base_offset = versions.search_profile(text).by_base_offset
    per_append = plan.behaviour.per_append
    builder = MeasurementBuilder(
        {plan.config.index_interval_bytes},
        by_base_offset,
        read_ahead_bytes,
        per_append,
        by_append=per_append,
    )
    for segment in simulate_segments(plan):
        builder.add(segment)
    is_coarse = plan.behaviour.per_append and not plan.is_leader
    today = CurrentConfig(
        plan.config.index_interval_bytes, source, plan.config, workload.topic, is_coarse=is_coarse
    )
    reason = CALLER_DECIDES if version else WORKLOAD_DECIDES
    assumed_release = AssumedRelease(versions.parse(text), (reason,))
    logs = ((_chunks_without_payload(plan), plan.start_offset),)
    case = TuningCase(
        workload.directory, today, builder.result(), logs=logs, is_leader=plan.is_leader
    )
    return TuningSource(target, WORKLOAD, text, assumed_release, (case,))


def _chunks_without_payload(plan: SimulationPlan) -> ChunkFactory:
    # nothing is written: the bytes are made, and dropped
    return lambda: (AppendChunk(chunk.rows) for chunk in plan.chunks())


def simulate_segments(plan: SimulationPlan) -> Iterator[Iterable[np.ndarray]]:
    """The batches of each segment that a plan makes, to be read before the next segment's.

    Yields:
        Of each segment its batches, array by array (incoming.INCOMING).

    Raises:
        KafkavizError: Kafka answers an append with an exception, which it has.
    """
    yield from (
        (rows for _, rows in pieces)
        for _, pieces in groupby(_segment_rows(plan), key=itemgetter(0))
    )


def _segment_rows(plan: SimulationPlan) -> Iterator[tuple[int, np.ndarray]]:
    """The batches of a plan with their segments.

    Yields:
        The number of the segment, and some of its batches.
    """
    try:
        log = UnifiedLog(
            plan.config,
            plan.behaviour,
            now_ms=plan.start_ms,
            start_offset=plan.start_offset,
            seed=plan.seed,
            is_leader=plan.is_leader,
        )
    except CannotLoad as load_fault:
        raise KafkavizError(
            message("errors.of_path", path=plan.directory, what=verbatim(str(load_fault.exception)))
        ) from None
    number = 0
    for chunk in plan.chunks():
        rows = chunk.rows.copy()
        try:
            log.append(rows)
        except AppendFailed as append_fault:
            raise KafkavizError(
                message(
                    "errors.append_fails",
                    directory=plan.directory,
                    number=append_fault.append,
                    exception=str(append_fault.exception),
                )
            ) from None
        first, *others = np.split(rows, np.flatnonzero(rows["position"] == 0))
        if len(first):
            yield number, first
        for piece in others:
            number += 1
            yield number, piece
