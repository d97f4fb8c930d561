"""The marks of the broker map: behind a row the worst that was found about it, and a small one
above each segment it is about.

An octagon with a cross is an error, a triangle with an exclamation mark a warning; the words behind
it are those of the worst finding, and what the others are, and where, is told under the pointer.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

import plotly.graph_objects as go

from kafkaviz import units
from kafkaviz.analyse.finding import CODES, ERROR, WARNING
from kafkaviz.analyse.marks import Mark
from kafkaviz.figures.finding_words import told
from kafkaviz.words import counted, say

SHOWN = 4  # findings under the pointer
MARK_PX, PIN_PX = 13, 6
SHAPES = {ERROR: "octagon", WARNING: "triangle-up"}
INKS = {ERROR: "torn", WARNING: "warning"}  # by theme.py: an error has the colour of a torn end


@dataclass(frozen=True)
class RowMark:
    """What stands behind a row."""

    severity: str
    words: str
    hover: str
    base_offset: int  # of the segment that a click opens


def row_mark(
    label: str, marks: Sequence[Mark], tail: str, base_offsets: Sequence[int]
) -> RowMark | None:
    """The mark of a row whose segments have these base offsets; None where nothing was found. tail:
    what its log ends in, if torn.
    """
    if not base_offsets or not (marks or tail):
        return None
    here = set(base_offsets)
    about = (base for mark in marks for base in mark.base_offsets if base in here)
    words = tail or say(f"marks.{marks[0].code}")
    more = len(marks) - 1
    shown = counted("broker.mark_more", more, first=words, n=more) if more > 0 else words
    lines = [
        f"<b>{escape(label, quote=False)}</b>",
        *(map(_line, marks[:SHOWN]) if marks else [escape(tail, quote=False)]),
    ]
    if len(marks) > SHOWN:
        lines.append(say("common.n_more", n=len(marks) - SHOWN))
    return RowMark(
        ERROR if tail else marks[0].severity,
        shown,
        "<br>".join(lines),
        next(about, base_offsets[-1]),
    )


def _line(mark: Mark) -> str:
    """What was found, and in which segment or in how many."""
    bases = mark.base_offsets
    first = said(mark)
    if not bases:
        return first
    where = (
        units.file_stem(bases[0])
        if len(bases) == 1
        else say("broker.mark_segments", n=units.group(len(bases)))
    )
    return say("common.comma", first=first, next=where)


def said(mark: Mark) -> str:
    """A line about a finding: how bad, and what."""
    return say(
        "broker.mark_line",
        severity=say(f"common.severity_{mark.severity}"),
        title=escape(told(CODES[mark.code].title), False),
    )


def by_segment(marks: Iterable[Mark]) -> dict[int, list[Mark]]:
    """Those that are about a segment, by its base offset; the worst first."""
    found = defaultdict(list)
    for mark in marks:
        for base_offset in mark.base_offsets:
            found[base_offset].append(mark)
    return found


def traces(
    rows: Iterable[tuple[float, float, str, RowMark]], ink: Mapping[str, str]
) -> list[go.Scatter]:
    """The signs behind the rows: x, y, the directory and the mark of each."""
    rows = list(rows)
    drawn = []
    for severity in (ERROR, WARNING):
        if own := [row for row in rows if row[3].severity == severity]:
            drawn += [_signs(severity, own, ink), _insides(severity, own, ink)]
    return drawn


def _signs(
    severity: str, rows: Sequence[tuple[float, float, str, RowMark]], ink: Mapping[str, str]
) -> go.Scatter:
    return go.Scatter(
        x=[x for x, *_ in rows],
        y=[y for _, y, *_ in rows],
        name=f"{severity} marks",
        mode="markers",
        marker={
            "symbol": SHAPES[severity],
            "size": MARK_PX + 1,
            "color": ink[INKS[severity]],
            "line": {"width": 0},
            "opacity": 1,
        },
        customdata=[[directory, str(mark.base_offset)] for *_, directory, mark in rows],
        hovertext=[mark.hover for *_, mark in rows],
        hovertemplate="%{hovertext}<extra></extra>",
        cliponaxis=False,
    )


def _insides(
    severity: str, rows: Sequence[tuple[float, float, str, RowMark]], ink: Mapping[str, str]
) -> go.Scatter:
    """The cross of an error; the stroke and the point of a warning's exclamation mark."""
    # symbol, size, down
    strokes = (
        [("x-thin", 6.0, 0.0)]
        if severity == ERROR
        else [("line-ns", 3.6, -0.03), ("line-ew", 1.0, 0.15)]
    )
    drawn = [(x, y + down, symbol, size) for x, y, *_ in rows for symbol, size, down in strokes]
    xs, ys, symbols, sizes = zip(*drawn, strict=True)
    marker = {"symbol": symbols, "size": sizes, "line": {"color": ink["raised"], "width": 1.7}}
    return go.Scatter(
        x=xs,
        y=ys,
        name=f"{severity} insides",
        mode="markers",
        marker=marker,
        hoverinfo="skip",
        cliponaxis=False,
    )


def pins(places: Iterable[tuple[float, float, str]], ink: Mapping[str, str]) -> list[go.Scatter]:
    """A small triangle above each segment that something is wrong with, in a row of several: x, y
    and the severity of each.
    """
    places = list(places)
    return [
        _pins(severity, own, ink)
        for severity in (ERROR, WARNING)
        if (own := [one for one in places if one[2] == severity])
    ]


def _pins(
    severity: str, places: Sequence[tuple[float, float, str]], ink: Mapping[str, str]
) -> go.Scatter:
    return go.Scatter(
        x=[x for x, *_ in places],
        y=[y for _, y, _ in places],
        name=f"{severity} pins",
        mode="markers",
        marker={
            "symbol": "triangle-down",
            "size": PIN_PX,
            "color": ink[INKS[severity]],
            "line": {"width": 0},
        },
        hoverinfo="skip",
        cliponaxis=False,
    )
