"""The two indexes of a real segment side by side, and the output of Kafka's dump tool for one."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from types import ModuleType

import numpy as np

from kafkaviz import config_def, versions
from kafkaviz.app.state.page_location import SegmentLocation
from kafkaviz.app.widgets import elements
from kafkaviz.format import offset_index, time_index
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import message, say
from kafkaviz.search.slots import WARM_BYTES
from kafkaviz.units import format_count
from kafkaviz.workshop.figures import block_location
from kafkaviz.workshop.figures.figure import UNKNOWN, CodeText, LessonFigure, Part, titled_table
from kafkaviz.workshop.lessons.grammar import LessonBlock, NoValue

# slots reserved for the entry that is appended when the segment is rolled
RESERVED_SLOTS = {offset_index: 0, time_index: 1}
RULES = ("key", "value", "written", "rising", "nothing_below", "missing")


@dataclass(frozen=True)
class ComparedIndexes:
    location: SegmentLocation
    offset_entries: int
    time_entries: int


def _make(block: LessonBlock) -> ComparedIndexes:
    """Returns the indexes of a block's segment.

    Raises:
        NoValue: an index is missing.
    """
    location = block_location.locate(block)
    segment = location.segment
    for info, suffix in ((segment.index, ".index"), (segment.timeindex, ".timeindex")):
        if info is None:
            raise NoValue(message("lesson.segment_has_no_file", segment=segment.name, file=suffix))
    return ComparedIndexes(location, len(segment.offset_index), len(segment.time_index))


def rows(compared: ComparedIndexes) -> Iterator[tuple[str, str, str]]:
    """Yields rows of the property, its value in the offset index, and in the time index."""
    for name in RULES[:2]:
        yield _rule(name)
    yield _numbers("entry_bytes", _entry_bytes)
    yield (
        say("indexes.entries", segment=compared.location.segment.name),
        format_count(compared.offset_entries),
        format_count(compared.time_entries),
    )
    yield _numbers("slots", _slots)
    yield _numbers("full_at", lambda layout: _slots(layout) - RESERVED_SLOTS[layout])
    yield _numbers("warm", lambda layout: WARM_BYTES // _entry_bytes(layout) + 1)
    for name in RULES[2:]:
        yield _rule(name)


def _rule(name: str) -> tuple[str, str, str]:
    return (
        say(f"indexes.{name}"),
        say(f"indexes.{name}_offset"),
        say(f"indexes.{name}_time"),
    )


def _numbers(name, number_of) -> tuple[str, str, str]:
    return (
        say(f"indexes.{name}"),
        format_count(number_of(offset_index)),
        format_count(number_of(time_index)),
    )


def _entry_bytes(layout: ModuleType) -> int:
    return layout.ENTRY.itemsize


def _slots(layout: ModuleType) -> int:
    """Returns the slots of a new index file with the default segment.index.bytes."""
    release = versions.parse(versions.NEWEST)
    return config_def.setting("segment.index.bytes").default(release) // _entry_bytes(layout)


def _draw(
    compared: ComparedIndexes, block: LessonBlock, key: str, *, is_answered: bool = True
) -> list[Part]:
    """Returns keys, values and sizes, and the other rules only if they are answered."""
    cells = [*rows(compared)]
    if not is_answered:
        hidden = len(RULES) - 2
        cells[-hidden:] = [(name, UNKNOWN, UNKNOWN) for name, _, _ in cells[-hidden:]]
    directory = compared.location.partition.directory
    caption = say("indexes.below", partition=directory, source=block["data"])
    heads = [say("indexes.head_what"), "OffsetIndex (.index)", "TimeIndex (.timeindex)"]
    return titled_table(say("indexes.title"), caption, heads, cells, "lww")


INDEXES = LessonFigure(
    _make, _draw, block_location.to_segment, question=partial(_draw, is_answered=False)
)


COMMAND = "kafka-dump-log.sh --files"


@dataclass(frozen=True)
class IndexDump:
    """The dump of an .index file.

    Attributes:
        path: the path given to the command.
        entries: one line per entry, as many as the block asks for.
        count: the number of entries in the file.
        mismatches: the lines after the entries if any entry is wrong.
    """

    path: str
    entries: tuple[str, ...]
    count: int
    mismatches: tuple[str, ...]


def _make_dump(block: LessonBlock) -> IndexDump:
    """Dumps the index of a block.

    Raises:
        NoValue: the segment has no .index, or no .log to compare it with.
    """
    location = block_location.locate(block)
    segment = location.segment
    if segment.index is None or not isinstance(segment, LogSegment):
        file = ".index" if segment.index is None else ".log"
        raise NoValue(message("lesson.segment_has_no_file", segment=segment.name, file=file))
    path = f"{location.partition.directory}/{segment.name}.index"
    slots = segment.offset_index
    batches = segment.batches()
    entries = tuple(
        f"offset: {slot['offset']} position: {slot['position']}" for slot in slots[: block["lines"]]
    )
    wrong = tuple(
        f"  Index offset: {offset}, log offset: {last_offset}"
        for offset, last_offset in _mismatches(slots, batches)
    )
    mismatches = (f"Mismatches in :/…/{path}", *wrong) if wrong else ()
    return IndexDump(path, entries, len(slots), mismatches)


def _mismatches(slots: np.ndarray, batches: np.ndarray) -> list[tuple[int, int]]:
    """Returns each entry's offset and the last offset of its batch, if they differ.

    The tool reads the batch at an entry's position. In the samples every position has one.
    """
    rows = np.searchsorted(batches["position"], slots["position"])
    last_offsets = batches["last_offset"][np.minimum(rows, len(batches) - 1)]
    return [
        (int(offset), int(last_offset))
        for offset, last_offset in zip(slots["offset"], last_offsets, strict=True)
        if offset != last_offset
    ]


def _draw_dump(
    dump: IndexDump, block: LessonBlock, key: str, *, is_answered: bool = True
) -> list[Part]:
    """Returns the dump; until the question is answered, without values and mismatches."""
    entries = dump.entries
    mismatches = dump.mismatches
    if not is_answered:
        entries = tuple(f"offset: {UNKNOWN} position: {UNKNOWN}" for _ in entries)
        mismatches = ()
    more = ("…",) if len(entries) < dump.count else ()
    lines = (f"$ {COMMAND} {dump.path}", f"Dumping {dump.path}", *entries, *more, *mismatches)
    caption = say("index_dump.below", source=block["data"])
    head = elements.figure_head_html(say("index_dump.title"), caption)
    return [head, CodeText("\n".join(lines))]


DUMP = LessonFigure(
    _make_dump,
    _draw_dump,
    block_location.to_segment,
    question=partial(_draw_dump, is_answered=False),
)
