"""Colours by meaning, and the Plotly template, in light and dark.

A chart cannot read the stylesheet's variables, so the colours stand here again; a test holds them
to app/tokens.css.
"""

import json
from functools import cache
from pathlib import Path

import plotly.graph_objects as go

TEMPLATES = json.loads((Path(__file__).parent / "plotly-template.json").read_text(encoding="utf-8"))
COLOURS = {  # meaning: light, dark
    "bg": ("#ffffff", "#0f1318"),
    "panel": ("#f6f7f9", "#151a21"),
    "raised": ("#ffffff", "#181e26"),
    "hover": ("#eef1f5", "#1e2530"),
    "press": ("#e4e8ee", "#27303c"),
    "line": ("#e3e6eb", "#262e39"),
    "line_2": ("#c6cdd7", "#3c4654"),
    "ink": ("#171b22", "#e8ecf2"),
    "ink_2": ("#4c5665", "#aab4c3"),
    "ink_3": ("#687282", "#8a95a6"),
    "log": ("#8793a5", "#76849a"),
    "log_soft": ("#e3e7ed", "#262f3b"),
    "log_text": ("#5a6576", "#9dabbf"),
    "offset": ("#1c67c9", "#6caeff"),
    "offset_soft": ("#dbe8fb", "#162c4d"),
    "offset_text": ("#1a5cb4", "#8ec1ff"),
    "time": ("#a23d88", "#df88c6"),
    "time_soft": ("#f6e2f0", "#3c1c34"),
    "time_text": ("#93347b", "#eaa3d5"),
    "warm": ("#d9691c", "#ff9a52"),
    "warm_soft": ("#fdebdc", "#3b2413"),
    "warm_text": ("#a94c0a", "#ffb27c"),
    "cold": ("#7790a8", "#7f9ab5"),
    "cold_soft": ("#edf2f6", "#1a232d"),
    "cold_text": ("#4f6880", "#9db6ce"),
    "probe": ("#11151c", "#ffffff"),
    "probe_soft": ("#dfe3e9", "#333d4b"),
    "hit": ("#13824c", "#48c787"),
    "hit_soft": ("#dcf3e6", "#12321f"),
    "hit_text": ("#0f6f40", "#6bd9a0"),
    "scan": ("#07636e", "#86dde8"),
    "scan_soft": ("#d6edf0", "#12363c"),
    "scan_text": ("#075862", "#9ce5ee"),
    "unwritten": ("#a9b3c0", "#566274"),
    "unwritten_soft": ("#f3f5f8", "#141a21"),
    "torn": ("#c32c35", "#ff7a7d"),
    "torn_soft": ("#fce4e4", "#421a1d"),
    "torn_text": ("#b0232c", "#ff9a9c"),
    "warning": ("#a07900", "#dfbf45"),
    "warning_soft": ("#fbf2cf", "#352c0e"),
    "warning_text": ("#7a5c00", "#ecd271"),
}
MODES = ("light", "dark")


@cache
def colours(mode: str) -> dict[str, str]:
    """The colour of each meaning in a mode, "light" or "dark"."""
    return {meaning: pair[MODES.index(mode)] for meaning, pair in COLOURS.items()}


@cache
def template(mode: str) -> go.layout.Template:
    """The Plotly template of a mode."""
    return go.layout.Template(TEMPLATES[mode])
