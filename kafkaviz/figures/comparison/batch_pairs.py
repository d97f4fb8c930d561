"""The batches of two logs around an offset, in pairs, and the bytes of one pair.

offsets  epoch  crc       offsets  epoch  crc
178–179      2  57756215  178–179      2  57756215   the same
180–185      3  63d6e475  180–184      5  ca8e9ce0   other bytes
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kafkaviz import units
from kafkaviz.analysis.comparison.batches import BatchPair, WindowBatch, describe_pair
from kafkaviz.messages import say, say_count
from kafkaviz.render.sentences import count_range

ROW_BYTES = 16
HEADER_ROWS = 4  # rows that are always shown: they hold the 61 bytes of the batch header
MAX_ROWS = 14
COLUMNS = {  # keys are column names in CSV files
    "offsets": "common.offsets",
    "epoch": "segment.head_epoch",
    "position": "segment.head_position",
    "size_bytes": "segment.size_bytes",
    "crc": "compare.column_crc",
}


@dataclass(frozen=True)
class PairCell:
    text: str
    is_other: bool = False  # whether the other side has a different text in this cell


@dataclass(frozen=True, kw_only=True)
class PairRow:
    """A table row: the batches of both sides that begin at the same offset."""

    # a cell per column for each side; empty if no batch of that side begins at the offset
    cells: tuple[tuple[PairCell, ...], tuple[PairCell, ...]]
    text: str  # "the same", "other bytes", or the side that has the batch
    is_equal: bool
    is_chosen: bool  # whether the bytes of this pair are shown


@dataclass(frozen=True, kw_only=True)
class HexPairRow:
    """A row of the hex dump: the same sixteen positions in both batches."""

    position: int  # position of the first byte, counted from the start of the batch
    # per side: the digits of each byte, and whether the byte differs on the other side
    digits: tuple[tuple[tuple[str, bool], ...], tuple[tuple[str, bool], ...]]


@dataclass(frozen=True, kw_only=True)
class FieldRow:
    field: str
    position: str
    values: tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class HexPairView:
    title: str
    caption: str
    rows: tuple[HexPairRow, ...]
    hidden_rows: int  # number of differing rows that did not fit
    fields: tuple[FieldRow, ...]


@dataclass(frozen=True, kw_only=True)
class BatchPairsView:
    title: str
    rows: tuple[PairRow, ...]
    hex_pair: HexPairView | None


def view(pairs: Sequence[BatchPair], offset: int) -> BatchPairsView:
    """Returns the table of pairs, and the bytes of one pair.

    The pair is the first one that differs and holds `offset`. If no pair does both, it is the first
    that differs; if no pair differs, it is the first that holds `offset`.
    """
    chosen = _choose_pair(pairs, offset)
    return BatchPairsView(
        title=say("compare.batches_around", offset=units.format_count(offset)),
        rows=tuple(_row(pair, is_chosen=pair is chosen) for pair in pairs),
        hex_pair=_hex_pair(chosen) if chosen else None,
    )


def _choose_pair(pairs: Sequence[BatchPair], offset: int) -> BatchPair | None:
    complete = [pair for pair in pairs if all(pair.batches)]
    differing = [pair for pair in complete if not pair.is_equal]
    candidates = [pair for pair in complete if any(_holds(batch, offset) for batch in pair.batches)]
    differing_candidates = [pair for pair in candidates if not pair.is_equal]
    return next(iter([*differing_candidates, *differing, *candidates]), None)


def _holds(batch: WindowBatch | None, offset: int) -> bool:
    if batch is None:
        return False
    return batch.number("base_offset") <= offset <= batch.number("last_offset")


def _row(pair: BatchPair, *, is_chosen: bool) -> PairRow:
    a, b = pair.batches
    if a and b:
        text = say("compare.same_bytes" if pair.is_equal else "compare.other_bytes")
    else:
        text = say("compare.begins_in", side="a" if a else "b")
    wrong = [
        side for side, batch in zip("ab", (a, b), strict=True) if batch and not batch.is_crc_valid
    ]
    if wrong:
        text = say("compare.wrong_crc", text=text, sides=" ".join(wrong))
    return PairRow(
        cells=(_cells(a, b), _cells(b, a)), text=text, is_equal=pair.is_equal, is_chosen=is_chosen
    )


def _cells(batch: WindowBatch | None, other: WindowBatch | None) -> tuple[PairCell, ...]:
    if batch is None:
        return ()
    row = batch.row
    other_row = batch.row if other is None else other.row

    def differs(*fields: str) -> bool:
        return any(int(row[field]) != int(other_row[field]) for field in fields)

    first = units.format_count(batch.number("base_offset"))
    last = units.format_count(batch.number("last_offset"))
    return (
        PairCell(f"{first}–{last}", differs("base_offset", "last_offset")),
        PairCell(str(batch.number("leader_epoch")), differs("leader_epoch")),
        PairCell(units.format_count(batch.number("position"))),
        PairCell(units.format_count(batch.number("size_bytes")), differs("size_bytes")),
        PairCell(f"{batch.number('crc') & 0xFFFFFFFF:08x}", differs("crc")),
    )


def _hex_pair(pair: BatchPair) -> HexPairView:
    a, b = pair.batches
    assert a is not None and b is not None
    data = a.read(), b.read()
    rows = _differing_rows(*data)
    visible = sorted({*range(HEADER_ROWS), *rows[: MAX_ROWS - HEADER_ROWS]})
    visible = [row for row in visible if row * ROW_BYTES < max(map(len, data))]
    count = sum(left != right for left, right in zip(*data, strict=False))
    count += abs(len(data[0]) - len(data[1]))
    offset = units.format_count(pair.base_offset)
    title = say("compare.bytes_same", offset=offset)
    if count:
        title = say_count("compare.bytes_title", count, offset=offset)
    return HexPairView(
        title=title,
        caption=say(
            "compare.bytes_below",
            a=a.segment.log.name,
            a_at=units.format_count(a.number("position")),
            b=b.segment.log.name,
            b_at=units.format_count(b.number("position")),
        ),
        rows=tuple(_hex_row(data, row * ROW_BYTES) for row in visible),
        hidden_rows=len(set(rows) - set(visible)),
        fields=tuple(_fields(pair, a)),
    )


def _differing_rows(a: bytes, b: bytes) -> list[int]:
    return [
        start // ROW_BYTES
        for start in range(0, max(len(a), len(b)), ROW_BYTES)
        if a[start : start + ROW_BYTES] != b[start : start + ROW_BYTES]
    ]


def _hex_row(data: tuple[bytes, bytes], position: int) -> HexPairRow:
    a, b = (part[position : position + ROW_BYTES] for part in data)

    def digits(own: bytes, other: bytes) -> tuple[tuple[str, bool], ...]:
        return tuple(
            (f"{byte:02x}", place >= len(other) or byte != other[place])
            for place, byte in enumerate(own)
        )

    return HexPairRow(position=position, digits=(digits(a, b), digits(b, a)))


def _fields(pair: BatchPair, a: WindowBatch) -> Iterator[FieldRow]:
    for difference in describe_pair(pair):
        location = difference.location
        start = a.number("position")
        if difference.locations[0] is None and pair.batches[1]:
            start = pair.batches[1].number("position")
        first = location.position - start
        yield FieldRow(
            field=difference.what,
            position=count_range(first, first + max(location.size_bytes, 1) - 1),
            values=(difference.values[0] or units.MISSING, difference.values[1] or units.MISSING),
        )
