"""The facts and tables of the Segment page as HTML; every text from a file is escaped here or in ui/parts.py."""

from collections.abc import Iterable, Sequence
from html import escape

from kafkaviz import units
from kafkaviz.analyse.links import NONE
from kafkaviz.figures.segment_facts import Fact
from kafkaviz.figures.segment_tables import BatchRow, IndexRow, TimeRow
from kafkaviz.ui import parts

# A table's columns: the names, those of numbers with a mark, which stand at the right.
NUMBER = "#"
EPOCH, CRC = "Epoch#", "CRC-32C"
BATCHES = ("Position#", "Size#", "Offsets", "Records#", "Newest record (UTC)", "Codec", EPOCH, CRC, "Index entry")
INDEX = ("Slot#", "File byte#", "Raw", "Relative offset#", "Offset#", "Position#", "Since the entry before#", "Batch")
TIME_INDEX = ("Slot#", "File byte#", "Timestamp (UTC)", "Offset#", "Offset entry", "Since the entry before#")


def facts(groups: Iterable[tuple[str, str, Iterable[Fact]]]) -> None:
    """The facts card: a colour, a file and its facts, for each file."""
    parts.facts((colour, name, [(one.label, _value(one)) for one in rows]) for colour, name, rows in groups)


def _value(fact: Fact) -> str:
    value = _torn(fact.value) if fact.wrong else escape(fact.value)
    small = f" <small>{escape(fact.small)}</small>" if fact.small else ""
    return f'<span title="{escape(fact.hover)}">{value}{small}</span>' if fact.hover else value + small


def batches(rows: Iterable[BatchRow]) -> None:
    """The table of batches, without a column of epochs where the segment has none."""
    rows = list(rows)
    names = {EPOCH: EPOCH if any(row.epoch is not None for row in rows) else None, CRC: _checksum({row.magic >= 2 for row in rows})}
    columns = [name for name in (names.get(name, name) for name in BATCHES) if name]
    _table(columns, [(row.chosen, _batch(row)) for row in rows])


def _checksum(is_new: set[bool]) -> str:
    """Which checksum the rows have: Kafka changed it with magic 2."""
    return "CRC" if len(is_new) > 1 else CRC if True in is_new else "CRC-32"


def _batch(row: BatchRow) -> tuple[str, ...]:
    via = f"via slot {units.group(row.via)}" if row.via != NONE else "from byte 0"
    own = f'<span style="color:var(--kv-offset-text);font-weight:600">■ slot {units.group(row.slot)}</span>'
    entry = own if row.slot != NONE else f'<span class="kv-fnt">{via}</span>'
    position, offsets, newest, crc = map(parts.mono, (row.position, row.offsets, row.newest, row.crc))
    size, records, codec = map(escape, (row.size, row.records, row.codec))
    epoch = () if row.epoch is None else (escape(row.epoch),)
    return position, size, offsets, records, newest, codec, *epoch, crc, f"{entry};{_fault(row.fault)}" if row.fault else entry


def index(rows: Iterable[IndexRow]) -> None:
    """The table of .index slots."""
    _table(INDEX, [(row.chosen, _index(row)) for row in rows])


def _index(row: IndexRow) -> tuple[str, ...]:
    numbers = [parts.mono(text) for text in (row.byte, row.raw, row.relative_offset, row.offset, row.position)]
    return escape(row.slot), *numbers, escape(row.gap), parts.mono(row.batch) + _fault(row.fault)


def time_index(rows: Iterable[TimeRow]) -> None:
    """The table of .timeindex slots."""
    _table(TIME_INDEX, [(row.chosen, _time(row)) for row in rows])


def _time(row: TimeRow) -> tuple[str, ...]:
    numbers = [parts.mono(text) for text in (row.byte, row.timestamp, row.offset)]
    return escape(row.slot), *numbers, escape(row.slot_of_index) + _fault(row.fault), escape(row.later)


def _fault(words: str) -> str:
    return f" {_torn(words)}" if words else ""


def _torn(words: str) -> str:
    return f'<span style="color:var(--kv-torn-text)">{escape(words)}</span>'


def _table(columns: Sequence[str], rows: Iterable[tuple[bool, Sequence[str]]]) -> None:
    """A table of these columns; a row is whether it is the chosen one, and its cells as HTML."""
    kinds = [' class="r"' if name.endswith(NUMBER) else "" for name in columns]
    head = "".join(f"<th{kind}>{name.rstrip(NUMBER)}</th>" for name, kind in zip(columns, kinds, strict=True))
    parts.table(head, (_row(chosen, cells, kinds) for chosen, cells in rows))


def _row(chosen: bool, cells: Sequence[str], kinds: Sequence[str]) -> str:
    inner = "".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(kinds, cells, strict=True))
    return f'<tr class="on" aria-selected="true">{inner}</tr>' if chosen else f"<tr>{inner}</tr>"
