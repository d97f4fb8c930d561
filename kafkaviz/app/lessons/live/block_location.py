"""What a block of a lesson points at.

A sample directory, its topic-partition and segment, an offset in it.
"""

from pathlib import Path

from kafkaviz.analysis.segment import selection
from kafkaviz.analysis.segment.anatomy import Anatomy
from kafkaviz.app.cache import broker_cache, segment_cache
from kafkaviz.app.lessons.grammar import LessonBlock, NoValue
from kafkaviz.app.lessons.live.figure import Destination
from kafkaviz.app.state import access, page_location, page_state
from kafkaviz.app.state.page_location import SegmentLocation
from kafkaviz.figures.segment import segment_tables
from kafkaviz.figures.segment.segment_tables import PinnedRow
from kafkaviz.figures.text import segment_text
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import message

SUFFIXES = (".tar.gz", ".tgz", ".tar", ".zip")


def locate(block: LessonBlock) -> SegmentLocation:
    """The sample, topic-partition and segment of a block.

    Raises:
        NoValue: the block names none that there is.
        CannotOpen: the sample cannot be read.
    """
    for key in ("data", "tp"):
        if block[key] is None:
            raise NoValue(message("lesson.key_missing", key=key))
    snapshot = broker_cache.open_snapshot(sample(block["data"]))
    partition = snapshot.broker.partition(block["tp"])
    segment = (
        page_location.largest_segment(partition)
        if block["segment"] is None
        else partition.segment(block["segment"])
    )
    return SegmentLocation(str(sample(block["data"])), snapshot, partition, segment)


def locate_offset(data: str, partition_name: str, offset: int) -> SegmentLocation:
    """The segment of a sample that a broker would look for an offset in.

    Raises:
        NoValue: there is no such sample.
        CannotOpen: there is no such topic-partition.
    """
    snapshot = broker_cache.open_snapshot(sample(data))
    partition = snapshot.broker.partition(partition_name)
    segment = page_location.find_segment(partition, offset)
    return SegmentLocation(str(sample(data)), snapshot, partition, segment)


def sample(name: str) -> Path:
    """The sample directory of this name, without its .tar.gz.

    Raises:
        NoValue: there is no such sample.
    """
    sample_paths = {_stem(path.name): path for path in access.samples()}
    if name not in sample_paths:
        raise NoValue(message("lesson.no_sample", name=name, names=tuple(sample_paths)))
    return sample_paths[name]


def _stem(name: str) -> str:
    return next((name.removesuffix(end) for end in SUFFIXES if name.endswith(end)), name)


def anatomy(block: LessonBlock) -> tuple[SegmentLocation, Anatomy]:
    """The segment of a block, read.

    Raises:
        NoValue: it has no .log.
    """
    location = locate(block)
    if not isinstance(location.segment, LogSegment):
        raise NoValue(
            message("lesson.segment_has_no_file", segment=location.segment.name, file=".log")
        )
    return location, segment_cache.read(location.segment)


def rows_around(anatomy: Anatomy, block: LessonBlock) -> PinnedRow:
    """The rows around the block's offset.

    Raises:
        NoValue: for one that is not there.
    """
    pinned_offset = selection.select_offset(
        anatomy, "" if block["offset"] is None else str(block["offset"])
    )
    if pinned_offset.row is None:
        raise NoValue(
            message(
                "lesson.offset",
                offset=block["offset"],
                reason=segment_text.missing_reason(anatomy, pinned_offset),
            )
        )
    return segment_tables.find_pinned_row(
        anatomy, pinned_offset.row, pinned_offset.slot, pinned_offset.time
    )


def to_segment(block: LessonBlock) -> Destination:
    """The Segment page at the block's offset."""
    pin_parameter = {} if block["offset"] is None else {page_state.PIN: str(block["offset"])}
    return "Segment", locate(block).address | pin_parameter


def to_health(block: LessonBlock) -> Destination:
    """The Health page of the block's sample."""
    return "Health", page_state.address(sample(block["data"]))
