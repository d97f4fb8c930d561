"""The two indexes of a real segment side by side: their entries and their rules."""

from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

from kafkaviz import config_def, versions
from kafkaviz.app.state.page_location import SegmentLocation
from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.tables import table_html
from kafkaviz.format import offset_index, time_index
from kafkaviz.messages import message, say
from kafkaviz.search.slots import WARM_BYTES
from kafkaviz.units import format_count
from kafkaviz.workshop.figures import block_location
from kafkaviz.workshop.figures.figure import UNKNOWN, LessonFigure, Part
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


def _draw(compared: ComparedIndexes, block: LessonBlock, key: str) -> list[Part]:
    return _parts(compared, block, [*rows(compared)])


def _draw_question(compared: ComparedIndexes, block: LessonBlock, key: str) -> list[Part]:
    """Returns keys, values and sizes, with the rules hidden."""
    known = len(RULES) - 2
    cells = [*rows(compared)]
    unknown = [(name, UNKNOWN, UNKNOWN) for name, _, _ in cells[-known:]]
    return _parts(compared, block, cells[:-known] + unknown)


def _parts(
    compared: ComparedIndexes, block: LessonBlock, cells: list[tuple[str, str, str]]
) -> list[Part]:
    directory = compared.location.partition.directory
    caption = say("indexes.below", partition=directory, source=block["data"])
    heads = [say("indexes.head_what"), "OffsetIndex (.index)", "TimeIndex (.timeindex)"]
    return [
        elements.figure_head_html(say("indexes.title"), caption),
        table_html(heads, cells, "lww"),
    ]


INDEXES = LessonFigure(_make, _draw, block_location.to_segment, question=_draw_question)
