"""The badges and pins of the broker map.

A badge at the end of a row shows the worst finding: an octagon with a cross for an error, a
triangle with an exclamation mark for a warning. The hover text lists the findings and their
segments. A pin is a small triangle above a segment with a finding.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import plotly.graph_objects as go

from kafkaviz import units
from kafkaviz.analysis.badges import Badge
from kafkaviz.analysis.findings import CODES, ERROR, WARNING
from kafkaviz.messages import render, say, say_count

MAX_LINES = 4  # most findings in the hover text
BADGE_PX = 13
PIN_PX = 6
SYMBOLS = {ERROR: "octagon", WARNING: "triangle-up"}
# colour tokens by severity; an error has the colour of a torn end
COLOUR_NAMES = {ERROR: "torn", WARNING: "warning"}


@dataclass(frozen=True)
class RowBadge:
    severity: str
    text: str
    hover: str
    base_offset: int  # segment that a click opens


def find_row_badge(
    label: str, badges: Sequence[Badge], tail: str, base_offsets: Sequence[int]
) -> RowBadge | None:
    """Returns the badge of a row; None for a row without findings and without a torn end."""
    if not base_offsets or not (badges or tail):
        return None
    row_bases = set(base_offsets)
    badge_bases = (base for badge in badges for base in badge.base_offsets if base in row_bases)
    text = tail or say(f"partition_badges.{badges[0].code}")
    more_count = len(badges) - 1
    shown_text = say_count("broker.mark_more", more_count, first=text) if more_count > 0 else text
    lines = [
        f"<b>{escape(label, quote=False)}</b>",
        *(map(_segment_line, badges[:MAX_LINES]) if badges else [escape(tail, quote=False)]),
    ]
    if len(badges) > MAX_LINES:
        lines.append(say("common.n_more", n=len(badges) - MAX_LINES))
    severity = ERROR if tail else badges[0].severity
    base_offset = next(badge_bases, base_offsets[-1])
    return RowBadge(severity, shown_text, "<br>".join(lines), base_offset)


def _segment_line(badge: Badge) -> str:
    base_offsets = badge.base_offsets
    line = badge_line(badge)
    if not base_offsets:
        return line
    segments_text = say_count("common.n_segments", len(base_offsets))
    if len(base_offsets) == 1:
        segments_text = units.file_stem(base_offsets[0])
    return say("common.comma", first=line, next=segments_text)


def badge_line(badge: Badge) -> str:
    return say(
        "broker.mark_line",
        severity=say(f"common.severity_{badge.severity}"),
        title=escape(render(CODES[badge.code].title), quote=False),
    )


def group_by_segment(badges: Iterable[Badge]) -> dict[int, list[Badge]]:
    """Returns the badges of each segment, by the base offset of the segment."""
    badges_by_base = defaultdict(list)
    for badge in badges:
        for base_offset in badge.base_offsets:
            badges_by_base[base_offset].append(badge)
    return badges_by_base


def badge_traces(
    rows: Sequence[tuple[float, float, str, RowBadge]], colours: Mapping[str, str]
) -> list[go.Scatter]:
    """Draws the badges. Each row is (x, y, directory, badge)."""
    traces = []
    for severity in (ERROR, WARNING):
        if own_rows := [row for row in rows if row[3].severity == severity]:
            sign = _marker(SYMBOLS[severity], BADGE_PX + 1, severity, colours) | {"opacity": 1}
            traces += [
                _scatter(
                    f"{severity} marks",
                    [(x, y) for x, y, *_ in own_rows],
                    sign,
                    customdata=[[path, str(badge.base_offset)] for *_, path, badge in own_rows],
                    hovertext=[badge.hover for *_, badge in own_rows],
                    hovertemplate="%{hovertext}<extra></extra>",
                ),
                _symbol_trace(severity, [(x, y) for x, y, *_ in own_rows], colours),
            ]
    return traces


def _symbol_trace(
    severity: str, places: Sequence[tuple[float, float]], colours: Mapping[str, str]
) -> go.Scatter:
    """Draws the cross or the exclamation mark inside each badge."""
    strokes = [("x-thin", 6.0, 0.0)]  # symbol, size, and how far it is moved down
    if severity == WARNING:
        strokes = [("line-ns", 3.6, -0.03), ("line-ew", 1.0, 0.15)]
    points = [(x, y + y_shift) for x, y in places for _, _, y_shift in strokes]
    marker = {
        "symbol": [symbol for symbol, _, _ in strokes] * len(places),
        "size": [size for _, size, _ in strokes] * len(places),
        "line": {"color": colours["raised"], "width": 1.7},
    }
    return _scatter(f"{severity} insides", points, marker, hoverinfo="skip")


def pin_traces(
    points: Sequence[tuple[float, float, str]], colours: Mapping[str, str]
) -> list[go.Scatter]:
    """Draws a triangle for a finding at each of `points`, which are (x, y, severity)."""
    traces = []
    for severity in (ERROR, WARNING):
        if places := [(x, y) for x, y, pin_severity in points if pin_severity == severity]:
            pin = _marker("triangle-down", PIN_PX, severity, colours)
            traces.append(_scatter(f"{severity} pins", places, pin, hoverinfo="skip"))
    return traces


def _marker(symbol: str, size: float, severity: str, colours: Mapping[str, str]) -> dict:
    colour = colours[COLOUR_NAMES[severity]]
    return {"symbol": symbol, "size": size, "color": colour, "line": {"width": 0}}


def _scatter(
    name: str, places: Sequence[tuple[float, float]], marker: dict, **hover: Any
) -> go.Scatter:
    x, y = zip(*places, strict=True)
    return go.Scatter(x=x, y=y, name=name, mode="markers", marker=marker, cliponaxis=False, **hover)
