"""The input of a recommendation: the exact measurements of a log, and its present settings."""

from dataclasses import dataclass, field

import numpy as np

from kafkaviz.analysis.cost.cold_reads import ColdReads
from kafkaviz.analysis.segment import existing_index
from kafkaviz.analysis.segment.existing_index import ExistingIndexCost
from kafkaviz.analysis.sweep import SweepParts
from kafkaviz.messages import Message
from kafkaviz.simulate.config import LogConfig

SETTING = "index.interval.bytes"
BROKER_SETTING = "log.index.interval.bytes"
FETCH_BYTES = 1 << 20  # default of max.partition.fetch.bytes


@dataclass(frozen=True, kw_only=True)
class LogMeasurement:
    """The exact measurements of a log: the sweep, and the numbers that the cost model needs.

    Attributes:
        parts: lookups of each batch's base offset.
        cold: device reads of these lookups.
        every_offset, timestamps: lookups of other targets.
        sizes: SIZES rows of each segment, for the bootstrap of ranges.
        batch_bytes: the mean batch size.
        spread: the standard deviation of the batch sizes divided by their mean.
        bytes_per_s: speed by the largest timestamps; None if they do not show it.
        followers: the same batches on a follower that appends a whole fetch at once, at today's
            interval; only for releases that write one entry per append.
        index_cost: the existing indexes; None for a workload.
        one_read_share: the share of batches of magic 0 and 1.
        empty_segments: segments without a batch, which `parts` does not count; they have files and
            maps, but cost no lookup.
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

    def replay_cost(self, interval_bytes: int) -> ExistingIndexCost:
        return existing_index.cost_from_replay(
            self.parts, self.every_offset, self.timestamps, self.cold, interval_bytes
        )

    def current_cost(self, interval_bytes: int) -> ExistingIndexCost:
        """Returns the cost of lookups in the existing indexes, or else in those of the replay."""
        return self.index_cost or self.replay_cost(interval_bytes)


@dataclass(frozen=True, kw_only=True)
class CurrentConfig:
    """The present settings of a log.

    Attributes:
        is_tiered: remote.storage.enable.
        is_coarse: whether an entry covers a whole append (KAFKA-806).
        partitions: number of logs.
        topic: None for a whole broker.
        inferred_settings: settings that no file has, inferred from the log's rolls.
        unknown_settings: settings that only the metadata log has, which is in another log
            directory; the interval and config have inferred values or Kafka's defaults instead.
        index_rooms: segment.index.bytes of each partition of a broker whose topics differ; empty if
            config applies to all.
        leaves_maps: whether a roll leaves unused maps (KAFKA-19390).
    """

    interval_bytes: int
    interval_source: str | Message
    config: LogConfig = field(default_factory=LogConfig)
    topic: str | None = None
    partitions: int = 1
    is_tiered: bool = False
    is_coarse: bool = False
    fetch_bytes: int = FETCH_BYTES
    inferred_settings: tuple[str, ...] = ()
    unknown_settings: tuple[str, ...] = ()
    index_rooms: tuple[int, ...] = ()
    leaves_maps: bool = False

    @property
    def is_interval_known(self) -> bool:
        """Whether the interval comes from a file, the user or a known default of Kafka."""
        return SETTING not in self.unknown_settings

    @property
    def assumed_settings(self) -> tuple[str, ...]:
        """The unknown settings, without the interval, that have Kafka's defaults here."""
        return tuple(
            name
            for name in self.unknown_settings
            if name != SETTING and name not in self.inferred_settings
        )
