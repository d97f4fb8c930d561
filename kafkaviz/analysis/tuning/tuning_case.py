"""The measurements that a tuning starts from: one TuningCase per topic, or one per workload."""

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
        disk_entries: the number of entries in all .index files, and in all .timeindex files. None:
            a file is missing.
        index_files: the apparent and the allocated bytes of the index files; None for a workload.
        live_segments: the number of segments in the directory; None for a workload.
        active_bytes: the .log bytes of the active segments; None for a workload.
        logs: (a function that reads the appends, the first offset) of each log. None for a
            single .log, and for all topics of a broker together.
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
        """How many .index and .timeindex entries a replay with today's interval writes."""
        parts = self.measurement.parts.at_interval(self.today.interval_bytes)
        return int(parts.entries[0]), int(parts.time_entries[0])

    @property
    def index_share(self) -> float:
        """The size of both indexes today, as a share of the log."""
        current_cost = self.measurement.current_cost(self.today.interval_bytes)
        if self.measurement.log_bytes:
            return int(current_cost.parts.index_bytes[0]) / self.measurement.log_bytes
        return 0.0


@dataclass(frozen=True, kw_only=True)
class TuningSource:
    """The topics (or their parts) of a directory, or one workload, with their measurements.

    Attributes:
        kind: "partition", "topic", "broker", "log" or "workload".
        cases: one case per topic, in the order of names.
        metadata_left_out: whether KRaft's metadata log, which needs a dense index, was left out.
        inactive_segments: segments that Kafka does not use. They are not measured.
        broker_segments: the number of all segments of the broker; None without a broker directory.
        default_interval: the broker's interval for topics that do not set their own.
        own_settings: the segment limits in the broker's files, by the field names of LogConfig.
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
        """Whether a scan reads only 17 bytes of each batch header, as Kafka does since 4.1."""
        return versions.search_profile(self.version).by_base_offset

    @property
    def total(self) -> TuningCase:
        """The only case; for a broker, all topics as one case with the broker's default interval.

        For a setting that is in no file of the broker, the largest value of any topic is used, so
        that the index size is safe for every topic.
        """
        if self.default_interval is None:
            return self.cases[0]
        interval = int(self.default_interval.value)
        configs = [case.today for case in self.cases]
        values: dict[str, Any] = {field_name(name): self._largest(name) for name in BROKER_SETTINGS}
        values |= self.own_settings
        today = CurrentConfig(
            interval_bytes=interval,
            interval_source=self.default_interval.source,
            config=LogConfig(**values, index_interval_bytes=interval),
            partitions=sum(each.partitions for each in configs),
            is_coarse=any(each.is_coarse for each in configs if each.interval_bytes == interval),
            partition_index_bytes=tuple(
                each.config.segment_index_bytes for each in configs for _ in range(each.partitions)
            ),
            leaves_maps=any(each.leaves_maps for each in configs),
            unknown_settings=tuple(
                dict.fromkeys(name for each in configs for name in each.unknown_settings)
            ),
        )
        # the existing indexes are used if they have this interval; otherwise a replay writes them
        measurements = [
            case.measurement
            if case.today.interval_bytes == interval
            else replace(case.measurement, index_cost=case.measurement.replay_cost(interval))
            for case in self.cases
        ]
        files = [case.index_files for case in self.cases if case.index_files]
        return TuningCase(
            name=self.name,
            today=today,
            measurement=merge_measurements(measurements),
            index_files=(sum(size for size, _ in files), sum(size for _, size in files)),
            sample=sum((case.sample for case in self.cases if case.sample), start=LogSample((), 0)),
        )

    def _largest(self, name: str) -> int:
        """Returns a setting's largest value in any topic. Skips inferred values if others exist."""
        configs = [case.today for case in self.cases]
        known = [each for each in configs if name not in each.inferred_settings]
        return max(getattr(each.config, field_name(name)) for each in known or configs)


def field_name(name: str) -> str:
    return name.replace(".", "_")
