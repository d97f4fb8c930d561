"""The design tokens: every colour by its meaning, light and dark, from tokens.css.

A browser reads that stylesheet as it is. A chart cannot read a stylesheet's variables, so for
charts the same text is parsed here.
"""

import re
from functools import cache
from pathlib import Path

STYLESHEET = (Path(__file__).parent / "tokens.css").read_text(encoding="utf-8")
LIGHT_DARK = r"light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)"
MODES = ("light", "dark")
# meaning: (light, dark)
COLOURS = {
    token.replace("-", "_"): (light, dark)
    for token, light, dark in re.findall(rf"--kv-([\w-]+): {LIGHT_DARK};", STYLESHEET)
}


@cache
def colours(mode: str) -> dict[str, str]:
    """The colour of each meaning in a mode, "light" or "dark"."""
    return {meaning: pair[MODES.index(mode)] for meaning, pair in COLOURS.items()}
