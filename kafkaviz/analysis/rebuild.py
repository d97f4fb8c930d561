"""Rebuilds a log's indexes, or replays the log: appends its batches to a simulated log."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from kafkaviz import config_def
from kafkaviz.analysis import roll_history
from kafkaviz.analysis.cost.cost_model import FILES_PER_SEGMENT, MAPS_PER_SEGMENT
from kafkaviz.analysis.inferred_settings import inferred_limits, roll_reasons
from kafkaviz.analysis.opened_path import OpenedPath
from kafkaviz.analysis.restart.next_start import RestartLog, stored_log
from kafkaviz.analysis.roll_history import segment_facts
from kafkaviz.binary.file_view import FileView
from kafkaviz.config_def import Value
from kafkaviz.errors import CannotOpen, KafkavizError, RefusedSetting
from kafkaviz.format import names, offset_index, time_index
from kafkaviz.log.partition import Partition
from kafkaviz.log.settings import SettingValue
from kafkaviz.messages import message, verbatim
from kafkaviz.simulate.appends import AppendChunk
from kafkaviz.simulate.config import IndexConfig, LogConfig, ReleaseBehaviour, release_behaviour
from kafkaviz.simulate.directory.simulation import Simulated
from kafkaviz.simulate.startup.index_rebuild import RebuildRefusal, RebuiltSegment, rebuild
from kafkaviz.simulate.startup.partition_directory import INDEXES
from kafkaviz.simulate.steps import StoredLog
from kafkaviz.simulate.writer.refusals import AppendFailed
from kafkaviz.simulate.writer.roll_reason import RollCause
from kafkaviz.simulate.writer.writer import CannotLoad, UnifiedLog
from kafkaviz.versions import Release

SETTINGS = ("index.interval.bytes", "segment.index.bytes")


@dataclass(frozen=True)
class RebuildSource:
    """The segments whose indexes are rebuilt, and their settings."""

    partition: Partition
    base_offsets: tuple[int, ...]  # the base offsets of all segments, or only of the given .log
    release: Release  # the Kafka release that rebuilds the indexes
    settings: tuple[SettingValue, ...]  # the values of SETTINGS, each with its source
    assumed_settings: tuple[str, ...] = ()  # the settings for which Kafka's default is assumed

    def rebuild_segments(self) -> Iterator[RebuiltSegment]:
        """Yields each segment as `release` leaves it after a recovery and a clean shutdown.

        Raises:
            CannotOpen: recovery ends with an exception.
        """
        config = IndexConfig(*(int(setting.value) for setting in self.settings))
        try:
            log = stored_log(RestartLog(partition=self.partition, config=config))
            yield from rebuild(log, self.base_offsets, release_behaviour(self.release))
        except RebuildRefusal as refusal:
            what = verbatim(str(refusal.exception))
            raise CannotOpen(refusal.file, what, refusal.consequence) from None

    def roll_reasons(self, rebuilt_segments: Sequence[RebuiltSegment]) -> list[RollCause | None]:
        """Returns why each segment was rolled. None: no known cause fits."""
        live = self.partition.live
        if len(self.base_offsets) != len(live):
            return [roll_history.roll_reason(self.partition, base) for base in self.base_offsets]
        facts = []
        try:
            for segment, rebuilt_segment in zip(live, rebuilt_segments, strict=True):
                recovered_segment = rebuilt_segment.recovered_segment
                rebuilt_facts = replace(
                    segment_facts(segment),
                    log_bytes=recovered_segment.valid_bytes,
                    max_timestamp_ms=recovered_segment.max_timestamp_ms,
                    offset_entries=len(recovered_segment.offset_entries),
                    time_entries=len(recovered_segment.time_entries),
                )
                facts.append(rebuilt_facts)
        except KafkavizError:
            return [None] * len(rebuilt_segments)
        return roll_reasons(facts)


def open_rebuild_source(opened: OpenedPath, overrides: Mapping[str, str]) -> RebuildSource:
    """Returns the segments at a path that `open_log_path` has opened.

    Args:
        overrides: the user's settings, by the name of the topic or broker setting.

    Raises:
        RefusedSetting: a setting does not affect indexes, or Kafka refuses its value.
        CannotOpen: the .log does not exist any more.
    """
    for name, text in overrides.items():
        if config_def.setting(name).name not in SETTINGS:
            raise RefusedSetting(name, text, message("errors.indexes_depend_on", names=SETTINGS))
        config_def.parse(name, text, opened.release)
    partition = opened.partition
    base_offsets = tuple(segment.base_offset for segment in partition.live)
    if opened.base_offset is not None:
        # a broker may have renamed the .log since the path was checked
        if opened.base_offset not in base_offsets:
            what = message("errors.not_there")
            raise CannotOpen(opened.path, what, message("errors.moved_or_removed"), kind="missing")
        base_offsets = (opened.base_offset,)
    settings = opened.open_settings(overrides)
    values = [settings.find(partition.topic, name) for name in SETTINGS]
    return RebuildSource(
        partition=partition,
        base_offsets=base_offsets,
        release=opened.release,
        settings=tuple(value.or_default(opened.release) for value in values),
        assumed_settings=tuple(value.name for value in values if not value.is_known),
    )


@dataclass(frozen=True)
class ReplaySource:
    """A log to replay, and its settings."""

    log: StoredLog
    settings: Mapping[str, Value]  # known and inferred settings, by the name of the topic setting
    # the settings that were inferred from the ends of segments
    inferred_settings: Mapping[str, Value]
    inputs: tuple[Path, ...]


def open_replay_source(opened: OpenedPath) -> ReplaySource:
    """Returns the log in a partition directory or in an archive of one.

    Raises:
        CannotOpen: the path is something else.
    """
    partition = opened.partition
    if opened.base_offset is not None:
        what = message("errors.is_a_log")
        advice = message("errors.give_its_partition_directory")
        raise CannotOpen(opened.path, what, advice, kind="not-kafka")
    # the replay writes a directory of the same name, so it must be one that Kafka accepts
    if not names.parse_directory(partition.directory):
        what = message("errors.no_partition_name")
        advice = message("errors.give_copy_a_name")
        raise CannotOpen(partition.path, what, advice, kind="not-kafka")
    topic_settings = opened.open_settings({}).topic_settings(partition.topic)
    known_settings = {
        name: setting.value
        for name, setting in topic_settings.items()
        if setting.is_given and name in config_def.TOPIC_SETTINGS
    }
    inferred_settings = {
        name: value
        for name, value in _inferred_settings(partition).items()
        if name not in known_settings
    }
    log = stored_log(RestartLog(partition=partition, config=IndexConfig()))
    settings = known_settings | inferred_settings
    return ReplaySource(log, settings, inferred_settings, (partition.path,))


def _inferred_settings(partition: Partition) -> dict[str, Value]:
    """Infers segment.bytes, segment.ms and segment.index.bytes from where segments ended.

    Returns an empty dictionary if the segments cannot be read.
    """
    try:
        facts = [segment_facts(segment) for segment in partition.live]
    except KafkavizError:
        return {}
    limits = inferred_limits(facts, roll_reasons(facts))
    return {name: limit.value for name, limit in limits.items()}


@dataclass(frozen=True)
class IndexFileDiff:
    """Where an index file differs from the file that a replay writes."""

    name: str
    from_position: int | None  # the first byte that differs; None: the files are equal


def diff_indexes(source: ReplaySource, simulated: Simulated) -> list[IndexFileDiff]:
    """Compares the indexes of each segment with those that a replay writes.

    Zeros at the end of a file are ignored. An index that the replay does not write is compared as
    an empty file.
    """
    replayed_files = {file.name.rpartition("/")[2]: file for file in simulated.files}
    diffs = []
    for copied_file in source.log.files:
        name = names.parse_file(copied_file.name)
        if name and name.kind in INDEXES and not name.suffix:
            replayed_file = replayed_files.get(copied_file.name)
            position = _first_difference(copied_file, replayed_file)
            diffs.append(IndexFileDiff(copied_file.name, position))
    return diffs


def _first_difference(copied_file: FileView, replayed_file: FileView | None) -> int | None:
    copied_bytes = copied_file.content().rstrip(b"\0")
    replayed_bytes = replayed_file.content().rstrip(b"\0") if replayed_file else b""
    if copied_bytes == replayed_bytes:
        return None
    common_bytes = min(len(copied_bytes), len(replayed_bytes))
    is_different = np.not_equal(
        np.frombuffer(copied_bytes, np.uint8, common_bytes),
        np.frombuffer(replayed_bytes, np.uint8, common_bytes),
    )
    return int(np.argmax(is_different)) if is_different.any() else common_bytes


@dataclass(frozen=True, kw_only=True)
class WhatIf:
    """The result of a replay with some settings."""

    config: LogConfig
    segments: int
    rolls: Mapping[str, int]  # the number of rolls by cause. The last segment is not rolled.
    log_bytes: int
    offset_entries: int
    time_entries: int

    @property
    def index_bytes(self) -> int:
        return (
            self.offset_entries * offset_index.ENTRY.itemsize
            + self.time_entries * time_index.ENTRY.itemsize
        )

    @property
    def maps(self) -> int:
        """The number of memory-mapped files when all indexes are loaded."""
        return MAPS_PER_SEGMENT * self.segments

    @property
    def files(self) -> int:
        return FILES_PER_SEGMENT * self.segments


def replay(
    chunks: Iterable[AppendChunk],
    config: LogConfig,
    behaviour: ReleaseBehaviour,
    start_offset: int = 0,
    *,
    is_leader: bool = True,
) -> WhatIf:
    """Appends each batch at the time in its row, closes the log, and returns the result.

    Raises:
        KafkavizError: an append fails. The message has Kafka's exception.
    """
    log = None
    now_ms = 0
    try:
        for chunk in chunks:
            if len(chunk.rows):
                now_ms = int(chunk.rows["now_ms"][0]) if log is None else now_ms
                log = log or UnifiedLog(
                    config, behaviour, now_ms=now_ms, start_offset=start_offset, is_leader=is_leader
                )
                log.append(chunk.rows.copy())
                now_ms = int(chunk.rows["now_ms"][-1])
    except (AppendFailed, CannotLoad) as failure:
        raise KafkavizError(message("errors.kafka_ends_in", exception=str(failure))) from None
    log = log or UnifiedLog(config, behaviour, now_ms=0, start_offset=start_offset)
    log.close(now_ms)
    segments = log.segments
    reasons = [segment.roll_reason for segment in segments if segment.roll_reason]
    return WhatIf(
        config=config,
        segments=len(segments),
        rolls=dict(Counter(str(reason.cause) for reason in reasons)),
        log_bytes=sum(segment.log_bytes for segment in segments),
        offset_entries=sum(segment.index.count for segment in segments),
        time_entries=sum(segment.timeindex.count for segment in segments),
    )


def compare(
    logs: Sequence[tuple[Callable[[], Iterable[AppendChunk]], int]],
    config: LogConfig,
    changed_settings: Mapping[str, Value],
    behaviour: ReleaseBehaviour,
    *,
    is_leader: bool = True,
) -> tuple[WhatIf, WhatIf]:
    """Replays all logs with `config`, then with changed settings. Returns both results.

    Each result is the sum of all logs.

    Args:
        logs: a pair per log: a function that returns the appends, and the log's first offset.
        changed_settings: the changed values, by the field names of LogConfig.
    """
    changed_config = replace(config, **changed_settings)

    def replay_all(log_config: LogConfig) -> WhatIf:
        outcomes = [
            replay(chunks(), log_config, behaviour, start, is_leader=is_leader)
            for chunks, start in logs
        ]
        rolls: Counter[str] = Counter()
        for outcome in outcomes:
            rolls.update(outcome.rolls)
        return WhatIf(
            config=log_config,
            segments=sum(outcome.segments for outcome in outcomes),
            rolls=dict(rolls),
            log_bytes=sum(outcome.log_bytes for outcome in outcomes),
            offset_entries=sum(outcome.offset_entries for outcome in outcomes),
            time_entries=sum(outcome.time_entries for outcome in outcomes),
        )

    return replay_all(config), replay_all(changed_config)
