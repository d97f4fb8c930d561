"""What lies in the directories now.

Their segments by name, size and time, to be compared with what a catalog was read from.
"""

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from kafkaviz.errors import CannotOpen
from kafkaviz.format import names
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.format.names import SERVER_PROPERTIES
from kafkaviz.log import file
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import OWN_FILES, Broker, Problem
from kafkaviz.log.file import FileInfo, info
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.pipeline.catalog.catalog_info import (
    CatalogInfo,
    CatalogSource,
    Stamp,
    StoredSegment,
    version,
)
from kafkaviz.units import replace_surrogates

SMALL_FILES = (*(name for name in OWN_FILES if name != names.LOCK), SERVER_PROPERTIES)


@dataclass(frozen=True)
class InventoryEntry:
    """A segment as it lies there now."""

    broker: str
    partition: Partition
    segment: Segment
    stored: StoredSegment  # how a catalog would name it, before anything was read


@dataclass(frozen=True)
class Inventory:
    """Every segment of some broker directories, in the order of their names."""

    sources: tuple[CatalogSource, ...]
    brokers: tuple[tuple[str, Broker], ...]  # each with its name, in the order of the sources
    partitions: tuple[tuple[str, Partition], ...]  # each with its broker's name
    segments: tuple[InventoryEntry, ...]
    problems: tuple[Problem, ...]

    def is_in(self, catalog: CatalogInfo, level: CheckLevel | None = None) -> bool:
        """Whether the catalog was read from exactly this.

        Where checks of a level are asked for, also whether it was checked so.
        """
        if level and not all(
            source.checked and source.checked.level == level for source in catalog.sources
        ):
            return False
        has_same_keys = [entry.stored.key for entry in self.segments] == [
            old.key for old in catalog.segments
        ]
        is_same = (
            has_same_keys and self.sources == catalog.sources and catalog.kafkaviz == version()
        )
        return is_same and all(map(_is_unchanged, self.segments, catalog.segments))

    def catalog_numbers(
        self,
        old: CatalogInfo | None,
        missing: Collection[tuple[str, str]] = (),
        *,
        needs_sweep: bool = False,
    ) -> list[int | None]:
        """For each segment the number of the catalog's own that still holds.

        Args:
            missing: files of the catalog that are gone, by table and name: what they had must be
                read again. Those of table partitions have nothing that takes reading.
            needs_sweep: whether the rows of a sweep must be there too.

        Returns:
            None for a segment that must be read.
        """
        if (
            old is None
            or old.kafkaviz != version()
            or any(table == "segments" for table, _ in missing)
        ):
            return [None] * len(self.segments)
        paths = {source.broker: source.path for source in old.sources}
        brokers = {
            source.broker for source in self.sources if paths.get(source.broker) == source.path
        }
        numbers = {
            segment.key: number
            for number, segment in enumerate(old.segments)
            if segment.broker in brokers and _has_rows(segment, missing, needs_sweep=needs_sweep)
        }
        candidates = [numbers.get(entry.stored.key) for entry in self.segments]
        return [
            number
            if number is not None and _has_same_content(entry, old.segments[number])
            else None
            for entry, number in zip(self.segments, candidates, strict=True)
        ]


def inventory(brokers: Iterable[Broker]) -> Inventory:
    """The partitions and segments of these directories."""
    brokers = _merge_by_path(brokers)
    broker_names = _names(brokers)
    partitions = [
        (name, partition)
        for name, broker in zip(broker_names, brokers, strict=True)
        for partition in broker.partitions
    ]
    return Inventory(
        tuple(
            _build_source(name, broker) for name, broker in zip(broker_names, brokers, strict=True)
        ),
        tuple(zip(broker_names, brokers, strict=True)),
        tuple(partitions),
        tuple(
            _build_entry(name, partition, segment)
            for name, partition in partitions
            for segment in partition.segments
        ),
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
    """Every file that is no segment's and that findings may go by, by path from the directory.

    Of directories there the name.
    """
    for partition in broker.partitions:
        yield from (
            (f"{partition.directory}/{other.name}", _stamp(other))
            for other in partition.other_files
        )
    yield from ((name, stamp) for name in SMALL_FILES if (stamp := _stamp_of(broker.path / name)))
    properties_path = f"../{SERVER_PROPERTIES}"
    yield from (
        (properties_path, stamp) for stamp in [_stamp_of(broker.path / properties_path)] if stamp
    )
    # else partitions were opened, and whatever lies beside them may be anything
    if broker.path == archive.unpack_if_archive(broker.source):
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


def _build_entry(name: str, partition: Partition, segment: Segment) -> InventoryEntry:
    suffix = "" if segment.is_in_use else segment.state
    files = {f"{partition.directory}/{file.path.name}": _stamp(file) for file in segment.files}
    return InventoryEntry(
        name,
        partition,
        segment,
        StoredSegment(
            broker=name,
            directory=partition.directory,
            base_offset=segment.base_offset,
            suffix=suffix,
            files=files,
        ),
    )


def _stamp(file: FileInfo) -> Stamp:
    return file.size_bytes, file.mtime_ns


def _stamp_of(path: Path) -> Stamp | None:
    try:
        return _stamp(info(path))
    except CannotOpen:
        return None


def _is_unchanged(entry: InventoryEntry, old: StoredSegment) -> bool:
    """Whether a segment's files are as they were.

    What could not be read then must still be unreadable.
    """
    return old.files == entry.stored.files and not _became_readable(entry, old)


def _has_same_content(entry: InventoryEntry, old: StoredSegment) -> bool:
    """The same of the files whose content a catalog holds: of a .txnindex it has the size alone."""
    return _content(old) == _content(entry.stored) and not _became_readable(entry, old)


def _has_rows(
    segment: StoredSegment, missing: Collection[tuple[str, str]], *, needs_sweep: bool
) -> bool:
    """Whether the files that hold its rows are all there."""
    if needs_sweep and "batches" in segment.spans and "sweep" not in segment.spans:
        return False
    return not missing or not any(
        (table, span.file) in missing for table, spans in segment.spans.items() for span in spans
    )


def _content(segment: StoredSegment) -> dict[str, Stamp]:
    return {
        path: stamp
        for path, stamp in segment.files.items()
        if ".txnindex" not in path.rpartition("/")[2]
    }


def is_readable(segment: Segment) -> bool:
    """Whether this process may read all its files."""
    return all(os.access(file.path, os.R_OK) for file in segment.files)


def _became_readable(entry: InventoryEntry, old: StoredSegment) -> bool:
    return old.unreadable and is_readable(entry.segment)
