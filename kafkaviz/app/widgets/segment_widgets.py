"""The facts and tables of a segment, for its page and for lessons.

Every text from a file is escaped here or in app/widgets/elements.py.
"""

from collections.abc import Iterable, Sequence
from html import escape

from kafkaviz import units
from kafkaviz.analysis.segment.links import NONE
from kafkaviz.app.widgets import elements
from kafkaviz.figures.segment.segment_facts import Fact
from kafkaviz.figures.segment.segment_tables import BatchRow, IndexRow, TimeRow
from kafkaviz.messages import say

# The columns of each table; the heading of one is the message segment.head_<name>. A name that ends
# in NUMBER is a column of numbers, aligned to the right.
NUMBER = "#"
EPOCH = "epoch#"
CRC = "crc"
BATCHES = ("position#", "size#", "offsets", "records#", "newest", "codec", EPOCH, CRC, "entry")
INDEX = ("slot#", "byte#", "raw", "relative#", "offset#", "position#", "gap#", "batch")
TIME_INDEX = ("slot#", "byte#", "timestamp", "offset#", "offset_entry", "gap#")


def facts(groups: Iterable[tuple[str, str, Iterable[Fact]]]) -> None:
    """Draws the facts of each file.

    Args:
        groups: (colour, file name, facts) of each file.
    """
    elements.facts(
        (colour, name, [(fact.label, _value(fact)) for fact in rows])
        for colour, name, rows in groups
    )


def _value(fact: Fact) -> str:
    value = _torn(fact.value) if fact.is_wrong else escape(fact.value)
    detail_html = f" <small>{escape(fact.detail)}</small>" if fact.detail else ""
    if fact.hover:
        return f'<span title="{escape(fact.hover)}">{value}{detail_html}</span>'
    return value + detail_html


def batches_html(rows: Iterable[BatchRow]) -> str:
    """Returns the table of batches. The epoch column is left out if no batch has an epoch."""
    rows = list(rows)
    columns = [
        name for name in BATCHES if name != EPOCH or any(row.epoch is not None for row in rows)
    ]
    return _table(
        columns,
        [(row.is_pinned, _batch(row)) for row in rows],
        _checksum({row.magic >= 2 for row in rows}),
    )


def _checksum(is_new: set[bool]) -> str:
    if len(is_new) > 1:
        return "CRC"
    if True in is_new:
        return "CRC-32C"
    return "CRC-32"


def _batch(row: BatchRow) -> tuple[str, ...]:
    via = (
        say("segment.via_slot", slot=units.format_count(row.found_from_slot))
        if row.found_from_slot != NONE
        else say("segment.via_start")
    )
    own_text = say("segment.own_slot", slot=units.format_count(row.slot))
    entry = (
        _styled_html("color:var(--kv-offset-text);font-weight:600", own_text)
        if row.slot != NONE
        else f'<span class="kv-fnt">{escape(via)}</span>'
    )
    position, offsets, newest, crc = map(
        elements.mono, (row.position, row.offsets, row.newest, row.crc)
    )
    size, records, codec = map(escape, (row.size, row.records, row.codec))
    epoch = () if row.epoch is None else (escape(row.epoch),)
    return (
        position,
        size,
        offsets,
        records,
        newest,
        codec,
        *epoch,
        crc,
        f"{entry};{_fault(row.fault)}" if row.fault else entry,
    )


def index_html(rows: Iterable[IndexRow]) -> str:
    return _table(INDEX, [(row.is_pinned, _index(row)) for row in rows])


def _index(row: IndexRow) -> tuple[str, ...]:
    numbers = [
        elements.mono(text)
        for text in (row.byte, row.raw_hex, row.relative_offset, row.offset, row.position)
    ]
    return escape(row.slot), *numbers, escape(row.gap), elements.mono(row.batch) + _fault(row.fault)


def time_index_html(rows: Iterable[TimeRow]) -> str:
    return _table(TIME_INDEX, [(row.is_pinned, _time(row)) for row in rows])


def _time(row: TimeRow) -> tuple[str, ...]:
    numbers = [elements.mono(text) for text in (row.byte, row.timestamp, row.offset)]
    return (
        escape(row.slot),
        *numbers,
        escape(row.index_slot) + _fault(row.fault),
        escape(row.later_by),
    )


def _fault(words: str) -> str:
    return f" {_torn(words)}" if words else ""


def _torn(words: str) -> str:
    return _styled_html("color:var(--kv-torn-text)", words)


def _styled_html(style: str, words: str) -> str:
    return f'<span style="{style}">{escape(words)}</span>'


def _table(
    columns: Sequence[str], rows: Iterable[tuple[bool, Sequence[str]]], checksum: str = ""
) -> str:
    """Returns a table.

    Args:
        columns: names from BATCHES, INDEX or TIME_INDEX.
        rows: one pair per row: whether it is selected, and its cells as HTML.
        checksum: the heading of the CRC column.
    """
    names = [
        checksum if name == CRC else say(f"segment.head_{name.rstrip(NUMBER)}") for name in columns
    ]
    kinds = [' class="r"' if name.endswith(NUMBER) else "" for name in columns]
    head = "".join(
        f"<th{kind}>{escape(name)}</th>" for name, kind in zip(names, kinds, strict=True)
    )
    return elements.table_html(
        head, (_row(cells, kinds, is_chosen=is_chosen) for is_chosen, cells in rows)
    )


def _row(cells: Sequence[str], kinds: Sequence[str], *, is_chosen: bool) -> str:
    inner = "".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(kinds, cells, strict=True))
    return f'<tr class="on" aria-selected="true">{inner}</tr>' if is_chosen else f"<tr>{inner}</tr>"
