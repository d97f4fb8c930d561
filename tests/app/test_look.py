"""One colour, one meaning, wherever it is written down: the stylesheet, the charts' table,
Streamlit's settings.
"""

import re
import tomllib
from pathlib import Path

import pytest

from kafkaviz.app import frame
from kafkaviz.figures import theme

ROOT = Path(__file__).parents[2]
UI = ROOT / "kafkaviz" / "app"
TOKEN = re.compile(r"--kv-([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);")
SETTINGS = {  # of a theme in config.toml: the token with the same colour
    "primaryColor": "accent",
    "backgroundColor": "bg",
    "secondaryBackgroundColor": "panel",
    "textColor": "ink",
    "linkColor": "offset-text",
    "borderColor": "line",
    "dataframeBorderColor": "line",
    "dataframeHeaderBackgroundColor": "panel",
    "dataframeHeaderTextColor": "ink-3",
    "codeBackgroundColor": "panel",
    "codeTextColor": "ink",
    "redTextColor": "error-text",
}
CATEGORIES = ["log", "offset", "time", "warm", "scan", "hit"]


def tokens() -> dict[str, tuple[str, str]]:
    """The colour tokens: name to light and dark."""
    return {
        name: (light, dark) for name, light, dark in TOKEN.findall((UI / "tokens.css").read_text())
    }


def test_the_charts_have_the_stylesheets_colours():
    """Every colour of figures/theme.py is the token of that name, light and dark."""
    found = tokens()
    assert len(theme.COLOURS) > 20
    assert {name: found[name.replace("_", "-")] for name in theme.COLOURS} == theme.COLOURS


@pytest.mark.parametrize("mode", theme.MODES)
def test_streamlit_has_the_stylesheets_colours(mode):
    """Every colour of the two themes in config.toml is a token."""
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"][mode]
    found = {name: pair[theme.MODES.index(mode)] for name, pair in tokens().items()}
    colours = {name: value for name, value in config.items() if isinstance(value, str)}
    assert colours == {name: found[SETTINGS[name]] for name in colours}
    assert config["chartCategoricalColors"] == [found[name] for name in CATEGORIES]
    assert config["sidebar"] == {
        "backgroundColor": found["panel"],
        "secondaryBackgroundColor": found["press"],
    }


@pytest.mark.parametrize("mode", theme.MODES)
def test_the_plotly_template_has_the_stylesheets_colours(mode):
    """Its colours by category, and every other colour it names, are tokens or white on ink."""
    template = theme.TEMPLATES[mode]["layout"]
    found = {name: pair[theme.MODES.index(mode)] for name, pair in tokens().items()}
    assert template["colorway"] == [found[name] for name in CATEGORIES]
    assert (
        template["xaxis"]["gridcolor"] == found["line"]
        and template["xaxis"]["tickfont"]["color"] == found["ink-3"]
    )
    assert template["font"]["color"] == found["ink-2"]


def test_every_token_that_is_used_exists():
    """A misspelled token would silently be no colour at all."""
    known = set(re.findall(r"--kv-([\w-]+):", frame._stylesheet()))
    for file in [
        UI / "look.css",
        *(UI / "components").glob("*.css"),
        *(UI / "components").glob("*.js"),
        *(UI / "art").glob("*.svg"),
    ]:
        text = file.read_text()
        used = set(re.findall(r"var\(--kv-([\w-]+)\)", text))
        own = set(re.findall(r"--kv-([\w-]+):", text))
        assert used - known - own == set(), file.name


def test_the_stylesheet_keeps_to_what_streamlit_promises():
    """Generated class names change with every release of Streamlit."""
    assert "st-emotion" not in (UI / "look.css").read_text()


def test_no_traceback_reaches_the_reader():
    """An error that nobody foresaw is told in the server's log alone."""
    assert (
        tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["client"][
            "showErrorDetails"
        ]
        == "none"
    )


def test_no_token_is_left_over():
    """Each is asked for by a stylesheet, by a component through kit.js's V, or by a figure through
    its twin in theme.py.
    """
    files = [
        file for pattern in ("*.css", "*.js", "*.py") for file in (ROOT / "kafkaviz").rglob(pattern)
    ]
    said = "".join(file.read_text() for file in (ROOT / "app.py", *ROOT.glob("pages/*.py"), *files))
    names = re.findall(r"^\s*--kv-([\w-]+):", (UI / "tokens.css").read_text(), re.M)
    ways = (r"var\(--kv-{0}\b(?!-)", r"V\(['\"`]{0}['\"`]\)", r"['\"]{0}['\"]", r"['\"]{1}['\"]")
    left = {
        name
        for name in names
        if not any(re.search(way.format(name, name.replace("-", "_")), said) for way in ways)
    }
    assert len(names) > 40 and left == set()
