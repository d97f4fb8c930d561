"""The cost of a lookup over the size of its index, one point per index interval."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kafkaviz.analysis.cost.cost_model import Range
from kafkaviz.figures import theme
from kafkaviz.figures.plain_figure import PlainFigure
from kafkaviz.figures.text.sentences import join_sentences
from kafkaviz.figures.tuning.tuning_curve import (
    BYTE_TICKS,
    HEADER_TICKS,
    CurveMark,
    TuningCurveView,
    budget_sentences,
    budget_shapes,
    drawn_budget,
    interval_trace,
    mark_trace,
    most_headers,
)
from kafkaviz.messages import say
from kafkaviz.units import format_bytes, format_count

HEIGHT_PX = 294
MARGINS = (50, 22, 12, 40)  # left, right, top, bottom
NAMED_INTERVALS = tuple(1 << shift for shift in range(8, 23, 2))  # 256 B, 1 KiB … 4 MiB
NAME_ROOM = 0.07  # share of the axis: an interval closer to a mark or a name has no name


@dataclass(frozen=True, kw_only=True)
class CostCurveView:
    """The curve, from the smallest index to the largest.

    Attributes:
        names: the index of a point, and its interval in words.
        today, considered: the points of both intervals; None for an index without an entry, or if
            no other interval is considered.
        budget: the headers at which a p99 lookup meets its budget; None if outside the axis.
    """

    title: str
    caption: str
    intervals: np.ndarray
    index_bytes: np.ndarray
    headers_mean: np.ndarray
    headers_p99: np.ndarray
    hover_texts: tuple[str, ...]
    names: tuple[tuple[int, str], ...]
    today: CurveMark | None
    considered: CurveMark | None
    budget: Range | None
    budget_text: str

    @property
    def marks(self) -> tuple[CurveMark, ...]:
        """Today's interval and the considered one, if they have an index."""
        return tuple(mark for mark in (self.today, self.considered) if mark)

    @property
    def most_headers(self) -> float:
        return most_headers(self.headers_p99)


def view(curve: TuningCurveView) -> CostCurveView:
    """Returns the curve of the intervals whose index has an entry."""
    order = [place for place in np.argsort(curve.intervals)[::-1] if curve.index_bytes[place] > 0]
    today, considered = (
        mark if mark and mark.index_bytes else None for mark in (curve.today, curve.considered)
    )
    index_bytes = curve.index_bytes[order]
    below = say("cost_curve.below", bytes=curve.titles[1])
    return CostCurveView(
        title=curve.titles[0],
        caption=join_sentences([below, *budget_sentences(curve)]),
        intervals=curve.intervals[order],
        index_bytes=index_bytes,
        headers_mean=np.maximum(curve.headers_mean[order], 1),
        headers_p99=np.maximum(curve.headers_p99[order], 1),
        hover_texts=tuple(curve.hover_texts[place] for place in order),
        names=_names(
            curve.intervals[order], index_bytes, [mark for mark in (today, considered) if mark]
        ),
        today=today,
        considered=considered,
        budget=drawn_budget(curve.budget, most_headers(curve.headers_p99[order])),
        budget_text=curve.budget_text,
    )


def _names(
    intervals: np.ndarray, index_bytes: np.ndarray, marks: Sequence[CurveMark]
) -> tuple[tuple[int, str], ...]:
    """Returns the round intervals that have room.

    Of several in one place, the smallest is named, because a click there selects it.
    """
    if not len(index_bytes):
        return ()
    places = np.log(index_bytes.astype(float))
    room = NAME_ROOM * max(float(np.ptp(places)), 1e-9)
    used_places = [float(np.log(mark.index_bytes)) for mark in marks]
    names = []
    is_smallest = np.append(index_bytes[1:] != index_bytes[:-1], True)
    for place, interval in enumerate(intervals.tolist()):
        is_free = all(abs(places[place] - other) > room for other in used_places)
        if interval in NAMED_INTERVALS and is_smallest[place] and is_free:
            used_places.append(float(places[place]))
            names.append((place, format_bytes(interval)))
    return tuple(names)


def figure(curve: CostCurveView, mode: str) -> PlainFigure:
    colours = theme.colours(mode)
    low, high = _byte_range(curve)
    axis = {"type": "log"} | theme.PLAIN_AXIS
    byte_ticks = [value for value in BYTE_TICKS if low <= value <= high]
    header_ticks = [value for value in HEADER_TICKS if value <= curve.most_headers]
    layout = theme.plain_layout(mode, HEIGHT_PX, MARGINS) | {
        "hovermode": "closest",
        "clickmode": "event+select",
        "dragmode": False,
        "shapes": budget_shapes(curve.budget, curve.most_headers, colours),
        "annotations": [
            *_line_names(curve, colours),
            *_interval_names(curve, colours),
            *_mark_names(curve, colours),
            *_budget_name(curve, colours),
            theme.axis_name(say("cost_curve.bytes_axis"), colours),
        ],
        "xaxis": axis
        | theme.outside_ticks(colours)
        | {
            "range": np.log10([low, high]).tolist(),
            **theme.ticks(byte_ticks, format_bytes),
        },
        "yaxis": axis
        | theme.grid_lines(colours)
        | {
            "range": [0, float(np.log10(curve.most_headers))],
            **theme.ticks(header_ticks, format_count),
        },
    }
    return PlainFigure(
        {"data": [*_lines(curve, colours), *_points(curve, colours)], "layout": layout}
    )


def _byte_range(curve: CostCurveView) -> tuple[float, float]:
    if not len(curve.index_bytes):
        return 1.0, 10.0
    every = [*curve.index_bytes.tolist(), *(mark.index_bytes for mark in curve.marks)]
    return 0.45 * min(every), 1.8 * max(every)


def _lines(curve: CostCurveView, colours: dict[str, str]) -> list[dict]:
    return [
        {
            "type": "scatter",
            "x": curve.index_bytes.tolist(),
            "y": headers.tolist(),
            "mode": "lines",
            "line": line | {"color": colours["scan"]},
            "hoverinfo": "skip",
            "name": name,
        }
        for name, headers, line in (
            ("p99", curve.headers_p99, {"width": 1.4, "dash": "5px,3px"}),
            ("mean", curve.headers_mean, {"width": 2.6}),
        )
    ]


def _points(curve: CostCurveView, colours: dict[str, str]) -> list[dict]:
    return [
        interval_trace(
            curve.intervals,
            curve.hover_texts,
            curve.index_bytes,
            curve.headers_mean,
            {"size": 6, "color": colours["scan"], "opacity": 1},
        ),
        *(
            mark_trace(
                [mark.index_bytes for mark in curve.marks],
                [max(getattr(mark, column), 1) for mark in curve.marks],
                {
                    "size": mark_px,
                    "color": [
                        colours["raised" if mark is curve.today else "ink"] for mark in curve.marks
                    ],
                    "line": {"color": colours["ink"], "width": 2},
                },
            )
            | {"name": name}
            for name, column, mark_px in (
                ("marks of the p99", "headers_p99", 9),
                ("marks", "headers_mean", 13),
            )
        ),
    ]


def _line_names(curve: CostCurveView, colours: dict[str, str]) -> list[dict]:
    if not len(curve.intervals):
        return []
    names = (("p99", curve.headers_p99), (f"<b>{say('curves.mean')}</b>", curve.headers_mean))
    return [
        _annotation(curve.index_bytes[0], headers[0], text, colours["scan_text"])
        | {"xanchor": "left", "xshift": 4, "yshift": 9}
        for text, headers in names
    ]


def _interval_names(curve: CostCurveView, colours: dict[str, str]) -> list[dict]:
    return [
        _annotation(
            curve.index_bytes[place], curve.headers_mean[place], text, colours["ink_3"], 11.5
        )
        | {"bgcolor": colours["raised"], "yshift": -15}  # covers a line of the budget
        for place, text in curve.names
    ]


def _mark_names(curve: CostCurveView, colours: dict[str, str]) -> list[dict]:
    return [
        _annotation(
            mark.index_bytes, max(mark.headers_mean, 1), f"<b>{mark.name}</b>", colours["ink"], 12.5
        )
        | {"bgcolor": colours["raised"]}
        for mark in curve.marks
    ]


def _annotation(
    index_bytes: float, headers: float, text: str, colour: str, size: float = 12
) -> dict:
    """Returns a text below and left of a point, where the falling curve does not pass."""
    return theme.note(
        text,
        colour,
        size,
        x=float(np.log10(index_bytes)),
        y=float(np.log10(headers)),
        xanchor="right",
        yanchor="middle",
        xshift=-6,
        yshift=-12,
    )


def _budget_name(curve: CostCurveView, colours: dict[str, str]) -> list[dict]:
    if curve.budget is None:
        return []
    is_inside = curve.budget.typical < curve.most_headers
    return [
        theme.note(
            f"<b>{say('cost_curve.budget', budget=curve.budget_text)}</b>",
            colours["warning_text"],
            xref="paper",
            x=1,
            xanchor="right",
            y=float(np.log10(curve.budget.typical)),
            yanchor="bottom" if is_inside else "top",
        )
    ]
