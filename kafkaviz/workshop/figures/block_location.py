"""Finds the sample directory, topic-partition, segment and offset that a lesson block names.

The functions raise NoValue if a block lacks a key, or names a missing sample, .log or offset.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from kafkaviz.analysis.segment import selection
from kafkaviz.analysis.segment.anatomy import Anatomy
from kafkaviz.app import access, page_state
from kafkaviz.app.cache import broker_cache, segment_cache
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.state import page_location
from kafkaviz.app.state.page_location import SegmentLocation
from kafkaviz.figures.segment import segment_tables
from kafkaviz.figures.segment.segment_tables import PinnedRow
from kafkaviz.log.archives import archive
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import message
from kafkaviz.render import segment_text
from kafkaviz.workshop.figures.figure import Destination
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue

LOOK_S = 2.0


class _OpenedSample(NamedTuple):
    path: Path
    snapshot: BrokerSnapshot
    at_s: float


_opened_samples: dict[tuple[Path, str], _OpenedSample] = {}  # by folder and name of the sample


def locate(block: LessonBlock) -> SegmentLocation:
    """Returns the sample, topic-partition and segment (by default the largest) of a lesson block.

    Raises CannotOpen if the sample cannot be read, or lacks the topic-partition or segment.
    """
    for key in ("data", "tp"):
        if block[key] is None:
            raise NoValue(message("lesson.key_missing", key=key))
    path, snapshot = _open_sample(block["data"])
    partition = snapshot.broker.partition(block["tp"])
    segment = (
        page_location.largest_segment(partition)
        if block["segment"] is None
        else partition.segment(block["segment"])
    )
    return SegmentLocation(str(path), snapshot, partition, segment)


def locate_offset(data: str, partition_name: str, offset: int) -> SegmentLocation:
    """Returns the segment of a sample in which a broker looks for an offset."""
    path, snapshot = _open_sample(data)
    partition = snapshot.broker.partition(partition_name)
    segment = page_location.find_segment(partition, offset)
    return SegmentLocation(str(path), snapshot, partition, segment)


def _open_sample(name: str) -> tuple[Path, BrokerSnapshot]:
    """Returns the path and the listing of a sample.

    The listing may be up to LOOK_S seconds old. To list the sample at each call would take
    milliseconds, and learners who open a step together would wait for each other.
    """
    key = (access.SAMPLES, name)
    now = time.monotonic()
    opened = _opened_samples.get(key)
    if opened is None or now - opened.at_s >= LOOK_S:
        path = sample(name)
        opened = _OpenedSample(path, broker_cache.open_snapshot(path), now)
        _opened_samples[key] = opened
    return opened.path, opened.snapshot


def sample(name: str) -> Path:
    """Returns the path of the sample with this name, such as "kafka-4.3.1-clean"."""
    sample_paths = {archive.stem(path): path for path in access.samples()}
    if name not in sample_paths:
        raise NoValue(message("lesson.no_sample", name=name, names=tuple(sample_paths)))
    return sample_paths[name]


def anatomy(block: LessonBlock) -> tuple[SegmentLocation, Anatomy]:
    """Reads the segment named in a block of a lesson file."""
    location = locate(block)
    segment = location.segment
    if not isinstance(segment, LogSegment):
        raise NoValue(message("lesson.segment_has_no_file", segment=segment.name, file=".log"))
    return location, segment_cache.read(segment)


def rows_around(anatomy: Anatomy, block: LessonBlock) -> PinnedRow:
    """Returns the batch with the offset that a lesson block names, and the batch's index slots."""
    offset = block["offset"]
    pinned = selection.select_offset(anatomy, "" if offset is None else str(offset))
    if pinned.row is None:
        reason = segment_text.missing_reason(anatomy, pinned)
        raise NoValue(message("lesson.offset", offset=offset, reason=reason))
    return segment_tables.find_pinned_row(anatomy, pinned.row, pinned.slot, pinned.time)


def to_segment(block: LessonBlock) -> Destination:
    pin_parameter = {} if block["offset"] is None else {page_state.PIN: str(block["offset"])}
    return "Segment", locate(block).address | pin_parameter


def to_tuning(block: LessonBlock) -> Destination:
    location = locate(block)
    return "Tuning", page_state.address(location.directory, location.partition.directory)


def to_tab(
    to_page: Callable[[LessonBlock], Destination], tab: str, block: LessonBlock
) -> Destination:
    """Returns the destination `to_page(block)` with one of the page's tabs selected."""
    page, address = to_page(block)
    return page, address | {page_state.TAB: tab}


def to_health(block: LessonBlock) -> Destination:
    return "Health", page_state.address(sample(block["data"]))
