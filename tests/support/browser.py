"""What tests that click share: how long they wait, and the pages that they open."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from docs.browsing import watch

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="needs playwright: pip install -r requirements-dev.txt"
)

PATIENCE_MS = 30_000
sync_api.expect.set_options(timeout=PATIENCE_MS)
SPARK_PATIENCE_MS = 180_000


@contextmanager
def watched(
    browser: "sync_api.Browser", width: int = 1280, theme: str = "light"
) -> Iterator["sync_api.Page"]:
    """A page of a visitor who was never here; AssertionError at its end if its console showed an
    error.
    """
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE_MS)
    errors = watch(opened)
    try:
        yield opened
    finally:
        context.close()
    assert errors == []


def heading(page: "sync_api.Page", text: str) -> None:
    """Waits for the page's title."""
    page.locator("h1", has_text=text).first.wait_for()


def click_a_bar(page: "sync_api.Page") -> None:
    """A click into the middle of the map's first bar."""
    bars = page.locator(".js-plotly-plot .barlayer .point path")
    bars.first.wait_for(state="attached")
    box = bars.first.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
