"""Lists the segments of directories, with the size and time of each file.

The listing can be compared with a catalog.
"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from heapq import merge
from itertools import chain, zip_longest
from pathlib import Path
from typing import cast

from kafkaviz.errors import CannotOpen
from kafkaviz.format import names
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.format.names import SERVER_PROPERTIES
from kafkaviz.log import file
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import OWN_FILES, Broker, Collect, Problem, open_root
from kafkaviz.log.file import FileInfo, info
from kafkaviz.log.metadata_log import read_image
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.pipeline.catalog import catalog_info
from kafkaviz.pipeline.catalog.catalog import Catalog, missing_files
from kafkaviz.pipeline.catalog.catalog_info import FORMAT, CatalogSource, StoredSegment, version
from kafkaviz.units import replace_surrogates

SMALL_FILES = (*(name for name in OWN_FILES if name != names.LOCK), SERVER_PROPERTIES)


@dataclass(frozen=True)
class InventoryEntry:
    """A segment in its present state."""

    number: int  # the number of the segment in the inventory
    broker: str
    partition: Partition
    segment: Segment
    stored: StoredSegment  # as a catalog stores it, without the results of reading its files


@dataclass(frozen=True)
class PartitionEntries:
    """A partition directory in its present state, with its segments."""

    number: int  # the number of the directory in the inventory
    broker: str
    partition: Partition
    segments: tuple[InventoryEntry, ...]
    # the files that belong to no segment, as a catalog stores them
    stored: catalog_info.StoredDirectory


@dataclass(frozen=True)
class Inventory:
    """All partitions and segments of several brokers, ordered by name.

    `partitions`, `entries` and `segments` return a new iterator each time they are used.
    """

    sources: tuple[CatalogSource, ...]
    brokers: tuple[tuple[str, Broker], ...]  # name and broker, in the order of the sources
    problems: tuple[Problem, ...]

    @property
    def partitions(self) -> Iterator[tuple[str, Partition]]:
        return (
            (name, partition) for name, broker in self.brokers for partition in broker.partitions
        )

    @property
    def entries(self) -> Iterator[PartitionEntries]:
        first = number = 0
        for source, (name, broker) in zip(self.sources, self.brokers, strict=True):
            for key, partition in zip(source.directories, broker.partitions, strict=True):
                yield _build_entries(number, first, name, key, partition)
                first += len(partition.segments)
                number += 1

    def entries_at(self, first_segments: Mapping[int, int]) -> Iterator[PartitionEntries]:
        """Yields the partition directories whose numbers are keys of `first_segments`.

        Each value of `first_segments` is the number of the directory's first segment.
        """
        first_number = 0
        for source, (name, broker) in zip(self.sources, self.brokers, strict=True):
            for place, key in enumerate(source.directories):
                number = first_number + place
                first = first_segments.get(number)
                if first is not None:
                    yield _build_entries(number, first, name, key, broker.partitions[place])
            first_number += len(broker.partitions)

    @property
    def segments(self) -> Iterator[InventoryEntry]:
        return (entry for partition in self.entries for entry in partition.segments)

    def matches(self, catalog: Catalog, level: CheckLevel | None = None) -> bool:
        """Returns whether a catalog was read from exactly these files, and checked at this level.

        If `level` is None, the files may have been checked at any level, or not at all.
        """
        old = catalog.info
        if level and not all(
            source.checked and source.checked.level == level for source in old.sources
        ):
            return False
        is_current = (old.kafkaviz, old.format) == (version(), FORMAT)
        if self.sources != old.sources or not is_current:
            return False
        try:
            return all(
                stored is not None and item is not None and _is_unchanged(item, stored)
                for item, stored in zip_longest(self._items(), catalog.stamps())
            )
        except CannotOpen:
            return False

    def _items(self) -> Iterator[PartitionEntries | InventoryEntry]:
        for partition in self.entries:
            yield partition
            yield from partition.segments


def inventory(brokers: Iterable[Broker]) -> Inventory:
    """Returns the partitions and segments of these brokers.

    Log directories of one broker may be opened separately; `_join_directories` joins them.
    """
    brokers = _join_directories(_merge_by_path(brokers))
    broker_names = _names(brokers)
    named_brokers = tuple(zip(broker_names, brokers, strict=True))
    return Inventory(
        tuple(_build_source(name, broker) for name, broker in named_brokers),
        named_brokers,
        tuple(problem for broker in brokers for problem in broker.problems),
    )


def is_fresh(catalog: Catalog, brokers: Iterable[Broker], level: CheckLevel | None = None) -> bool:
    """Returns whether a catalog has all its files and matches the brokers (`Inventory.matches`)."""
    is_current = inventory(brokers).matches(catalog, level)
    return is_current and not missing_files(catalog.path, catalog.info)


def _merge_by_path(brokers: Iterable[Broker]) -> list[Broker]:
    by_path: dict[tuple[Path, ...], Broker] = {}
    for broker in brokers:
        path = tuple(directory.path.resolve() for directory in broker.log_directories)
        if earlier := by_path.get(path):
            if broker.is_lone:
                partitions = (*earlier.partitions, *broker.partitions)
                by_name = {partition.directory: partition for partition in partitions}
                in_order = tuple(by_name[name] for name in sorted(by_name))
                earlier = replace(earlier, partitions=in_order)
            broker = earlier
        by_path[path] = broker
    return [by_path[path] for path in sorted(by_path)]


def _join_directories(brokers: list[Broker]) -> list[Broker]:
    """Joins the log directories of each broker.

    - Directories with the same node.id and cluster.id are joined if their directory.ids differ.
    - Without directory.id (before Kafka 3.7), directories are joined if they share no partition.
    - Two copies of one directory stay two brokers.
    - If copies are opened too, only directories in the same parent folder are joined.
    """
    by_node: dict[object, list[Broker]] = {}
    for broker in brokers:
        node = broker.node_number
        is_known = node is not None and broker.cluster_id and not broker.is_lone
        key = (broker.cluster_id, node) if is_known else (id(broker),)
        by_node.setdefault(key, []).append(broker)
    joined = []
    for group in by_node.values():
        by_folder: dict[Path, list[Broker]] = {}
        for broker in group:
            by_folder.setdefault(broker.path.parent, []).append(broker)
        if _are_one_broker(group):
            joined.append(_join(group))
            continue
        for folder_group in by_folder.values():
            joined += [_join(folder_group)] if _are_one_broker(folder_group) else folder_group
    return sorted(joined, key=lambda broker: broker.path.resolve())


def _are_one_broker(brokers: Sequence[Broker]) -> bool:
    """Returns whether directories with the same node.id can belong to one broker.

    They can if all of these are true:

    - No directory.id occurs twice. Without directory.id, no partition occurs twice.
    - At most one has a metadata log.
    - If the metadata log has registered directory.ids, each directory.id is registered.
    """
    if len(brokers) == 1:
        return True
    directories = [directory for broker in brokers for directory in broker.log_directories]
    with_metadata_log = [broker for broker in brokers if broker.main_directory.has_metadata_log]
    if len(with_metadata_log) > 1:
        return False
    ids = {directory.directory_id for directory in directories}
    if None not in ids:
        registered = _registered_directories(with_metadata_log)
        return len(ids) == len(directories) and (not registered or ids <= registered)
    partition_names = Counter(
        partition.directory for broker in brokers for partition in broker.partitions
    )
    return max(partition_names.values(), default=0) <= 1


def _registered_directories(brokers: Iterable[Broker]) -> set[str]:
    images = map(read_image, brokers)
    by_broker = chain.from_iterable(image.log_directories.values() for image in images)
    return set(chain.from_iterable(by_broker))


def _join(brokers: Sequence[Broker]) -> Broker:
    if len(brokers) == 1:
        return brokers[0]
    partitions = merge(
        *(broker.partitions for broker in brokers),
        key=lambda partition: names.natural_sort_key(partition.directory),
    )
    collect = cast("Collect", type(brokers[0].partitions))
    return Broker(
        sources=tuple(source for broker in brokers for source in broker.sources),
        log_directories=tuple(
            directory for broker in brokers for directory in broker.log_directories
        ),
        partitions=collect(partitions),
    )


def _names(brokers: list[Broker]) -> list[str]:
    """Returns a unique name per broker.

    This is the name of the broker's folder, or of its archive without suffix. Parent folders are
    added until all names differ. Bytes that are not UTF-8 are replaced, or escaped if replacing
    them would make names equal.
    """
    paths = list(map(_named_path, brokers))
    for length in range(1, max((len(path.parts) for path in paths), default=0) + 1):
        names = [replace_surrogates("/".join(path.parts[-length:])) for path in paths]
        if len(set(names)) == len(names):
            return names
    return [str(path).encode("utf-8", "backslashreplace").decode() for path in paths]


def _named_path(broker: Broker) -> Path:
    if archive.is_archive(broker.source) and broker.source.is_file():
        return broker.source.with_name(archive.stem(broker.source))
    return broker.source if len(broker.log_directories) > len(broker.sources) else broker.path


def _directory_keys(broker: Broker) -> Iterator[str]:
    """Yields a unique key per partition directory: "orders-0", "disk-b/orders-0", or its path."""
    if len(broker.log_directories) == 1:
        yield from (partition.directory for partition in broker.partitions)
        return
    counts = Counter(partition.directory for partition in broker.partitions)
    folders = {directory.path.name for directory in broker.log_directories}
    for partition in broker.partitions:
        if counts[partition.directory] == 1:
            yield partition.directory
        elif len(folders) == len(broker.log_directories):
            yield f"{partition.path.parent.name}/{partition.directory}"
        else:
            yield str(partition.path)


def _build_source(name: str, broker: Broker) -> CatalogSource:
    return CatalogSource(
        broker=name,
        path=broker.path.resolve(),
        given=broker.source,
        node_id=broker.node_id,
        cluster_id=broker.cluster_id,
        directories=tuple(_directory_keys(broker)),
        log_directories=tuple(
            catalog_info.StoredLogDirectory(
                path=directory.path.resolve(),
                directory_id=directory.directory_id,
                has_metadata_log=directory.has_metadata_log,
            )
            for directory in broker.log_directories
        ),
        files=dict(_files(broker)),
    )


def _files(broker: Broker) -> Iterator[tuple[str, catalog_info.Stamp]]:
    """Yields (path, `Stamp`) of the files that findings depend on, except in partition directories.

    A path is relative to the main log directory. A file in another log directory has its full path.
    """
    for directory in broker.log_directories:
        prefix = "" if directory is broker.main_directory else f"{directory.path}/"
        for name in (*SMALL_FILES, f"../{SERVER_PROPERTIES}"):
            if stamp := _stamp_of(directory.path / name):
                yield prefix + name, stamp
        # if only partition directories were opened, the files next to them may be unrelated
        if len(broker.log_directories) > 1 or directory.path == open_root(broker.source):
            for name, stamp in _other_entries(directory.path):
                yield prefix + name, stamp


def _other_entries(path: Path) -> Iterator[tuple[str, catalog_info.Stamp]]:
    """Yields the entries of a log directory, except partitions and `SMALL_FILES`.

    Some of these entries affect broker start-up. A folder is yielded as ("name/", (0, 0)).
    """
    with suppress(CannotOpen), file.translate_os_errors(path), os.scandir(path) as entries:
        for entry in entries:
            if file.is_directory(entry):
                yield from [] if names.parse_directory(entry.name) else [(f"{entry.name}/", (0, 0))]
            elif entry.name not in SMALL_FILES and (stamp := _stamp_of(path / entry.name)):
                yield entry.name, stamp


def _build_entries(
    number: int, first: int, name: str, key: str, partition: Partition
) -> PartitionEntries:
    segments = tuple(
        _build_entry(first + place, name, key, partition, segment)
        for place, segment in enumerate(partition.segments)
    )
    files = {f"{partition.directory}/{file.name}": _stamp(file) for file in partition.other_files}
    stored = catalog_info.StoredDirectory(name, key, files)
    return PartitionEntries(number, name, partition, segments, stored)


def _build_entry(
    number: int, name: str, key: str, partition: Partition, segment: Segment
) -> InventoryEntry:
    suffix = "" if segment.is_in_use else segment.state
    files = {f"{partition.directory}/{file.name}": _stamp(file) for file in segment.files}
    stored = StoredSegment(
        broker=name, directory=key, base_offset=segment.base_offset, suffix=suffix, files=files
    )
    return InventoryEntry(number, name, partition, segment, stored)


def _stamp(file: FileInfo) -> catalog_info.Stamp:
    return file.size_bytes, file.mtime_ns


def _stamp_of(path: Path) -> catalog_info.Stamp | None:
    try:
        return _stamp(info(path))
    except CannotOpen:
        return None


def _is_unchanged(item: PartitionEntries | InventoryEntry, old: catalog_info.StampRow) -> bool:
    if isinstance(item, PartitionEntries) or isinstance(old, catalog_info.StoredDirectory):
        return item.stored == old
    return (
        old.key == item.stored.key
        and old.files == item.stored.files
        and not became_readable(item, old)
    )


def has_same_content(entry: InventoryEntry, old: StoredSegment) -> bool:
    """Returns whether all files of a segment, except a .txnindex, are unchanged.

    A .txnindex is not compared, because the catalog does not store its entries.
    """
    return _content(old) == _content(entry.stored) and not became_readable(entry, old)


def _content(segment: StoredSegment) -> dict[str, catalog_info.Stamp]:
    return {
        path: stamp
        for path, stamp in segment.files.items()
        if ".txnindex" not in path.rpartition("/")[2]
    }


def is_readable(segment: Segment) -> bool:
    return all(os.access(file.path, os.R_OK) for file in segment.files)


def became_readable(entry: InventoryEntry, old: StoredSegment) -> bool:
    return old.unreadable and is_readable(entry.segment)
