"""A figure with a row per setting and a column per quantity; today's row is marked.

row            records per batch    .log, share of today's
today              o                                 o
20 ms, 16 KiB            ===                  ==
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kafkaviz.figures import theme
from kafkaviz.figures.theme import PlainFigure

ROW_PX = 27
LEFT = 104
RIGHT = 22
TOP = 44
BOTTOM = 26
GAP = 0.07  # the space between two quantities, as a share of the width
BAR_PX = 8
LOG_MARGIN = 1.6  # a logarithmic axis extends beyond its values by this factor


@dataclass(frozen=True, kw_only=True)
class RowQuantity:
    """A column of the figure: a quantity, with a range for each row."""

    name: str  # the head of the column; it may have line breaks (<br>)
    ranges: tuple[tuple[float, float], ...]  # (low, high) per row: equal if exact, NaN if unknown
    format_value: Callable[[float], str]
    is_log: bool = False


@dataclass(frozen=True, kw_only=True)
class SettingRowsView:
    title: str
    caption: str
    names: tuple[str, ...]
    quantities: tuple[RowQuantity, ...]
    today: int | None  # the index of today's row; None if no row has today's settings
    advised: int | None  # the index of the advised row; None if the advice is to change nothing


def range_text(quantity: RowQuantity, row: int) -> str:
    """Returns a range such as "11 – 17", or one number if both ends are formatted the same."""
    low, high = map(quantity.format_value, quantity.ranges[row])
    return low if low == high else f"{low} – {high}"


def figure(rows: SettingRowsView, mode: str) -> PlainFigure:
    colours = theme.colours(mode)
    count = len(rows.quantities)
    width = (1 - GAP * (count - 1)) / count
    height_px = TOP + BOTTOM + ROW_PX * len(rows.names)
    layout = theme.plain_layout(mode, height_px, (LEFT, RIGHT, TOP, BOTTOM)) | {
        "hovermode": "closest",
        "dragmode": False,
        "yaxis": theme.row_axis([""] * len(rows.names)),
    }
    data = []
    names = _row_names(rows, colours)
    shapes = []
    if rows.advised is not None:
        place = {"y0": rows.advised - 0.48, "y1": rows.advised + 0.48}
        shapes.append(theme.area(colours["hover"], xref="paper", x0=-0.2, x1=1, **place))
    for number, quantity in enumerate(rows.quantities):
        start = number * (width + GAP)
        axis = f"x{number + 1}" if number else "x"
        domain = {"domain": [start, start + width]}
        layout[axis.replace("x", "xaxis")] = _axis(quantity, colours) | domain
        place = {"xref": "paper", "x": start, "xanchor": "left", "align": "left"}
        place |= {"yref": "paper", "y": 1, "yanchor": "bottom", "yshift": 5}
        names.append(theme.note(_bold(quantity.name), colours["ink_2"], **place))
        shapes += _today_shapes(rows, quantity, axis, colours)
        data += _traces(rows, quantity, axis, colours)
    layout |= {"annotations": names, "shapes": shapes}
    return PlainFigure({"data": data, "layout": layout})


def _axis(quantity: RowQuantity, colours: dict[str, str]) -> dict:
    known = np.array(quantity.ranges, float)
    known = known[np.isfinite(known)]
    most = max(float(known.max(initial=0)), 1e-9)
    if quantity.is_log:
        low = float(known[known > 0].min(initial=most)) / LOG_MARGIN
        high = most * LOG_MARGIN
        powers = 10.0 ** np.arange(np.ceil(np.log10(low)), np.floor(np.log10(high)) + 1)
        values = sorted({powers[0], powers[-1]}) if len(powers) else [most]
        end = {"type": "log", "range": np.log10([low, high]).tolist()}
    else:
        values = [0.0, _round_down(most)]
        end = {"range": [0, 1.08 * most]}
    ticks = theme.ticks(values, lambda value: quantity.format_value(value).replace(".0", ""))
    return theme.PLAIN_AXIS | theme.grid_lines(colours) | end | ticks | {"tickangle": 0}


def _round_down(value: float) -> float:
    """Rounds down to 1, 2 or 5 times a power of ten: 0.5 for 0.7, 20 for 47."""
    power = 10.0 ** np.floor(np.log10(value))
    return max(step * power for step in (1, 2, 5) if step * power <= value)


def _row_names(rows: SettingRowsView, colours: dict[str, str]) -> list[dict]:
    names = []
    for row, name in enumerate(rows.names):
        is_marked = row in (rows.today, rows.advised)
        text = _bold(name) if is_marked else name
        name = theme.note(text, colours["ink" if is_marked else "ink_2"], y=row, yanchor="middle")
        names.append(name | {"xref": "paper", "x": 0, "xanchor": "right", "xshift": -8})
    return names


def _today_shapes(
    rows: SettingRowsView, quantity: RowQuantity, axis: str, colours: dict[str, str]
) -> list[dict]:
    if rows.today is None or not np.isfinite(quantity.ranges[rows.today][0]):
        return []
    line = {"color": colours["ink_3"], "width": 1.2, "dash": "4px,3px"}
    return [theme.vertical_line(quantity.ranges[rows.today][0], line) | {"xref": axis}]


def _traces(
    rows: SettingRowsView, quantity: RowQuantity, axis: str, colours: dict[str, str]
) -> list[dict]:
    """Returns a bar from low to high per row. The dots at its ends show even if low equals high."""
    outline = {"color": colours["ink"], "width": 2}
    today = {"size": 11, "color": colours["raised"], "line": outline}
    bars = []
    for row, (low, high) in enumerate(quantity.ranges):
        colour = colours["ink" if row == rows.advised else "log"]
        dots = {"size": BAR_PX, "color": colour, "line": {"width": 0}}
        bars.append(
            {
                "type": "scatter",
                "x": [low, high],
                "y": [row, row],
                "xaxis": axis,
                "mode": "lines+markers",
                "line": {"color": colour, "width": BAR_PX},
                "marker": today if row == rows.today else dots,
                "name": quantity.name,
                "cliponaxis": False,
                **theme.hover([_hover_text(rows, quantity, row)] * 2),
            }
        )
    return bars


def _hover_text(rows: SettingRowsView, quantity: RowQuantity, row: int) -> str:
    name = quantity.name.replace("<br>", " ")
    return f"{_bold(rows.names[row])}<br>{name}: {range_text(quantity, row)}"


def table_rows(rows: SettingRowsView) -> list[tuple[str, ...]]:
    return [
        (name, *(range_text(quantity, row) for quantity in rows.quantities))
        for row, name in enumerate(rows.names)
    ]


def heads(rows: SettingRowsView) -> Sequence[str]:
    return [quantity.name.replace("<br>", " ") for quantity in rows.quantities]


def _bold(text: str) -> str:
    return f"<b>{text}</b>"
