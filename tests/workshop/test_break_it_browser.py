"""The lab at the end of a lesson in a real browser: predict, start, see; nothing serious for
axe-core, all of it on the first screen, no error in the console.
"""

import pytest

from tests.journeys.walk import OVERLAPPING
from tests.support.browser import GRAVE, assert_axe_finds_nothing, heading, rests_on_first_screen

pytestmark = pytest.mark.browser


def test_a_bit_is_flipped_and_the_broker_started(server, page):
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{server}/workshop?lesson=batches&break=1")
    heading(page, "Break it")
    page.get_by_role("button", name="Start it").wait_for()
    assert rests_on_first_screen(page, ".st-key-kv_break_start button")
    page.get_by_role("button", name="Nothing: it leaves the files unchanged").click()
    page.get_by_role("button", name="An exception before the end").click()
    page.locator(".st-key-kv_break_start button:enabled").click()
    page.get_by_text("2 of 2 right").wait_for()
    page.get_by_role("img", name="exception at 2\u202f600").wait_for()
    page.wait_for_url("**answers=batches~0~156ad**")
    assert rests_on_first_screen(page, ".st-key-kv_break_result")
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert page.evaluate(OVERLAPPING) == []
    assert_axe_finds_nothing(page, impacts=GRAVE)
