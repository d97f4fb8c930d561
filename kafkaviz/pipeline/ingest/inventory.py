"""What lies in the directories now.

Their segments by name, size and time, to be compared with what a catalog was read from.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

from kafkaviz.errors import CannotOpen
from kafkaviz.format import names
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.format.names import SERVER_PROPERTIES
from kafkaviz.log import file
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import OWN_FILES, Broker, Problem, open_root
from kafkaviz.log.file import FileInfo, info
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.pipeline.catalog.catalog import Catalog
from kafkaviz.pipeline.catalog.catalog_info import CatalogSource, Stamp, version
from kafkaviz.pipeline.catalog.stamps import StampRow, StoredDirectory, StoredSegment
from kafkaviz.units import replace_surrogates

SMALL_FILES = (*(name for name in OWN_FILES if name != names.LOCK), SERVER_PROPERTIES)


@dataclass(frozen=True)
class InventoryEntry:
    """A segment as it lies there now.

    Attributes:
        number: of the segment in its inventory.
        stored: how a catalog would name it, before anything was read.
    """

    number: int
    broker: str
    partition: Partition
    segment: Segment
    stored: StoredSegment


@dataclass(frozen=True)
class PartitionEntries:
    """A partition directory as it lies there now, and its segments.

    Attributes:
        number: of the directory in its inventory.
        stored: how a catalog would name its other files.
    """

    number: int
    broker: str
    partition: Partition
    segments: tuple[InventoryEntry, ...]
    stored: StoredDirectory


@dataclass(frozen=True)
class Inventory:
    """Every segment of some broker directories, in the order of their names.

    It is gone through partition by partition, as often as is needed: see
    partition_spool.PartitionSpool.
    """

    sources: tuple[CatalogSource, ...]
    brokers: tuple[tuple[str, Broker], ...]  # each with its name, in the order of the sources
    problems: tuple[Problem, ...]

    @property
    def partitions(self) -> Iterator[tuple[str, Partition]]:
        """Each partition directory, with its broker's name."""
        return (
            (name, partition) for name, broker in self.brokers for partition in broker.partitions
        )

    @property
    def entries(self) -> Iterator[PartitionEntries]:
        """Each partition directory with its segments, numbered from 0."""
        first = 0
        for number, (name, partition) in enumerate(self.partitions):
            yield _build_entries(number, first, name, partition)
            first += len(partition.segments)

    def entries_at(self, first_segments: Mapping[int, int]) -> Iterator[PartitionEntries]:
        """Some of the partition directories.

        Args:
            first_segments: by the number of each, the number of its first segment.
        """
        first_number = 0
        for name, broker in self.brokers:
            for place in range(len(broker.partitions)):
                first = first_segments.get(number := first_number + place)
                if first is not None:
                    yield _build_entries(number, first, name, broker.partitions[place])
            first_number += len(broker.partitions)

    @property
    def segment_count(self) -> int:
        """How many segments there are."""
        return sum(len(partition.segments) for _, partition in self.partitions)

    @property
    def segments(self) -> Iterator[InventoryEntry]:
        """Every segment."""
        return (entry for partition in self.entries for entry in partition.segments)

    def is_in(self, catalog: Catalog, level: CheckLevel | None = None) -> bool:
        """Whether the catalog was read from exactly this.

        Where checks of a level are asked for, also whether it was checked so.
        """
        old = catalog.info
        if level and not all(
            source.checked and source.checked.level == level for source in old.sources
        ):
            return False
        if self.sources != old.sources or old.kafkaviz != version():
            return False
        try:
            return all(
                stored is not None and item is not None and _is_unchanged(item, stored)
                for item, stored in zip_longest(self._items(), catalog.stamps())
            )
        except CannotOpen:
            return False

    def _items(self) -> Iterator[PartitionEntries | InventoryEntry]:
        """What table stamps has a row of, in its order."""
        for partition in self.entries:
            yield partition
            yield from partition.segments


def inventory(brokers: Iterable[Broker]) -> Inventory:
    """The partitions and segments of these directories."""
    brokers = _merge_by_path(brokers)
    broker_names = _names(brokers)
    named_brokers = tuple(zip(broker_names, brokers, strict=True))
    return Inventory(
        tuple(_build_source(name, broker) for name, broker in named_brokers),
        named_brokers,
        tuple(problem for broker in brokers for problem in broker.problems),
    )


def _merge_by_path(brokers: Iterable[Broker]) -> list[Broker]:
    """Each directory once.

    Partition directories given one by one become one broker with them all.
    """
    by_path: dict[Path, Broker] = {}
    for broker in brokers:
        path = broker.path.resolve()
        if earlier := by_path.get(path):
            partitions = {
                partition.directory: partition
                for partition in (*earlier.partitions, *broker.partitions)
            }
            broker = replace(
                earlier, partitions=tuple(partitions[name] for name in sorted(partitions))
            )
        by_path[path] = broker
    return [by_path[path] for path in sorted(by_path)]


def _names(brokers: list[Broker]) -> list[str]:
    """The folder of each, or the archive's name without its suffix.

    As many folders above it as distinguish all.

    As text that tables can hold, see units.replace_surrogates; where that alone no longer
    distinguishes two, bytes that are no UTF-8 are written out.
    """
    paths = [
        broker.source.with_name(archive.stem(broker.source)) if _is_packed(broker) else broker.path
        for broker in brokers
    ]
    for length in range(1, max((len(path.parts) for path in paths), default=0) + 1):
        names = [replace_surrogates("/".join(path.parts[-length:])) for path in paths]
        if len(set(names)) == len(names):
            return names
    return [str(path).encode("utf-8", "backslashreplace").decode() for path in paths]


def _is_packed(broker: Broker) -> bool:
    return archive.is_archive(broker.source) and broker.source.is_file()


def _build_source(name: str, broker: Broker) -> CatalogSource:
    return CatalogSource(
        broker=name,
        path=broker.path.resolve(),
        given=broker.source,
        node_id=broker.node_id,
        cluster_id=broker.cluster_id,
        directories=tuple(partition.directory for partition in broker.partitions),
        files=dict(_files(broker)),
    )


def _files(broker: Broker) -> Iterator[tuple[str, Stamp]]:
    """Every file beside the partitions that findings may go by, by path from the directory.

    Of directories there the name.
    """
    yield from ((name, stamp) for name in SMALL_FILES if (stamp := _stamp_of(broker.path / name)))
    properties_path = f"../{SERVER_PROPERTIES}"
    yield from (
        (properties_path, stamp) for stamp in [_stamp_of(broker.path / properties_path)] if stamp
    )
    # else partitions were opened, and whatever lies beside them may be anything
    if broker.path == open_root(broker.source):
        yield from _other_entries(broker)


def _other_entries(broker: Broker) -> Iterator[tuple[str, Stamp]]:
    """What else lies in a broker directory: a start does not like everything."""
    with (
        suppress(CannotOpen),
        file.translate_os_errors(broker.path),
        os.scandir(broker.path) as entries,
    ):
        for entry in entries:
            if file.is_directory(entry):
                yield from [] if names.parse_directory(entry.name) else [(f"{entry.name}/", (0, 0))]
            elif entry.name not in SMALL_FILES and (stamp := _stamp_of(broker.path / entry.name)):
                yield entry.name, stamp


def _build_entries(number: int, first: int, name: str, partition: Partition) -> PartitionEntries:
    segments = tuple(
        _build_entry(first + place, name, partition, segment)
        for place, segment in enumerate(partition.segments)
    )
    files = {
        f"{partition.directory}/{other.name}": _stamp(other) for other in partition.other_files
    }
    stored = StoredDirectory(name, partition.directory, files)
    return PartitionEntries(number, name, partition, segments, stored)


def _build_entry(number: int, name: str, partition: Partition, segment: Segment) -> InventoryEntry:
    suffix = "" if segment.is_in_use else segment.state
    files = {f"{partition.directory}/{file.name}": _stamp(file) for file in segment.files}
    stored = StoredSegment(
        broker=name,
        directory=partition.directory,
        base_offset=segment.base_offset,
        suffix=suffix,
        files=files,
    )
    return InventoryEntry(number, name, partition, segment, stored)


def _stamp(file: FileInfo) -> Stamp:
    return file.size_bytes, file.mtime_ns


def _stamp_of(path: Path) -> Stamp | None:
    try:
        return _stamp(info(path))
    except CannotOpen:
        return None


def _is_unchanged(item: PartitionEntries | InventoryEntry, old: StampRow) -> bool:
    """Whether files are as they were.

    What could not be read then must still be unreadable.
    """
    if isinstance(item, PartitionEntries) or isinstance(old, StoredDirectory):
        return item.stored == old
    return (
        old.key == item.stored.key
        and old.files == item.stored.files
        and not became_readable(item, old)
    )


def has_same_content(entry: InventoryEntry, old: StoredSegment) -> bool:
    """Whether the files whose content a catalog holds are the same.

    Of a .txnindex it has the size alone.
    """
    return _content(old) == _content(entry.stored) and not became_readable(entry, old)


def _content(segment: StoredSegment) -> dict[str, Stamp]:
    return {
        path: stamp
        for path, stamp in segment.files.items()
        if ".txnindex" not in path.rpartition("/")[2]
    }


def is_readable(segment: Segment) -> bool:
    """Whether this process may read all its files."""
    return all(os.access(file.path, os.R_OK) for file in segment.files)


def became_readable(entry: InventoryEntry, old: StoredSegment) -> bool:
    """Whether a file that could not be read can be read now."""
    return old.unreadable and is_readable(entry.segment)
