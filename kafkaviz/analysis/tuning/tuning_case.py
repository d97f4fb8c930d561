"""The measurements for a tuning: one case per topic, or one for a workload."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kafkaviz import versions
from kafkaviz.analysis.inferred_release import AssumedRelease
from kafkaviz.analysis.overview import InactiveSegment
from kafkaviz.analysis.tuning.log_windows import LogSample
from kafkaviz.analysis.tuning.measurement import CurrentConfig, LogMeasurement, merge_measurements
from kafkaviz.log.broker import Problem
from kafkaviz.log.settings import SettingValue
from kafkaviz.simulate.appends import AppendChunk
from kafkaviz.simulate.config import LogConfig, ReleaseBehaviour, release_behaviour

# the settings that limit a segment
BROKER_SETTINGS = ("segment.bytes", "segment.index.bytes", "segment.ms", "segment.jitter.ms")
PARTITION = "partition"
TOPIC = "topic"
BROKER = "broker"
LOG = "log"
WORKLOAD = "workload"

ChunkFactory = Callable[[], Iterable[AppendChunk]]


@dataclass(frozen=True, kw_only=True)
class TuningCase:
    """A topic, a part of a topic, or a workload, with its measurement.

    Attributes:
        disk_entries: the number of entries in the .index and .timeindex files; None if one is
            missing.
        index_files: the apparent and the allocated bytes of the index files; None for a workload.
        live_segments: the number of segments in the directory; None for a workload.
        active_bytes: the .log bytes of the active segments; None for a workload.
        logs: the appends (without payload) and the first offset of each log, for replays. None if a
            single .log was given.
        sample: the measured parts of the logs; None for a workload, which is measured whole.
    """

    name: str
    today: CurrentConfig
    measurement: LogMeasurement
    disk_entries: tuple[int, int] | None = None
    index_files: tuple[int, int] | None = None
    live_segments: int | None = None
    active_bytes: int | None = None
    logs: tuple[tuple[ChunkFactory, int], ...] | None = None
    is_leader: bool = True
    sample: LogSample | None = None

    @property
    def replayed_entries(self) -> tuple[int, int]:
        """How many entries both indexes have after a replay with today's interval."""
        index = self.measurement.parts.index_of(self.today.interval_bytes)
        return int(self.measurement.parts.entries[index]), int(
            self.measurement.parts.time_entries[index]
        )

    @property
    def index_share(self) -> float:
        """The size of both indexes today, as a share of the log."""
        current_cost = self.measurement.current_cost(self.today.interval_bytes)
        if self.measurement.log_bytes:
            return int(current_cost.parts.index_bytes[0]) / self.measurement.log_bytes
        return 0.0

    def measurement_at(self, interval_bytes: int) -> LogMeasurement:
        """Returns the measurement with indexes of one interval, so that cases can be added up.

        The existing indexes are used if they have this interval; otherwise a replay writes them.
        """
        is_own = self.today.interval_bytes == interval_bytes
        if is_own:
            return self.measurement
        return replace(self.measurement, index_cost=self.measurement.replay_cost(interval_bytes))


@dataclass(frozen=True, kw_only=True)
class TuningSource:
    """All cases of a directory or a workload.

    Attributes:
        kind: "partition", "topic", "broker", "log" or "workload".
        cases: one case per topic, in the order of names.
        metadata_left_out: whether KRaft's metadata log was left out. Its small batches need their
            dense index.
        inactive_segments: segments that Kafka does not use. They were left out too.
        broker_segments: the number of all segments of the broker; None without a broker directory.
        default_interval: the broker's interval for topics that do not set their own.
        own_settings: other segment limits in the broker's files, by the field names of LogConfig.
    """

    name: str
    kind: str
    version: str
    assumed_release: AssumedRelease
    cases: tuple[TuningCase, ...]
    problems: tuple[Problem, ...] = ()
    metadata_left_out: bool = False
    inactive_segments: tuple[InactiveSegment, ...] = ()
    broker_segments: int | None = None
    default_interval: SettingValue | None = None
    own_settings: Mapping[str, int] = field(default_factory=dict)

    @property
    def behaviour(self) -> ReleaseBehaviour:
        return release_behaviour(versions.parse(self.version))

    @property
    def by_base_offset(self) -> bool:
        """Whether a scan reads only 17 bytes per header, as since Kafka 4.1."""
        return versions.search_profile(self.version).by_base_offset

    @property
    def total(self) -> TuningCase:
        """The only case; for a broker, the sum of its topics as if all had the broker's interval.

        If a setting is in no file of the broker, the largest value of all topics is used, because
        the index size must be safe for every topic.
        """
        if self.default_interval is None:
            return self.cases[0]
        interval = int(self.default_interval.value)
        measurement = merge_measurements([case.measurement_at(interval) for case in self.cases])
        partitions = sum(case.today.partitions for case in self.cases)
        values: dict[str, Any] = {field_name(name): self._largest(name) for name in BROKER_SETTINGS}
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
            interval_bytes=interval,
            interval_source=self.default_interval.source,
            config=config,
            partitions=partitions,
            is_coarse=is_coarse,
            index_rooms=index_rooms,
            leaves_maps=leaves_maps,
            unknown_settings=tuple(
                dict.fromkeys(name for case in self.cases for name in case.today.unknown_settings)
            ),
        )
        apparent_bytes, allocated_bytes = zip(
            *(case.index_files for case in self.cases), strict=True
        )
        return TuningCase(
            name=self.name,
            today=today,
            measurement=measurement,
            index_files=(sum(apparent_bytes), sum(allocated_bytes)),
            sample=sum((case.sample for case in self.cases if case.sample), start=LogSample((), 0)),
        )

    def _largest(self, name: str) -> int:
        """Returns the largest value of a setting over all topics.

        Inferred values are used only if all topics have inferred values.
        """
        configs = [
            case.today for case in self.cases if name not in case.today.inferred_settings
        ] or [case.today for case in self.cases]
        return max(getattr(each_config.config, field_name(name)) for each_config in configs)


def field_name(name: str) -> str:
    return name.replace(".", "_")
