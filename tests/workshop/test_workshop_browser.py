"""The Workshop in a real browser, by keyboard: answers, steps and a stepper, without console errors
or clipped parts.
"""

from urllib.parse import parse_qs, quote, urlsplit

import pytest

from tests.journeys.walk import SETTLED
from tests.support.browser import heading, sync_api, watched

pytestmark = pytest.mark.browser
SHADES = {
    "light": {"right": "rgb(220, 243, 230)", "wrong": "rgb(252, 228, 228)"},
    "dark": {"right": "rgb(18, 50, 31)", "wrong": "rgb(66, 26, 29)"},
}


def press(page, key):
    """A key, once the button it belongs to stands there and can be pressed: before that nobody
    listens.

    A run may be over before its buttons are drawn: their script is fetched with the first of them.
    """
    page.locator(SETTLED).wait_for()
    page.locator(f'button:enabled:has([aria-label="Shortcut {key}" i])').first.wait_for()
    # it listens once it is drawn
    page.evaluate("() => new Promise(drawn => requestAnimationFrame(() => setTimeout(drawn, 50)))")
    page.keyboard.press(key)


def test_a_lesson_by_keyboard(server, page):
    """Numbers answer, N and B go on and back, arrows step; the address goes along, and a reload
    brings all of it back.
    """
    page.goto(f"{server}/workshop?lesson=last-offset")
    heading(page, "When does an entry appear?")
    page.get_by_text("Once you have answered: the log as it grows").wait_for()
    press(page, "3")
    page.get_by_text("Right", exact=True).wait_for()
    page.get_by_text("step 1 of 38").wait_for()
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    page.get_by_text("the offset index gets offset 59 at byte 5\u202f000").first.wait_for()
    page.wait_for_url("**step=last-offset_1_0.7**")
    press(page, "n")
    heading(page, "What the entry says")
    page.get_by_text("Five entries, and the batch that holds offset 21").wait_for()
    press(page, "1")
    page.get_by_text("Not right", exact=True).wait_for()
    page.get_by_text("The search for offset 21 begins at slot 1").wait_for()
    assert "last-offset.2a" in page.url.replace("%20", " ").replace("+", " ")
    press(page, "n")
    heading(page, "Stepping over batches")
    answer = page.get_by_label("Your answer")
    answer.fill("838")
    answer.press("Enter")
    page.get_by_text("3 of 67 answered").wait_for()
    page.reload()
    heading(page, "Stepping over batches")
    page.get_by_text("3 of 67 answered").wait_for()
    press(page, "b")
    page.get_by_text("The search for offset 21 begins at slot 1").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert page.locator("[data-testid=stException]").count() == 0


def test_start_again_asks_first(server, page):
    """By keyboard: Escape keeps the answers, Enter on the button in the question forgets them, and
    the question goes away.
    """
    page.goto(f"{server}/workshop?lesson=time&at=3&answers=time.1b+time.2x")
    heading(page, "Four steps")
    start = page.get_by_role("button", name="Start again")
    forget = page.get_by_role("button", name="Forget them")
    start.focus()
    page.keyboard.press("Enter")
    forget.wait_for()
    # it listens once it is drawn
    page.evaluate("() => new Promise(drawn => requestAnimationFrame(() => setTimeout(drawn, 200)))")
    page.keyboard.press("Escape")
    forget.wait_for(state="hidden")
    assert page.get_by_text("2 of 67 answered").is_visible() and "time.1b" in page.url
    start.focus()
    page.keyboard.press("Enter")
    forget.focus()
    page.keyboard.press("Enter")
    heading(page, "A log is cut into segments")
    page.get_by_text("0 of 67 answered").wait_for()
    forget.wait_for(state="hidden")
    assert "answers" not in page.url


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.nightly)])
def test_an_answer_has_its_colour_under_the_pointer_that_chose_it(server, browser, theme):
    """The pointer rests on the button after the click: right is green there, wrong is not."""
    with watched(browser, theme=theme) as page:
        page.goto(f"{server}/workshop")
        heading(page, "A log is cut into segments")
        for place, kind in ((1, "wrong"), (0, "right")):
            page.locator(f".st-key-kv_choice_{place} button").click()
            button = page.locator(f".st-key-kv_opt_{kind}_{place} button")
            button.wait_for()
            assert button.evaluate("one => one.matches(':hover')")
            sync_api.expect(button).to_have_css("background-color", SHADES[theme][kind])
            page.mouse.move(1, 1)
            sync_api.expect(button).to_have_css("background-color", SHADES[theme][kind])


@pytest.mark.nightly
def test_a_copied_link_keeps_what_its_reader_wrote_to_themselves(server, browser):
    """Lesson and step are in it; the answers, what is typed in the field, the teacher's notes and
    the server's path are not.
    """
    with watched(browser) as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        mine = "answers=three-files.1a+three-files.2x&given=43&notes=1"
        page.goto(f"{server}/workshop?lesson=three-files&at=4&{mine}")
        heading(page, "Why relative, and how far it reaches")
        page.get_by_role("button", name="Copy link").click()
        page.get_by_role("button", name="Copied").wait_for()
        link, address = page.evaluate("navigator.clipboard.readText()"), page.url
    assert {"answers", "given", "notes"} <= set(parse_qs(urlsplit(address).query))
    assert parse_qs(urlsplit(link).query) == {"lesson": ["three-files"], "at": ["4"]}


def test_chinese_and_the_hand_out(server, page):
    """Another language, a lesson from the strip, the sheet as it is printed: without the frame, to
    its end.
    """
    page.goto(f"{server}/workshop")
    page.get_by_role("button", name="中文").click()
    heading(page, "日志被切成日志段")
    page.get_by_role("button", name="热区", exact=True).click()
    heading(page, "索引是按页读的")
    page.get_by_role("button", name="讲义").click()
    heading(page, "热区")
    page.get_by_role("button", name="打印").wait_for()
    page.get_by_role("heading", name="答案").wait_for()
    page.emulate_media(media="print")
    assert not page.locator("[data-testid=stSidebar]").is_visible()
    assert not page.get_by_role("button", name="打印").is_visible()
    assert page.get_by_role("heading", name="答案").is_visible()
    page.wait_for_function("document.documentElement.scrollHeight > 3000")


@pytest.mark.parametrize("rests", [False, pytest.param(True, marks=pytest.mark.nightly)])
@pytest.mark.parametrize(
    ("lesson", "part", "next_title", "begins"),
    [
        ("warm-section", 4, "What a lagging reader pays", 1),
        pytest.param("time", 2, "Four steps", 16, marks=pytest.mark.nightly),
    ],
)
def test_a_stepper_begins_at_its_own_step(server, page, lesson, part, next_title, begins, rests):
    """Where the stepper of the step before stood, rested or still on its way into the address, is
    nothing to this one.
    """
    answers = f"{lesson}.{part}x+{lesson}.{part + 1}x"
    page.goto(f"{server}/workshop?lesson={lesson}&at={part}&answers={answers}")
    page.locator(".count", has_text=f"step {begins} of").wait_for()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    page.locator(".count", has_text=f"step {begins + 2} of").wait_for()
    if rests:
        page.wait_for_url("**step=*")
    page.get_by_role("button", name="Next step").click()
    heading(page, next_title)
    page.locator(".count", has_text="step 1 of").wait_for()
    page.wait_for_timeout(400)  # a position that was on its way would have come by now
    assert page.locator(".count").all_inner_texts()[0].startswith("step 1 of")
    begun = page.url.partition("&step")[0]
    for other in (f"{lesson}_{part}_0.3", "3"):  # a bare number in addresses of earlier releases
        page.goto(f"{begun}&step={other}")
        heading(page, next_title)
        page.locator(".count", has_text="step 1 of").wait_for()


@pytest.mark.nightly
def test_a_stepper_that_was_moved_comes_back(server, page):
    """Its position is its own: a reload has it."""
    page.goto(f"{server}/workshop?lesson=time&at=2")
    page.locator(".count", has_text="step 16 of").wait_for()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**step=time_2_0.17**")
    page.reload()
    page.locator(".count", has_text="step 17 of").wait_for()
    assert "step=time_2_0.17" in page.url


def test_a_rule_shows_its_conditions_whole(server, page):
    page.set_viewport_size({"width": 1024, "height": 900})
    rule = quote("if slot >= 0 and key(slot) = target then slot else slot + 1")
    page.goto(f"{server}/workshop?lesson=binary-search&at=3&given={rule}")
    condition = page.get_by_label("if", exact=True)
    condition.wait_for()
    hidden_px = "one => one.scrollWidth - one.clientWidth"
    assert condition.evaluate(hidden_px) == 0
    page.set_viewport_size({"width": 940, "height": 900})
    assert condition.evaluate(hidden_px) == 0
