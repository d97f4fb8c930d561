"""The input for a recommendation: exact measurements of a log, and its settings today.

A segment is read in chunks of batches. Until the segment is finished, 21 bytes per batch stay in
memory. After that, only sums stay, and 5 bytes per batch for at most KEPT_BATCHES batches.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from kafkaviz.analysis import sweep
from kafkaviz.analysis.cost.cold_reads import ColdReads, ColdSweeper
from kafkaviz.analysis.segment.existing_index import (
    EntryGaps,
    ExistingIndexCost,
    ExistingIndexSweeper,
)
from kafkaviz.analysis.sweep import SweepParts, times
from kafkaviz.format.batch import MAGIC_2, is_control
from kafkaviz.format.walk import BatchObserver, observe_scan
from kafkaviz.messages import Message
from kafkaviz.simulate.config import LogConfig

SETTING = "index.interval.bytes"
BROKER_SETTING = "log.index.interval.bytes"
KEPT_BATCHES = 8_000_000  # the sizes of this many batches of a case are kept, in 5 bytes each
# the fields of LogMeasurement that are added up
SUMMED_FIELDS = ("parts", "cold", "every_offset", "timestamps", "followers", "index_cost")


@dataclass(frozen=True, kw_only=True)
class LogMeasurement:
    """The cost of lookups in a log at each index interval, and other numbers for the cost model.

    Attributes:
        parts: the cost of looking up the base offset of each batch.
        cold: the device reads of these lookups if nothing is in the page cache.
        every_offset: the cost of looking up every offset.
        sizes: an array of SIZES for each segment, from which the bootstrap resamples.
        spread: the standard deviation of the batch sizes divided by their mean.
        single_share: the share of data batches with one record.
        bytes_per_s: bytes written per second of record time; None if all batches have the same
            largest timestamp.
        followers: `parts` with the indexes that a follower writes; None for releases in which
            followers write the same indexes as the leader.
        index_cost: the cost of lookups in the existing indexes, or in replayed indexes if an
            existing one is missing or wrong; None for a workload.
        one_read_share: the share of batches of magic 0 and 1.
        empty_segments: the number of segments without a batch, which `parts` does not count.
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
        """Returns an estimate for whole logs from this measurement of parts of the logs (windows).

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
        """Returns the cost of lookups in indexes that a replay writes with this interval.

        Raises KeyError if the interval was not measured.
        """
        return ExistingIndexCost(
            self.parts.at_interval(interval_bytes),
            self.every_offset.at_interval(interval_bytes),
            self.timestamps.at_interval(interval_bytes),
            self.cold.at_interval(interval_bytes),
            EntryGaps(interval_bytes=interval_bytes),
        )

    def current_cost(self, interval_bytes: int) -> ExistingIndexCost:
        """Returns the cost with the existing indexes; if there are none, with replayed indexes."""
        return self.index_cost or self.replay_cost(interval_bytes)


@dataclass(frozen=True, kw_only=True)
class CurrentConfig:
    """The settings of a log today.

    Attributes:
        is_coarse: whether an append got at most one index entry (KAFKA-806).
        partitions: the number of logs that were measured.
        topic: None for a whole broker.
        inferred_settings: settings that neither a file nor the user gives. Their values are
            inferred from the ends of segments.
        unknown_settings: settings that may be in the metadata log, which was not opened.
        partition_index_bytes: segment.index.bytes of each partition of a broker; else empty.
        leaves_maps: whether a roll leaves unused memory maps (KAFKA-19390).
        retention_bytes, retention_ms: -1 for no limit, None if unknown.
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
    partition_index_bytes: tuple[int, ...] = ()
    leaves_maps: bool = False
    retention_bytes: int | None = None
    retention_ms: int | None = None

    @property
    def is_interval_known(self) -> bool:
        return SETTING not in self.unknown_settings

    @property
    def assumed_settings(self) -> tuple[str, ...]:
        """Names of the settings for which Kafka's default is assumed.

        index.interval.bytes is never among them.
        """
        return tuple(
            name
            for name in self.unknown_settings
            if name != SETTING and name not in self.inferred_settings
        )


@dataclass(kw_only=True)
class MeasurementBuilder:
    """Measures segments, each in one pass over its batches, and adds up the results.

    Attributes:
        extra_intervals: intervals to measure in addition to sweep.INTERVALS, including today's.
        per_append: whether to measure the indexes of a follower too, in which an append gets at
            most one entry.
        by_append: whether the measured log itself gets at most one entry per append. Each batch
            must then have the number of its append, as in a workload.
        current_interval_bytes: today's interval; None for a workload, which has no indexes.
    """

    extra_intervals: Collection[int]
    by_base_offset: bool
    per_append: bool = False
    by_append: bool = False
    current_interval_bytes: int | None = None

    def __post_init__(self) -> None:
        self.intervals = np.unique([*sweep.INTERVALS, *self.extra_intervals])
        parts = sweep.no_parts(self.intervals)
        cold = ColdReads(self.intervals, (np.zeros(0, np.int64),) * len(self.intervals))
        self._empty = LogMeasurement(parts=parts, cold=cold, every_offset=parts, timestamps=parts)
        self._total = self._empty

    def result(self) -> LogMeasurement:
        return self._total

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
            indexes: OFFSET_ENTRY and TIME_ENTRY of log.segment; None if an index is missing.
            report_share: called with the finished share of the work, which is 0.8 or more. The
                shares below 0.8 are for reading, and `chunks` can report them.
            observers: further objects that get every batch.
        """
        segment = self._measure(chunks, indexes, report_share, observers)
        self._total = merge_measurements([self._total, segment])

    def _measure(
        self,
        chunks: Iterable[np.ndarray],
        indexes: tuple[np.ndarray, np.ndarray] | None,
        report_share: Callable[[float], None],
        observers: Sequence[BatchObserver[Any]],
    ) -> LogMeasurement:
        interval = self.current_interval_bytes
        rules: dict[str, Any] = {"by_base_offset": self.by_base_offset}
        base_offsets = sweep.Sweeper(self.intervals, by_append=self.by_append, **rules)
        every_offset = sweep.Sweeper(self.intervals, targets=sweep.EVERY, **rules)
        cold = ColdSweeper(self.intervals, **rules)
        columns_builder = sweep.ColumnsBuilder()
        statistics = _Statistics()
        all_observers = [base_offsets, every_offset, cold, columns_builder, statistics, *observers]
        by_batch = followers = existing = None
        if self.by_append:
            # in the time index, any batch may have an entry, even if appends get one entry each
            all_observers.append(by_batch := sweep.Sweeper(self.intervals, **rules))
        if self.per_append:
            append_bytes = sweep.FOLLOWER_APPEND_BYTES
            followers = sweep.Sweeper(self.extra_intervals, append_bytes=append_bytes, **rules)
            all_observers.append(followers)
        if indexes and interval is not None:
            all_observers.append(existing := ExistingIndexSweeper(*indexes, interval, **rules))
        observe_scan((batches for batches in chunks if len(batches)), *all_observers)
        if not statistics.counts[0]:
            return replace(self._empty, empty_segments=1)
        columns = columns_builder.result()
        parts = base_offsets.result()
        report_share(0.8)
        measurement = LogMeasurement(
            parts=parts,
            cold=cold.result(),
            every_offset=every_offset.result(),
            timestamps=times.sweep_columns(columns, by_batch.result() if by_batch else parts),
            sizes=(columns.sizes,),
            batch_bytes=float(columns.sizes["size_bytes"].mean()),
            spread=float(columns.sizes["size_bytes"].std() / columns.sizes["size_bytes"].mean()),
            followers=followers.result() if followers else None,
            **statistics.result(),
        )
        report_share(0.9)
        if interval is not None:
            index_cost = measurement.replay_cost(interval)
            if existing and existing.result():
                index_cost = existing.cost(columns, index_cost)
            measurement = replace(measurement, index_cost=index_cost)
        columns.forget_times()
        report_share(0.95)
        return measurement


class _Statistics(BatchObserver[dict[str, Any]]):
    def __init__(self) -> None:
        # batches, data batches, data batches with one record, batches of magic 0 and 1, bytes
        self.counts = np.zeros(5, np.int64)
        self._ends_ms: list[int] = []

    def observe(self, batches: np.ndarray) -> None:
        data = batches[~is_control(batches)]
        is_single = data["base_offset"] == data["last_offset"]
        is_legacy = batches["magic"] < MAGIC_2
        log_bytes = batches["size_bytes"].sum(dtype=np.int64)
        self.counts += (len(batches), len(data), is_single.sum(), is_legacy.sum(), log_bytes)
        times_ms = batches["max_timestamp_ms"]
        times_ms = times_ms[times_ms >= 0]
        self._ends_ms += [int(times_ms.min()), int(times_ms.max())] if len(times_ms) else []

    def result(self) -> dict[str, Any]:
        batches, data_batches, single_batches, legacy_batches, log_bytes = self.counts.tolist()
        waited_ms = max(self._ends_ms, default=0) - min(self._ends_ms, default=0)
        return {
            "single_share": single_batches / max(1, data_batches),
            "one_read_share": legacy_batches / batches,
            "bytes_per_s": 1000 * log_bytes / waited_ms if waited_ms else None,
        }


def merge_measurements(measurements: Sequence[LogMeasurement]) -> LogMeasurement:
    """Returns one measurement for several: counts are added, means are weighted by batches."""
    empty_segments = sum(each.empty_segments for each in measurements)
    # the means of a measurement without batches are NaN
    merged = [each for each in measurements if each.parts.batches] or measurements[:1]
    if len(merged) == 1:
        return replace(merged[0], empty_segments=empty_segments)
    batches = [each.parts.batches for each in merged]

    def mean(values: Iterable[float]) -> float:
        return float(np.average(list(values), weights=batches))

    sums: dict[str, Any] = {}
    for name in SUMMED_FIELDS:
        values: list[Any] = [getattr(each, name) for each in merged]
        sums[name] = None if any(value is None for value in values) else reduce(add, values)
    mean_bytes = mean(each.batch_bytes for each in merged)
    mean_square = mean(each.batch_bytes**2 * (1 + each.spread**2) for each in merged)
    timed = [(each.log_bytes, each.bytes_per_s) for each in merged if each.bytes_per_s]
    seconds = sum(log_bytes / bytes_per_s for log_bytes, bytes_per_s in timed)
    sizes = [segment for each in merged for segment in each.sizes]
    fitting = int((np.cumsum(list(map(len, sizes))) <= KEPT_BATCHES).sum())
    return LogMeasurement(
        **sums,
        sizes=tuple(sizes[: max(1, fitting)]),
        batch_bytes=mean_bytes,
        spread=max(0.0, mean_square / mean_bytes**2 - 1) ** 0.5,
        single_share=mean(each.single_share for each in merged),
        bytes_per_s=sum(log_bytes for log_bytes, _ in timed) / seconds if timed else None,
        one_read_share=mean(each.one_read_share for each in merged),
        empty_segments=empty_segments,
    )
