"""The input for a recommendation: exact measurements of a log, and its settings today.

A log is measured segment by segment, and a segment in chunks of batches. Only sums stay in memory,
and 21 bytes per batch until a segment is finished.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from kafkaviz.analysis import sweep
from kafkaviz.analysis.cost.cold_reads import ColdReads, ColdSweeper
from kafkaviz.analysis.segment import existing_index
from kafkaviz.analysis.segment.existing_index import ExistingIndexCost, ExistingIndexSweeper
from kafkaviz.analysis.sweep import SweepParts, times
from kafkaviz.format.batch import MAGIC_2, is_control
from kafkaviz.format.walk import BatchObserver, observe_scan
from kafkaviz.messages import Message
from kafkaviz.simulate.config import LogConfig

SETTING = "index.interval.bytes"
BROKER_SETTING = "log.index.interval.bytes"
KEPT_BATCHES = 8_000_000  # for how many batches of a case the sizes are kept, in 5 bytes each
FOLDED = 16  # after this many segments, their counts are added up
SUMMED_FIELDS = ("parts", "cold", "every_offset", "timestamps")  # fields of LogMeasurement


@dataclass(frozen=True, kw_only=True)
class LogMeasurement:
    """The cost of lookups in a log at each interval, and other numbers for the cost model.

    Attributes:
        parts: the cost of looking up the base offset of each batch.
        cold: device reads that these lookups make if nothing is in memory.
        every_offset: the cost of looking up every offset.
        timestamps: the cost of lookups by timestamp.
        sizes: an array of SIZES for each segment, for the bootstrap.
        batch_bytes: the mean batch size.
        spread: the standard deviation of the batch sizes divided by their mean.
        single_share: the share of data batches with one record.
        bytes_per_s: the write speed, from the batches' largest timestamps; None if these are all
            equal.
        followers: `parts` on a follower, which appends a whole fetch at once; only for releases
            that write one entry per append.
        index_cost: the cost of lookups in the existing indexes; None for a workload.
        one_read_share: the share of batches of magic 0 and 1.
        empty_segments: the number of segments without a batch. They have files and memory maps but
            no lookups, so `parts` does not count them.
    """

    parts: SweepParts
    cold: ColdReads
    every_offset: SweepParts
    timestamps: SweepParts
    sizes: tuple[np.ndarray, ...] = field(repr=False, default=())
    batch_bytes: float = float("nan")
    spread: float = 0.0
    single_share: float = 0.0
    bytes_per_s: float | None = None
    followers: SweepParts | None = None
    index_cost: ExistingIndexCost | None = None
    one_read_share: float = 0.0
    empty_segments: int = 0

    @property
    def segments(self) -> int:
        return self.parts.segments + self.empty_segments

    @property
    def log_bytes(self) -> int:
        return self.parts.log_bytes

    def scaled(self, log_bytes: int, segments: int, windows_inside: int) -> "LogMeasurement":
        """Returns the estimate for whole logs, if this is the measurement of their windows.

        Args:
            log_bytes: the size of the whole logs.
            segments: the number of segments with a batch.
            windows_inside: the number of windows that do not begin at the start of a .log.
        """
        first_lookups = windows_inside if windows_inside < self.parts.batches else 0
        return replace(
            self,
            parts=self.parts.scaled(log_bytes, segments, first_lookups),
            cold=self.cold.scaled(log_bytes / max(1, self.log_bytes), first_lookups),
            every_offset=self.every_offset.scaled(log_bytes, segments),
            timestamps=self.timestamps.scaled(log_bytes, segments),
            followers=self.followers and self.followers.scaled(log_bytes, segments),
            index_cost=self.index_cost
            and self.index_cost.scaled(log_bytes, segments, first_lookups),
        )

    def replay_cost(self, interval_bytes: int) -> ExistingIndexCost:
        return existing_index.cost_from_replay(
            self.parts, self.every_offset, self.timestamps, self.cold, interval_bytes
        )

    def current_cost(self, interval_bytes: int) -> ExistingIndexCost:
        """Returns what lookups in the existing indexes cost.

        Without existing indexes, the cost comes from a replay with this interval.
        """
        return self.index_cost or self.replay_cost(interval_bytes)


@dataclass(frozen=True, kw_only=True)
class CurrentConfig:
    """The settings of a log today.

    Attributes:
        is_tiered: the value of remote.storage.enable.
        is_coarse: whether one index entry is for a whole append (KAFKA-806).
        partitions: the number of logs.
        topic: None for a whole broker.
        inferred_settings: names of the settings that are in no file. Their values are inferred from
            where segments ended.
        unknown_settings: names of the settings that are unknown, because the metadata log is in a
            log directory that was not opened. Their values here are inferred or Kafka's defaults.
        index_rooms: segment.index.bytes of each partition, only for a whole broker. Empty if
            `config` applies to all partitions.
        leaves_maps: whether a roll leaves unused memory maps (KAFKA-19390).
        retention_bytes: -1 for no limit, None if unknown.
        retention_ms: -1 for no limit, None if unknown.
    """

    interval_bytes: int
    interval_source: str | Message
    config: LogConfig = field(default_factory=LogConfig)
    topic: str | None = None
    partitions: int = 1
    is_tiered: bool = False
    is_coarse: bool = False
    inferred_settings: tuple[str, ...] = ()
    unknown_settings: tuple[str, ...] = ()
    index_rooms: tuple[int, ...] = ()
    leaves_maps: bool = False
    retention_bytes: int | None = None
    retention_ms: int | None = None

    @property
    def is_interval_known(self) -> bool:
        """Whether the interval comes from a file, the user or a known default of Kafka."""
        return SETTING not in self.unknown_settings

    @property
    def assumed_settings(self) -> tuple[str, ...]:
        """Names of the unknown settings, except the interval, for which Kafka's default is used."""
        return tuple(
            name
            for name in self.unknown_settings
            if name != SETTING and name not in self.inferred_settings
        )


class SegmentMeasurementBuilder(BatchObserver[LogMeasurement | None]):
    """Measures one segment at all intervals in one pass over its batches."""

    def __init__(
        self,
        builder: "MeasurementBuilder",
        index_sweeper: ExistingIndexSweeper | None,
        report_share: Callable[[float], None],
    ) -> None:
        """Starts with no batch read.

        Args:
            builder: gives the intervals. The measurement is added to it later.
            report_share: called after all batches were read, with the share of the work done.
        """

        def sweeper(
            intervals: Collection[int] | np.ndarray = builder.intervals, **options
        ) -> sweep.Sweeper:
            return sweep.Sweeper(intervals, by_base_offset=builder.by_base_offset, **options)

        self._base_offsets = sweeper(by_append=builder.by_append)
        self._every_offset = sweeper(targets=sweep.EVERY)
        # the time index is swept with an entry for any batch, even if appends get one entry each
        self._by_batch = sweeper() if builder.by_append else None
        self._followers = (
            sweeper(builder.extra_intervals, append_bytes=sweep.FOLLOWER_APPEND_BYTES)
            if builder.per_append
            else None
        )
        self._cold = ColdSweeper(builder.intervals, by_base_offset=builder.by_base_offset)
        self._index_sweeper = index_sweeper
        self._columns = sweep.ColumnsBuilder()
        self._statistics = _Statistics()
        self._current_interval_bytes = builder.current_interval_bytes
        self._report_share = report_share
        observers: tuple[BatchObserver[Any] | None, ...] = (
            self._base_offsets,
            self._every_offset,
            self._by_batch,
            self._followers,
            self._cold,
            self._columns,
            self._statistics,
            self._index_sweeper,
        )
        self._observers = [observer for observer in observers if observer is not None]

    def observe(self, batches: np.ndarray) -> None:
        for observer in self._observers if len(batches) else ():
            observer.observe(batches)

    def result(self) -> LogMeasurement | None:
        """Returns the measurement, or None for a segment without a batch."""
        if not self._statistics.batches:
            return None
        columns = self._columns.result()
        followers = self._followers.result() if self._followers else None
        parts = self._base_offsets.result()
        every_offset = self._every_offset.result()
        cold = self._cold.result()
        self._report_share(0.8)
        timestamps = times.sweep_columns(
            columns, self._by_batch.result() if self._by_batch else parts
        )
        self._report_share(0.9)
        index_cost = None
        if self._current_interval_bytes is not None:
            index_cost = existing_index.cost_from_replay(
                parts, every_offset, timestamps, cold, self._current_interval_bytes
            )
            index_sweep = self._index_sweeper.result() if self._index_sweeper else None
            if index_sweep:
                index_cost = index_sweep.cost(columns, index_cost)
        columns.forget_times()
        self._report_share(0.95)
        sizes = columns.sizes["size_bytes"]
        mean = float(sizes.mean())
        return LogMeasurement(
            parts=parts,
            cold=cold,
            every_offset=every_offset,
            timestamps=timestamps,
            sizes=(columns.sizes,),
            batch_bytes=mean,
            spread=float(sizes.std()) / mean,
            followers=followers,
            index_cost=index_cost,
            **self._statistics.result(),
        )


class _Statistics(BatchObserver[dict[str, Any]]):
    """Computes `single_share`, `one_read_share` and `bytes_per_s` of LogMeasurement."""

    def __init__(self) -> None:
        self.batches = 0
        self._data_batches = 0
        self._single_batches = 0
        self._legacy_batches = 0
        self._log_bytes = 0
        self._least_ms = np.iinfo(np.int64).max
        self._most_ms = 0

    def observe(self, batches: np.ndarray) -> None:
        data = batches[~is_control(batches)]
        times_ms = batches["max_timestamp_ms"]
        self.batches += len(batches)
        self._data_batches += len(data)
        self._single_batches += int((data["base_offset"] == data["last_offset"]).sum())
        self._legacy_batches += int((batches["magic"] < MAGIC_2).sum())
        self._log_bytes += int(batches["size_bytes"].sum(dtype=np.int64))
        self._least_ms = min(
            self._least_ms, int(times_ms.min(initial=self._least_ms, where=times_ms >= 0))
        )
        self._most_ms = max(self._most_ms, int(times_ms.max()))

    def result(self) -> dict[str, Any]:
        single_share = self._single_batches / self._data_batches if self._data_batches else 0.0
        waited_ms = self._most_ms - self._least_ms
        bytes_per_s = 1000 * float(self._log_bytes) / waited_ms if waited_ms > 0 else None
        return {
            "single_share": single_share,
            "one_read_share": self._legacy_batches / self.batches if self.batches else 0.0,
            "bytes_per_s": bytes_per_s,
        }


@dataclass(kw_only=True)
class MeasurementBuilder:
    """Measures segments and adds up the results.

    Attributes:
        extra_intervals: intervals to measure in addition to sweep.INTERVALS, including today's.
        per_append: whether a follower's append gets at most one entry.
        by_append: whether each append gets at most one entry; only for a workload, where batches
            have the number of their append.
        current_interval_bytes: today's interval; None for a workload, which has no indexes.
    """

    extra_intervals: Collection[int]
    by_base_offset: bool
    per_append: bool = False
    by_append: bool = False
    current_interval_bytes: int | None = None
    _measurements: list[LogMeasurement] = field(default_factory=list)
    _empty_segments: int = 0

    def __post_init__(self) -> None:
        self.intervals = np.unique([*sweep.INTERVALS, *self.extra_intervals])

    def add(
        self,
        chunks: Iterable[np.ndarray],
        indexes: tuple[np.ndarray, np.ndarray] | None = None,
        report_share: Callable[[float], None] = lambda _share: None,
        *observers: BatchObserver[Any],
    ) -> None:
        """Adds the batches of one segment.

        Args:
            chunks: arrays of format.batch.BATCH, or of appends.INCOMING for a workload.
            indexes: the segment's entries on disk, log.segment.OFFSET_ENTRY and TIME_ENTRY; None if
                an index is missing.
            report_share: called after all batches were read, with the share of the work done.
            observers: further observers of the same batches in the same pass.
        """
        index_sweeper = None
        if indexes and self.current_interval_bytes is not None:
            index_sweeper = ExistingIndexSweeper(
                *indexes, self.current_interval_bytes, by_base_offset=self.by_base_offset
            )
        segment = SegmentMeasurementBuilder(self, index_sweeper, report_share)
        observe_scan(chunks, segment, *observers)
        measurement = segment.result()
        if measurement is None:
            self._empty_segments += 1
            return
        has_room = self._has_room(measurement.parts.batches)
        self._measurements.append(measurement if has_room else replace(measurement, sizes=()))
        if len(self._measurements) == FOLDED:
            # to save memory: a log may have thousands of segments
            self._measurements = [merge_measurements(self._measurements)]

    def _has_room(self, batches: int) -> bool:
        """Returns whether to keep the batch sizes of another segment.

        Once a segment's sizes have been dropped, those of the next segments are dropped too, until
        the measurements are merged.
        """
        batch_counts = [sum(map(len, measurement.sizes)) for measurement in self._measurements]
        return not batch_counts or (
            all(batch_counts) and sum(batch_counts) + batches <= KEPT_BATCHES
        )

    def result(self) -> LogMeasurement:
        empty_parts = sweep.no_parts(self.intervals)
        measurement = (
            merge_measurements(self._measurements)
            if self._measurements
            else LogMeasurement(
                parts=empty_parts,
                cold=ColdReads(self.intervals, (np.zeros(0, np.int64),) * len(self.intervals)),
                every_offset=empty_parts,
                timestamps=empty_parts,
            )
        )
        return replace(measurement, empty_segments=self._empty_segments)


def merge_measurements(measurements: Sequence[LogMeasurement]) -> LogMeasurement:
    """Merges several measurements into one.

    Counts are added. The mean and spread of batch sizes are combined, and the speed is the mean
    over all logs.
    """
    return replace(
        _merge_with_batches(measurements),
        empty_segments=sum(measurement.empty_segments for measurement in measurements),
    )


def _merge_with_batches(measurements: Sequence[LogMeasurement]) -> LogMeasurement:
    # the means of a measurement without batches are NaN
    measurements = [
        measurement for measurement in measurements if measurement.parts.batches
    ] or measurements[:1]
    if len(measurements) == 1:
        return measurements[0]
    parts, cold, every_offset, times = (
        reduce(add, (getattr(measurement, name) for measurement in measurements))
        for name in SUMMED_FIELDS
    )
    batch_counts = np.array([measurement.parts.batches for measurement in measurements], float)
    if not batch_counts.sum():
        return measurements[0]

    def mean(values: Iterable[float]) -> float:
        return float(np.average(list(values), weights=batch_counts))

    index_costs = [measurement.index_cost for measurement in measurements if measurement.index_cost]
    follower_parts = [
        measurement.followers for measurement in measurements if measurement.followers
    ]
    mean_bytes = mean(measurement.batch_bytes for measurement in measurements)
    mean_square = mean(
        measurement.batch_bytes**2 * (1 + measurement.spread**2) for measurement in measurements
    )
    timed_logs = [
        (measurement.log_bytes, measurement.bytes_per_s)
        for measurement in measurements
        if measurement.bytes_per_s
    ]
    seconds = sum(log_bytes / bytes_per_s for log_bytes, bytes_per_s in timed_logs)
    return LogMeasurement(
        parts=parts,
        cold=cold,
        every_offset=every_offset,
        timestamps=times,
        sizes=_kept_sizes(measurements),
        batch_bytes=mean_bytes,
        spread=max(0.0, mean_square / mean_bytes**2 - 1) ** 0.5,
        single_share=mean(measurement.single_share for measurement in measurements),
        bytes_per_s=sum(log_bytes for log_bytes, _ in timed_logs) / seconds if timed_logs else None,
        followers=reduce(add, follower_parts) if len(follower_parts) == len(measurements) else None,
        index_cost=reduce(add, index_costs) if len(index_costs) == len(measurements) else None,
        one_read_share=mean(measurement.one_read_share for measurement in measurements),
    )


def _kept_sizes(measurements: Sequence[LogMeasurement]) -> tuple[np.ndarray, ...]:
    sizes = []
    count = 0
    for segment in (segment for measurement in measurements for segment in measurement.sizes):
        if count and count + len(segment) > KEPT_BATCHES:
            break
        sizes.append(segment)
        count += len(segment)
    return tuple(sizes)
