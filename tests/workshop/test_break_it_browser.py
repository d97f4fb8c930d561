"""The lab at the end of a lesson in a real browser: predict, start, see; nothing serious for
axe-core, all of it on the first screen, no error in the console.
"""

from pathlib import Path

import pytest

from tests.support.browser import heading

pytestmark = pytest.mark.browser
GRAVE = ("serious", "critical")
OVERLAPPING = (Path(__file__).parents[1] / "journeys" / "overlapping.js").read_text("utf-8")


def test_a_bit_is_flipped_and_the_broker_started(server, page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{server}/workshop?lesson=batches&break=1")
    heading(page, "Break it")
    start = page.get_by_role("button", name="Start it")
    start.wait_for()
    box = start.bounding_box()
    assert box["y"] + box["height"] <= 720
    page.get_by_role("button", name="Nothing: it leaves the files unchanged").click()
    page.get_by_role("button", name="An exception before the end").click()
    page.locator(".st-key-kv_break_start button:enabled").click()
    page.get_by_text("2 of 2 right").wait_for()
    page.get_by_role("img", name="exception at 2\u202f600").wait_for()
    page.wait_for_url("**answers=batches~0~156ad**")
    result = page.locator(".st-key-kv_break_result")
    box = result.bounding_box()
    assert box["y"] + box["height"] <= 720
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert page.evaluate(OVERLAPPING) == []
    violations = axe.Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    assert [fault["id"] for fault in violations if fault["impact"] in GRAVE] == []
