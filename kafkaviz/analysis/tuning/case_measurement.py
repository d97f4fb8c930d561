"""Measures topics at many values of index.interval.bytes, in one pass over their logs.

If only parts of the logs (windows) are read, the counts for the whole logs are estimated. Today's
interval and segment limits come from a log's settings. If these are unknown, they are inferred from
the index entries and from where segments ended.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import islice
from typing import cast

import numpy as np

from kafkaviz import config_def, versions
from kafkaviz.analysis import roll_history
from kafkaviz.analysis.inferred_settings import (
    ChunkedEvidence,
    IntervalBounds,
    IntervalEvidence,
    inferred_limits,
    roll_reasons,
)
from kafkaviz.analysis.restart.next_start import RestartLog, stored_log
from kafkaviz.analysis.tuning.log_windows import (
    LogSample,
    LogWindow,
    TunedSegments,
    choose_windows,
    sum_bytes,
)
from kafkaviz.analysis.tuning.measurement import (
    SETTING,
    CurrentConfig,
    LogMeasurement,
    MeasurementBuilder,
)
from kafkaviz.analysis.tuning.tuning_case import ChunkFactory, TuningCase
from kafkaviz.config_def import Value
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.format.walk import BatchObserver, observe_scan
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.log.settings import Settings, SettingValue
from kafkaviz.messages import Message, message, verbatim
from kafkaviz.simulate.config import (
    IndexConfig,
    LogConfig,
    ReleaseBehaviour,
    log_config,
    release_behaviour,
)
from kafkaviz.simulate.directory import replay_stream
from kafkaviz.simulate.writer.writer import CannotLoad, UnifiedLog

# the settings that a recommendation depends on
SETTINGS = (SETTING, "segment.bytes", "segment.index.bytes", "segment.ms")
SAMPLE_SEGMENTS = 4  # number of segments from which an unknown interval is inferred
# called with the name of the .log that is being measured, and the share already measured
MeasureProgress = Callable[[str, float], None]
# called with the size in bytes of each .log, by its name
MeasureSizes = Callable[[Mapping[str, int]], None]
READ_SHARE = 0.75  # reading takes this share of the time that measuring a .log takes


class IntervalEstimator:
    """Estimates index.interval.bytes from windows of the largest segments that have an index.

    The same pass over the batches may serve other purposes too.
    """

    def __init__(self, windows: Sequence[LogWindow]) -> None:
        segments = {
            window.segment.log.path: window.segment for window in windows if window.segment.index
        }
        by_size = sorted(segments, key=lambda path: segments[path].log.size_bytes, reverse=True)
        largest_segments = set(by_size[:SAMPLE_SEGMENTS])
        self._evidence_by_window = {
            (window.segment.log.path, window.start): evidence
            for window in windows
            if window.segment.log.path in largest_segments
            if (evidence := _window_evidence(window))
        }
        self.windows = [window for window in windows if self.observers(window)]

    def observers(self, window: LogWindow) -> tuple["_WindowEvidence", ...]:
        evidence = self._evidence_by_window.get((window.segment.log.path, window.start))
        return (evidence,) if evidence else ()

    def bounds(self) -> IntervalBounds:
        return reduce(
            IntervalEvidence.merge,
            (evidence.result() for evidence in self._evidence_by_window.values()),
            IntervalEvidence(),
        ).bounds()


def estimate_interval(windows: Sequence[LogWindow], setting: SettingValue) -> int:
    """Returns index.interval.bytes if set; else infers it from the first batches of windows."""
    if setting.is_given:
        return int(setting.value)
    estimator = IntervalEstimator(windows)
    for window in estimator.windows:
        try:
            observe_scan(islice(_rebased_batches(window), 1), *estimator.observers(window))
        except KafkavizError:  # the full pass reports the fault
            continue
    return current_interval(setting, estimator.bounds())[0]


def current_interval(
    setting: SettingValue, bounds: IntervalBounds
) -> tuple[int, str | Message, bool]:
    """Returns the interval that a log has today.

    The interval is inferred from the index entries if the setting is unknown, or if the entries
    contradict Kafka's default, because the log was then probably copied without its settings.
    Without entries, Kafka's default is assumed.

    Args:
        bounds: the bounds between which the interval is, according to the entries.

    Returns:
        index.interval.bytes, its source, and whether an entry is for a whole append of several
        batches.
    """
    low = bounds.low_bytes
    high = bounds.high_bytes
    if high is None:
        setting = setting.or_default(versions.NEWEST_RELEASE)
    if setting.value is not None:
        is_fitting = high is None or (low or 0) <= setting.value <= high
        if setting.is_given or is_fitting or bounds.per_append:
            return int(setting.value), setting.source, bounds.per_append
    return (
        _roundest(low or 0, cast(int, high)),
        message("tuning_answer.interval_inferred", low=low or 0, high=high),
        bounds.per_append,
    )


def infer_limits(logs: Sequence[TunedSegments]) -> dict[str, Value]:
    """Infers segment.bytes, segment.ms and segment.index.bytes from where segments ended.

    Each setting comes from the first partition that shows it. If a crash left the index of an
    active segment at its preallocated size, this size is segment.index.bytes.
    """
    values: dict[str, Value] = {}
    for partition, segments in logs:
        try:
            segment_facts = (
                [roll_history.segment_facts(segment) for segment in partition.live]
                if len(segments) == len(partition.live) > 1
                else []
            )
            own_limits = (
                inferred_limits(segment_facts, roll_reasons(segment_facts)) if segment_facts else {}
            )
            index_bytes = _untrimmed_bytes(segments[-1])
        except KafkavizError:
            continue
        values = {name: limit.value for name, limit in own_limits.items()} | values
        values |= {"segment.index.bytes": index_bytes} if index_bytes else {}
    return values


def _untrimmed_bytes(segment: Segment) -> int | None:
    """Returns the length of a segment's indexes if they are still preallocated, else None."""
    segment = replace(segment)  # the original would keep the entries in memory
    if (
        segment.index
        and segment.timeindex
        and segment.offset_slots.unwritten_slots
        and segment.time_slots.unwritten_slots
    ):
        return max(segment.index.size_bytes, segment.timeindex.size_bytes)
    return None


class _WindowEvidence(BatchObserver[IntervalEvidence]):
    """The evidence about the interval in one window.

    If the window has no index entry, only its first batch can have one.
    """

    def __init__(self, entries: np.ndarray) -> None:
        self._gaps = ChunkedEvidence(entries[np.argsort(entries["position"], kind="stable")])
        self._is_empty = not len(entries)
        self._last_position = ()

    def observe(self, batches: np.ndarray) -> None:
        self._gaps.observe(batches)
        self._last_position = (
            (int(batches["position"][-1]),) if len(batches) else self._last_position
        )

    def result(self) -> IntervalEvidence:
        if self._is_empty:
            return IntervalEvidence(longest_unindexed_bytes=self._last_position)
        return self._gaps.result()


def _window_evidence(window: LogWindow) -> _WindowEvidence | None:
    try:
        return _WindowEvidence(_rebased(window, window.offset_entries()))
    except KafkavizError:
        return None


def _roundest(low: int, high: int) -> int:
    """Returns the largest power of two between both bounds, or `high` if there is none."""
    power = 1 << (max(high, 1).bit_length() - 1)
    return power if power >= low else high


def measure_cases(
    by_name: Mapping[str, Sequence[TunedSegments]],
    settings: Settings,
    version: str,
    *,
    most_bytes: int | None,
    on_progress: MeasureProgress,
    on_sizes: MeasureSizes,
    extra_intervals: Iterable[int] = (),
) -> tuple[list[TuningCase], list[CannotOpen]]:
    """Measures every topic at the intervals that the topics have today.

    A topic's interval is estimated first. It is certain only when the topic has been read. If an
    estimate was wrong, all topics are read again.

    Args:
        most_bytes: the number of bytes to read over all topics; None to read everything.

    Returns:
        A case per readable topic, and the faults of the unreadable topics.
    """
    windows = choose_windows([log for logs in by_name.values() for log in logs], most_bytes)
    on_sizes(_bytes_by_log(windows))
    names = {id(partition): name for name, logs in by_name.items() for partition, _ in logs}
    windows_by_name: dict[str, list[LogWindow]] = {name: [] for name in by_name}
    for window in windows:
        windows_by_name[names[id(window.partition)]].append(window)
    intervals = {
        name: estimate_interval(windows_by_name[name], settings.find(logs[0][0].topic, SETTING))
        for name, logs in by_name.items()
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
                        windows_by_name[name],
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


def _bytes_by_log(windows: Iterable[LogWindow]) -> Counter[str]:
    sizes: Counter[str] = Counter()
    for window in windows:
        sizes[_log_name(window)] += window.size_bytes
    return sizes


def _log_name(window: LogWindow) -> str:
    return f"{window.partition.directory}/{window.segment.name}.log"


def _measure_case(
    name: str,
    logs: Sequence[TunedSegments],
    windows: Sequence[LogWindow],
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
        key: value for key, value in infer_limits(logs).items() if not topic_settings[key].is_given
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
    estimator = IntervalEstimator(windows)
    _add_windows(builder, windows, estimator, on_progress)
    measurement = _scale(builder.result(), logs, windows)
    interval, source, is_coarse = current_interval(
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
        unknown_settings=tuple(key for key in SETTINGS if not topic_settings[key].is_known),
        leaves_maps=leaves_maps,
        retention_bytes=cast("int | None", values.get("retention.bytes")),
        retention_ms=cast("int | None", values.get("retention.ms")),
    )
    replay_logs = tuple(_replay_log(partition, behaviour) for partition, _ in logs)
    return TuningCase(
        name=name,
        today=today,
        measurement=measurement,
        disk_entries=_count_entries(logs),
        index_files=_index_file_bytes(logs),
        live_segments=sum(len(segments) for _, segments in logs),
        active_bytes=sum(segments[-1].log.size_bytes for _, segments in logs),
        logs=replay_logs,
        sample=LogSample(tuple(windows), sum_bytes(logs)),
    )


def _add_windows(
    builder: MeasurementBuilder,
    windows: Sequence[LogWindow],
    estimator: IntervalEstimator,
    on_progress: MeasureProgress,
) -> None:
    """Measures each window as if it were a segment."""
    sizes = _bytes_by_log(windows)
    done_bytes: Counter[str] = Counter()
    for window in windows:
        name = _log_name(window)

        def report_share(
            share: float, name: str = name, size_bytes: int = window.size_bytes
        ) -> None:
            read_bytes = done_bytes[name] + share * size_bytes
            on_progress(name, read_bytes / max(1, sizes[name]))

        report_share(0.0)
        builder.add(
            _read_chunks(window, report_share),
            _rebased_indexes(window),
            report_share,
            *estimator.observers(window),
        )
        done_bytes[name] += window.size_bytes


def _scale(
    measurement: LogMeasurement, logs: Sequence[TunedSegments], windows: Sequence[LogWindow]
) -> LogMeasurement:
    """Returns the measurement, scaled up to the whole logs if only parts were read."""
    log_bytes = sum_bytes(logs)
    if not measurement.parts.batches or log_bytes == sum(window.size_bytes for window in windows):
        return measurement
    sizes = [segment.log.size_bytes for _, segments in logs for segment in segments]
    scaled = measurement.scaled(
        log_bytes, sum(size > 0 for size in sizes), sum(window.start > 0 for window in windows)
    )
    return replace(scaled, empty_segments=sizes.count(0))


def _rebased_indexes(window: LogWindow) -> tuple[np.ndarray, np.ndarray] | None:
    """Returns the entries of both indexes, with positions relative to the start of the window.

    Returns None if an index is missing.
    """
    if not window.segment.index or not window.segment.timeindex:
        return None
    return _rebased(window, window.offset_entries()), window.time_entries()


def _rebased_batches(window: LogWindow) -> Iterator[np.ndarray]:
    return (_rebased(window, batches) for batches in window.batches())


def _rebased(window: LogWindow, rows: np.ndarray) -> np.ndarray:
    if window.start:
        rows = rows.copy()
        rows["position"] -= window.start
    return rows


def _read_chunks(window: LogWindow, report_share: Callable[[float], None]) -> Iterator[np.ndarray]:
    for batches in _rebased_batches(window):
        yield batches
        report_share(
            READ_SHARE
            * int(batches["position"][-1] + batches["size_bytes"][-1])
            / window.size_bytes
        )


def _check_config(config: LogConfig, behaviour: ReleaseBehaviour, directory: str) -> None:
    """Checks that Kafka can create a log with these settings.

    Raises:
        KafkavizError: Kafka would throw because of a setting that the user gave. The message has
            Kafka's exception.
    """
    try:
        UnifiedLog(config, behaviour, now_ms=0)
    except CannotLoad as fault:
        raise KafkavizError(
            message("errors.of_path", path=directory, problem=verbatim(str(fault.exception)))
        ) from None


def _count_entries(logs: Sequence[TunedSegments]) -> tuple[int, int] | None:
    segments = [segment for _, log_segments in logs for segment in log_segments]
    if not all(segment.index and segment.timeindex for segment in segments):
        return None
    ends = [segment.index_ends() for segment in segments]
    return sum(offsets.entries for offsets, _ in ends), sum(times.entries for _, times in ends)


def _index_file_bytes(logs: Sequence[TunedSegments]) -> tuple[int, int]:
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
