"""Draws values and tables of a segment's files, for the Segment page and for lessons."""

from collections.abc import Iterable, Sequence

from kafkaviz.analysis.segment.links import NONE
from kafkaviz.app.widgets import elements, tables
from kafkaviz.figures.segment.segment_facts import Fact
from kafkaviz.figures.segment.segment_tables import BatchRow, IndexRow, TimeRow
from kafkaviz.figures.segment.transaction_lanes import TransactionLanesView
from kafkaviz.html import Html, html, join, tag
from kafkaviz.messages import say

# The columns of each table. The heading of a column is the message segment.head_<name>. If a name
# ends in NUMBER, the column holds numbers and is aligned to the right.
NUMBER = "#"
EPOCH = "epoch#"
CRC = "crc"
BATCHES = ("position#", "size#", "offsets", "records#", "newest", "codec", EPOCH, CRC, "entry")
INDEX = ("slot#", "byte#", "raw", "relative#", "offset#", "position#", "gap#", "batch")
TIME_INDEX = ("slot#", "byte#", "timestamp", "offset#", "offset_entry", "gap#")


def facts(groups: Iterable[tuple[str, str, Iterable[Fact]]]) -> None:
    """Draws some labelled values of each file. A group is (colour, name, values) of one file."""
    elements.facts(
        (colour, name, [(fact.label, _value(fact)) for fact in rows])
        for colour, name, rows in groups
    )


def _value(fact: Fact) -> Html:
    value = _torn(fact.value) if fact.is_wrong else html(fact.value)
    if fact.detail:
        value = join((value, " ", tag("small", fact.detail)))
    return tag("span", value, title=fact.hover) if fact.hover else value


def batches_html(rows: Sequence[BatchRow]) -> Html:
    """Returns the table of batches. The epoch column is left out if no batch has an epoch."""
    columns = [
        name for name in BATCHES if name != EPOCH or any(row.epoch is not None for row in rows)
    ]
    return _table(columns, rows, map(_batch, rows), _checksum({row.magic >= 2 for row in rows}))


def _checksum(is_new: set[bool]) -> str:
    if len(is_new) > 1:
        return "CRC"
    if True in is_new:
        return "CRC-32C"
    return "CRC-32"


def _batch(row: BatchRow) -> tuple[str, ...]:
    if row.slot != NONE:
        text = say("segment.own_slot", slot=row.slot)
        entry = tag("span", text, style="color:var(--kv-offset-text);font-weight:600")
    else:
        text = say("segment.via_start")
        if row.found_from_slot != NONE:
            text = say("segment.via_slot", slot=row.found_from_slot)
        entry = tag("span", text, class_="kv-fnt")
    if row.fault:
        entry = join((entry, ";", _fault(row.fault)))
    mono_texts = map(elements.mono, (row.position, row.offsets, row.newest, row.crc))
    position, offsets, newest, crc = mono_texts
    epoch = () if row.epoch is None else (row.epoch,)
    return (position, row.size, offsets, row.records, newest, row.codec, *epoch, crc, entry)


def index_html(rows: Sequence[IndexRow]) -> Html:
    return _table(INDEX, rows, map(_index, rows))


def _index(row: IndexRow) -> tuple[str, ...]:
    numbers = [
        elements.mono(text)
        for text in (row.byte, row.raw_hex, row.relative_offset, row.offset, row.position)
    ]
    batch = join((elements.mono(row.batch), _fault(row.fault)))
    return row.slot, *numbers, row.gap, batch


def time_index_html(rows: Sequence[TimeRow]) -> Html:
    return _table(TIME_INDEX, rows, map(_time, rows))


def _time(row: TimeRow) -> tuple[str, ...]:
    numbers = [elements.mono(text) for text in (row.byte, row.timestamp, row.offset)]
    return row.slot, *numbers, join((row.index_slot, _fault(row.fault))), row.later_by


def _fault(words: str) -> Html:
    return join((" ", _torn(words))) if words else Html()


def _torn(words: str) -> Html:
    return tag("span", words, style="color:var(--kv-torn-text)")


def _table(
    columns: Sequence[str],
    rows: Sequence[BatchRow | IndexRow | TimeRow],
    cells: Iterable[Sequence[str]],
    checksum: str = "",
) -> Html:
    """Returns a table of BATCHES, INDEX or TIME_INDEX in which the selected row is marked.

    `checksum` is the heading of the CRC column.
    """
    heads = [
        checksum if name == CRC else say(f"segment.head_{name.rstrip(NUMBER)}") for name in columns
    ]
    kinds = "".join("r" if name.endswith(NUMBER) else "l" for name in columns)
    pinned = next((index for index, row in enumerate(rows) if row.is_pinned), None)
    return tables.table_html(heads, cells, kinds, pinned)


def lanes_legend(names: Iterable[str]) -> Html:
    return elements.key((f"txn-{name}", say(f"transaction_lanes.{name}")) for name in names)


def transactions_legend(lanes_view: TransactionLanesView) -> Html:
    """Returns the legend of the figure: the lanes, then what a read_committed consumer gets."""
    legend = lanes_legend(lanes_view.legend)
    counts = [(f"txn-{fate}", words) for fate, words in lanes_view.counts.items()]
    if not counts:
        return legend
    return join((legend, elements.key([("txn-none", lanes_view.counted), *counts])))
