"""The legend of hot pages, cold pages and the warm section, the same in every figure.

HTML uses the classes of page_legend.css, SVG `pageFill` in dom.js, and Plotly `bar_marker`.
"""

from typing import Literal

from kafkaviz.figures import tokens
from kafkaviz.html import Html, tag
from kafkaviz.messages import say

Kind = Literal["hot", "cold", "warm"]
KINDS: tuple[Kind, ...] = ("hot", "cold", "warm")
PATTERNS = {"hot": "", "cold": "-", "warm": "/"}  # Plotly's names of fill patterns


def page_legend(*kinds: Kind) -> Html:
    """Returns the legend of some kinds, by default all three."""
    entries = (
        tag("span", tag("i", class_=f"kv-{kind}"), say(f"page_legend.{kind}"))
        for kind in kinds or KINDS
    )
    return tag("div", *entries, class_="kv-pages")


def bar_marker(kind: Kind, mode: str) -> dict:
    """Returns the marker of Plotly bars for one kind. `mode` is "light" or "dark"."""
    colours = tokens.colours(mode)
    return {
        "color": colours[f"{kind}_soft"],
        "line": {"color": colours[kind], "width": 1},
        "pattern": {
            "shape": PATTERNS[kind],
            "fgcolor": colours[kind],
            "bgcolor": colours[f"{kind}_soft"],
            "size": 5,
            "solidity": 0.3,
        },
    }
