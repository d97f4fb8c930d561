"""Drawings in both themes: text has a contrast of 4.5 : 1, curves and links have 3 : 1."""

from pathlib import Path

import pytest

pytestmark = pytest.mark.browser
FAINT = (Path(__file__).parent / "journeys" / "faint.js").read_text()
AT_REST = "[data-testid=stApp][data-test-script-state=notRunning]"
ADDRESSES = {
    "": ".st-key-kv_fig_map .main-svg",
    "segment": ".detail svg",
    "lookup?step=1": "svg",
    "page_cache": "svg",
    "rolls": ".st-key-kv_timeline .main-svg",
    "rolls?tab=Limits": ".st-key-kv_limits .main-svg",
    "rolls?tab=Growth": ".draw svg",
    "workshop?lesson=1": "svg",
    "workshop?lesson=5&step=2": "svg",
}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("address", ADDRESSES)
def test_no_drawing_is_too_faint(server, page, address, theme):
    page.emulate_media(color_scheme=theme)
    page.goto(f"{server}/{address}")
    page.locator("h1").first.wait_for()
    page.locator(ADDRESSES[address]).first.wait_for(state="attached")
    page.locator(AT_REST).wait_for()
    assert page.evaluate(FAINT) == []
