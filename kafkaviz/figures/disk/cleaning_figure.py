"""One log before and after one cleaning.

A small log is drawn record by record. Below each record is the same offset after the cleaning. A
larger log is drawn as bars: the segments before the cleaning, the share of removed records, the
segments after the cleaning. Two more bars show the segments by their bytes.

A lesson shows the steps of the cleaning one by one. A page shows only the last step.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kafkaviz import units
from kafkaviz.analysis.compaction.compaction import DecidedLog
from kafkaviz.analysis.compaction.decision import CleaningDecision
from kafkaviz.analysis.compaction.record_fates import GOES, Fate, LogRecord
from kafkaviz.html import Html, join, tag
from kafkaviz.messages import message, render, say, say_count
from kafkaviz.render import log_text
from kafkaviz.render.sentences import count_range, join_details, join_semicolon
from kafkaviz.simulate.cleaner.cleaner import LISTED_RANGES, Cleaning, OffsetRanges
from kafkaviz.units import file_stem, format_bytes, format_count

# the steps: the range of the cleaner, its offset map, the removed records, the log afterwards
STEPS = RANGE, MAP, REMOVAL, RESULT = range(1, 5)
CLEAN = "clean"
DIRTY = "dirty"
UNCLEANABLE = "uncleanable"
PARTS = (CLEAN, DIRTY, UNCLEANABLE)
BAR_COLUMNS = 240  # columns of offsets in the bars of a larger log
TEXT_CHARACTERS = 60  # most characters of a key or a value
NULL = "null"  # the value of a tombstone
GONE_BEFORE = "gone-before"
KEEPS = "keeps"
GOES_NOW = "goes"
AFTER = "after"  # a segment that the cleaner writes


@dataclass(frozen=True, kw_only=True)
class RecordCell:
    """A cell of the figure: a record, or consecutive offsets without a record."""

    text: str  # the offset of the record, or the first and the last of the missing offsets
    key: str
    value: str  # the value, "null", or the type of a transaction marker
    look: str  # `GONE_BEFORE`, `CLEAN`, `DIRTY` or `UNCLEANABLE`
    is_mapped: bool = False  # whether the offset map has this offset; False before the step `MAP`
    after: str = ""  # the result of the cleaning, `KEEPS` or `GOES_NOW`; "": not shown yet
    why: str = ""  # the reason for `after`, in a few words
    fate: str = ""  # the reason for `after`, in a sentence
    marks: tuple[str, ...] = ()  # names of this offset, such as the first dirty offset


@dataclass(frozen=True, kw_only=True)
class SegmentCells:
    """A segment in the figure, with a cell for each record or gap."""

    name: str
    details: str
    result: str  # says what the cleaning does to the segment; "" before the last step
    cells: tuple[RecordCell, ...]
    end_marks: tuple[str, ...] = ()  # names of later offsets, such as the high watermark


@dataclass(frozen=True, kw_only=True)
class BarPiece:
    """A piece of a bar. `start` and `stop` are fractions of the bar's width, 0 to 1."""

    start: float
    stop: float
    size_bytes: int
    look: str
    text: str


@dataclass(frozen=True, kw_only=True)
class LogBars:
    """A large log drawn as bars above an offset axis."""

    first: str
    last: str
    before: tuple[BarPiece, ...]  # the segments before the cleaning
    # the fraction of removed records in each column of the axis; if the `Cleaning` lists only the
    # first records, the columns end after these records
    removed: tuple[float, ...]
    after: tuple[BarPiece, ...]  # the segments after the cleaning
    marks: tuple[tuple[float, str], ...]  # (fraction of the axis, text) of each named offset


@dataclass(frozen=True, kw_only=True)
class CleaningView:
    """One log before and after one cleaning."""

    title: str
    caption: str
    step: int
    map_rows: tuple[tuple[str, str], ...]
    segments: tuple[SegmentCells, ...]  # () if the log is drawn as bars
    bars: LogBars | None  # None if the log is drawn record by record
    notes: tuple[str, ...]


def view(
    log: DecidedLog,
    cleaning: Cleaning | None,
    records: Sequence[LogRecord] | None,
    step: int = RESULT,
) -> CleaningView:
    """Returns the view of one cleaning of a log at one of `STEPS`.

    Args:
        cleaning: None if the log is not cleaned; then `step` is ignored, and the first is drawn.
        records: the result of log_records. If None, the log is drawn as bars.
    """
    if cleaning is None:
        step = RANGE
    return CleaningView(
        title=_title(log, cleaning, step),
        caption=_caption(step, is_small=records is not None),
        step=step,
        map_rows=_map_rows(records or ()) if step == MAP else (),
        segments=() if records is None else tuple(_segments(log, cleaning, records, step)),
        bars=_bars(log, cleaning, step) if records is None else None,
        notes=tuple(_notes(log, cleaning, step, is_small=records is not None)),
    )


def _title(log: DecidedLog, cleaning: Cleaning | None, step: int) -> str:
    decision = log.decision
    if step == RANGE and not decision.cleanable_bytes:
        return say("cleaning.title_nothing")
    if step == RANGE:
        return say(
            "cleaning.title_range",
            first=decision.first_dirty_offset,
            last=decision.first_uncleanable_segment - 1,
            size=decision.cleanable_bytes,
        )
    assert cleaning is not None
    if step == MAP:
        return say_count("cleaning.title_map", cleaning.map_keys)
    if step == REMOVAL:
        return say("cleaning.title_removal", n=cleaning.removed.records)
    return say(
        "cleaning.title_result",
        removed=message("cleaning.title_removal", n=cleaning.removed.records),
        retained=message("cli_compaction.n_kept", n=cleaning.retained.records),
        before=cleaning.source_bytes,
        after=cleaning.log_bytes,
    )


def _caption(step: int, *, is_small: bool) -> str:
    if is_small:
        return say("cleaning.below_holes" if step == RESULT else "cleaning.below_cells")
    if step < REMOVAL:
        return say("cleaning.below_bars")
    return say("cleaning.below_bytes" if step == RESULT else "cleaning.below_shares")


def _notes(
    log: DecidedLog, cleaning: Cleaning | None, step: int, *, is_small: bool
) -> Iterable[str]:
    barrier = log_text.describe_barrier(log.decision, log.state.oldest_transaction)
    yield say("cleaning.note_barrier", barrier=barrier)
    if cleaning is None:
        return
    if step >= MAP and cleaning.passes != 1:
        yield say("cleaning.note_map_full", offset=cleaning.next_first_dirty_offset)
    listed_end = _listed_end(cleaning) if step >= REMOVAL and not is_small else None
    if listed_end is not None:
        yield say("cleaning.note_cut", offset=listed_end, n=LISTED_RANGES)
    if step == RESULT:
        yield say("cleaning.note_checkpoint", offset=cleaning.next_first_dirty_offset)


def _marks(log: DecidedLog) -> list[tuple[int, str]]:
    facts = log.state.facts
    name_by_offset = (
        (facts.log_start_offset, "cleaning.mark_log_start"),
        (log.decision.first_dirty_offset, "cleaning.mark_first_dirty"),
        (log.decision.first_uncleanable_offset, "cleaning.mark_first_uncleanable"),
        (facts.active_base_offset, "rolls.active_segment"),
        (facts.high_watermark, "compare.key_watermark"),
    )
    texts: dict[int, list[str]] = {}
    for offset, name in name_by_offset:
        texts.setdefault(offset, []).append(say(name))
    return [
        (offset, say("cleaning.mark", names=join_details(names), offset=offset))
        for offset, names in sorted(texts.items())
    ]


def _part(decision: CleaningDecision, offset: int) -> str:
    if offset >= decision.first_uncleanable_segment:
        return UNCLEANABLE
    return CLEAN if offset < decision.first_dirty_offset else DIRTY


# ---- record by record


def _segments(
    log: DecidedLog, cleaning: Cleaning | None, records: Sequence[LogRecord], step: int
) -> Iterable[SegmentCells]:
    facts = log.state.facts
    marks = _marks(log)
    results = _results(cleaning) if cleaning and step == RESULT else {}
    untouched = say("cleaning.untouched") if step == RESULT else ""
    stops = [*(segment.base_offset for segment in facts.segments[1:]), None]
    for number, (segment, stop) in enumerate(zip(facts.segments, stops, strict=True)):
        own_marks = [mark for mark in marks if stop is None or mark[0] < stop]
        del marks[: len(own_marks)]
        cells = []
        following = segment.base_offset
        if not number:
            following = max(following, facts.log_start_offset)
        for record in records:
            if record.segment != segment.base_offset:
                continue
            if record.offset > following:
                begun = _take_marks(own_marks, record.offset)
                cells.append(_missing_cell(following, record.offset - 1, begun))
            begun = _take_marks(own_marks, record.offset + 1)
            cells.append(_record_cell(log, record, step, begun))
            following = record.offset + 1
        end = facts.log_end_offset if stop is None else stop
        if end > following:
            cells.append(_missing_cell(following, end - 1, _take_marks(own_marks, end)))
        yield SegmentCells(
            name=f"{file_stem(segment.base_offset)}.log",
            details=format_bytes(segment.size_bytes),
            result=results.get(segment.base_offset, untouched),
            cells=tuple(cells),
            end_marks=tuple(text for _, text in own_marks),
        )


def _take_marks(marks: list[tuple[int, str]], below: int) -> tuple[str, ...]:
    texts = tuple(text for offset, text in marks if offset < below)
    del marks[: len(texts)]
    return texts


def _results(cleaning: Cleaning) -> dict[int, str]:
    texts = {}
    for segment in cleaning.segments:
        count = len(segment.sources)
        name = f"{file_stem(segment.base_offset)}.log"
        key = "cleaning.merged" if count > 1 else "cleaning.rewritten"
        text = say(key, name=name, size=segment.log_bytes, n=count)
        texts |= dict.fromkeys(segment.sources, text)
    return texts


def _missing_cell(first: int, last: int, marks: tuple[str, ...]) -> RecordCell:
    text = count_range(first, last)
    fate = say("cleaning.part_gone_before")
    return RecordCell(text=text, key="", value="", look=GONE_BEFORE, fate=fate, marks=marks)


def _record_cell(
    log: DecidedLog, record: LogRecord, step: int, marks: tuple[str, ...]
) -> RecordCell:
    key = ""
    if record.marker is not None:
        value = record.marker
    else:
        key = _text(record.key or b"")
        value = NULL if record.value is None else _text(record.value)
    cell = RecordCell(
        text=format_count(record.offset),
        key=key,
        value=value,
        look=_part(log.decision, record.offset),
        is_mapped=step >= MAP and record.is_mapped,
        marks=marks,
    )
    if step < REMOVAL:
        return cell
    after = GOES_NOW if record.fate in GOES else KEEPS
    fate = render(log_text.describe_fate(record, log))
    return replace(cell, after=after, why=_why(record), fate=fate)


def _text(data: bytes) -> str:
    return units.escape_controls(data.decode(errors="replace")[:TEXT_CHARACTERS])


def _why(record: LogRecord) -> str:
    if record.fate == Fate.REPLACED and record.replaced_by is not None:
        return say("cleaning.why_replaced", offset=record.replaced_by)
    if record.fate in GOES:
        return say(f"cleaning.why_{record.fate.name.lower()}")
    return ""


def _map_rows(records: Sequence[LogRecord]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (_text(record.key or b""), format_count(record.offset))
        for record in records
        if record.is_mapped
    )


# ---- as bars


def _bars(log: DecidedLog, cleaning: Cleaning | None, step: int) -> LogBars:
    facts = log.state.facts
    first = facts.log_start_offset
    length = max(1, facts.log_end_offset - first)

    def share(offset: int) -> float:
        return min(1.0, max(0.0, (offset - first) / length))

    def piece(base_offset: int, stop: int, size_bytes: int, look: str) -> BarPiece:
        text = say("cleaning.segment", name=file_stem(base_offset), size=size_bytes)
        start = share(base_offset)
        return BarPiece(start=start, stop=share(stop), size_bytes=size_bytes, look=look, text=text)

    bases = [segment.base_offset for segment in facts.segments]
    stops = [*bases[1:], facts.log_end_offset]
    before = []
    for segment, stop in zip(facts.segments, stops, strict=True):
        look = _part(log.decision, max(stop - 1, segment.base_offset, first))
        before.append(piece(segment.base_offset, stop, segment.size_bytes, look))
    removed: tuple[float, ...] = ()
    after: list[BarPiece] = []
    if cleaning and step >= REMOVAL:
        removed = removed_shares(cleaning.removed, cleaning.retained, first, length)
        listed_end = _listed_end(cleaning)
        if listed_end is not None:
            removed = removed[: int(BAR_COLUMNS * share(listed_end))]
    if cleaning and step == RESULT:
        ends = dict(zip(bases, stops, strict=True))
        after = [
            piece(segment.base_offset, ends[segment.sources[-1]], segment.log_bytes, AFTER)
            for segment in cleaning.segments
        ]
        cleaned = {base for segment in cleaning.segments for base in segment.sources}
        after += [bar for bar, base in zip(before, bases, strict=True) if base not in cleaned]
        after.sort(key=lambda bar: bar.start)
    return LogBars(
        first=format_count(first),
        last=format_count(facts.log_end_offset),
        before=tuple(before),
        removed=removed,
        after=tuple(after),
        marks=tuple((share(offset), text) for offset, text in _marks(log)),
    )


def _listed_end(cleaning: Cleaning) -> int | None:
    """Returns the offset at which `cleaning` stops listing records; None: all are listed."""
    ends = [
        int(offsets.ranges[-1, 1]) + 1
        for offsets in (cleaning.removed, cleaning.retained)
        if offsets.count > len(offsets.ranges)
    ]
    return min(ends, default=None)


def removed_shares(
    removed: OffsetRanges, retained: OffsetRanges, first: int, length: int
) -> tuple[float, ...]:
    """Returns the fraction of removed records in each of `BAR_COLUMNS` columns of offsets."""
    removed_counts = _count_by_column(removed, first, length)
    retained_counts = _count_by_column(retained, first, length)
    totals = np.maximum(removed_counts + retained_counts, 1e-9)
    return tuple((removed_counts / totals).tolist())


def _count_by_column(offsets: OffsetRanges, first: int, length: int) -> np.ndarray:
    edges = first + length * np.arange(BAR_COLUMNS + 1) / BAR_COLUMNS
    if not len(offsets.ranges):
        return np.zeros(BAR_COLUMNS)
    starts = offsets.ranges[:, 0].astype(np.float64)
    stops = offsets.ranges[:, 1].astype(np.float64) + 1
    sizes_before = np.append(0, np.cumsum(stops - starts))
    places = np.searchsorted(starts, edges, "right")
    last = np.maximum(places - 1, 0)
    within = np.clip(np.minimum(edges, stops[last]) - starts[last], 0, None)
    below = np.where(places > 0, sizes_before[last] + within, 0)
    return np.diff(below)


# ---- the drawing


def figure(cleaning_view: CleaningView) -> Html:
    """Draws the view as HTML. The CSS classes are in look.css."""
    parts: list[Html] = []
    if cleaning_view.map_rows:
        parts.append(_map_html(cleaning_view.map_rows))
    parts += [_segment_html(segment, cleaning_view.step) for segment in cleaning_view.segments]
    if cleaning_view.bars:
        parts.append(_bars_html(cleaning_view.bars))
    parts.append(_key_html(cleaning_view))
    parts += [tag("p", note, class_="kv-figs") for note in cleaning_view.notes]
    return tag("div", *parts, class_="kv-cleaning")


def describe(cleaning_view: CleaningView) -> str:
    """Returns the text for screen readers."""
    cells = [
        say("common.labelled", where=cell.text, text=cell.fate)
        for segment in cleaning_view.segments
        for cell in segment.cells
        if cell.fate
    ]
    return join_semicolon([cleaning_view.title, *cells, *cleaning_view.notes])


def rows(cleaning_view: CleaningView) -> list[tuple[str, str, str, str]]:
    """Returns (offset, key, value, a sentence on what happens) for each cell."""
    return [
        (cell.text, cell.key, cell.value, cell.fate)
        for segment in cleaning_view.segments
        for cell in segment.cells
    ]


def _map_html(map_rows: Sequence[tuple[str, str]]) -> Html:
    entries = (
        tag("span", tag("b", key), " → ", offset, class_="kv-mono") for key, offset in map_rows
    )
    head = tag("div", say("cleaning.map_head"), class_="kv-lab")
    return tag("div", head, tag("div", *entries), class_="kv-map")


def _segment_html(segment: SegmentCells, step: int) -> Html:
    head = [tag("span", segment.name, class_="kv-mono"), " ", tag("small", segment.details)]
    if segment.result:
        head += [" ", tag("small", segment.result, class_="kv-result")]
    marks = [*(cell.marks for cell in segment.cells), segment.end_marks]
    lines = sum(len(texts) for texts in marks)
    # each mark has a line of its own, so that two marks close together do not overlap
    line = 0
    columns = []
    for cell, texts in zip([*segment.cells, None], marks, strict=True):
        flags = [
            tag("i", text, style=f"top:{(line + number) * 16}px")
            for number, text in enumerate(texts)
        ]
        line += len(texts)
        if cell is not None:
            columns.append(_column_html(cell, flags, step, lines))
        elif flags:
            columns.append(tag("div", tag("div", *flags, class_="kv-flags"), class_="kv-end"))
    records = tag("div", *columns, class_="kv-records", style=f"--kv-lines:{lines}")
    return join((tag("div", *head, class_="kv-seg"), records))


def _column_html(cell: RecordCell, flags: Sequence[Html], step: int, lines: int) -> Html:
    looks = ["kv-cell", cell.look]
    if cell.is_mapped:
        looks.append("mapped")
    if cell.after == GOES_NOW:
        looks.append(GOES_NOW)
    parts = [
        tag(
            "div",
            tag("small", cell.text),
            tag("b", cell.key),
            tag("span", cell.value),
            tag("em", cell.why) if step >= REMOVAL else "",
            class_=" ".join(looks),
            title=cell.fate or None,
        )
    ]
    if lines:
        parts.insert(0, tag("div", *flags, class_="kv-flags"))
    if step < RESULT or cell.look == UNCLEANABLE:
        return tag("div", *parts)
    if cell.after == KEEPS:
        name = tag("b", cell.key or cell.value)
        parts.append(tag("div", tag("small", cell.text), name, class_="kv-cell-after"))
    else:
        parts.append(tag("div", class_="kv-cell-after hole"))
    return tag("div", *parts)


def _bars_html(bars: LogBars) -> Html:
    flags = (
        tag("i", text, class_="end" if place > 0.5 else None, style=_at(place, number))
        for number, (place, text) in enumerate(bars.marks)
    )
    parts = [
        tag("div", *flags, class_="kv-flags", style=f"--kv-lines:{len(bars.marks)}"),
        _row_html(say("cleaning.row_before"), _pieces_html(bars.before)),
    ]
    if bars.after or bars.removed:
        parts.append(_row_html(say("cleaning.row_removed"), _shades_html(bars.removed)))
    if bars.after:
        parts.append(_row_html(say("cleaning.row_after"), _pieces_html(bars.after)))
    parts.append(_scale_html(bars.first, bars.last))
    if bars.after:
        total_bytes = max(_size(bars.before), _size(bars.after), 1)
        for key, pieces in (("bytes_before", bars.before), ("bytes_after", bars.after)):
            content = _pieces_html(_on_byte_scale(pieces, total_bytes))
            parts.append(_row_html(say(f"cleaning.row_{key}", size=_size(pieces)), content))
        parts.append(_scale_html("0", format_bytes(total_bytes)))
    return tag("div", *parts, class_="kv-logbars")


def _size(pieces: Iterable[BarPiece]) -> int:
    return sum(piece.size_bytes for piece in pieces)


def _on_byte_scale(pieces: Iterable[BarPiece], total_bytes: int) -> Iterator[BarPiece]:
    position = 0
    for piece in pieces:
        end = position + piece.size_bytes
        yield replace(piece, start=position / total_bytes, stop=end / total_bytes)
        position = end


def _scale_html(first: str, last: str) -> Html:
    return tag("div", tag("span", first), tag("span", last), class_="kv-scale")


def _at(place: float, number: int) -> str:
    return f"left:{100 * place:.2f}%;top:{number * 16}px"


def _row_html(name: str, content: Html) -> Html:
    return join((tag("div", name, class_="kv-lab"), content))


def _pieces_html(pieces: Iterable[BarPiece]) -> Html:
    parts = []
    for piece in pieces:
        style = f"left:{100 * piece.start:.3f}%;width:{100 * (piece.stop - piece.start):.3f}%"
        parts.append(tag("i", class_=piece.look, title=piece.text, style=style))
    return tag("div", *parts, class_="kv-bar")


def _shades_html(shares: Sequence[float]) -> Html:
    stops = ",".join(
        f"color-mix(in srgb,var(--kv-accent) {100 * share:.0f}%,var(--kv-bg)) "
        f"{100 * number / BAR_COLUMNS:.2f}% {100 * (number + 1) / BAR_COLUMNS:.2f}%"
        for number, share in enumerate((*shares, 0.0))
    )
    unlisted = ""
    if len(shares) < BAR_COLUMNS:
        left = f"left:{100 * len(shares) / BAR_COLUMNS:.2f}%;right:0"
        unlisted = tag("i", class_="unlisted", style=left)
    style = f"background:linear-gradient(to right,{stops})"
    return tag("div", unlisted, class_="kv-bar", style=style)


def _key_html(cleaning_view: CleaningView) -> Html:
    looks = list(PARTS)
    if any(cell.look == GONE_BEFORE for part in cleaning_view.segments for cell in part.cells):
        looks.append(GONE_BEFORE)
    if cleaning_view.step >= MAP and cleaning_view.segments:
        looks.append("mapped")
    if cleaning_view.step >= REMOVAL and cleaning_view.segments:
        looks.append(GOES_NOW)
    if cleaning_view.step == RESULT and cleaning_view.bars:
        looks.append(AFTER)
    texts = {look: say(f"cleaning.part_{look.replace('-', '_')}") for look in looks}
    swatches = (
        tag("span", tag("i", class_=f"kv-sw part-{look}"), text) for look, text in texts.items()
    )
    return tag("div", *swatches, class_="kv-key")
