"""The Plotly template, in light and dark."""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import plotly.graph_objects as go

from kafkaviz.figures.tokens import LIGHT_DARK, MODES, colours

_TEMPLATE = (Path(__file__).parent / "plotly-template.json").read_text(encoding="utf-8")
# an axis without a line, and not to be dragged; what names it stands in the chart
PLAIN_AXIS = {"showline": False, "zeroline": False, "fixedrange": True}


@cache
def template(mode: str) -> go.layout.Template:
    """The Plotly template of a mode: plotly-template.json with the colours of the tokens."""
    text = re.sub(LIGHT_DARK, lambda match: match[1 + MODES.index(mode)], _TEMPLATE)
    text = re.sub(
        r"var\(--kv-([\w-]+)\)", lambda match: colours(mode)[match[1].replace("-", "_")], text
    )
    return go.layout.Template(json.loads(text))


@cache
def plain_template(mode: str) -> dict:
    """The same as plain values, not to be changed."""
    return template(mode).to_plotly_json()


def axis_name(text: str, colours: Mapping[str, str], shift_px: int = -23) -> dict:
    """The annotation that names the x axis, below its right end.

    Args:
        shift_px: upwards from the axis.
    """
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
    """The annotation that names a y axis, above its upper end.

    Args:
        left_px: the margin in which the axis has its ticks' labels.
        y: that end, as a share of the chart's height.
    """
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
        "bgcolor": colours["raised"],  # a mark's line may pass behind
    }


def outside_ticks(colours: Mapping[str, str]) -> dict:
    """What an axis has that is marked by ticks below it."""
    return {"ticks": "outside", "ticklen": 5, "tickcolor": colours["line"], "showgrid": False}


def grid_lines(colours: Mapping[str, str]) -> dict:
    """What an axis has that is marked by lines through the chart."""
    return {
        "ticks": "",
        "ticklabelstandoff": 8,
        "showgrid": True,
        "gridcolor": colours["line"],
    }
