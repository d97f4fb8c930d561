"""The effect of each key in the list of keys, on a page without an earlier key press; the
Workshop's are in its own tests.
"""

import pytest

from tests.journeys.walk import SETTLED

pytestmark = [pytest.mark.browser, pytest.mark.nightly]
SEGMENT = "segment?tp=payments-0&segment=7975&pin=11612"


def begins(page, address: str, shows: str) -> None:
    page.goto(address)
    page.locator(shows).first.wait_for()
    page.locator(SETTLED).wait_for()


def test_the_list_of_keys_opens_by_its_own(server, page):
    """It shows every key as a key cap."""
    begins(page, f"{server}/{SEGMENT}", "tr.on")
    page.keyboard.press("?")
    caps = page.locator("[role=dialog] .kv-kb kbd")
    caps.first.wait_for()
    keys = {*"K?[]←→+−NB1", "Esc", "Home", "End", "Space"}
    assert keys <= set(caps.all_inner_texts())


def test_the_keys_of_a_segment(server, page):
    """Brackets change the segment, arrows the batch, plus and minus the window."""
    begins(page, f"{server}/{SEGMENT}", ".detail svg")
    for key, address in (("ArrowRight", "pin=11626"), ("ArrowLeft", "pin=11612"), ("+", "window=")):
        page.keyboard.press(key)
        comes(page, address)
    near = page.url
    page.keyboard.press("-")
    page.wait_for_function("near => location.href !== near", arg=near)
    assert visible_bytes(page.url) > visible_bytes(near)
    for key, address in (("[", "segment=0"), ("]", "segment=7975")):
        page.keyboard.press(key)
        comes(page, address)


def comes(page, address: str) -> None:
    """Waits until the address has this part, and the page is at rest."""
    page.wait_for_function("part => location.search.includes(part)", arg=address)
    page.locator(SETTLED).wait_for()


def visible_bytes(url: str) -> int:
    """Returns the window of the .log that the ruler shows; all of it if the address has none."""
    first, _, last = url.partition("window=")[2].partition("&")[0].partition("-")
    return int(last) - int(first) if last else 10**9


def test_the_keys_of_the_stepper(server, page):
    begins(page, f"{server}/lookup?tp=orders-0&by=offset&target=2247&step=3", ".say")
    count = page.locator(".count")
    for key, step in (("ArrowRight", 4), ("ArrowLeft", 3), ("Home", 1)):
        page.keyboard.press(key)
        page.wait_for_function(f"new URL(location).searchParams.get('step') == {step}")
    page.keyboard.press("Space")
    page.wait_for_function("new URL(location).searchParams.get('step') > 1")
    page.keyboard.press("Space")
    stays = count.inner_text()
    page.wait_for_timeout(1500)  # longer than a step takes
    assert count.inner_text() == stays
    page.keyboard.press("End")
    page.locator(".dots button").last.and_(page.locator("[aria-current=step]")).wait_for()
