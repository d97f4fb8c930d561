"""The race on the Lookup page in a real browser: played, stepped by keys, on another disk."""

import re
from pathlib import Path

import pytest

from tests.support.browser import rests_on_first_screen, sync_api, watched

pytestmark = pytest.mark.browser
expect = sync_api.expect
NUMBER = re.compile(r"\d")
LABEL = b"Warm section, entries"
CLIPPED, OVERLAPPING = (
    (Path(__file__).parents[1] / "journeys" / f"{name}.js").read_text("utf-8")
    for name in ("clipped", "overlapping")
)


def test_the_race(page, server):
    """One search waits after the other is done; the steps below stay in place."""
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{server}/lookup?set=full&target=5242883")
    title = page.locator(".title")
    expect(title).to_contain_text("middles move to pages that no reader used lately: which search")
    expect(page.locator(".say")).to_contain_text(re.compile(r"\w"))
    plain, warm = page.locator(".lane").first, page.locator(".lane").last
    expect(warm.locator(".n")).to_have_text("?")
    expect(plain.locator(".state")).to_have_text("at the start")
    assert rests_on_first_screen(page, ".kv-band", ".lane:last-child", ".transport")

    page.locator(".clock").press("Home")
    page.locator(".start").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(plain.locator(".state")).to_contain_text("waits for the disk, page 1")
    expect(page.locator(".count")).to_have_text(re.compile("step 1 of"))
    page.locator(".start").click()
    expect(warm.locator(".state")).to_contain_text("12 probes on 3 pages")
    expect(plain).to_have_class(re.compile("waits"))
    page.locator(".clock").press("End")
    expect(plain.locator(".n")).to_have_text("700 µs")
    expect(title).to_contain_text("Plain binary search waits for 7 cold pages: 700 µs")
    expect(page.locator(".start")).to_contain_text("Race again")

    page.locator(".disk").select_option("hdd")
    expect(title).to_contain_text("84.0 ms")
    page.wait_for_url("**storage=hdd**")


def test_the_next_race_opens_at_its_end(page, server):
    """For readers who have seen one. Others are asked, and equal searches need no race."""
    page.goto(f"{server}/lookup?set=full&target=5242883")
    title = page.locator(".title")
    expect(title).to_contain_text("which search finds it first?")
    page.get_by_role("button", name="Far behind").click()
    expect(page.locator(".cap")).to_contain_text("before the warm section")
    expect(title).to_contain_text("which one finds it first?")
    page.locator(".clock").press("End")
    expect(title).to_contain_text("Both searches read")
    page.get_by_role("button", name="At the tail").click()
    expect(title).to_contain_text("Plain binary search waits for 7 cold pages")
    page.goto(f"{server}/lookup?set=five&target=23")
    expect(title).to_contain_text("All pages are hot")


def test_one_entry_earlier_all_pages_are_hot(page, server):
    """A click leads from one race to the other, without the server."""
    page.goto(f"{server}/lookup?set=full&target=5242883")
    title, plain = page.locator(".title"), page.locator(".lane").first
    expect(title).to_contain_text("The entry at which the middles move")
    expect(plain.locator(".c.kv-cold")).to_have_count(7)
    page.get_by_role("button", name="One entry earlier").click()
    expect(title).to_contain_text("One entry earlier, before the middles move: which search")
    expect(plain.locator(".c.kv-cold")).to_have_count(0)
    page.locator(".clock").press("End")
    expect(plain.locator(".n")).to_have_text("0.41 µs")
    expect(title).to_contain_text("All pages are hot")
    page.get_by_role("button", name="One entry later").click()
    expect(plain.locator(".n")).to_have_text("700 µs")
    page.get_by_role("button", name="Far behind").click()
    expect(title).to_contain_text("Both searches read")
    expect(page.locator(".other")).to_be_hidden()


@pytest.mark.parametrize(
    ("language", "theme", "target"),
    [
        ("en", "light", 5242883),
        pytest.param("zh", "light", 5242883, marks=pytest.mark.nightly),
        pytest.param("en", "dark", 100000, marks=pytest.mark.nightly),
        pytest.param("zh", "dark", 100000, marks=pytest.mark.nightly),
    ],
)
def test_the_race_in_a_narrow_window(browser, server, language, theme, target):
    """The strips fit on the first screen of 1024 x 768, at the start and at the end."""
    with watched(browser, theme=theme) as page:
        page.set_viewport_size({"width": 1024, "height": 768})
        page.goto(f"{server}/lookup?set=full&target={target}&lang={language}")
        for key in ("Home", "End"):
            page.locator(".clock").press(key)
            expect(page.locator(".n").first).to_have_text(NUMBER if key == "End" else "?")
            assert rests_on_first_screen(page, ".ctl", ".lane:last-child .strip")
            assert page.evaluate(OVERLAPPING) == []
            assert page.evaluate(CLIPPED, False) == []


def test_a_click_while_the_page_loads_leaves_the_warm_section(page, server):
    """The interrupted run may have drawn that control last."""
    is_first_run = [True]

    def pass_on(socket):
        def from_server(message):
            if not (is_first_run[0] and LABEL in message):
                socket.send(message)

        socket.connect_to_server().on_message(from_server)

    page.route_web_socket(re.compile("_stcore/stream"), pass_on)
    page.goto(f"{server}/lookup?set=full&target=5242883")
    behind = page.get_by_role("button", name="Far behind")
    behind.wait_for()
    is_first_run[0] = False
    behind.click()
    expect(page.locator(".cap")).to_contain_text("before the warm section")
    warm = page.get_by_role("combobox", name="Warm section, entries")
    expect(warm).to_have_value("1024")
    page.get_by_role("button", name="At the tail").click()
    expect(page.locator(".cap")).to_contain_text("appends and readers at the tail keep hot")
    expect(warm).to_have_value("1024")
