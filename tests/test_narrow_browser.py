"""Every page on a phone, 390 px wide: nothing scrolls sideways, and no word is broken."""

from pathlib import Path

import pytest

from kafkaviz.app import frame
from tests.support.browser import SETTLED, sync_api

pytestmark = pytest.mark.browser
expect = sync_api.expect
SPLIT_WORDS = (Path(__file__).parent / "journeys" / "split_words.js").read_text()
LESSONS = ("lesson=1", "lesson=5&step=2", "lesson=6")
PAGES = [page.path for name, page in frame.PAGES.items() if name != "Workshop"]
ADDRESSES = [*PAGES, *(f"workshop?{lesson}" for lesson in LESSONS)]


@pytest.fixture
def phone(server, page):
    """Returns a function that opens an address on a phone."""

    def open_address(address: str) -> sync_api.Page:
        page.set_viewport_size({"width": 390, "height": 844})
        page.goto(f"{server}/{address}")
        page.locator("h1").first.wait_for()
        page.locator(SETTLED).wait_for()
        return page

    return open_address


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_phone_shows_whole_words_and_no_sideways_scroll(phone, address):
    page = phone(address)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.evaluate(SPLIT_WORDS) == []


def test_a_learner_has_one_row_of_menu_and_dots(phone):
    page = phone("workshop")
    assert page.locator(".st-key-kv_top").bounding_box()["height"] < 60
    dots = page.locator(".st-key-kv_lessons button")
    expect(dots).to_have_count(10)
    tops = dots.evaluate_all("all => all.map(dot => dot.getBoundingClientRect().top)")
    assert len(set(tops)) == 1
