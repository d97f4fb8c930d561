"""What is tuned: the batches and the settings of a partition, a topic, a broker directory, a .log,
or a workload that is made up.

A broker directory is told apart by topic, because settings are: each topic is a case of its own,
and their sum is the broker.
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
from kafkaviz.analyse import paths
from kafkaviz.analyse.cost_model import READ_AHEAD_BYTES
from kafkaviz.analyse.existing import existing
from kafkaviz.analyse.infer.version import GIVEN, OF_WORKLOAD, Assumed, assumed_version
from kafkaviz.analyse.restart import Log, stored
from kafkaviz.analyse.tuning import as_run
from kafkaviz.analyse.tuning.gathering import Gathering, joined
from kafkaviz.analyse.tuning.measured import SETTING, Measured, Today
from kafkaviz.analyse.unused import Unused, unused
from kafkaviz.config_def import Release
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.format import names
from kafkaviz.log import archive, file
from kafkaviz.log.broker import Broker, Problem, open_broker
from kafkaviz.log.metadata_log import Image
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.log.settings import Origin, Settings, Sourced, open_settings
from kafkaviz.search.profile import BASE_OFFSET
from kafkaviz.search.profile import profile as search_profile
from kafkaviz.simulate.config import IndexConfig, LogConfig, Profile, log_config, profile
from kafkaviz.simulate.incoming import Chunk
from kafkaviz.simulate.sending.workload import PRESETS
from kafkaviz.simulate.whole import replaying, simulation
from kafkaviz.simulate.whole.simulation import Plan
from kafkaviz.simulate.writing.refusals import AppendFailed
from kafkaviz.simulate.writing.writer import CannotLoad
from kafkaviz.simulate.writing.writer import Log as Writer

Watch = Callable[[str, float], None]  # the .log that is measured, and which share of it is done
# that end a segment
BROKERS = ("segment.bytes", "segment.index.bytes", "segment.ms", "segment.jitter.ms")
READ_SHARE = 0.75  # of the time that a .log takes
PARTITION, TOPIC, BROKER, LOG, WORKLOAD = "partition", "topic", "broker", "log", "workload"

Chunks = Callable[[], Iterable[Chunk]]


@dataclass(frozen=True)
class Case:
    """One topic, or what was given of it, or a workload.

    held: the entries that both indexes hold on disk, None where there are none to hold a replay
    against. index_files: the bytes that the index files look long, and that the disk gave them;
    None of a workload. logs: for a what-if replay, each log's appends without payload and its first
    offset; None where a .log was given alone.
    """

    name: str
    today: Today
    measured: Measured
    held: tuple[int, int] | None = None
    index_files: tuple[int, int] | None = None
    logs: tuple[tuple[Chunks, int], ...] | None = None
    is_leader: bool = True

    @property
    def replayed(self) -> tuple[int, int]:
        """The entries of both indexes that the sweep has at today's interval."""
        place = self.measured.parts.at(self.today.interval_bytes)
        return int(self.measured.parts.entries[place]), int(self.measured.parts.time_entries[place])

    @property
    def index_share(self) -> float:
        """Of the log, as both indexes are today."""
        now = self.measured.today(self.today.interval_bytes)
        return (
            int(now.parts.index_bytes[0]) / self.measured.log_bytes
            if self.measured.log_bytes
            else 0.0
        )

    def under(self, interval_bytes: int) -> Measured:
        """Its measures beside others of that interval: its indexes as they are if they have it,
        else as the replay has them.
        """
        is_own = self.today.interval_bytes == interval_bytes
        return (
            self.measured
            if is_own
            else replace(self.measured, held=self.measured.replayed(interval_bytes))
        )


@dataclass(frozen=True)
class Source:
    """Everything that a path or a workload's name stands for. kind: "partition", "topic", "broker",
    "log" or "workload".

    cases: a topic each, by name. metadata_left_out: whether KRaft's own log was there and is no
    case: its small batches need their index. unused: the segments that are not in use, which are in
    no case either. default: of a broker, the interval of topics that have none of their own; own:
    other settings of the broker's that its files tell, by the fields of LogConfig.
    """

    name: str
    kind: str
    version: str
    because: str
    cases: tuple[Case, ...]
    problems: tuple[Problem, ...] = ()
    metadata_left_out: bool = False
    unused: tuple[Unused, ...] = ()
    default: Sourced | None = None
    own: Mapping[str, int] = field(default_factory=dict)

    @property
    def of(self) -> Profile:
        """How the release writes."""
        return profile(versions.parse(self.version))

    @property
    def by_base_offset(self) -> bool:
        """Whether its scan reads one stretch of a header, as from 4.1 on."""
        return search_profile(self.version).scan == BASE_OFFSET

    @property
    def whole(self) -> Case:
        """All cases together: the one there is, or the sum over a broker's topics, as if all had
        the broker's interval.

        Of its other settings the largest of any topic's counts where no file of the broker's tells:
        an index must be safe for all.
        """
        if self.default is None:
            return self.cases[0]
        interval = int(self.default.value)
        measured = joined([case.under(interval) for case in self.cases])
        partitions = sum(case.today.partitions for case in self.cases)
        found: dict[str, Any] = {_field(name): self._largest(name) for name in BROKERS}
        found |= self.own
        config = LogConfig(**found, index_interval_bytes=interval)
        rooms = tuple(
            room
            for case in self.cases
            for room in case.today.partitions * (case.today.config.segment_index_bytes,)
        )
        is_coarse = any(
            case.today.is_coarse for case in self.cases if case.today.interval_bytes == interval
        )
        leaves_maps = any(case.today.leaves_maps for case in self.cases)
        today = Today(
            interval,
            self.default.source,
            config,
            partitions=partitions,
            is_coarse=is_coarse,
            rooms=rooms,
            leaves_maps=leaves_maps,
        )
        apparent, allocated = zip(*(case.index_files for case in self.cases), strict=True)
        return Case(self.name, today, measured, index_files=(sum(apparent), sum(allocated)))

    def _largest(self, name: str) -> int:
        """Of a setting over all topics; what rolls alone tell of one topic counts where nothing
        else is known of any.
        """
        known = [case.today for case in self.cases if name not in case.today.inferred] or [
            case.today for case in self.cases
        ]
        return max(getattr(one.config, _field(name)) for one in known)


def open_source(
    given: str | Path,
    version: str | None = None,
    typed: Mapping[str, str] | None = None,
    read_ahead_bytes: int = READ_AHEAD_BYTES,
    watch: Watch = lambda name, share: None,
) -> Source:
    """A path, or the name of a workload that comes along; CannotOpen, RefusedSetting, or
    KafkavizError of a workload's file.

    version: of Kafka, instead of what the directory's traces or the workload say. typed: settings
    by a topic's or a broker's name, over those that are found. watch: told of each .log before it
    is read, and again how far it is.
    """
    typed = dict(typed or {})
    if str(given) in PRESETS or str(given).endswith(".toml"):
        return _of_workload(str(given), version, typed, read_ahead_bytes)
    path, topic = _topic(Path(given))
    if topic is None and str(given) == path.name and not path.suffix and not path.exists():
        simulation.refuse_name(str(given))
    if (topic is None and names.parse_file(path.name)) or _is_one(path):
        return _of_partition(path, version, typed, read_ahead_bytes, watch)
    return _of_broker(open_broker(path), topic, version, typed, read_ahead_bytes, watch)


# ---- what was given


def _topic(path: Path) -> tuple[Path, str | None]:
    """(the broker directory, the topic) of BROKER/TOPIC, which is no directory itself; else (the
    path, None), unpacked if it lies in an archive.
    """
    path = file.absolute(path)
    if path.exists() or not path.parent.exists() or archive.is_archive(path):
        return path, None
    root = archive.opened(path.parent) if archive.is_archive(path.parent) else path.parent
    parsed = [names.parse_directory(one.name) for one in root.iterdir()] if root.is_dir() else []
    if any(one and one.topic == path.name for one in parsed):
        return path.parent, path.name
    return root / path.name if (root / path.name).exists() else path, None


def _is_one(path: Path) -> bool:
    """Whether a directory or an archive holds one partition's files."""
    if not path.exists():
        return False
    root = archive.opened(path) if archive.is_archive(path) else path
    return root.is_dir() and any(one.suffix == ".log" for one in root.iterdir())


def _of_partition(
    path: Path, version: str | None, typed: dict[str, str], read_ahead_bytes: int, watch: Watch
) -> Source:
    partition, base_offset = paths.open_segments(path)
    assumed = Assumed(versions.parse(version), GIVEN) if version else paths.assumed(path)
    told, release = version or assumed.text, assumed.version
    segments = [one for one in partition.live if base_offset in (None, one.base_offset)]
    if not segments:
        raise CannotOpen(partition.path, "holds no .log", kind="missing")
    logs = {partition.directory: [(partition, segments)]}
    cases, faults = _cases(
        logs, _settings(partition, release, typed), told, read_ahead_bytes, watch
    )
    if faults:
        raise faults[0]
    case = cases[0]
    if base_offset is not None:
        case = replace(case, logs=None)
        return Source(path.name, LOG, told, assumed.because, (case,))
    return Source(
        path.name,
        PARTITION,
        told,
        assumed.because,
        (case,),
        unused=_unused([partition], partition.topic),
    )


def _of_broker(
    broker: Broker,
    topic: str | None,
    version: str | None,
    typed: dict[str, str],
    read_ahead_bytes: int,
    watch: Watch,
) -> Source:
    assumed = assumed_version(broker, version)
    settings = open_settings(broker, assumed.version, typed)
    by_topic: dict[str, list] = {}
    for partition in broker.partitions:
        if partition.state == "current" and partition.live and topic in (None, partition.topic):
            by_topic.setdefault(partition.topic, []).append((partition, list(partition.live)))
    has_metadata = topic is None and by_topic.pop(names.METADATA_TOPIC, None) is not None
    if not by_topic:
        raise CannotOpen(broker.source, "holds no .log of a topic", kind="missing")
    default = settings.find("", SETTING) if topic is None else None
    cases, faults = _cases(
        by_topic,
        settings,
        assumed.text,
        read_ahead_bytes,
        watch,
        {int(default.value)} if default else set(),
    )
    problems = [*broker.problems, *(Problem.of(fault.path, fault) for fault in faults)]
    if not cases:
        raise CannotOpen(problems[-1].path, problems[-1].what)
    name, kind = (broker.source.name, BROKER) if topic is None else (topic, TOPIC)
    own: dict[str, Any] = {
        _field(one.name): one.value
        for one in (settings.find("", name) for name in BROKERS)
        if one.origin != Origin.DEFAULT
    }
    aside = _unused(broker.partitions, topic)
    return Source(
        name,
        kind,
        assumed.text,
        assumed.because,
        tuple(cases),
        tuple(problems),
        has_metadata,
        aside,
        default,
        own,
    )


def _unused(partitions: Sequence[Partition], topic: str | None) -> tuple[Unused, ...]:
    """Of a topic's, or of all."""
    return tuple(unused(one for one in partitions if topic in (None, one.topic)))


def _field(name: str) -> str:
    """A setting as LogConfig names it."""
    return name.replace(".", "_")


def _settings(partition: Partition, release: Release, typed: dict[str, str]) -> Settings:
    """Those of the broker directory around the partition, if it lies in one; else what was typed,
    and Kafka's defaults.
    """
    if not names.parse_directory(partition.directory):
        for name, text in typed.items():
            config_def.parse(name, text, release)
        return Settings(release, Image(), typed=typed)
    return open_settings(open_broker(partition.path), release, typed)


def _cases(
    by_name: Mapping[str, Sequence[as_run.Log]],
    settings: Settings,
    version: str,
    read_ahead_bytes: int,
    watch: Watch,
    also: Iterable[int] = (),
) -> tuple[list[Case], list[CannotOpen]]:
    """(a case of each topic that can be read, why others cannot).

    Each is swept at the interval of every one, which is known for sure once all was read: where a
    glimpse was wrong, all is read again.
    """
    intervals = {name: as_run.glimpse(logs, settings) for name, logs in by_name.items()}
    while True:
        cases, faults = [], []
        for name, logs in by_name.items():
            try:
                cases.append(
                    _case(
                        name,
                        logs,
                        settings,
                        version,
                        read_ahead_bytes,
                        watch,
                        intervals[name],
                        {*also, *intervals.values()},
                    )
                )
            except CannotOpen as fault:
                faults.append(fault)
        told = intervals | {case.name: case.today.interval_bytes for case in cases}
        if told == intervals:
            return cases, faults
        intervals = told


def _case(
    name: str,
    logs: Sequence[as_run.Log],
    settings: Settings,
    version: str,
    read_ahead_bytes: int,
    watch: Watch,
    looks_like: int,
    every: Collection[int],
) -> Case:
    """A topic, or the segments given of one. looks_like: the interval that its own are measured
    with, one of every that is swept.
    """
    topic, of = logs[0][0].topic, profile(versions.parse(version))
    known = {
        key: one
        for key, one in settings.of_topic(topic).items()
        if key in config_def.TOPIC_SETTINGS
    }
    limits = {
        key: value
        for key, value in as_run.limits(logs).items()
        if known[key].origin == Origin.DEFAULT
    }
    values = {key: one.value for key, one in known.items()} | limits
    config = log_config(values, settings.release)
    if settings.typed:
        _take(config, of, logs[0][0].directory)
    by_base_offset = search_profile(version).scan == BASE_OFFSET
    gathering, evidence = (
        Gathering(every, by_base_offset, read_ahead_bytes, of.per_append, held_bytes=looks_like),
        as_run.Evidence(logs),
    )
    for partition, segments in logs:
        for segment in segments:
            far = partial(watch, f"{partition.directory}/{segment.name}.log")
            far(0.0)
            indexes = (
                (segment.offset_index, segment.time_index)
                if segment.index and segment.timeindex
                else None
            )
            gathering.add(_chunks(segment, evidence, far), indexes, far)
    measured, (interval, source, is_coarse) = (
        gathering.measured(),
        as_run.interval(settings.find(topic, SETTING), evidence.bounds()),
    )
    config = replace(config, index_interval_bytes=interval)
    is_tiered = bool(values.get("remote.storage.enable"))
    is_coarse |= of.per_append and measured.held is not None and measured.held.gaps.is_coarse
    leaves_maps = not versions.INDEXES_UNMAPPED.of(versions.parse(version))
    inferred = tuple(sorted(limits))
    today = Today(
        interval,
        source,
        config,
        topic,
        len(logs),
        is_tiered,
        is_coarse,
        inferred=inferred,
        leaves_maps=leaves_maps,
    )
    logs_again = tuple(_replayable(partition, of) for partition, _ in logs)
    return Case(name, today, measured, _entries(logs), _index_files(logs), logs_again)


def _chunks(
    segment: Segment, evidence: as_run.Evidence, far: Callable[[float], None]
) -> Iterator[np.ndarray]:
    """The batches of the .log, array by array; evidence is given them too, and far is told which
    share of the work that is.
    """
    for batches in segment.whole_scan():
        evidence.take(segment, batches)
        yield batches
        far(
            READ_SHARE
            * int(batches["position"][-1] + batches["size_bytes"][-1])
            / existing(segment.log).size_bytes
        )


def _take(config: LogConfig, of: Profile, directory: str) -> None:
    """KafkavizError with Kafka's exception where no log can be made with settings that somebody
    typed.
    """
    try:
        Writer(config, of, now_ms=0)
    except CannotLoad as refused:
        raise KafkavizError(f"{directory}: {refused.raised}") from None


def _entries(logs: Sequence[as_run.Log]) -> tuple[int, int] | None:
    """How many both indexes hold; None where a segment lacks one."""
    segments = [one for _, own in logs for one in own]
    if not all(one.index and one.timeindex for one in segments):
        return None
    return sum(len(one.offset_index) for one in segments), sum(
        len(one.time_index) for one in segments
    )


def _index_files(logs: Sequence[as_run.Log]) -> tuple[int, int]:
    """(apparent bytes, allocated bytes) of every .index and .timeindex."""
    files = [
        one
        for _, segments in logs
        for segment in segments
        for one in (segment.index, segment.timeindex)
        if one
    ]
    return sum(one.size_bytes for one in files), sum(one.allocated_bytes for one in files)


def _replayable(partition: Partition, of: Profile) -> tuple[Chunks, int]:
    log = stored(Log(partition, IndexConfig()))
    return lambda: replaying.chunks(log, of, payload=False), replaying.start_offset(log)


# ---- a workload


def _of_workload(
    given: str, version: str | None, typed: dict[str, str], read_ahead_bytes: int
) -> Source:
    """The log that the workload's batches become with its settings; the sweep holds its
    segments.
    """
    workload = simulation.opened(given, version, typed)
    plan = simulation.of_workload(workload, typed, None, version)
    text = version or workload.kafka_version
    is_typed = any(config_def.setting(name).name == SETTING for name in typed)
    is_own = SETTING in dict(workload.settings)
    source = (
        f"{SETTING}, "
        f"{'as typed' if is_typed else 'of the workload' if is_own else f'default of Kafka {text}'}"
    )
    by_base_offset = search_profile(text).scan == BASE_OFFSET
    per_append = plan.of.per_append
    gathering = Gathering(
        {plan.config.index_interval_bytes},
        by_base_offset,
        read_ahead_bytes,
        per_append,
        by_append=per_append,
    )
    for segment in segments_of(plan):
        gathering.add(segment)
    is_coarse = plan.of.per_append and not plan.is_leader
    today = Today(
        plan.config.index_interval_bytes, source, plan.config, workload.topic, is_coarse=is_coarse
    )
    because = GIVEN if version else OF_WORKLOAD
    logs = ((_without_payload(plan), plan.start_offset),)
    case = Case(
        workload.directory, today, gathering.measured(), logs=logs, is_leader=plan.is_leader
    )
    return Source(given, WORKLOAD, text, because, (case,))


def _without_payload(plan: Plan) -> Chunks:
    # nothing is written: the bytes are made, and dropped
    return lambda: (Chunk(chunk.rows) for chunk in plan.chunks())


def segments_of(plan: Plan) -> Iterator[Iterable[np.ndarray]]:
    """Of each segment that a plan makes the batches, array by array (incoming.INCOMING), to be
    taken before the next segment's.

    KafkavizError with Kafka's exception where it takes one so.
    """
    yield from (
        (rows for _, rows in pieces) for _, pieces in groupby(_pieces(plan), key=itemgetter(0))
    )


def _pieces(plan: Plan) -> Iterator[tuple[int, np.ndarray]]:
    """(the number of the segment, some of its batches)."""
    try:
        log = Writer(
            plan.config,
            plan.of,
            now_ms=plan.start_ms,
            start_offset=plan.start_offset,
            seed=plan.seed,
            is_leader=plan.is_leader,
        )
    except CannotLoad as refused:
        raise KafkavizError(f"{plan.directory}: {refused.raised}") from None
    number = 0
    for chunk in plan.chunks():
        rows = chunk.rows.copy()
        try:
            log.append(rows)
        except AppendFailed as failed:
            raise KafkavizError(
                f"{plan.directory}, append {failed.append}: {failed.raised}"
            ) from None
        first, *others = np.split(rows, np.flatnonzero(rows["position"] == 0))
        if len(first):
            yield number, first
        for piece in others:
            number += 1
            yield number, piece
