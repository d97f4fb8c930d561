"""The segments of a broker directory that are not in use: they lie there, and no lookup reads them.

    day-0/00000000000000000000.log.deleted                    .deleted: Kafka has renamed it, and
    removes it soon
    doomed-0.5b2f-delete/00000000000000000000.log             -delete: its whole directory is
    renamed
    rides-0/00000000000000000500.index                        no .log: what is left of a segment;
    the next start removes it

A number that is without them says so.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kafkaviz.log.partition import Partition
from kafkaviz.messages import Message, message
from kafkaviz.units import escape_controls

NO_LOG = message("inactive_segments.mark_no_log")


class InactiveSegment(NamedTuple):
    """A segment that is not in use.

    The first of its files, from the broker directory, and what shows it.
    """

    path: str
    mark: str | Message  # a suffix of the file or of the directory, or NO_LOG


def inactive_segments(partitions: Iterable[Partition]) -> Iterator[InactiveSegment]:
    """Those of these topic-partitions."""
    for partition in partitions:
        for segment in partition.segments:
            directory_mark = (
                f"-{partition.state}"
                if partition.state != "current"
                else ""
                if segment.log
                else NO_LOG
            )
            mark = directory_mark if segment.is_in_use else f".{segment.state}"
            if mark:
                yield InactiveSegment(
                    escape_controls(f"{partition.directory}/{segment.files[0].path.name}"), mark
                )


def distinct_marks(inactive: Iterable[InactiveSegment]) -> tuple[str | Message, ...]:
    """What shows it, each once: -delete, .deleted."""
    return tuple(sorted({segment.mark for segment in inactive}, key=str))
