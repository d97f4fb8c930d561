"""Drawings in both themes: text has a contrast of 4.5 : 1, lines have 3 : 1."""

from pathlib import Path

import pytest

from tests.support.browser import SETTLED

pytestmark = pytest.mark.browser
FAINT = (Path(__file__).parent / "journeys" / "faint.js").read_text()
ADDRESSES = {
    "": ".st-key-kv_fig_map .main-svg",
    "segment": ".detail svg",
    "lookup?step=1": "svg",
    "page_cache": "svg",
    "tuning?tp=tiny-index-0": ".st-key-kv_fig_index_size .main-svg",
    "rolls": ".st-key-kv_timeline .main-svg",
    "rolls?tab=Limits": ".st-key-kv_limits .main-svg",
    "rolls?tab=Growth": ".draw svg",
}
LESSONS = Path(__file__).parents[1] / "kafkaviz" / "workshop" / "lessons"
USUAL = ("three-files.1", "warm-section.2")  # the other steps are checked at night
THEMES = ["dark", pytest.param("light", marks=pytest.mark.nightly)]  # axe-core looks at light pages


def lesson_steps() -> list:
    """Returns each step of each lesson, answered, so that its hidden figures are seen too."""
    steps = [
        (path.name.partition(".")[0], number)
        for path in sorted(LESSONS.glob("*.en.md"))
        for number in range(1, path.read_text().count("\n## ") + 1)
    ]
    return [
        pytest.param(
            f"workshop?lesson={name}&at={number}&answers={name}.{number}b+{name}.{number}x",
            marks=[] if f"{name}.{number}" in USUAL else pytest.mark.nightly,
        )
        for name, number in steps
    ]


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("address", lesson_steps())
def test_no_drawing_of_a_lesson_is_too_faint(server, page, address, theme):
    page.emulate_media(color_scheme=theme)
    page.goto(f"{server}/{address}")
    page.locator(".st-key-kv_steps").wait_for()
    page.locator(SETTLED).wait_for()
    assert page.evaluate(FAINT) == []


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("address", ADDRESSES)
def test_no_drawing_is_too_faint(server, page, address, theme):
    page.emulate_media(color_scheme=theme)
    page.goto(f"{server}/{address}")
    page.locator("h1").first.wait_for()
    page.locator(ADDRESSES[address]).first.wait_for(state="attached")
    page.locator(SETTLED).wait_for()
    assert page.evaluate(FAINT) == []
