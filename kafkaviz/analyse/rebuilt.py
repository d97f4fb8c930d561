"""Indexes built anew: what that starts from (the partition, which of its segments, the settings its
log is run with), and what it gives.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kafkaviz import config_def
from kafkaviz.analyse import paths, rolled
from kafkaviz.analyse.infer import roll_reasons
from kafkaviz.analyse.restart import Log, stored
from kafkaviz.config_def import Release
from kafkaviz.errors import CannotOpen, KafkavizError, RefusedSetting
from kafkaviz.format import names
from kafkaviz.log.broker import open_broker
from kafkaviz.log.metadata_log import Image
from kafkaviz.log.partition import Partition
from kafkaviz.log.settings import Settings, Sourced, open_settings
from kafkaviz.simulate.config import IndexConfig, profile
from kafkaviz.simulate.starting.rebuilding import Rebuilt, Refused, rebuild
from kafkaviz.simulate.stored import StoredLog

SETTINGS = ("index.interval.bytes", "segment.index.bytes")


@dataclass(frozen=True)
class Source:
    """What is built anew.

    base_offsets: of the segments, those of all or that of the one .log. settings: the two of
    SETTINGS, with where each came from.
    """

    partition: Partition
    base_offsets: tuple[int, ...]
    settings: tuple[Sourced, ...]

    def log(self) -> StoredLog:
        """The partition directory as plain values."""
        return stored(Log(self.partition, IndexConfig(*(int(one.value) for one in self.settings))))

    def rebuilt(self, release: Release) -> Iterator[Rebuilt]:
        """Each segment as a release recovers and closes it.

        Raises CannotOpen, in Kafka's words, where recovery ends in an exception.
        """
        try:
            yield from rebuild(self.log(), self.base_offsets, profile(release))
        except Refused as refused:
            raise CannotOpen(refused.file, str(refused.raised), refused.then) from None

    def roll_reasons(self, built: Sequence[Rebuilt]) -> list[str | None]:
        """Why each rebuilt segment was rolled, as infer.roll_reasons words it; None where none is
        seen.
        """
        try:
            if len(self.base_offsets) != len(self.partition.live):
                return [rolled.roll_reason(self.partition, base) for base in self.base_offsets]
            return roll_reasons(
                [
                    replace(
                        rolled.glance(segment),
                        log_bytes=one.found.valid_bytes,
                        max_timestamp_ms=one.found.max_timestamp_ms,
                        offset_entries=len(one.found.offset_entries),
                        time_entries=len(one.found.time_entries),
                    )
                    for segment, one in zip(self.partition.live, built, strict=True)
                ]
            )
        except KafkavizError:
            return [None] * len(built)


def open_source(path: Path, release: Release, typed: Mapping[str, str]) -> Source:
    """The segments of a partition directory, an archive of one, or a .log.

    typed: settings by a topic's or a broker's name, as a person gave them; RefusedSetting for one
    that no index depends on, or whose value Kafka refuses. CannotOpen for a path that is none of
    these.
    """
    for name, text in typed.items():
        if config_def.setting(name).name not in SETTINGS:
            raise RefusedSetting(
                name, text, f"the indexes depend on {' and '.join(SETTINGS)} alone"
            )
        config_def.parse(name, text, release)
    partition, base_offset = paths.open_segments(path)
    if not partition.live:
        raise CannotOpen(partition.path, "holds no .log", kind="missing")
    settings = settings_around(partition, release, typed)
    live = tuple(one.base_offset for one in partition.live)
    # a broker has renamed it since the path was looked at
    if base_offset is not None and base_offset not in live:
        raise CannotOpen(path, "is not there", "it was moved or removed", kind="missing")
    bases = live if base_offset is None else (base_offset,)
    return Source(
        partition, bases, tuple(settings.find(partition.topic, name) for name in SETTINGS)
    )


def settings_around(partition: Partition, release: Release, typed: Mapping[str, str]) -> Settings:
    """Those of the broker directory around the partition, if it lies in one; else what was typed,
    and Kafka's defaults.
    """
    if not names.parse_directory(partition.directory):
        return Settings(release, Image(), typed=dict(typed))
    return open_settings(open_broker(partition.path), release, typed)
