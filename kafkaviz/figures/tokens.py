"""The design tokens of tokens.css, and the legend of page states that every figure shares.

A token is a light and a dark colour for one meaning. Charts cannot use CSS variables, so the
stylesheet is parsed here.

An index page is hot, cold, or in the warm section. The looks of these states are in page_legend.css
for HTML, in `pageFill` (dom.js) for SVG, and in `bar_marker` for Plotly.
"""

import re
from functools import cache
from pathlib import Path
from typing import Literal

from kafkaviz.html import Html, tag
from kafkaviz.messages import say

FOLDER = Path(__file__).parent
PAGE_LEGEND = (FOLDER / "page_legend.css").read_text(encoding="utf-8")
STYLESHEET = (FOLDER / "tokens.css").read_text(encoding="utf-8") + PAGE_LEGEND
LIGHT_DARK = r"light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)"
MODES = ("light", "dark")
# by meaning: the light and the dark colour
COLOURS = {
    token.replace("-", "_"): (light, dark)
    for token, light, dark in re.findall(rf"--kv-([\w-]+): {LIGHT_DARK};", STYLESHEET)
}


@cache
def colours(mode: str) -> dict[str, str]:
    """Returns the colours of a mode ("light" or "dark") by name, such as "offset_text"."""
    return {meaning: pair[MODES.index(mode)] for meaning, pair in COLOURS.items()}


Kind = Literal["hot", "cold", "warm"]
KINDS: tuple[Kind, ...] = ("hot", "cold", "warm")
PATTERNS = {"hot": "", "cold": "-", "warm": "/"}  # Plotly's names of fill patterns


def page_legend(*kinds: Kind) -> Html:
    """Returns the legend of the page states in `kinds`. Default: all three states."""
    entries = (
        tag("span", tag("i", class_=f"kv-{kind}"), say(f"page_legend.{kind}"))
        for kind in kinds or KINDS
    )
    return tag("div", *entries, class_="kv-pages")


def bar_marker(kind: Kind, mode: str) -> dict:
    """Returns the marker of Plotly bars for index pages of one kind, such as "hot".

    `mode` is "light" or "dark".
    """
    palette = colours(mode)
    return {
        "color": palette[f"{kind}_soft"],
        "line": {"color": palette[kind], "width": 1},
        "pattern": {
            "shape": PATTERNS[kind],
            "fgcolor": palette[kind],
            "bgcolor": palette[f"{kind}_soft"],
            "size": 5,
            "solidity": 0.3,
        },
    }
