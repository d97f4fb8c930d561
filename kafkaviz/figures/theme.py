"""The parts that all charts share.

They are the Plotly template for light and dark mode, the layouts of axes, labels and lines, and a
figure of plain values that is sent to the browser unchecked.
"""

import base64
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go

from kafkaviz.figures.tokens import LIGHT_DARK, MODES, colours

_TEMPLATE = (Path(__file__).parent / "plotly-template.json").read_text(encoding="utf-8")
# an axis without a line, which cannot be dragged; its name is an annotation
PLAIN_AXIS = {"showline": False, "zeroline": False, "fixedrange": True}


@cache
def template(mode: str) -> go.layout.Template:
    """Returns the Plotly template of plotly-template.json for a mode, "light" or "dark"."""
    text = re.sub(LIGHT_DARK, lambda match: match[1 + MODES.index(mode)], _TEMPLATE)
    text = re.sub(
        r"var\(--kv-([\w-]+)\)", lambda match: colours(mode)[match[1].replace("-", "_")], text
    )
    return go.layout.Template(json.loads(text))


@cache
def plain_template(mode: str) -> dict:
    """Returns the template as plain values. Callers must not change them."""
    return template(mode).to_plotly_json()


def chart_layout(mode: str, height: float, margin: tuple[float, float, float, float]) -> dict:
    """Returns a layout without a legend. `margin` is left, right, top and bottom in pixels."""
    left, right, top, bottom = margin
    return {
        "template": template(mode),
        "height": height,
        "margin": {"l": left, "r": right, "t": top, "b": bottom},
        "showlegend": False,
    }


def axis_name(text: str, colours: Mapping[str, str], shift_px: int = -23) -> dict:
    """Returns the annotation that names the x axis, `shift_px` above it (negative: below)."""
    return note(
        text,
        colours["ink_3"],
        xref="paper",
        x=1,
        xanchor="right",
        yref="paper",
        y=0,
        yanchor="top",
        yshift=shift_px,
    )


def vertical_axis_name(text: str, colours: Mapping[str, str], *, left_px: int, y: float) -> dict:
    """Returns the annotation that names a y axis. `left_px` is the left margin of the chart."""
    return note(
        text,
        colours["ink_3"],
        xref="paper",
        x=0,
        xanchor="left",
        xshift=8 - left_px,
        yref="paper",
        y=y,
        yanchor="bottom",
        yshift=4,
        bgcolor=colours["raised"],  # the background covers a mark's line that crosses the name
    )


def outside_ticks(colours: Mapping[str, str]) -> dict:
    """Returns the layout of an axis with ticks below it and without a grid."""
    return {"ticks": "outside", "ticklen": 5, "tickcolor": colours["line"], "showgrid": False}


def grid_lines(colours: Mapping[str, str]) -> dict:
    """Returns the layout of an axis with grid lines and without ticks."""
    return {"ticks": "", "ticklabelstandoff": 8, "showgrid": True, "gridcolor": colours["line"]}


def ticks(
    values: Sequence[float], text_of: Callable[[Any], str], *, is_log2: bool = False
) -> dict[str, list]:
    """Returns the ticks of an axis and their texts. `is_log2`: ticks are at log2 of the values."""
    places = np.log2(values).tolist() if is_log2 else list(values)
    return {"tickvals": places, "ticktext": [text_of(value) for value in values]}


def row_axis(names: Sequence[str], label_gap_px: int = 6) -> dict[str, Any]:
    """Returns the layout of a vertical axis with one row per name, from the top."""
    return {
        "range": [len(names) - 0.5, -0.5],
        "tickvals": list(range(len(names))),
        "ticktext": list(names),
        "ticks": "",
        "ticklabelstandoff": label_gap_px,
        "showgrid": False,
        "fixedrange": True,
        "title": None,
    }


def note(text: str, colour: str, size: float = 12, /, **place: Any) -> dict[str, Any]:
    """Returns a Plotly annotation without an arrow. `place` has its other attributes: x, y ..."""
    return {"text": text, "showarrow": False, "font": {"size": size, "color": colour}, **place}


def line_names(
    names: Iterable[tuple[str, str, float]],
    height_px: float,
    *,
    gap_px: float,
    lowest_px: float = float("inf"),
    shift_px: int = 6,
) -> list[dict[str, Any]]:
    """Returns annotations that name lines at their right ends, without overlaps.

    Args:
        names: text, colour, and distance in px from the top of the chart to the end of the line.
        height_px: the height of the chart without its margins.
        gap_px: the least distance of two names.
        lowest_px: no name is placed lower than this.
    """
    ordered = sorted(names, key=lambda name: name[2])
    places_px = [place_px for _, _, place_px in ordered]
    for number in range(1, len(places_px)):
        places_px[number] = max(places_px[number], places_px[number - 1] + gap_px)
    for number in reversed(range(len(places_px))):
        places_px[number] = min(places_px[number], lowest_px)
        lowest_px = places_px[number] - gap_px
    return [
        note(
            text,
            colour,
            xref="paper",
            x=1,
            xanchor="left",
            xshift=shift_px,
            yref="paper",
            y=float(1 - place_px / height_px),
            yanchor="middle",
        )
        for (text, colour, _), place_px in zip(ordered, places_px, strict=True)
    ]


def rectangle(x0: Any, x1: Any, y0: Any, y1: Any, **style: Any) -> dict[str, Any]:
    """Returns a Plotly rectangle. `style` has its other attributes, such as fillcolor."""
    return {"type": "rect", "x0": x0, "x1": x1, "y0": y0, "y1": y1, **style}


def straight_line(x0: Any, x1: Any, y0: Any, y1: Any, **style: Any) -> dict[str, Any]:
    """Returns a Plotly line. `style` has its other attributes, such as layer."""
    return {"type": "line", "x0": x0, "x1": x1, "y0": y0, "y1": y1, **style}


def vertical_line(x: float, line: dict[str, Any]) -> dict[str, Any]:
    """Returns the Plotly shape of a vertical line over the full height of a chart."""
    return straight_line(x, x, 0, 1, yref="paper", line=line)


def area(fill: str, **place: Any) -> dict[str, Any]:
    """Returns a filled rectangle under the traces. `place` has its other attributes: x0 ..."""
    return {"type": "rect", "fillcolor": fill, "line": {"width": 0}, "layer": "below", **place}


def hover(texts: Sequence) -> dict[str, Any]:
    """Returns attributes of a Plotly trace that set the hover texts of the points."""
    return {"customdata": texts, "hovertemplate": "%{customdata}<extra></extra>"}


def fade(colour: str, opacity: float) -> str:
    """Adds an opacity (0 to 1) to a colour such as #1a2b3c."""
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def plain_layout(mode: str, height: float, margin: tuple[float, float, float, float]) -> dict:
    """Returns `chart_layout` as plain values, for a `PlainFigure`."""
    return chart_layout(mode, height, margin) | {"template": plain_template(mode)}


class PlainFigure(go.Figure):
    """A figure of plain values that is sent to the browser unchecked.

    Plotly checks and copies every value when a figure is made, and copies it again each time the
    figure is sent. Plain values need a hundredth of the time. Reading or changing an attribute, as
    in a notebook, turns the object into a normal Plotly figure.
    """

    def __init__(self, plain: dict[str, Any]) -> None:
        self.__dict__["_plain"] = plain

    @classmethod
    def from_plotly(cls, figure: go.Figure) -> "PlainFigure":
        return cls(figure.to_dict())

    def __getattr__(self, name: str) -> Any:
        """Builds the Plotly figure when one of its attributes is read for the first time."""
        plain = self.__dict__.pop("_plain", None)
        if plain is None:
            raise AttributeError(name)
        super().__init__(plain)
        return getattr(self, name)

    def to_dict(self) -> dict[str, Any]:
        """Returns the plain values. Callers must not change them."""
        return self.__dict__.get("_plain") or super().to_dict()


def typed_array(values: np.ndarray) -> dict[str, str]:
    """Encodes floating-point numbers in the form that plotly.js reads fastest."""
    data = base64.b64encode(values.astype("<f8").tobytes()).decode("ascii")
    return {"dtype": "f8", "bdata": data}
