"""The race on the Lookup page in a real browser: played, stepped by keys, on another disk."""

import re

import pytest

from tests.support.browser import rests_on_first_screen, sync_api

pytestmark = pytest.mark.browser
expect = sync_api.expect


def test_the_race(page, server):
    """One search waits while the other is done; the steps below stay where they are."""
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{server}/lookup?set=full&target=5242883")
    title = page.locator(".title")
    expect(title).to_contain_text("Plain bisection waits for 9 cold pages: 900 µs")
    expect(page.locator(".say")).to_contain_text(re.compile(r"\w"))
    plain, warm = page.locator(".lane").first, page.locator(".lane").last
    expect(warm.locator(".n")).to_have_text("0.27 µs")
    assert rests_on_first_screen(page, ".kv-band", ".lane:last-child", ".tp")

    page.locator(".restart").click()
    expect(plain.locator(".state")).to_have_text("at the start")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(plain.locator(".state")).to_contain_text("waits for the disk, page 1")
    expect(page.locator(".count")).to_have_text(re.compile("step 1 of"))
    page.locator(".start").click()
    expect(warm.locator(".state")).to_contain_text("12 probes on 3 pages")
    expect(plain).to_have_class(re.compile("waits"))
    page.locator(".clock").press("End")
    expect(plain.locator(".n")).to_have_text("900 µs")

    page.locator(".disk").select_option("hdd")
    expect(title).to_contain_text("108 ms")
    page.wait_for_url("**storage=hdd**")
