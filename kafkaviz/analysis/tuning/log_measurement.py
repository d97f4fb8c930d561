"""What is exact of a log, and how it is run: all that a recommendation is based on."""

from dataclasses import dataclass, field

import numpy as np

from kafkaviz.analysis.cost.cold_reads import ColdReads
from kafkaviz.analysis.segment import existing_index
from kafkaviz.analysis.segment.existing_index import ExistingIndexCost
from kafkaviz.analysis.sweep import SweepParts
from kafkaviz.messages import Message
from kafkaviz.simulate.config import LogConfig

SETTING, BROKER_SETTING = "index.interval.bytes", "log.index.interval.bytes"
FETCH_BYTES = 1 << 20  # max.partition.fetch.bytes


@dataclass(frozen=True, kw_only=True)
class LogMeasurement:
    """What is exact of a log: the sweep, and what the model needs of its batches.

    parts: lookups at each batch's base offset. cold: the device reads of the same. every_offset,
    timestamps: lookups of other targets. sizes: for each segment its batch sizes and whether a
    batch is of one offset, from which ranges are drawn. batch_bytes: the mean; spread: the standard
    deviation over it. bytes_per_s: by the largest timestamps; None where they do not say.
    followers: the same batches on a follower that appends a complete fetch at once, of today's
    interval and releases that index an append once. index_cost: the indexes that are there; None of
    a workload, whose replay is all there is. one_read_share: of the batches, those of magic 0 and
    1. empty_segments: those without a batch, which parts do not count: they cost no lookup
    anything, but have files and maps.
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
        """All of them, the empty ones too."""
        return self.parts.segments + self.empty_segments

    @property
    def log_bytes(self) -> int:
        """Of all segments."""
        return self.parts.log_bytes

    def replay_cost(self, interval_bytes: int) -> ExistingIndexCost:
        """What the replay says of a swept interval."""
        return existing_index.cost_from_replay(
            self.parts, self.every_offset, self.timestamps, self.cold, interval_bytes
        )

    def current_cost(self, interval_bytes: int) -> ExistingIndexCost:
        """What lookups find now.

        The indexes that are there, else those that the replay of today's interval has.
        """
        return self.index_cost or self.replay_cost(interval_bytes)


@dataclass(frozen=True, kw_only=True)
class CurrentConfig:
    """The log as it is run.

    Attributes:
        interval_source: where the interval is from.
        is_tiered: remote.storage.enable.
        is_coarse: its entries stand for complete appends (KAFKA-806).
        partitions: how many logs.
        topic: its name, None of an entire broker.
        inferred_settings: settings of config that no file has, and that the log's rolls do.
        unknown_settings: settings that only the metadata log tells, which is in another log
            directory; the interval and config hold what is inferred, or Kafka's defaults, instead.
        index_rooms: segment.index.bytes of each partition of a broker, whose topics differ; empty
            where that of config is all of theirs.
        leaves_maps: whether a roll leaves dead maps behind (KAFKA-19390).
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
        """Whether a file, a person or Kafka's default tells the interval."""
        return SETTING not in self.unknown_settings

    @property
    def assumed_settings(self) -> tuple[str, ...]:
        """The unknown settings, the interval left out, that have Kafka's defaults here."""
        return tuple(
            name
            for name in self.unknown_settings
            if name != SETTING and name not in self.inferred_settings
        )
