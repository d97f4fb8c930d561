"""What lies in the directories now: their segments by name, size and time, to be held against what
a catalog was read from.
"""

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from kafkaviz.errors import CannotOpen
from kafkaviz.format import names
from kafkaviz.format.names import SERVER_PROPERTIES
from kafkaviz.log import archive, file
from kafkaviz.log.broker import OWN_FILES, Broker, Problem
from kafkaviz.log.file import FileInfo, info
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.pipeline.catalog_info import CatalogInfo, Source, Stamp, StoredSegment, version
from kafkaviz.units import encodable

SMALL_FILES = (*(name for name in OWN_FILES if name != names.LOCK), SERVER_PROPERTIES)


@dataclass(frozen=True)
class Found:
    """A segment as it lies there now."""

    broker: str
    partition: Partition
    segment: Segment
    stored: StoredSegment  # how a catalog would name it, before anything was read


@dataclass(frozen=True)
class Inventory:
    """Every segment of some broker directories, in the order of their names."""

    sources: tuple[Source, ...]
    brokers: tuple[tuple[str, Broker], ...]  # each with its name, in the order of the sources
    partitions: tuple[tuple[str, Partition], ...]  # each with its broker's name
    segments: tuple[Found, ...]
    problems: tuple[Problem, ...]

    def is_in(self, catalog: CatalogInfo, findings: bool = False) -> bool:
        """Whether the catalog was read from exactly this, and, where they are asked for, holds its
        findings.
        """
        if findings and not all(source.checked for source in catalog.sources):
            return False
        keys = [found.stored.key for found in self.segments] == [
            old.key for old in catalog.segments
        ]
        same = keys and self.sources == catalog.sources and catalog.kafkaviz == version()
        return same and all(map(_same, self.segments, catalog.segments))

    def known(
        self, old: CatalogInfo | None, lost: Collection[tuple[str, str]] = (), swept: bool = False
    ) -> list[int | None]:
        """For each segment the number of the catalog's own that still holds, or None where it must
        be read.

        lost: files of the catalog that are gone, by table and name: what they told must be read
        again. Those of table partitions tell nothing that takes reading. swept: whether the rows of
        a sweep must be there too.
        """
        if (
            old is None
            or old.kafkaviz != version()
            or any(table == "segments" for table, _ in lost)
        ):
            return [None] * len(self.segments)
        paths = {source.broker: source.path for source in old.sources}
        here = {source.broker for source in self.sources if paths.get(source.broker) == source.path}
        numbers = {
            one.key: number
            for number, one in enumerate(old.segments)
            if one.broker in here and _has_rows(one, lost, swept)
        }
        known = [numbers.get(found.stored.key) for found in self.segments]
        return [
            number if number is not None and _same_to_read(found, old.segments[number]) else None
            for found, number in zip(self.segments, known, strict=True)
        ]


def inventory(brokers: Iterable[Broker]) -> Inventory:
    """The partitions and segments of these directories."""
    brokers = _one_a_path(brokers)
    called = _names(brokers)
    partitions = [
        (name, partition)
        for name, broker in zip(called, brokers, strict=True)
        for partition in broker.partitions
    ]
    return Inventory(
        tuple(_source(name, broker) for name, broker in zip(called, brokers, strict=True)),
        tuple(zip(called, brokers, strict=True)),
        tuple(partitions),
        tuple(
            _found(name, partition, segment)
            for name, partition in partitions
            for segment in partition.segments
        ),
        tuple(problem for broker in brokers for problem in broker.problems),
    )


def _one_a_path(brokers: Iterable[Broker]) -> list[Broker]:
    """Each directory once; partition directories given one by one become one broker with them
    all.
    """
    found: dict[Path, Broker] = {}
    for broker in brokers:
        path = broker.path.resolve()
        if before := found.get(path):
            both = {
                partition.directory: partition
                for partition in (*before.partitions, *broker.partitions)
            }
            broker = replace(before, partitions=tuple(both[name] for name in sorted(both)))
        found[path] = broker
    return [found[path] for path in sorted(found)]


def _names(brokers: list[Broker]) -> list[str]:
    """The folder of each, or the archive's name without its suffix; as many folders above it as
    tell all apart.

    As text that tables can hold, see units.encodable; where that alone tells two apart no more,
    bytes that are no UTF-8 are written out.
    """
    paths = [
        broker.source.with_name(archive.stem(broker.source)) if _is_packed(broker) else broker.path
        for broker in brokers
    ]
    for length in range(1, max((len(path.parts) for path in paths), default=0) + 1):
        names = [encodable("/".join(path.parts[-length:])) for path in paths]
        if len(set(names)) == len(names):
            return names
    return [str(path).encode("utf-8", "backslashreplace").decode() for path in paths]


def _is_packed(broker: Broker) -> bool:
    return archive.is_archive(broker.source) and broker.source.is_file()


def _source(name: str, broker: Broker) -> Source:
    return Source(
        name,
        broker.path.resolve(),
        broker.source,
        broker.node_id,
        broker.cluster_id,
        tuple(partition.directory for partition in broker.partitions),
        dict(_files(broker)),
    )


def _files(broker: Broker) -> Iterator[tuple[str, Stamp]]:
    """Every file that is no segment's and that findings may be told by, by path from the directory;
    of directories there the name.
    """
    for partition in broker.partitions:
        yield from (
            (f"{partition.directory}/{found.name}", _stamp(found)) for found in partition.others
        )
    yield from ((name, stamp) for name in SMALL_FILES if (stamp := _stamp_of(broker.path / name)))
    beside = f"../{SERVER_PROPERTIES}"
    yield from ((beside, stamp) for stamp in [_stamp_of(broker.path / beside)] if stamp)
    # else partitions were opened, and whatever lies beside them may be anything
    if broker.path == archive.opened(broker.source):
        yield from _beside(broker)


def _beside(broker: Broker) -> Iterator[tuple[str, Stamp]]:
    """What else lies in a broker directory: a start does not like everything."""
    with suppress(CannotOpen), file.failing_kindly(broker.path), os.scandir(broker.path) as entries:
        for entry in entries:
            if file.is_directory(entry):
                yield from [] if names.parse_directory(entry.name) else [(f"{entry.name}/", (0, 0))]
            elif entry.name not in SMALL_FILES and (stamp := _stamp_of(broker.path / entry.name)):
                yield entry.name, stamp


def _found(name: str, partition: Partition, segment: Segment) -> Found:
    suffix = "" if segment.in_use else segment.state
    files = {f"{partition.directory}/{file.path.name}": _stamp(file) for file in segment.files}
    return Found(
        name,
        partition,
        segment,
        StoredSegment(name, partition.directory, segment.base_offset, suffix, files),
    )


def _stamp(file: FileInfo) -> Stamp:
    return file.size_bytes, file.mtime_ns


def _stamp_of(path: Path) -> Stamp | None:
    try:
        return _stamp(info(path))
    except CannotOpen:
        return None


def _same(found: Found, old: StoredSegment) -> bool:
    """Whether a segment's files are as they were, and what could not be read then cannot be read
    now.
    """
    return old.files == found.stored.files and not _became_readable(found, old)


def _same_to_read(found: Found, old: StoredSegment) -> bool:
    """The same of the files whose content a catalog holds: of a .txnindex it has the size alone."""
    return _content(old) == _content(found.stored) and not _became_readable(found, old)


def _has_rows(segment: StoredSegment, lost: Collection[tuple[str, str]], swept: bool) -> bool:
    """Whether the files that hold its rows are all there."""
    if swept and "batches" in segment.spans and "sweep" not in segment.spans:
        return False
    return not lost or not any(
        (table, span.file) in lost for table, spans in segment.spans.items() for span in spans
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


def _became_readable(found: Found, old: StoredSegment) -> bool:
    return old.unreadable and is_readable(found.segment)
