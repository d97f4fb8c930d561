"""Measures topics at many values of index.interval.bytes, in one pass over their logs.

If only parts of the logs (windows) are read, counts for the whole logs are estimated. Unknown
settings are inferred from the index entries and from where segments ended.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial, reduce
from itertools import islice
from typing import TypedDict, Unpack, cast

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
    SAMPLE_BYTES,
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
from kafkaviz.log.segment import LogSegment
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
READ_SHARE = 0.75  # reading a .log takes this share of the time to measure it


class MeasureOptions(TypedDict, total=False):
    """How to read the logs."""

    on_progress: Callable[[str, float], None]  # gets the name of a .log and the share that was read
    on_sizes: Callable[[Mapping[str, int]], None]  # gets the bytes to read, by the name of a .log
    most_bytes: int | None  # the bytes to read from all logs together; None: all bytes


def _start_evidence(windows: Sequence[LogWindow]) -> dict[int, "_WindowEvidence"]:
    """Returns the observers that infer index.interval.bytes, keyed by window number.

    Only windows of the largest `SAMPLE_SEGMENTS` segments get an observer.
    """
    logs = {window.segment.log for window in windows if window.segment.index}
    largest = sorted(logs, key=lambda log: log.size_bytes, reverse=True)[:SAMPLE_SEGMENTS]
    evidence = {}
    for number, window in enumerate(windows):
        if window.segment.log in largest:
            with suppress(KafkavizError):
                evidence[number] = _WindowEvidence(_rebased(window, window.offset_entries()))
    return evidence


def _interval_bounds(evidence: Mapping[int, "_WindowEvidence"]) -> IntervalBounds:
    parts = (part.result() for part in evidence.values())
    return reduce(IntervalEvidence.merge, parts, IntervalEvidence()).bounds()


def estimate_interval(windows: Sequence[LogWindow], setting: SettingValue) -> int:
    """Returns index.interval.bytes if it is set; else infers it from the start of some windows."""
    if setting.is_given:
        return int(setting.value)
    evidence = _start_evidence(windows)
    for number, observer in evidence.items():
        with suppress(KafkavizError):  # the full pass reports the fault
            observe_scan(islice(_rebased_batches(windows[number]), 1), observer)
    return current_interval(setting, _interval_bounds(evidence))[0]


def current_interval(
    setting: SettingValue, bounds: IntervalBounds
) -> tuple[int, str | Message, bool]:
    """Returns index.interval.bytes, its source, and whether an append gets at most one entry.

    The interval is inferred from `bounds` if the setting is unknown. If `bounds` have no high end,
    Kafka's default is used instead. The interval is also inferred if the setting is Kafka's default
    but outside `bounds`, because the log was probably copied without the settings. Exception: if an
    append gets at most one entry, the default stays.
    """
    low = bounds.low_bytes
    high = bounds.high_bytes
    if high is None:
        setting = setting.or_default(versions.NEWEST_RELEASE)
    if setting.value is not None:
        is_fitting = high is None or (low or 0) <= setting.value <= high
        if setting.is_given or is_fitting or bounds.per_append:
            return int(setting.value), setting.source, bounds.per_append
    # the largest power of two between both bounds, if there is one
    high = cast(int, high)
    power = 1 << (max(high, 1).bit_length() - 1)
    source = message("tuning_answer.interval_inferred", low=low or 0, high=high)
    return power if power >= (low or 0) else high, source, bounds.per_append


def infer_limits(logs: Sequence[TunedSegments]) -> dict[str, Value]:
    """Infers segment.bytes, segment.ms and segment.index.bytes from where segments ended.

    Each setting comes from the first partition whose segments show it. For segment.index.bytes, the
    last partition with a preallocated index decides: after a crash, an active index still has the
    size to which it was preallocated.
    """
    values: dict[str, Value] = {}
    for partition, segments in logs:
        try:
            own_limits = {}
            if len(segments) == len(partition.live) > 1:
                segment_facts = [roll_history.segment_facts(segment) for segment in partition.live]
                own_limits = inferred_limits(segment_facts, roll_reasons(segment_facts))
            index_bytes = _untrimmed_bytes(segments[-1])
        except KafkavizError:
            continue
        values = {name: limit.value for name, limit in own_limits.items()} | values
        values |= {"segment.index.bytes": index_bytes} if index_bytes else {}
    return values


def _untrimmed_bytes(segment: LogSegment) -> int | None:
    """Returns the bytes of the larger index if both are still preallocated, else None."""
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
    def __init__(self, entries: np.ndarray) -> None:
        self._gaps = ChunkedEvidence(entries[np.argsort(entries["position"], kind="stable")])
        self._is_empty = not len(entries)
        self._last_position = ()

    def observe(self, batches: np.ndarray) -> None:
        self._gaps.observe(batches)
        if len(batches):
            self._last_position = (int(batches["position"][-1]),)

    def result(self) -> IntervalEvidence:
        if self._is_empty:
            return IntervalEvidence(longest_unindexed_bytes=self._last_position)
        return self._gaps.result()


def measure_cases(
    by_name: Mapping[str, Sequence[TunedSegments]],
    settings: Settings,
    version: str,
    extra_intervals: Iterable[int] = (),
    **options: Unpack[MeasureOptions],
) -> tuple[list[TuningCase], list[CannotOpen]]:
    """Measures every topic at `sweep.INTERVALS` and at the current intervals of all topics.

    The current interval of a topic is first estimated from a part of the topic. If the measurement
    shows a different interval, all topics are measured again. Returns a TuningCase for each
    readable topic, and the errors of the others.
    """
    all_logs = [log for logs in by_name.values() for log in logs]
    windows = choose_windows(all_logs, options.get("most_bytes", SAMPLE_BYTES))
    if "on_sizes" in options:
        options["on_sizes"](_bytes_by_log(windows))
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
                        on_progress=options.get("on_progress"),
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
    on_progress: Callable[[str, float], None] | None,
    estimated_interval: int,
    all_intervals: Collection[int],
) -> TuningCase:
    topic = logs[0][0].topic
    segments = [segment for _, log_segments in logs for segment in log_segments]
    release = versions.parse(version)
    behaviour = release_behaviour(release)
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
    builder = MeasurementBuilder(
        extra_intervals=all_intervals,
        by_base_offset=versions.search_profile(version).by_base_offset,
        per_append=behaviour.per_append,
        current_interval_bytes=estimated_interval,
    )
    evidence = _start_evidence(windows)
    _add_windows(builder, windows, evidence, on_progress)
    measurement = _scale(builder.result(), segments, windows)
    interval, source, is_coarse = current_interval(
        settings.find(topic, SETTING), _interval_bounds(evidence)
    )
    index_cost = measurement.index_cost
    if behaviour.per_append and index_cost is not None:
        is_coarse |= index_cost.gaps.is_coarse
    today = CurrentConfig(
        interval_bytes=interval,
        interval_source=source,
        config=replace(config, index_interval_bytes=interval),
        topic=topic,
        partitions=len(logs),
        is_tiered=bool(values.get("remote.storage.enable")),
        is_coarse=is_coarse,
        inferred_settings=tuple(sorted(limits)),
        unknown_settings=tuple(key for key in SETTINGS if not topic_settings[key].is_known),
        leaves_maps=not versions.INDEXES_UNMAPPED.applies_to(release),
        retention_bytes=cast("int | None", values.get("retention.bytes")),
        retention_ms=cast("int | None", values.get("retention.ms")),
    )
    entries = None
    if all(segment.index and segment.timeindex for segment in segments):
        ends = [segment.index_ends() for segment in segments]
        entries = (
            sum(offsets.entries for offsets, _ in ends),
            sum(times.entries for _, times in ends),
        )
    files = [each for segment in segments for each in (segment.index, segment.timeindex) if each]
    return TuningCase(
        name=name,
        today=today,
        measurement=measurement,
        disk_entries=entries,
        index_files=(
            sum(each.size_bytes for each in files),
            sum(each.allocated_bytes for each in files),
        ),
        live_segments=len(segments),
        active_bytes=sum(log_segments[-1].log.size_bytes for _, log_segments in logs),
        logs=tuple(_replay_log(partition, behaviour) for partition, _ in logs),
        sample=LogSample(tuple(windows), sum_bytes(logs)),
    )


def _add_windows(
    builder: MeasurementBuilder,
    windows: Sequence[LogWindow],
    evidence: Mapping[int, "_WindowEvidence"],
    on_progress: Callable[[str, float], None] | None,
) -> None:
    sizes = _bytes_by_log(windows)
    done_bytes: Counter[str] = Counter()
    for number, window in enumerate(windows):
        name = _log_name(window)

        def report_share(
            share: float, name: str = name, size_bytes: int = window.size_bytes
        ) -> None:
            if on_progress:
                read_bytes = done_bytes[name] + share * size_bytes
                on_progress(name, read_bytes / max(1, sizes[name]))

        report_share(0.0)
        builder.add(
            _read_chunks(window, report_share),
            _rebased_indexes(window),
            report_share,
            *([evidence[number]] if number in evidence else []),
        )
        done_bytes[name] += window.size_bytes


def _scale(
    measurement: LogMeasurement, segments: Sequence[LogSegment], windows: Sequence[LogWindow]
) -> LogMeasurement:
    """Returns the estimate for the whole logs; if they were read whole, `measurement` itself."""
    sizes = [segment.log.size_bytes for segment in segments]
    log_bytes = sum(sizes)
    if not measurement.parts.batches or log_bytes == sum(window.size_bytes for window in windows):
        return measurement
    scaled = measurement.scaled(
        log_bytes, sum(size > 0 for size in sizes), sum(window.start > 0 for window in windows)
    )
    return replace(scaled, empty_segments=sizes.count(0))


def _rebased_indexes(window: LogWindow) -> tuple[np.ndarray, np.ndarray] | None:
    """Returns the entries of both indexes, with positions in the window; None if one is missing."""
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
        read_bytes = int(batches["position"][-1] + batches["size_bytes"][-1])
        report_share(READ_SHARE * read_bytes / window.size_bytes)


def _check_config(config: LogConfig, behaviour: ReleaseBehaviour, directory: str) -> None:
    """Raises KafkavizError with Kafka's exception if Kafka cannot create a log with `config`."""
    try:
        UnifiedLog(config, behaviour, now_ms=0)
    except CannotLoad as fault:
        raise KafkavizError(
            message("errors.of_path", path=directory, problem=verbatim(str(fault.exception)))
        ) from None


def _replay_log(partition: Partition, behaviour: ReleaseBehaviour) -> tuple[ChunkFactory, int]:
    log = stored_log(RestartLog(partition=partition, config=IndexConfig()))
    read_chunks = partial(replay_stream.chunks, log, behaviour, payload=False)
    return read_chunks, replay_stream.start_offset(log)
