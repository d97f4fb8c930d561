"""What a replay of a log on disk starts from: its files, and the settings that it was run with."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kafkaviz import config_def
from kafkaviz.analyse import lookup_paths
from kafkaviz.analyse.rebuilt import Source, settings_around
from kafkaviz.analyse.restart import Log, stored
from kafkaviz.config_def import Release, Value
from kafkaviz.errors import CannotOpen
from kafkaviz.log.settings import Origin
from kafkaviz.simulate.config import IndexConfig
from kafkaviz.simulate.stored import StoredLog


@dataclass(frozen=True)
class Replayed:
    """A partition directory as plain values. settings: by topic name, those that are not defaults.

    inputs: the directories that nothing is written into.
    """

    log: StoredLog
    settings: Mapping[str, Value]
    inputs: tuple[Path, ...]


def open_replayed(path: Path, release: Release) -> Replayed:
    """The log of a partition directory, or of an archive of one; CannotOpen for any other path."""
    partition, base_offset = lookup_paths.open_segments(path)
    if base_offset is not None:
        raise CannotOpen(path, "is a .log", "give its partition directory", kind="not-kafka")
    if not partition.live:
        raise CannotOpen(partition.path, "holds no .log", kind="missing")
    found = settings_around(partition, release, {}).of_topic(partition.topic)
    settings = {name: one.value for name, one in found.items() if one.origin != Origin.DEFAULT and name in config_def.TOPIC_SETTINGS}
    return Replayed(stored(Log(partition, IndexConfig())), settings, (Source(partition, (), ()).root, partition.path))
