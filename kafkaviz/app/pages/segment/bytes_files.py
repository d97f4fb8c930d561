"""Which files the bytes view offers: those of the segment, and beside them what lies in the same
directory and in the broker's own.

A name out of an address is only looked up in this list, never joined to a path.
"""

from collections.abc import Iterator
from typing import cast

from kafkaviz.app.state.page_location import PartitionLocation
from kafkaviz.app.widgets import elements
from kafkaviz.figures import segment_bytes
from kafkaviz.format import names
from kafkaviz.format.names import SegmentName
from kafkaviz.log import broker
from kafkaviz.log.file import FileInfo
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment

MOST_OFFERED = 40  # in the menu: a partition has a snapshot for each of its segments


def segment_files(segment: Segment | None) -> dict[str, FileInfo]:
    """The files of the segment as .log, .index, .timeindex, .txnindex."""
    return segment_bytes.find_files(segment) if segment else {}


def other_files(location: PartitionLocation) -> dict[str, FileInfo]:
    """All other files by name: snapshots, checkpoints and renamed files of the topic-partition,
    then the broker directory's own.
    """
    files: dict[str, FileInfo] = {}
    for file in [*_files_beside(location.partition), *broker.own_files(location.broker.path)]:
        files.setdefault(label(file.name), file)
    return files


def _files_beside(partition: Partition) -> Iterator[FileInfo]:
    yield from partition.other_files
    for segment in partition.segments:
        if not segment.is_in_use:
            yield from segment.files


def label(name: str) -> str:
    """A file's name as a widget and the address have it; one with markup in it is shown with that
    markup, not as it.
    """
    return name if segment_bytes.PLAIN_NAME.fullmatch(name) else elements.escape_markdown(name)


def nearest_names(files: dict[str, FileInfo], base_offset: int) -> list[str]:
    """The names to offer: all without an offset, and of the others those closest to the segment."""
    parsed_names = {name: names.parse_file(file.name) for name, file in files.items()}
    plain_names = [name for name in files if parsed_names[name] is None]
    numbered_names = sorted(
        (name for name in files if parsed_names[name]),
        key=lambda name: abs(cast(SegmentName, parsed_names[name]).base_offset - base_offset),
    )
    offered_names = set(numbered_names[: max(0, MOST_OFFERED - len(plain_names))])
    return [*(name for name in files if name in offered_names), *plain_names[:MOST_OFFERED]]
