"""The segments of a broker directory that no lookup reads.

There are three kinds, each with its mark:

- `.deleted`, a suffix of files that Kafka has renamed and will remove soon
- `-delete`, a suffix of a whole directory that was renamed
- no `.log`: only other files are left, and the next start removes them
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kafkaviz.log.partition import Partition
from kafkaviz.messages import Message, message
from kafkaviz.units import escape_controls

NO_LOG = message("inactive_segments.mark_no_log")


class InactiveSegment(NamedTuple):
    """A segment that is not in use.

    Attributes:
        path: the first of its files, relative to the broker directory.
        mark: the suffix of the file or of the directory, or NO_LOG.
    """

    path: str
    mark: str | Message


def inactive_segments(partitions: Iterable[Partition]) -> Iterator[InactiveSegment]:
    """Yields the segments of these topic-partitions that are not in use."""
    for partition in partitions:
        for segment in partition.segments:
            if partition.state != "current":
                directory_mark = f"-{partition.state}"
            elif segment.log:
                directory_mark = ""
            else:
                directory_mark = NO_LOG
            mark = directory_mark if segment.is_in_use else f".{segment.state}"
            if mark:
                yield InactiveSegment(
                    escape_controls(f"{partition.directory}/{segment.files[0].path.name}"), mark
                )


def distinct_marks(inactive: Iterable[InactiveSegment]) -> tuple[str | Message, ...]:
    return tuple(sorted({segment.mark for segment in inactive}, key=str))
