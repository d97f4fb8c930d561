"""Sliders when keys come faster than reruns: every press counts."""

from urllib.parse import parse_qs, urlsplit

import pytest

from kafkaviz import units
from tests.journeys.walk import SETTLED

pytestmark = pytest.mark.browser
PRESSES, BETWEEN_MS, PATIENCE_MS = 5, 120, 120_000
# a page, its slider, its parameter, and where the page shows the value
SLIDERS = [
    ("rolls?room=8+B", "segment.index.bytes", "room", ".kv-lab b"),
    ("tuning?tp=payments-0&consider=128", "index.interval.bytes", "consider", ".kv-lab b"),
]


@pytest.mark.parametrize(
    ("path", "name", "parameter", "beside"),
    [SLIDERS[0], *(pytest.param(*slider, marks=pytest.mark.nightly) for slider in SLIDERS[1:])],
    ids=[slider[2] for slider in SLIDERS],
)
def test_every_press_counts(server, page, path, name, parameter, beside):
    """Five quick presses are five steps, and the address shows the same page after a reload."""
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{server}/{path}")
    page.locator("[data-testid=stSlider]").first.wait_for()
    slider = page.get_by_role("slider", name=name).first
    page.locator(SETTLED).wait_for()
    before = int(slider.input_value())
    slider.focus()
    for _ in range(PRESSES):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(BETWEEN_MS)
    value = slider.get_attribute("aria-valuetext")
    page.wait_for_function(
        "([name, value]) => new URL(location).searchParams.get(name) === value",
        arg=[parameter, value],
    )
    page.locator(SETTLED).wait_for()
    page.wait_for_timeout(2 * BETWEEN_MS)  # a run that would take one back has begun
    page.locator(SETTLED).wait_for()
    assert slider.get_attribute("aria-valuetext") == value
    assert int(slider.input_value()) == before + PRESSES
    assert parse_qs(urlsplit(page.url).query)[parameter] == [value]
    assert page.locator(beside).filter(has_text=grouped(value)).count()
    titles = page.locator(".kv-figt").all_inner_texts()
    page.goto(page.url)
    page.locator(".kv-figt").nth(len(titles) - 1).wait_for()
    page.locator(SETTLED).wait_for()
    assert page.locator(".kv-figt").all_inner_texts() == titles


def grouped(value: str) -> str:
    return units.format_count(int(value)) if value.isdigit() else value
