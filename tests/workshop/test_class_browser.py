"""A class in two browsers: a learner's page follows by itself, and nobody is lost by a reload."""

import pytest

from tests.support.browser import GRAVE, assert_axe_finds_nothing, heading, sync_api, watched

pytestmark = pytest.mark.browser
BAR = """choice => {
    const {width, backgroundColor} = getComputedStyle(choice, '::before');
    return parseFloat(width) / choice.clientWidth > 0.9 && backgroundColor !== 'rgba(0, 0, 0, 0)';
}"""


def button(page, key: str):
    return page.locator(f".st-key-{key} button").first


def strip(page):
    """Returns the text of the class above the step."""
    return page.locator(".kv-class")


def teach(page, server: str) -> str:
    """Opens a class at a step with a question; its code."""
    page.goto(f"{server}/workshop?lesson=last-offset&at=1&track=short")
    page.get_by_role("button", name="Class", exact=True).click()
    button(page, "kv_class_teach").click()
    button(page, "kv_class_reveal").wait_for()
    return strip(page).locator("b").inner_text().removeprefix("Class ")


def join(page, server: str, code: str) -> None:
    """Takes a seat in a class, at the step that its teacher shows."""
    page.goto(f"{server}/workshop?class={code}")
    button(page, "kv_class_seat").click()
    strip(page).get_by_text("You are at seat 1 · With the teacher").wait_for()
    heading(page, "When does an entry appear?")


def test_a_class_goes_along(server, browser, page):
    """An answer is a bar to the teacher, and nothing is told before the reveal; the next step comes
    to the learner untouched; both may reload.
    """
    code = teach(page, server)
    with watched(browser, width=1024, theme="dark") as learner:
        join(learner, server, code)
        button(learner, "kv_choice_2").click()
        strip(page).get_by_text("1 of 1 answered").wait_for()
        choice = page.locator(".st-key-kv_choice_2 button")
        sync_api.expect(choice).to_have_css("--kv-count", "'1'")
        assert choice.evaluate(BAR)
        learner.get_by_text("Your answer is in. The teacher will show the right one.").wait_for()
        assert learner.locator(".kv-told, .kv-class-counts").count() == 0
        assert_axe_finds_nothing(learner, impacts=GRAVE)
        learner.reload()
        strip(learner).get_by_text("You are at seat 1").wait_for()
        page.reload()
        button(page, "kv_class_reveal").click()
        learner.get_by_text("Right", exact=True).wait_for()
        button(page, "kv_next").click()
        heading(learner, "What the entry says")
        assert_axe_finds_nothing(page, impacts=GRAVE)
        button(page, "kv_class_end").click()
        button(page, "kv_class_end_now").click()
        strip(learner).get_by_text(f"This server has no class {code}").wait_for()


@pytest.mark.nightly
def test_the_code_is_a_picture_for_a_phone(server, page):
    """Of a server that only this machine reaches there is none, and the dialog says what to do."""
    code = teach(page, server)
    button(page, "kv_class_show").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("Only this machine can reach this server").wait_for()
    assert dialog.locator(".kv-class-code").inner_text() == code
    assert dialog.locator(".kv-class-qr").count() == 0
