"""The stepper in a real browser: by keys, clicks and play; the address, and how fast a step is."""

import re
import statistics
from collections.abc import Iterator
from functools import partial

import pytest

from tests.support.browser import sync_api, watched

pytestmark = pytest.mark.browser
T = "\u202f"
DRAWN_MS, FRAME_MS = 16, 16.7
STEP_TIMES = """async () => {
  const drawn = [], shown = [], idle = [], next = [...document.querySelectorAll('*')].map(e => e.shadowRoot?.querySelector('.next')).find(Boolean);
  const later = ms => new Promise(done => setTimeout(done, ms)), frame = () => new Promise(requestAnimationFrame);
  const painted = () => new Promise(done => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = done;
    port2.postMessage(0);
  });
  while (!next.disabled) {
    await later(40 + 17 * Math.random());
    const before = performance.now(); // the same wait with nothing to show
    await frame();
    await painted();
    idle.push(performance.now() - before);
    await later(40 + 17 * Math.random()); // as a key is pressed: at any moment of a frame
    const start = performance.now();
    next.click();
    drawn.push(performance.now() - start);
    await frame(); // styles, layout and paint follow its callbacks
    await painted();
    shown.push(performance.now() - start);
  }
  return [drawn, shown, idle];
}"""


@pytest.fixture(scope="module")
def five(browser: "sync_api.Browser", server: str) -> Iterator["sync_api.Page"]:
    """Yields one page for several tests: each goes to a step first, and only the last one looks
    another slot up.
    """
    with watched(browser) as page:
        yield opened(page, server, "set=five&target=23")


def go_to(page: "sync_api.Page", step: int) -> None:
    page.get_by_label(f"Step {step}: ").click()
    page.evaluate("document.activeElement.blur()")


def opened(page: "sync_api.Page", server: str, query: str) -> "sync_api.Page":
    page.goto(f"{server}/lookup?tab=steps&{query}")
    page.locator(".say").filter(has_text=re.compile(r"\w")).wait_for(timeout=60_000)
    return page


def sentence(page: "sync_api.Page") -> str:
    return page.locator(".say").inner_text()


def at_step(page: "sync_api.Page") -> tuple[int, int]:
    return tuple(map(int, re.findall(r"\d+", page.locator(".count").inner_text())))


def test_by_keys_and_back_by_the_address(page, server):
    """Arrows, Home and End move, the address follows, and a reload restores the step."""
    opened(page, server, "tp=dense-index-0&by=offset&target=2247&step=10")
    assert (
        sentence(page)
        == f"The middle, slot 417, holds 2{T}269, above 2{T}247. Keep only the slots left of it."
    )
    assert at_step(page) == (10, 18)
    page.keyboard.press("ArrowRight")
    assert at_step(page)[0] == 11
    page.wait_for_url("**step=11**")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("End")
    assert sentence(page) == (
        f"The broker sends the .log from byte 213{T}754 on. The consumer skips 2 records to reach "
        f"offset 2{T}247."
    )
    page.keyboard.press("Home")
    assert at_step(page)[0] == 1 and page.locator(".prev").is_disabled()
    page.keyboard.press("End")
    page.wait_for_url("**step=18**")
    page.reload()
    page.locator(".say", has_text="The broker sends").wait_for(timeout=60_000)
    assert at_step(page) == (18, 18)


def test_keys_leave_fields_alone(five):
    page = five
    go_to(page, 3)
    page.get_by_label("Target offset").click()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Home")
    assert at_step(page)[0] == 3
    page.locator(".say").click()
    page.keyboard.press("ArrowRight")
    assert at_step(page)[0] == 4


def test_the_keys_are_the_steppers_after_each_control(five):
    """A pointer leaves the focus to the page: an arrow moves, and Space plays."""
    page = five
    controls = [
        lambda: page.locator(".first").click(),
        lambda: page.locator(".next").click(),
        lambda: page.locator(".prev").click(),
        lambda: page.get_by_label("Step 3: ").click(),
        lambda: page.locator(".page button").first.click(),
    ]
    for name, value in ((".speed", "350"), (".disk", "ssd")):
        controls.append(partial(choose, page, name, value))
    for use in controls:
        page.keyboard.press("Home")
        page.keyboard.press("ArrowRight")
        use()
        before = at_step(page)[0]
        page.keyboard.press("ArrowRight")
        assert at_step(page)[0] == before + 1
    page.keyboard.press("Home")
    page.locator(".play").click()
    page.locator(".play", has_text="Pause").wait_for()
    page.keyboard.press("Space")
    page.locator(".play", has_text="Play").wait_for()


def choose(page: "sync_api.Page", selector: str, value: str) -> None:
    """Chooses from a list as a reader with a mouse does."""
    page.locator(selector).dispatch_event("pointerdown")
    page.locator(selector).focus()
    page.locator(selector).select_option(value)


def test_probes_wait_for_cold_pages(page, server):
    """Up to 2.0, the middle of fourteen pages is cold; the sum follows the disk."""
    opened(page, server, "set=pages&search=2.0&step=2")
    expect = sync_api.expect
    expect(page.locator(".sum")).to_contain_text("none")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".sum")).to_contain_text("1 × 100 µs = 100 µs")
    page.locator(".disk").select_option("hdd")
    expect(page.locator(".sum")).to_contain_text("1 × 12.0 ms = 12.0 ms")
    page.wait_for_url("**storage=hdd**")


def test_play_and_pause(five):
    page = five
    go_to(page, 5)
    page.locator(".speed").select_option("350")
    page.locator(".say").click()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Space")
    assert page.locator(".play").inner_text().endswith("Pause")
    page.locator(".count", has_text="step 8 of 8").wait_for(timeout=15_000)
    page.locator(".play", has_text="Play").wait_for()
    page.get_by_label("Step 4: ").click()
    assert at_step(page) == (4, 8)
    assert sentence(page).startswith("The middle, slot 3, holds 26, above 23.")


def test_what_a_step_shows(five):
    """The line of the pseudocode, changed values, excluded slots, and text for screen readers."""
    page = five
    go_to(page, 3)
    page.keyboard.press("ArrowRight")
    assert page.locator(".code .on").inner_text().split("\n")[-1].strip() == "else: hi ← mid − 1"
    assert page.locator(".vals .changed .lab").all_inner_texts() == ["probes", "hi", "mid", "key"]
    assert page.get_by_role("img", name="3 probes; 1 of 5 slots left").is_visible()
    assert page.locator(".say").get_attribute("aria-live") == "polite"
    page.keyboard.press("End")
    assert page.locator(".rec .hit b").inner_text().startswith("23")


def test_a_slot_that_is_clicked_is_looked_up(page, server):
    """Its key becomes the target, in the field and the address; the steps open on a probe again."""
    opened(page, server, "set=five&target=23&step=5")
    page.locator(".ix .pick").nth(3).click()
    page.locator(".say", has_text="below 26").wait_for()
    assert at_step(page)[0] == 2 and page.get_by_label("Target offset").input_value() == "26"
    page.wait_for_url("**target=26**step=2**")
    page.reload()
    page.locator(".say", has_text="below 26").wait_for(timeout=60_000)


def test_a_slot_is_reached_by_key(five):
    """Arrows, Page keys, Home and End move over the slots; Enter looks up."""
    page = five
    go_to(page, 4)
    cursor = page.get_by_role("slider", name="Slot to look up")
    cursor.focus()
    for key, slot in (
        ("End", 4),
        ("ArrowLeft", 3),
        ("Home", 0),
        ("PageDown", 0),
        ("ArrowRight", 1),
    ):
        cursor.press(key)
        assert cursor.get_attribute("aria-valuenow") == str(slot) and at_step(page)[0] == 4, key
    assert "offset 14 → byte 459" in cursor.get_attribute("aria-valuetext")
    cursor.press("Enter")
    page.locator(".say", has_text="below 14").wait_for()
    page.wait_for_url("**target=14**")
    assert cursor.evaluate("element => element.matches(':focus')")
    assert cursor.get_attribute("aria-valuenow") == "1"


@pytest.mark.nightly
def test_another_language_keeps_the_step(page, server):
    opened(page, server, "set=five&target=23&step=4")
    page.get_by_role("button", name="中文").click()
    page.locator(".say", has_text="中间的槽 3 是 26，大于 23。").wait_for()
    assert page.locator(".count").inner_text() == "第 4 步，共 8 步"
    assert page.locator(".play").inner_text().endswith("播放")


@pytest.mark.nightly
def test_back_undoes_one_choice(page, server):
    opened(page, server, "set=five&target=23")
    page.get_by_role("radio", name="20 entries", exact=True).click()
    page.wait_for_url("**set=twenty**target=140**")
    page.get_by_role("radio", name="Timestamp").click()
    page.wait_for_url("**by=timestamp**")
    page.locator(".dot-group.on", has_text="Time index").wait_for()
    page.go_back()
    page.locator(".say", has_text="below 140").wait_for()
    page.go_back()
    page.locator(".say", has_text="below 23").wait_for()
    assert "set=five" in page.url and page.get_by_label("Target offset").input_value() == "23"


@pytest.mark.nightly
def test_surprise_me(page, server):
    opened(page, server, "tp=dense-index-0&target=2247")
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name="Surprise me").click()
    page.wait_for_url(lambda url: "target=2247" not in url)
    page.locator(".say", has_not_text=f"2{T}247").wait_for()
    before = sentence(page)
    page.reload()
    page.locator(".say", has_text=before).wait_for(timeout=60_000)
    assert sentence(page) == before and "target=2247" not in page.url


@pytest.mark.nightly
def test_from_the_segment_page(page, server):
    page.goto(f"{server}/segment?tp=payments-0&segment=7975&pin=11612")
    page.get_by_role("button", name="Look up from here").click()
    page.get_by_role("tab", name="Step by step").click()
    page.locator(".say", has_text=f"not above 11{T}625").or_(
        page.locator(".say", has_text=f"below 11{T}625")
    ).wait_for(timeout=60_000)
    assert "/lookup" in page.url


@pytest.mark.nightly  # the measurement depends on the machine too
@pytest.mark.parametrize("query", ["tp=dense-index-0&target=2247", "set=full&target=1234567"])
def test_a_step_is_one_frame(page, server, query):
    """Drawn within 16 ms and painted at most a frame later, at any size of the index; half of the
    steps, as other work takes turns.
    """
    opened(page, server, query)
    page.wait_for_timeout(500)
    drawn, painted, idle = page.evaluate(STEP_TIMES)
    assert len(drawn) >= 16
    assert statistics.median(drawn) <= DRAWN_MS, drawn
    assert statistics.median(painted) <= statistics.median(idle) + FRAME_MS, (painted, idle)
