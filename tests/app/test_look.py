"""Colours agree in the stylesheet, the charts' table and Streamlit's settings."""

import re
import tomllib
from pathlib import Path

import pytest

from kafkaviz.app import middleware
from kafkaviz.figures import theme, tokens

ROOT = Path(__file__).parents[2]
UI = ROOT / "kafkaviz" / "app"
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


def expected_colours(mode: str) -> dict[str, str]:
    return {name.replace("_", "-"): colour for name, colour in tokens.colours(mode).items()}


def test_every_colour_is_read_from_the_stylesheet():
    """Light and dark, by the token's name."""
    colours = re.findall(r"--kv-[\w-]+: light-dark\(#", tokens.STYLESHEET)
    assert len(tokens.COLOURS) == len(colours) > 50
    assert tokens.COLOURS["offset_text"] == ("#1a5cb4", "#8ec1ff")


@pytest.mark.parametrize("mode", tokens.MODES)
def test_streamlit_has_the_stylesheets_colours(mode):
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"][mode]
    expected = expected_colours(mode)
    colours = {name: value for name, value in config.items() if isinstance(value, str)}
    assert colours == {name: expected[SETTINGS[name]] for name in colours}
    assert config["chartCategoricalColors"] == [expected[name] for name in CATEGORIES]
    assert config["sidebar"] == {
        "backgroundColor": expected["panel"],
        "secondaryBackgroundColor": expected["press"],
    }


@pytest.mark.parametrize("mode", tokens.MODES)
def test_the_plotly_template_has_the_stylesheets_colours(mode):
    """Every colour that it names is a token, or white on ink."""
    template = theme.template(mode).to_plotly_json()["layout"]
    expected = expected_colours(mode)
    assert template["colorway"] == [expected[name] for name in CATEGORIES]
    assert template["xaxis"]["gridcolor"] == expected["line"]
    assert template["xaxis"]["tickfont"]["color"] == expected["ink-3"]
    assert template["font"]["color"] == expected["ink-2"]


def test_every_token_that_is_used_exists():
    """A misspelled token would silently be no colour."""
    known = set(re.findall(r"--kv-([\w-]+):", middleware.stylesheet()))
    for file in [
        UI / "look.css",
        *(UI / "frontend").glob("*.css"),
        *(UI / "frontend" / "src").rglob("*.js"),
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
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())
    assert config["client"]["showErrorDetails"] == "none"


def test_no_token_is_left_over():
    """Each is used by a stylesheet, by a component through color of dom.js, or by a figure."""
    files = [ROOT / "app.py", *ROOT.glob("pages/*.py")]
    for pattern in ("*.css", "*.js", "*.json", "*.py"):
        files += (ROOT / "kafkaviz").rglob(pattern)
    bundled = {"node_modules", "bundles"}
    source = "".join(file.read_text() for file in files if not bundled & set(file.parts))
    names = re.findall(r"--kv-([\w-]+):", tokens.STYLESHEET)
    ways = (
        r"var\(--kv-{0}\b(?!-)",
        r"color\(['\"`]{0}['\"`]\)",
        r"['\"]{0}['\"]",
        r"['\"]{1}['\"]",
    )
    left = {
        name
        for name in names
        if not any(re.search(way.format(name, name.replace("-", "_")), source) for way in ways)
    }
    assert len(names) > 40 and left == set()
