"""What the next start of a broker will do to a directory on disk: simulate.restart, told of what lies there."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from kafkaviz.config_def import Release
from kafkaviz.format import names
from kafkaviz.log import file
from kafkaviz.log.broker import Broker
from kafkaviz.log.file import FileInfo
from kafkaviz.log.partition import Offsets, Partition
from kafkaviz.simulate.config import IndexConfig, profile
from kafkaviz.simulate.loading import Watch
from kafkaviz.simulate.restart import Restart, Step, restart
from kafkaviz.simulate.stored import StoredFile, StoredLog

__all__ = ["Restart", "Settings", "Step", "foretell", "foretell_partition"]

NEWEST: Release = (4, 3, 1)
NO_PARTITIONS = {"remote-log-index-cache"}  # the cache of tiered storage, which LogManager passes over

Settings = Callable[[Partition], IndexConfig]


def defaults(_: Partition) -> IndexConfig:
    """Kafka's own settings, for every partition."""
    return IndexConfig()


def foretell(broker: Broker, settings: Settings = defaults, release: Release = NEWEST, watch: Watch | None = None) -> Restart:
    """What a start does to a whole broker directory; nothing in it is changed.

    settings: what each partition's log is run with. watch(directory, base offset, Recovered) is told of each recovered segment.
    Reads the .log files of the segments that would be recovered, of others little. CannotOpen where a file may not be read.
    """
    logs = (stored(broker, partition, settings(partition)) for partition in broker.partitions)
    return restart(logs, broker.clean, profile(release), strange_directories(broker.path), watch)


def foretell_partition(
    broker: Broker, partition: Partition, config: IndexConfig | None = None, release: Release = NEWEST, watch: Watch | None = None
) -> Restart:
    """The same of one partition directory: starts speaks for it alone."""
    return restart([stored(broker, partition, config or IndexConfig())], broker.clean, profile(release), watch=watch)


def stored(broker: Broker, partition: Partition, config: IndexConfig) -> StoredLog:
    """A partition directory as plain values, its files opened when they are read."""
    found = [*(one for segment in partition.segments for one in segment.files), *partition.others]
    known = _checkpoints(broker, partition)
    files = tuple(_stored_file(one) for one in found)
    return StoredLog(partition.directory, files, config, known.recovery_point or 0, known.log_start or 0)


def strange_directories(root: Path) -> Iterator[str]:
    """Directories that LogManager takes for partitions though their names are none; it refuses to start on them."""
    with file.failing_kindly(root), os.scandir(root) as entries:
        found = sorted(entry.name for entry in entries if entry.is_dir())
    yield from (name for name in found if name not in NO_PARTITIONS and not names.parse_directory(name))


def _checkpoints(broker: Broker, partition: Partition) -> Offsets:
    """What the checkpoints say of a partition; of a renamed directory they say the same as of the current one."""
    same = (one for one in broker.partitions if one.state == "current" and one.label == partition.label)
    return partition.checkpoints if partition.state == "current" else next((one.checkpoints for one in same), Offsets())


def _stored_file(found: FileInfo) -> StoredFile:
    return StoredFile(found.name, found.size_bytes, lambda: file.reader(found.path), found.mtime_ns // 1_000_000)
