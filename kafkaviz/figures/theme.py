"""The Plotly template, in light and dark."""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import plotly.graph_objects as go

from kafkaviz.figures.tokens import LIGHT_DARK, MODES, colours

_TEMPLATE = (Path(__file__).parent / "plotly-template.json").read_text(encoding="utf-8")
# an axis without a line that cannot be dragged; an annotation names it
PLAIN_AXIS = {"showline": False, "zeroline": False, "fixedrange": True}


@cache
def template(mode: str) -> go.layout.Template:
    """Returns the Plotly template: plotly-template.json with the token colours of a mode."""
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
    """Returns the layout without a legend. The margin is left, right, top and bottom in pixels."""
    left, right, top, bottom = margin
    return {
        "template": template(mode),
        "height": height,
        "margin": {"l": left, "r": right, "t": top, "b": bottom},
        "showlegend": False,
    }


def axis_name(text: str, colours: Mapping[str, str], shift_px: int = -23) -> dict:
    """Returns the annotation that names the x axis, `shift_px` from it, below its right end."""
    return {
        "xref": "paper",
        "x": 1,
        "xanchor": "right",
        "yref": "paper",
        "y": 0,
        "yanchor": "top",
        "yshift": shift_px,
        "showarrow": False,
        "text": text,
        "font": {"size": 12, "color": colours["ink_3"]},
    }


def vertical_axis_name(text: str, colours: Mapping[str, str], *, left_px: int, y: float) -> dict:
    """Returns the annotation that names a y axis, `left_px` to its left at the height `y`."""
    return {
        "xref": "paper",
        "x": 0,
        "xanchor": "left",
        "xshift": 8 - left_px,
        "yref": "paper",
        "y": y,
        "yanchor": "bottom",
        "yshift": 4,
        "showarrow": False,
        "text": text,
        "font": {"size": 12, "color": colours["ink_3"]},
        "bgcolor": colours["raised"],  # covers a mark's line that crosses the name
    }


def outside_ticks(colours: Mapping[str, str]) -> dict:
    """Returns the layout of an axis with ticks below it and without a grid."""
    return {"ticks": "outside", "ticklen": 5, "tickcolor": colours["line"], "showgrid": False}


def grid_lines(colours: Mapping[str, str]) -> dict:
    """Returns the layout of an axis with grid lines and without ticks."""
    return {
        "ticks": "",
        "ticklabelstandoff": 8,
        "showgrid": True,
        "gridcolor": colours["line"],
    }
