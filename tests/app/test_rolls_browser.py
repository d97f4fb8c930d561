"""The Rolls page in a real browser: sliders, stepper, address, comparison, opening."""

import re

import pytest

from kafkaviz.app.registry import PAGES
from kafkaviz.messages import say

pytestmark = pytest.mark.browser
T = "\u202f"


def step(page) -> tuple[int, int]:
    return tuple(map(int, re.findall(r"\d+", page.locator(".count").inner_text())))


def test_each_figure_is_on_the_first_screen(server, page):
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{server}/rolls?tab=Chart")
    for tab, key in PAGES["Rolls"].tabs.items():
        page.get_by_role("tab", name=say(key)).click()
        panel = page.get_by_role("tabpanel", name=say(key))
        figure = panel.locator(".js-plotly-plot" if tab != "Growth" else ".fig").first
        figure.wait_for()
        panel.locator(".main-svg, .draw svg").first.wait_for(state="attached")
        top, height, window = figure.evaluate(
            "e => [e.getBoundingClientRect().top, e.getBoundingClientRect().height, innerHeight]"
        )
        assert (window - top) / height >= 0.8, tab


def test_a_log_grows_step_by_step(server, page):
    """Arrows, Home, End and Space move; the sentence is read out, and the address follows."""
    page.goto(f"{server}/rolls?step=17")
    page.locator(".say").filter(has_text="maybeAppend writes no time entry").wait_for()
    assert step(page) == (17, 38) and page.locator(".say").get_attribute("aria-live") == "polite"
    page.keyboard.press("ArrowLeft")
    page.locator(".say").filter(
        has_text=f"4{T}000 B since the last entry, not above 4{T}096: no entry"
    ).wait_for()
    page.wait_for_url("**step=16**")
    page.keyboard.press("End")
    assert step(page) == (38, 38) and page.locator(".next").is_disabled()
    page.keyboard.press("Home")
    assert step(page) == (1, 38) and page.locator(".prev").is_disabled()
    page.locator(".speed").select_option("350")
    page.locator(".title").click()
    page.keyboard.press("Space")
    page.wait_for_function(
        "[...document.querySelectorAll('*')].some(e => /^step [3-9] "
        "of/.test(e.shadowRoot?.querySelector('.count')?.textContent))"
    )
    page.keyboard.press("Space")
    resting = step(page)
    page.wait_for_timeout(800)
    assert step(page) == resting and page.get_by_role("button", name="Play").is_visible()
    assert f"step={resting[0]}" in page.url


@pytest.mark.nightly
def test_the_keys_are_the_steppers_after_each_control(server, page):
    """A pointer leaves the focus to the page."""
    page.goto(f"{server}/rolls?step=17")
    page.locator(".say").filter(has_text="maybeAppend writes no time entry").wait_for()
    for name in (".first", ".next", ".prev", ".last"):
        page.keyboard.press("Home")
        page.keyboard.press("ArrowRight")
        page.locator(name).click()
        page.keyboard.press("End")
        assert step(page) == (38, 38), name
    page.locator(".speed").dispatch_event("pointerdown")
    page.locator(".speed").focus()
    page.locator(".speed").select_option("350")
    page.keyboard.press("Home")
    assert step(page) == (1, 38)
    page.locator(".play").click()
    page.get_by_role("button", name="Pause").wait_for()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Play").wait_for()


@pytest.mark.nightly
def test_the_story_can_be_changed(server, page):
    page.goto(f"{server}/rolls?step=17")
    page.locator(".say").filter(has_text="maybeAppend").wait_for()
    page.get_by_text("A full time index", exact=True).click()
    page.locator(".say").filter(has_text="296 and 300 B").wait_for()
    assert step(page) == (1, 55)
    page.locator(".title").click()
    page.keyboard.press("End")
    assert page.get_by_text(".timeindex: 1 entry").count() == 1


@pytest.mark.nightly
def test_from_simulated_to_a_real_partition_and_back(server, page):
    """The address and the breadcrumb say which one it is."""
    page.goto(f"{server}/rolls?tp=payments-0")
    page.get_by_text("16 rolls: 5 by size").wait_for()
    page.get_by_role("radio", name="tiny-index-0").click()
    page.get_by_text("28 rolls: 28 by time index").wait_for()
    page.wait_for_url("**tp=tiny-index-0**")
    page.get_by_text("29 segments on disk").wait_for()
    page.reload()
    page.get_by_text("28 rolls: 28 by time index").wait_for()
    page.get_by_role("radio", name="Workload").click()
    page.get_by_text("16 rolls: 5 by size").wait_for()
    assert page.get_by_text("28 rolls: 28 by time index").count() == 0
