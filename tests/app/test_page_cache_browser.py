"""The Page cache page in a real browser: the answer on its first screen by mouse and key, the
sliders of its other parts, the address.
"""

import pytest

from tests.journeys.walk import SETTLED
from tests.support.browser import heading, rests_on_first_screen

pytestmark = pytest.mark.browser
SIZES = [{"width": 1280, "height": 720}, {"width": 1024, "height": 768}]


@pytest.mark.parametrize("language", [pytest.param("en", marks=pytest.mark.nightly), "zh"])
def test_the_answer_is_on_the_first_screen(server, page, language):
    page.goto(f"{server}/page_cache?lang={language}")
    page.locator(".lane svg").nth(1).wait_for()
    for size in SIZES:
        page.set_viewport_size(size)
        page.wait_for_function(
            "width => document.querySelector('h1')?.getBoundingClientRect().right <= width",
            arg=size["width"],
        )
        assert rests_on_first_screen(page, ".fig", ".fig .title", ".fig input", ".fig .note")


def test_the_middles_jump_without_the_server(server, page):
    """From the 13th to the 14th page by key nothing is sent; a reload keeps the size."""
    sent = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    page.goto(f"{server}/page_cache?pages=13")
    page.get_by_text("From 12 to 13 pages neither search has to wait").wait_for()
    drawing = page.locator(".lane svg").first
    assert "pages 0, 6, 9, 11, 12;" in drawing.get_attribute("aria-label")
    page.locator(SETTLED).wait_for()
    sent.clear()
    slider = page.get_by_role("slider", name="Pages of the index")
    slider.press("ArrowRight")
    page.get_by_text("has to wait for pages 7 and 10, the warm section for none").wait_for()
    assert "pages 0, 7, 10, 12, 13;" in drawing.get_attribute("aria-label")
    assert slider.get_attribute("aria-valuetext") == "14 pages, 7\u202f168 entries"
    page.get_by_role("button", name="One page more").click()
    page.get_by_text("has to wait for page 11, the warm section for none").wait_for()
    page.wait_for_url("**pages=15**")
    assert sent == []
    page.reload()
    page.get_by_text("From 14 to 15 pages").wait_for()
    slider.press("End")
    page.get_by_text("From 39 to 40 pages").wait_for()
    assert page.get_by_role("button", name="One page more").is_disabled()


def test_sliders_of_the_other_parts_are_in_the_address(server, page):
    """By keyboard alone; a reload restores everything."""
    page.goto(f"{server}/page_cache")
    heading(page, "Page cache")
    page.get_by_role("button", name="One page more").click()
    page.get_by_text("From 14 to 15 pages").wait_for()
    page.get_by_role("tab", name="As the index grows").click()
    page.get_by_text("56 faults while the index grows to 40 pages").wait_for()
    page.get_by_role("slider", name="Bytes of this log until a page goes cold").press("ArrowRight")
    page.get_by_text("47 faults while the index grows to 40 pages").wait_for()
    page.wait_for_url("**cold=2+MB**")
    page.get_by_role("tab", name="The answer").click()
    page.get_by_text("From 14 to 15 pages").wait_for()
    page.get_by_role("tab", name="KAFKA-6432").click()
    page.get_by_role("slider", name="Entries").press("ArrowRight")
    page.get_by_text("At 6\u202f902 entries a plain tail lookup touches").wait_for()
    page.wait_for_url("**n=6902**")
    page.reload()
    page.get_by_text("At 6\u202f902 entries a plain tail lookup touches").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert page.locator("[data-testid=stException]").count() == 0


@pytest.mark.nightly
def test_all_settings_at_once_in_a_link(server, page):
    """1310720 entries, readers that lag behind, a real index's neighbour."""
    page.goto(f"{server}/page_cache?grow=2560+pages&laggards=1+%25&cold=4+MB")
    page.get_by_text("faults while the index grows to 2\u202f560 pages").first.wait_for()
    page.locator(".js-plotly-plot .main-svg").nth(3).wait_for(state="attached")
    page.goto(f"{server}/page_cache?pattern=Bursty")
    page.locator(".js-plotly-plot .main-svg").first.wait_for(state="attached")
    assert page.get_by_role("radio", name="Bursty").is_checked()
