"""The input of an index rebuild (partition, segments and settings), and its results."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kafkaviz import config_def
from kafkaviz.analysis.inference import roll_reasons
from kafkaviz.analysis.lookup import paths
from kafkaviz.analysis.restart.next_start import RestartLog, stored_log
from kafkaviz.analysis.rolls import roll_inference
from kafkaviz.errors import CannotOpen, KafkavizError, RefusedSetting
from kafkaviz.format import names
from kafkaviz.log.broker import Broker, open_broker
from kafkaviz.log.metadata_log import MetadataImage
from kafkaviz.log.partition import Partition
from kafkaviz.log.settings import Settings, SettingValue, open_settings
from kafkaviz.messages import message, verbatim
from kafkaviz.roll_cause import RollCause
from kafkaviz.simulate.config import IndexConfig, release_behaviour
from kafkaviz.simulate.startup.index_rebuild import RebuildRefusal, RebuiltSegment, rebuild
from kafkaviz.simulate.stored_log import StoredLog
from kafkaviz.versions import Release

SETTINGS = ("index.interval.bytes", "segment.index.bytes")


@dataclass(frozen=True)
class RebuildSource:
    """The segments to rebuild and their settings.

    Attributes:
        base_offsets: the base offsets of all segments, or of the one .log given.
        settings: the two SETTINGS, each with its source.
        assumed_settings: the names of those with Kafka's default because they are unknown.
    """

    partition: Partition
    base_offsets: tuple[int, ...]
    settings: tuple[SettingValue, ...]
    assumed_settings: tuple[str, ...] = ()

    def stored_log(self) -> StoredLog:
        return stored_log(
            RestartLog(
                partition=self.partition,
                config=IndexConfig(*(int(setting.value) for setting in self.settings)),
            )
        )

    def rebuild_segments(self, release: Release) -> Iterator[RebuiltSegment]:
        """Yields each segment as a release recovers and closes it.

        Raises:
            CannotOpen: recovery ends in an exception.
        """
        try:
            yield from rebuild(self.stored_log(), self.base_offsets, release_behaviour(release))
        except RebuildRefusal as refusal:
            raise CannotOpen(
                refusal.file, verbatim(str(refusal.exception)), refusal.consequence
            ) from None

    def roll_reasons(self, rebuilt_segments: Sequence[RebuiltSegment]) -> list[RollCause | None]:
        """Returns the cause of each rebuilt segment's roll, or None if no cause is seen."""
        try:
            if len(self.base_offsets) != len(self.partition.live):
                return [
                    roll_inference.roll_reason(self.partition, base) for base in self.base_offsets
                ]
            return roll_reasons(
                [
                    replace(
                        roll_inference.segment_facts(segment),
                        log_bytes=rebuilt_segment.recovered_segment.valid_bytes,
                        max_timestamp_ms=rebuilt_segment.recovered_segment.max_timestamp_ms,
                        offset_entries=len(rebuilt_segment.recovered_segment.offset_entries),
                        time_entries=len(rebuilt_segment.recovered_segment.time_entries),
                    )
                    for segment, rebuilt_segment in zip(
                        self.partition.live, rebuilt_segments, strict=True
                    )
                ]
            )
        except KafkavizError:
            return [None] * len(rebuilt_segments)


def open_rebuild_source(
    path: Path,
    release: Release,
    overrides: Mapping[str, str],
    broker: Broker | None = None,
) -> RebuildSource:
    """Returns the segments of a partition directory, an archive of one, or a .log.

    Args:
        overrides: settings that the user gave, by the name of the topic or broker setting.
        broker: the same as for `find_settings`.

    Raises:
        RefusedSetting: no index depends on a setting, or Kafka refuses its value.
        CannotOpen: the path is not one of these.
    """
    for name, text in overrides.items():
        if config_def.setting(name).name not in SETTINGS:
            raise RefusedSetting(name, text, message("errors.indexes_depend_on", names=SETTINGS))
        config_def.parse(name, text, release)
    partition, base_offset = paths.open_segments(path)
    if not partition.live:
        raise CannotOpen(partition.path, message("errors.holds_no_log"), kind="missing")
    settings = find_settings(partition, release, overrides, broker)
    live = tuple(live_segment.base_offset for live_segment in partition.live)
    # a broker may have renamed the .log since the path was checked
    if base_offset is not None and base_offset not in live:
        raise CannotOpen(
            path, message("errors.not_there"), message("errors.moved_or_removed"), kind="missing"
        )
    base_offsets = live if base_offset is None else (base_offset,)
    values = [settings.find(partition.topic, name) for name in SETTINGS]
    return RebuildSource(
        partition,
        base_offsets,
        tuple(value.or_default(release) for value in values),
        tuple(value.name for value in values if not value.is_known),
    )


def find_settings(
    partition: Partition,
    release: Release,
    overrides: Mapping[str, str],
    broker: Broker | None = None,
) -> Settings:
    """Returns the settings of the broker directory that contains the partition.

    Without one they are the overrides and Kafka's defaults.

    Args:
        broker: the broker with all of its log directories that were opened; by default the log
            directory of the partition.
    """
    if not names.parse_directory(partition.directory):
        return Settings(release=release, image=MetadataImage(), overrides=dict(overrides))
    return open_settings(broker or open_broker(partition.path), release, overrides)
