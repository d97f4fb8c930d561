"""The measurement of topics: each .log is read once and swept at the intervals of all topics."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from kafkaviz import config_def, versions
from kafkaviz.analysis.restart.next_start import RestartLog, stored_log
from kafkaviz.analysis.tuning import current_config
from kafkaviz.analysis.tuning.log_measurement import SETTING, CurrentConfig
from kafkaviz.analysis.tuning.measurement_builder import MeasurementBuilder
from kafkaviz.analysis.tuning.tuning_case import ChunkFactory, TuningCase
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import LogSegment
from kafkaviz.log.settings import Settings
from kafkaviz.messages import message, verbatim
from kafkaviz.simulate.config import (
    IndexConfig,
    LogConfig,
    ReleaseBehaviour,
    log_config,
    release_behaviour,
)
from kafkaviz.simulate.directory import replay_stream
from kafkaviz.simulate.writer.writer import CannotLoad, UnifiedLog

# called with the name of the .log that is measured, and the share of it that is done
MeasureProgress = Callable[[str, float], None]
# called with the size in bytes of each .log, by its name
MeasureSizes = Callable[[Mapping[str, int]], None]
READ_SHARE = 0.75  # share of the time for a .log that reading takes


def measure_cases(
    by_name: Mapping[str, Sequence[current_config.TunedSegments]],
    settings: Settings,
    version: str,
    *,
    on_progress: MeasureProgress,
    on_sizes: MeasureSizes,
    extra_intervals: Iterable[int] = (),
) -> tuple[list[TuningCase], list[CannotOpen]]:
    """Measures every topic.

    Each is swept at the intervals of all topics. An interval is known for sure only when its topic
    was read. If an estimate was wrong, everything is read again.

    Returns:
        A case per readable topic, and the faults of the others.
    """
    sizes = {
        _log_name(partition, segment): segment.log.size_bytes
        for logs in by_name.values()
        for partition, segments in logs
        for segment in segments
    }
    on_sizes(sizes)
    intervals = {
        name: current_config.estimate_interval(logs, settings) for name, logs in by_name.items()
    }
    while True:
        cases = []
        faults = []
        for name, logs in by_name.items():
            try:
                cases.append(
                    _measure_case(
                        name,
                        logs,
                        settings,
                        version=version,
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


def _log_name(partition: Partition, segment: LogSegment) -> str:
    return f"{partition.directory}/{segment.name}.log"


def _measure_case(
    name: str,
    logs: Sequence[current_config.TunedSegments],
    settings: Settings,
    *,
    version: str,
    on_progress: MeasureProgress,
    estimated_interval: int,
    all_intervals: Collection[int],
) -> TuningCase:
    topic = logs[0][0].topic
    behaviour = release_behaviour(versions.parse(version))
    topic_settings = {
        key: setting
        for key, setting in settings.topic_settings(topic).items()
        if key in config_def.TOPIC_SETTINGS
    }
    limits = {
        key: value
        for key, value in current_config.infer_limits(logs).items()
        if not topic_settings[key].is_given
    }
    values = {key: setting.value for key, setting in topic_settings.items()} | limits
    config = log_config(values, settings.release)
    if settings.overrides:
        _check_config(config, behaviour, logs[0][0].directory)
    by_base_offset = versions.search_profile(version).by_base_offset
    builder = MeasurementBuilder(
        extra_intervals=all_intervals,
        by_base_offset=by_base_offset,
        per_append=behaviour.per_append,
        current_interval_bytes=estimated_interval,
    )
    estimator = current_config.IntervalEstimator(logs)
    for partition, segments in logs:
        for segment in segments:
            report_share = partial(on_progress, _log_name(partition, segment))
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
    measurement = builder.result()
    interval, source, is_coarse = current_config.current_interval(
        settings.find(topic, SETTING), estimator.bounds()
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
        interval_bytes=interval,
        interval_source=source,
        config=config,
        topic=topic,
        partitions=len(logs),
        is_tiered=is_tiered,
        is_coarse=is_coarse,
        inferred_settings=inferred_settings,
        unknown_settings=tuple(
            key for key in current_config.SETTINGS if not topic_settings[key].is_known
        ),
        leaves_maps=leaves_maps,
    )
    replay_logs = tuple(_replay_log(partition, behaviour) for partition, _ in logs)
    return TuningCase(
        name=name,
        today=today,
        measurement=measurement,
        disk_entries=_count_entries(logs),
        index_files=_index_file_bytes(logs),
        logs=replay_logs,
    )


def _read_chunks(
    segment: LogSegment, report_share: Callable[[float], None]
) -> Iterator[np.ndarray]:
    for batches in segment.full_scan():
        yield batches
        report_share(
            READ_SHARE
            * int(batches["position"][-1] + batches["size_bytes"][-1])
            / segment.log.size_bytes
        )


def _check_config(config: LogConfig, behaviour: ReleaseBehaviour, directory: str) -> None:
    """Checks that Kafka can create a log with these settings.

    Raises:
        KafkavizError: Kafka throws because of a setting that the user gave; it has Kafka's
            exception.
    """
    try:
        UnifiedLog(config, behaviour, now_ms=0)
    except CannotLoad as fault:
        raise KafkavizError(
            message("errors.of_path", path=directory, problem=verbatim(str(fault.exception)))
        ) from None


def _count_entries(logs: Sequence[current_config.TunedSegments]) -> tuple[int, int] | None:
    """Returns the number of offset entries and of time entries, or None if an index is missing."""
    segments = [segment for _, log_segments in logs for segment in log_segments]
    if not all(segment.index and segment.timeindex for segment in segments):
        return None
    return sum(len(segment.offset_index) for segment in segments), sum(
        len(segment.time_index) for segment in segments
    )


def _index_file_bytes(logs: Sequence[current_config.TunedSegments]) -> tuple[int, int]:
    """Returns the total size of all .index and .timeindex files.

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
    log = stored_log(RestartLog(partition=partition, config=IndexConfig()))
    return lambda: replay_stream.chunks(log, behaviour, payload=False), replay_stream.start_offset(
        log
    )
