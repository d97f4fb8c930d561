"""Which files the bytes view offers: those of the segment, and beside them what lies in the same
directory and in the broker's own.

A name out of an address is only looked up in this list, never joined to a path.
"""

from collections.abc import Iterator
from typing import cast

from kafkaviz.figures import segment_bytes
from kafkaviz.format import names
from kafkaviz.format.names import SegmentName
from kafkaviz.log import broker
from kafkaviz.log.file import FileInfo
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.ui import parts
from kafkaviz.ui.pick import InPartition

OFFERED = 40  # in the menu: a partition has a snapshot for each of its segments


def of_segment(segment: Segment | None) -> dict[str, FileInfo]:
    """The files of the segment as .log, .index, .timeindex, .txnindex."""
    return segment_bytes.files(segment) if segment else {}


def others(place: InPartition) -> dict[str, FileInfo]:
    """All other files by name: snapshots, checkpoints and renamed files of the topic-partition,
    then the broker directory's own.
    """
    found: dict[str, FileInfo] = {}
    for one in [*_beside(place.partition), *broker.own_files(place.broker.path)]:
        found.setdefault(label(one.name), one)
    return found


def _beside(partition: Partition) -> Iterator[FileInfo]:
    yield from partition.others
    for segment in partition.segments:
        if not segment.in_use:
            yield from segment.files


def label(name: str) -> str:
    """A file's name as a widget and the address have it; one with markup in it is shown with that
    markup, not as it.
    """
    return name if segment_bytes.PLAIN.fullmatch(name) else parts.plain(name)


def nearest(known: dict[str, FileInfo], base_offset: int) -> list[str]:
    """The names to offer: all without an offset, and of the others those closest to the segment."""
    places = {name: names.parse_file(one.name) for name, one in known.items()}
    named = [name for name in known if places[name] is None]
    numbered = sorted(
        (name for name in known if places[name]),
        key=lambda name: abs(cast(SegmentName, places[name]).base_offset - base_offset),
    )
    shown = set(numbered[: max(0, OFFERED - len(named))])
    return [*(name for name in known if name in shown), *named[:OFFERED]]
