"""The file of a lesson in a real browser, from a disk: nothing is fetched, its stepper steps, its
questions are answered where they stand, and who does not see it finds its way.
"""

from pathlib import Path

import pytest

from kafkaviz.workshop.takeaway.lesson_page import lesson_page
from tests.support.browser import assert_axe_finds_nothing, watched
from tests.workshop.lesson_text import lesson

pytestmark = pytest.mark.browser
TRIES = 200
# a chart is as wide as its place; the page's policy lets nothing wait for that in it
FITS = """selector => {
    const box = document.querySelector(selector), chart = box?.querySelector('.main-svg');
    return chart && Math.abs(chart.clientWidth - box.clientWidth) <= 1;
}"""


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> str:
    """The file of a lesson with steppers and a chart."""
    path: Path = tmp_path_factory.mktemp("takeaway") / "lesson.html"
    path.write_text(lesson_page(lesson("warm-section"), 5, 8), encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def lesson_file(browser, address):
    """It, opened once, without a network; it asked for no other address."""
    requests: list[str] = []
    with watched(browser) as page:
        page.context.set_offline(True)
        page.on("request", lambda request: requests.append(request.url))
        page.goto(address)
        try:
            page.locator("html[data-alive][data-drawn]").wait_for(state="attached")
            yield page
        finally:
            page.context.set_offline(False)  # other tests go on with it
    assert [url for url in requests if not url.startswith(("data:", "blob:"))] == [address]


def test_an_answer_reveals_the_figure_and_its_stepper_steps(lesson_file):
    """By keyboard; the arrows are the stepper's own that has the focus."""
    step = lesson_file.locator("#step-4")
    answer = step.get_by_label("Your answer")
    answer.fill("3")
    answer.press("Enter")
    step.get_by_text("Not yet. 3 is not right.").wait_for()
    before, lookup = step.locator("[data-base=task]"), step.locator("[data-after=task]")
    assert (before.is_visible(), lookup.is_visible()) == (True, False)
    answer.fill("1309695")
    answer.press("Enter")
    step.get_by_text("Right", exact=True).wait_for()
    lookup.get_by_text("step 1 of 9").wait_for()
    assert before.is_hidden()
    lookup.get_by_role("button", name="Forward").focus()
    lesson_file.keyboard.press("ArrowRight")
    lookup.get_by_text("step 2 of 9").wait_for()


def test_a_choice_is_judged_and_a_chart_drawn(lesson_file):
    """The right one is shown beside a wrong one, and the chart has the width of its place."""
    step = lesson_file.locator("#step-3")
    step.get_by_role("button", name="The newest, just written").click()
    step.get_by_text("Not right", exact=True).wait_for()
    assert step.locator(".ask button.right").inner_text().startswith("C")
    for _ in range(TRIES):
        if lesson_file.evaluate(FITS, "#step-3 .plot"):
            break
        lesson_file.wait_for_timeout(100)  # Plotly takes its time
    assert lesson_file.evaluate(FITS, "#step-3 .plot")


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.nightly)])
def test_axe_finds_nothing_in_the_file(lesson_file, scheme):
    lesson_file.emulate_media(color_scheme=scheme)
    for question in lesson_file.locator(".ask").all():
        question.locator("button").first.click()
    assert_axe_finds_nothing(lesson_file)
