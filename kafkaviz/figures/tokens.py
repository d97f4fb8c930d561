"""The design tokens of tokens.css: a light and a dark colour for each meaning.

Charts cannot use CSS variables, so the stylesheet is parsed here.
"""

import re
from functools import cache
from pathlib import Path

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
    """Returns the colour of each meaning in a mode, "light" or "dark"."""
    return {meaning: pair[MODES.index(mode)] for meaning, pair in COLOURS.items()}
