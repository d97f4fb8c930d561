"""The Workshop in a real browser, by keyboard: answer, watch, go on; a stepper between; no error in the console, nothing clipped."""

from tests import test_browser

pytestmark = test_browser.pytestmark
server, browser, page = test_browser.server_that_has_read, test_browser.browser, test_browser.page  # fixtures of this module


def press(page, key):
    """A key, once the button it belongs to stands there and can be pressed: before that nobody listens.

    A run may be over before its buttons are drawn: their script is fetched with the first of them.
    """
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
    page.locator(f'button:enabled:has([aria-label="Shortcut {key}" i])').first.wait_for()
    page.evaluate("() => new Promise(drawn => requestAnimationFrame(() => setTimeout(drawn, 50)))")  # it listens once it is drawn
    page.keyboard.press(key)


def test_a_lesson_by_keyboard(server, page):
    """Numbers answer, N and B go on and back, arrows step; the address goes along, and a reload brings all of it back."""
    page.goto(f"{server}/workshop?lesson=last-offset")
    test_browser.heading(page, "When does an entry appear?")
    page.get_by_text("The figure appears when you have answered").wait_for()
    press(page, "3")
    page.get_by_text("Right", exact=True).wait_for()
    page.get_by_text("step 1 of 38").wait_for()
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    page.get_by_text("the offset index gets offset 59 at byte 5\u202f000").first.wait_for()
    page.wait_for_url("**step=7**")
    press(page, "n")
    test_browser.heading(page, "What the entry says")
    page.get_by_text("Where does the search for offset 21 begin?").wait_for()
    press(page, "1")
    page.get_by_text("Not so", exact=True).wait_for()
    page.get_by_text("Offset 21 is found from slot 1").wait_for()
    assert "last-offset.2a" in page.url.replace("%20", " ").replace("+", " ")
    press(page, "n")
    test_browser.heading(page, "Stepping over batches")
    answer = page.get_by_label("Your answer")
    answer.fill("838")
    answer.press("Enter")
    page.get_by_text("3 of 38 questions answered").wait_for()
    page.reload()
    test_browser.heading(page, "Stepping over batches")
    page.get_by_text("3 of 38 questions answered").wait_for()
    press(page, "b")
    page.get_by_text("Offset 21 is found from slot 1").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert page.locator("[data-testid=stException]").count() == 0


def test_chinese_and_the_hand_out(server, page):
    """Another language, a lesson from the strip, the sheet as it is printed: without the frame, to its end."""
    page.goto(f"{server}/workshop")
    page.get_by_role("button", name="中文").click()
    test_browser.heading(page, "日志被切成日志段")
    page.get_by_role("button", name="热区", exact=True).click()
    test_browser.heading(page, "索引是按页读的")
    page.get_by_role("button", name="讲义").click()
    test_browser.heading(page, "热区")
    page.get_by_role("button", name="打印").wait_for()
    page.get_by_role("heading", name="答案").wait_for()
    page.emulate_media(media="print")
    assert not page.locator("[data-testid=stSidebar]").is_visible() and not page.get_by_role("button", name="打印").is_visible()
    assert page.get_by_role("heading", name="答案").is_visible()
    assert page.evaluate("document.documentElement.scrollHeight") > 3000
