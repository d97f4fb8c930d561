"""The Page cache page in a real browser: its picture on the first screen, by mouse and key."""

import pytest

from tests.journeys.walk import SETTLED
from tests.support.browser import rests_on_first_screen

pytestmark = pytest.mark.browser
SIZES = [{"width": 1280, "height": 720}, {"width": 1024, "height": 768}]
# the share of the figure that is on the screen
VISIBLE = """() => {
  const box = document.querySelector('.st-key-tail_growth').getBoundingClientRect();
  return (Math.min(box.bottom, innerHeight) - Math.max(box.top, 0)) / box.height;
}"""
BOXES = """svg => [...svg.querySelectorAll('rect')].map(({ x, y, width, height }) =>
  [x, y, width, height].map(length => length.baseVal.value))"""


@pytest.mark.parametrize("language", [pytest.param("en", marks=pytest.mark.nightly), "zh"])
def test_the_picture_is_on_the_first_screen(server, page, language):
    """The warm section is marked from its first slot, 6143: it is the last one of page 11, so the
    mark begins on that page and not on page 10.
    """
    page.goto(f"{server}/page_cache?lang={language}&pages=14")
    boxes = page.locator(".lane svg").nth(1).evaluate(BOXES)
    # the mark follows the sixteen places for pages; of its boxes only it is 9 px high
    mark = next(box for box in boxes if box[3] == 9)
    page_11 = boxes[boxes.index(mark) - 16 + 11]
    assert 3 <= page_11[0] + page_11[2] - mark[0] <= 6
    for size in SIZES:
        page.set_viewport_size(size)
        page.wait_for_function(
            "width => document.querySelector('h1')?.getBoundingClientRect().right <= width",
            arg=size["width"],
        )
        assert rests_on_first_screen(page, ".fig", ".fig .title", ".fig input", ".fig .note")


@pytest.mark.parametrize(
    "projector",
    [pytest.param("", marks=pytest.mark.nightly), "&projector=1"],
    ids=["screen", "projector"],
)
def test_the_figure_is_seen_on_a_projector(server, page, projector):
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{server}/page_cache?lang=en{projector}")
    page.locator(".lane svg").nth(1).wait_for()
    page.locator(SETTLED).wait_for()
    assert page.evaluate(VISIBLE) >= 0.8


def test_the_middles_jump_without_the_server(server, page):
    """From the 13th to the 14th page by key nothing is sent; a reload keeps the size."""
    sent = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    page.goto(f"{server}/page_cache?pages=13")
    page.get_by_text("From 12 to 13 pages, neither search has to wait").wait_for()
    drawing = page.locator(".lane svg").first
    assert "pages 0, 6, 9, 11, 12;" in drawing.get_attribute("aria-label")
    page.locator(SETTLED).wait_for()
    sent.clear()
    slider = page.get_by_role("slider", name="Pages of the index")
    slider.press("ArrowRight")
    page.get_by_text(
        "has to wait for pages 7 and 10; warm-section-first search waits for none"
    ).wait_for()
    assert "pages 0, 7, 10, 12, 13;" in drawing.get_attribute("aria-label")
    assert slider.get_attribute("aria-valuetext") == "14 pages, 7\u202f168 entries"
    page.get_by_role("button", name="One page more").click()
    page.get_by_text("has to wait for page 11; warm-section-first search waits for none").wait_for()
    page.wait_for_url("**pages=15**")
    assert sent == []
    page.reload()
    page.get_by_text("From 14 to 15 pages").wait_for()
    slider.press("End")
    page.get_by_text("From 39 to 40 pages").wait_for()
    assert page.get_by_role("button", name="One page more").is_disabled()
