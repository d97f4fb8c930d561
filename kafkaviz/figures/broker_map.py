"""The broker map: a row a topic-partition, its segments to scale, and below each row how densely it
is indexed.
"""

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple, cast

import numpy as np
import plotly.graph_objects as go

from kafkaviz import units
from kafkaviz.analyse.marks import Mark
from kafkaviz.analyse.overview import KINDS, UNKNOWN, Overview, Row, torn
from kafkaviz.analyse.tail import READ_BYTES, Tail
from kafkaviz.figures import map_marks, map_rows, theme
from kafkaviz.figures.density_strip import CELLS, strip
from kafkaviz.figures.finding_words import ended
from kafkaviz.figures.listed import clauses, number, sentences
from kafkaviz.figures.map_marks import MARK_PX, RowMark
from kafkaviz.figures.map_rows import LARGEST, ORDERS
from kafkaviz.words import counted, say

COUNTED = ("batches", "records", "offset_entries", "time_entries")  # of a segment
BARS_A_ROW = 2000  # more segments are drawn as one bar
BARS = 6000  # in all: then the rows with most segments become one bar, until it is so
DENSE_TEXT_BYTES = 2500  # below: the number at the row's end is blue
ENTRIES_TO_COMPARE = 5  # fewer entries say little about a density
PLOT_PX = 754  # of a page 1280 px wide: what stands behind a row is reckoned by it
# of a page 1024 px wide, with what its row ends leave free: there words still have their room
NARROW_PX = 550
BARS_SHARE = 0.88  # of the axis: words stand behind the bars
# of the axis, about a pixel and a half: what a bar leaves free before the next one
GAP_SHARE = 0.0018
# from the end of a row to the middle of its mark, and from the mark to its words
MARK_AT_PX, WORDS_AFTER_PX = 12.5, 6
WORDS_PX = MARK_AT_PX + MARK_PX / 2 + WORDS_AFTER_PX  # from the end of a row to those words
CHARACTER_PX, WIDE_PX = 5.8, 12.5  # of each character of them, Latin or Chinese
PIN_AT_PX = 1  # from the top of a row to the middle of a pin
EMPTY_PX = 6  # from where a bar would be to the word that there is none
TICKS = 6

ROW_PX, BAR_PX, BAR_TOP_PX, STRIP_PX, STRIP_TOP_PX = 22, 10, 4, 3, 16
LEFT_PX, RIGHT_PX, TOP_PX, BOTTOM_PX = 176, 62, 2, 26
NAME_CHARACTERS = 26
TORN_SHARE = 0.0115  # of the axis: a torn end is drawn this wide, or nobody would see it


@dataclass(frozen=True)
class Bar:
    """One segment, or all of a row that has too many; start_byte counts from the row's first
    byte.
    """

    row: int
    start_byte: int
    size_bytes: int
    kind: str  # of overview.KINDS, or "many"
    directory: str
    base_offset: int  # of the segment a click opens
    hover: str
    severity: str = ""  # of the worst that was found about the segment


@dataclass(frozen=True)
class MapRow:
    """A topic-partition: its name, and what stands at the row's end."""

    name: str
    quiet: bool  # Kafka's own, or not in use any more
    log_bytes: int
    gap: str  # log bytes an entry
    dense: bool
    directory: str = ""
    mark: RowMark | None = None  # the worst that was found
    # where the segments end that are torn, counted from the row's first byte
    torn_ends: tuple[int, ...] = ()


@dataclass(frozen=True)
class BrokerMapView:
    """All that the figure draws."""

    title: str
    below: str
    rows: tuple[MapRow, ...]
    bars: tuple[Bar, ...]
    axis_bytes: float  # what the axis stands for: the longest row, and room for words
    strip: np.ndarray  # a row each, density_strip.CELLS wide: 0 to 1, NaN where there is no entry

    @property
    def alt(self) -> str:
        """The map in words, for who does not see it: its title, how many rows, and what is
        marked.
        """
        shown = say("broker.map_alt", title=self.title, count=len(self.rows))
        marks = [
            say("broker.mark_of", name=row.name, words=row.mark.words)
            for row in self.rows
            if row.mark
        ]
        return sentences((shown, ended(clauses(marks))))

    @property
    def longest_bytes(self) -> int:
        """The length of the axis that the bars take."""
        return max((row.log_bytes for row in self.rows), default=0)


def view(
    overview: Overview,
    order: str = LARGEST,
    page: int = 0,
    tails: Mapping[tuple[str, int], str] | None = None,
    marks: Mapping[str, Sequence[Mark]] | None = None,
) -> BrokerMapView:
    """One page of the map's rows, in one of map_rows.ORDERS.

    tails: what stands behind the last whole batch, in words, by topic-partition directory and base
    offset. marks: what was found, by directory.
    """
    places, marks = map_rows.places(overview.partitions, order, page), marks or {}
    rows = tuple(
        _row(overview.partitions[place], overview.rows_of(place), tails or {}, marks)
        for place in places
    )
    longest = max((row.log_bytes for row in rows), default=0)
    drawn = _drawn_one_by_one([overview.partitions[place].sums.segments for place in places])
    bars = tuple(
        bar
        for number, place in enumerate(places)
        for bar in _bars(overview, place, number, drawn[number], marks)
    )
    axis_bytes = _axis_bytes(rows, longest)
    strips = _strips(overview, places, longest, axis_bytes)
    return BrokerMapView(_title(overview), say("broker.map_below"), rows, bars, axis_bytes, strips)


def _row(
    row: Row,
    segments: np.ndarray,
    tails: Mapping[tuple[str, int], str],
    marks: Mapping[str, Sequence[Mark]],
) -> MapRow:
    gap = row.sums.bytes_an_entry
    tail = next(
        (words for (directory, _), words in tails.items() if directory == row.directory), ""
    )
    name = (
        row.label
        if row.state == "current"
        else say("broker.named_state", name=row.label, state=say(f"common.state_{row.state}"))
    )
    quiet = row.internal or row.state != "current"
    ends = tuple(np.cumsum(segments["log_bytes"])[torn(segments)].tolist()) if tail else ()
    mark = map_marks.row_mark(
        row.label, marks.get(row.directory, ()), tail, segments["base_offset"].tolist()
    )
    return MapRow(
        name,
        quiet,
        row.sums.log_bytes,
        _gap(row),
        bool(gap and gap < DENSE_TEXT_BYTES),
        row.directory,
        mark,
        ends,
    )


def _gap(row: Row) -> str:
    if row.sums.offset_entries == 0:
        return say("broker.no_entry")
    return (
        units.MISSING
        if row.sums.bytes_an_entry is None
        else f"{units.group(round(row.sums.bytes_an_entry))} B"
    )


def _drawn_one_by_one(counts: Sequence[int]) -> list[bool]:
    """Which rows show each of their segments."""
    shown = [count <= BARS_A_ROW for count in counts]
    for place in sorted(range(len(counts)), key=lambda place: -counts[place]):
        if sum(count if one else 1 for count, one in zip(counts, shown, strict=True)) <= BARS:
            break
        shown[place] = False
    return shown


def _bars(
    overview: Overview, place: int, row: int, one_by_one: bool, marks: Mapping[str, Sequence[Mark]]
) -> list[Bar]:
    segments, named = overview.rows_of(place), overview.partitions[place]
    directory = named.directory
    if not one_by_one:
        return [_whole_row(segments, row, named)]
    starts = np.cumsum(segments["log_bytes"]) - segments["log_bytes"]
    own = map_marks.by_segment(marks.get(directory, ()))
    return [
        _bar(row, int(start), one, named, own.get(int(one["base_offset"]), ()))
        for start, one in zip(starts, segments, strict=True)
    ]


def _bar(row: int, start_byte: int, one: np.void, named: Row, marks: Sequence[Mark]) -> Bar:
    size_bytes, base_offset = int(one["log_bytes"]), int(one["base_offset"])
    worst = marks[0].severity if marks else ""
    return Bar(
        row,
        start_byte,
        size_bytes,
        KINDS[one["kind"]],
        named.directory,
        base_offset,
        _hover(one, named.label, marks),
        worst,
    )


def _whole_row(segments: np.ndarray, row: int, named: Row) -> Bar:
    largest, log_bytes = segments[segments["log_bytes"].argmax()], int(segments["log_bytes"].sum())
    many = say("broker.hover_many", count=units.group(len(segments)))
    head = say("common.comma", first=f"<b>{escape(named.label, quote=False)}</b>", next=many)
    hover = f"{head}<br>{say('broker.hover_many_below', size=units.size(log_bytes))}"
    return Bar(row, 0, log_bytes, "many", named.directory, int(largest["base_offset"]), hover)


def _hover(segment: np.void, name: str, marks: Sequence[Mark]) -> str:
    count = {name: None if segment[name] == UNKNOWN else int(segment[name]) for name in COUNTED}
    held = {  # what is not known reads as many do
        name: counted(f"common.n_{name}", cast(int, count[name]), n=units.group(count[name]))
        for name in ("batches", "records")
    }
    kind = say(f"common.kind_{KINDS[segment['kind']]}")
    lines = [
        say(
            "common.comma",
            first=(
                f"<b>{escape(name, quote=False)}</b> {units.file_stem(int(segment['base_offset']))}"
            ),
            next=kind,
        ),
        say("broker.hover_batches", size=units.group(int(segment["log_bytes"])), **held),
        say(
            "broker.hover_entries",
            offset=units.group(count["offset_entries"]),
            time=units.group(count["time_entries"]),
        ),
    ]
    if torn(cast(np.ndarray, segment)):  # a row answers for itself
        lines.append(say("broker.hover_torn", bytes=units.group(int(segment["torn_bytes"]))))
    lines += [map_marks.said(mark) for mark in marks[: map_marks.SHOWN]]
    return "<br>".join(lines)


def _strips(
    overview: Overview, places: Sequence[int], longest_bytes: int, axis_bytes: float
) -> np.ndarray:
    """The density strip of each row."""
    gap_bytes = axis_bytes * GAP_SHARE
    strips = [
        strip(overview.rows_of(place), _positions(overview, place), longest_bytes, gap_bytes)
        for place in places
    ]
    return np.array(strips, np.float32).reshape(len(places), CELLS)


def _positions(overview: Overview, place: int) -> np.ndarray | None:
    """Where a row has its entries; None where the index files are too large to be read at once."""
    if overview.entries is None:
        return None
    start, stop = np.searchsorted(overview.entries.partition, [place, place + 1])
    return overview.entries.position[start:stop]


def _title(overview: Overview) -> str:
    """What is most worth knowing: torn ends, then the densest index, then where the bytes are."""
    tails = overview.segments["torn_bytes"][torn(overview.segments)]
    if len(tails):
        return counted(
            "broker.torn_title",
            len(tails),
            count=number(len(tails)).capitalize(),
            bytes=units.group(int(tails.sum())),
        )
    dense = [
        row
        for row in overview.partitions
        if (row.sums.offset_entries or 0) > ENTRIES_TO_COMPARE and row.sums.log_bytes
    ]
    if dense:
        return _dense_title(dense, len(overview.partitions) == 1)
    if not overview.total.log_bytes:
        return say("broker.empty_title")
    row = min(overview.partitions, key=ORDERS[LARGEST])
    return say(
        "broker.large_title",
        name=row.label,
        size=units.size(row.sums.log_bytes),
        total=units.size(overview.total.log_bytes),
    )


def _dense_title(dense: Sequence[Row], is_alone: bool) -> str:
    """Which index is the densest, or how many are; dense: those that can be compared."""
    least = min(round(cast(float, row.sums.bytes_an_entry)) for row in dense)
    first, *others = (row for row in dense if round(cast(float, row.sums.bytes_an_entry)) == least)
    if others:
        key = "dense_same" if len(others) + 1 == len(dense) else "dense_several"
        return say(
            f"broker.{key}", count=number(len(others) + 1).capitalize(), bytes=units.group(least)
        )
    return say(
        "broker.dense_alone" if is_alone else "broker.dense_title",
        name=first.label,
        bytes=units.group(least),
    )


def tail_words(tail: Tail) -> str:
    """What stands behind the last whole batch, in the room that a row of the map has."""
    if tail.size_bytes > READ_BYTES:
        return say("broker.tail_long", size=units.size(tail.size_bytes))
    return counted(f"broker.tail_{tail.kind}", tail.size_bytes, n=units.group(tail.size_bytes))


class Drawn(NamedTuple):
    """A figure, and the view it was drawn from."""

    view: BrokerMapView
    figure: go.Figure


def drawn(shown: BrokerMapView, mode: str) -> Drawn:
    """The view with its figure."""
    return Drawn(shown, figure(shown, mode))


def figure(shown: BrokerMapView, mode: str) -> go.Figure:
    """Draws the view in a mode, "light" or "dark"."""
    ink = theme.colours(mode)
    rows = len(shown.rows)
    axis_bytes = shown.axis_bytes
    fig = go.Figure(
        [
            _density(shown, ink),
            *_segments(shown, axis_bytes, ink),
            *_torn(shown, axis_bytes, ink),
            *_marks(shown, ink),
        ]
    )
    values = _ticks(shown.longest_bytes)
    axis = {"ticks": "", "automargin": False, "fixedrange": True}
    fig.update_layout(
        template=theme.template(mode),
        height=max(rows, 1) * ROW_PX + TOP_PX + BOTTOM_PX,
        margin={"l": LEFT_PX, "r": RIGHT_PX, "t": TOP_PX, "b": BOTTOM_PX},
        barmode="overlay",
        xaxis=axis
        | {
            "range": [0, axis_bytes],
            "tickvals": values,
            "ticktext": list(map(_tick, values)),
            "showgrid": True,
            "showline": False,
        },
        yaxis=axis | {"range": [max(rows, 1), 0], "showticklabels": False, "showgrid": False},
        annotations=[
            note
            for number, row in enumerate(shown.rows)
            for note in _notes(number, row, axis_bytes, ink)
        ]
        + _axis_title(ink),
    )
    return fig


def _axis_bytes(rows: Sequence[MapRow], longest_bytes: int) -> float:
    """What the axis stands for: the longest row and some room, more where words need it."""
    shares = [
        (row.log_bytes, 1 - (WORDS_PX + _words_px(row.mark.words)) / NARROW_PX)
        for row in rows
        if row.mark
    ]
    return max(1.0, longest_bytes / BARS_SHARE, *(log_bytes / share for log_bytes, share in shares))


def _words_px(words: str) -> float:
    return sum(
        WIDE_PX if unicodedata.east_asian_width(one) in "WF" else CHARACTER_PX for one in words
    )


def _ticks(longest: int) -> list[int]:
    """Positions at a power of two bytes, at most TICKS of them besides 0."""
    step = 1
    while longest / step > TICKS:
        step *= 2
    return list(range(0, longest + 1, step))


def _tick(value: int) -> str:
    return units.size(value) if value else "0"


def _segments(shown: BrokerMapView, axis_bytes: float, ink: Mapping[str, str]) -> list[go.Bar]:
    looks = {
        "closed": {"color": ink["log"]},
        "many": {"color": ink["log"]},
        "active": {"color": ink["log_soft"], "line": {"color": ink["log"], "width": 1.3}},
        "deleted": _hatched("\\", ink, size=6, solidity=0.2),
        "cleaned": _hatched(".", ink, size=4, solidity=0.3),
        "swap": _hatched("x", ink, size=6, solidity=0.2),
    }
    return [
        _trace(kind, [bar for bar in shown.bars if bar.kind == kind], look, axis_bytes)
        for kind, look in looks.items()
    ]


def _hatched(shape: str, ink: Mapping[str, str], size: int, solidity: float) -> dict:
    pattern = {
        "shape": shape,
        "fgcolor": ink["log"],
        "size": size,
        "solidity": solidity,
        "fillmode": "replace",
    }
    return {"color": ink["raised"], "line": {"color": ink["log"], "width": 1}, "pattern": pattern}


def _trace(kind: str, bars: Sequence[Bar], look: dict, axis_bytes: float) -> go.Bar:
    """A gap of about a pixel and a half between neighbours; a bar that is all gap keeps a line's
    width.
    """
    gap = axis_bytes * GAP_SHARE
    return go.Bar(
        orientation="h",
        y=[bar.row + BAR_TOP_PX / ROW_PX for bar in bars],
        base=[bar.start_byte for bar in bars],
        x=[max(bar.size_bytes - gap, gap) for bar in bars],
        width=BAR_PX / ROW_PX,
        offset=0,
        marker=look,
        name=kind,
        # text: JavaScript rounds offsets above 2**53
        customdata=[[bar.directory, str(bar.base_offset)] for bar in bars],
        hovertext=[bar.hover for bar in bars],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _density(shown: BrokerMapView, ink: Mapping[str, str]) -> go.Heatmap:
    """One image for all strips: a thin row below each bar, and empty rows between."""
    cells = np.full((2 * len(shown.rows), CELLS), np.nan, np.float32)
    cells[1::2] = shown.strip
    edges = [0.0]
    for row in range(len(shown.rows)):
        edges += [row + STRIP_TOP_PX / ROW_PX, row + (STRIP_TOP_PX + STRIP_PX) / ROW_PX]
    scale = [[0, ink["raised"]], [1, ink["offset"]]]
    x = np.linspace(0, shown.longest_bytes or 1, CELLS + 1)
    return go.Heatmap(
        z=cells,
        x=x,
        y=edges,
        zmin=-0.22,
        zmax=1,
        colorscale=scale,
        showscale=False,
        hoverinfo="skip",
        name="density",
    )


def _marks(shown: BrokerMapView, ink: Mapping[str, str]) -> list[go.Scatter]:
    """What was found: a sign behind a row, whose words are among the notes, and in a row of several
    segments a pin above each of them.
    """
    several = Counter(bar.row for bar in shown.bars)
    pinned = [
        bar
        for bar in shown.bars
        if bar.severity and several[bar.row] > 1 and not _ends_torn(shown.rows[bar.row], bar)
    ]
    pins = [
        (bar.start_byte + bar.size_bytes / 2, bar.row + PIN_AT_PX / ROW_PX, bar.severity)
        for bar in pinned
    ]
    at_px = shown.axis_bytes * MARK_AT_PX / PLOT_PX
    signs = [
        (row.log_bytes + at_px, _middle(number), row.directory, row.mark)
        for number, row in enumerate(shown.rows)
        if row.mark
    ]
    return [*map_marks.pins(pins, ink), *map_marks.traces(signs, ink)]


def _ends_torn(row: MapRow, bar: Bar) -> bool:
    """Whether the bar has a patch at its end, which says all that a pin would."""
    return bar.start_byte + bar.size_bytes in row.torn_ends


def _torn(shown: BrokerMapView, axis_bytes: float, ink: Mapping[str, str]) -> list[go.Bar]:
    rows = [(number, row) for number, row in enumerate(shown.rows) if row.torn_ends]
    return [_torn_ends(rows, axis_bytes * TORN_SHARE, ink)] if rows else []


def _torn_ends(rows: Sequence[tuple[int, MapRow]], width: float, ink: Mapping[str, str]) -> go.Bar:
    """A patch where each torn segment ends, be it the row's last one or not."""
    ends = [(number, end) for number, row in rows for end in row.torn_ends]
    pattern = {
        "shape": "x",
        "fgcolor": ink["torn"],
        "bgcolor": ink["torn_soft"],
        "size": 4,
        "solidity": 0.35,
        "fillmode": "replace",
    }
    return go.Bar(
        name="torn",
        orientation="h",
        y=[number + (BAR_TOP_PX - 1) / ROW_PX for number, _ in ends],
        base=[max(end - width, 0) for _, end in ends],
        x=[width] * len(ends),
        width=(BAR_PX + 2) / ROW_PX,
        offset=0,
        marker={
            "color": ink["torn_soft"],
            "line": {"color": ink["torn"], "width": 1},
            "pattern": pattern,
            "cornerradius": 0,
        },
        hoverinfo="skip",
    )


def _middle(number: int) -> float:
    """The middle of a row's bar."""
    return number + (BAR_TOP_PX + BAR_PX / 2) / ROW_PX


def _notes(number: int, row: MapRow, axis_bytes: float, ink: Mapping[str, str]) -> list[dict]:
    """The row's name on the left, its gap on the right, and a word where there is no bar to see."""
    y = _middle(number)
    name = _note(_short(row.name), y, 13, ink["ink_3" if row.quiet else "ink"], "left") | {
        "xref": "paper",
        "x": 0,
        "xshift": -LEFT_PX,
    }
    gap = _note(row.gap, y, 12.5, ink["offset_text" if row.dense else "ink_2"], "right") | {
        "xref": "paper",
        "x": 1,
        "xshift": RIGHT_PX,
    }
    if _short(row.name) != row.name:
        name["hovertext"] = escape(row.name, quote=False)
    if not row.log_bytes:
        return [
            name,
            gap,
            _note(say("broker.empty"), y, 12, ink["ink_3"], "left") | {"x": 0, "xshift": EMPTY_PX},
        ]
    if row.mark:
        words = {
            "x": row.log_bytes + axis_bytes * MARK_AT_PX / PLOT_PX,
            "xshift": MARK_PX / 2 + WORDS_AFTER_PX,
        }
        return [
            name,
            gap,
            _note(row.mark.words, y, 12.5, ink[f"{map_marks.INKS[row.mark.severity]}_text"], "left")
            | words,
        ]
    return [name, gap]


def _short(name: str) -> str:
    return name if len(name) <= NAME_CHARACTERS else f"{name[: NAME_CHARACTERS - 9]}…{name[-8:]}"


def _note(text: str, y: float, size: float, colour: str, anchor: str) -> dict:
    bare = {"showarrow": False, "borderpad": 0, "borderwidth": 0}
    return {
        "text": escape(text, False),
        "y": y,
        "yanchor": "middle",
        "xanchor": anchor,
        "font": {"size": size, "color": colour},
        **bare,
    }


def _axis_title(ink: Mapping[str, str]) -> list[dict]:
    note = _note(say("broker.entry_gap"), 0, 12, ink["ink_3"], "right")
    return [
        note
        | {
            "xref": "paper",
            "x": 1,
            "xshift": RIGHT_PX,
            "yref": "paper",
            "yshift": 0,
            "yanchor": "top",
        }
    ]
