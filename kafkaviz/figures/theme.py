"""The Plotly template, in light and dark."""

import json
import re
from functools import cache
from pathlib import Path

import plotly.graph_objects as go

from kafkaviz.figures.tokens import LIGHT_DARK, MODES, colours

_TEMPLATE = (Path(__file__).parent / "plotly-template.json").read_text(encoding="utf-8")


@cache
def template(mode: str) -> go.layout.Template:
    """The Plotly template of a mode: plotly-template.json with the colours of the tokens."""
    text = re.sub(LIGHT_DARK, lambda match: match[1 + MODES.index(mode)], _TEMPLATE)
    text = re.sub(
        r"var\(--kv-([\w-]+)\)", lambda match: colours(mode)[match[1].replace("-", "_")], text
    )
    return go.layout.Template(json.loads(text))
