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
    """One search waits after the other is done; the arrival is a case where they differ."""
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{server}/lookup")
    question = page.locator(".say")
    expect(question).to_contain_text("A reader at the tail looks up")
    page.wait_for_url("**set=pages**")
    plain, warm = page.locator(".lane").first, page.locator(".lane").last
    expect(warm.locator(".n")).to_have_text("?")
    expect(plain.locator(".state")).to_have_text("at the start")

    for _ in range(4):
        page.keyboard.press("ArrowRight")
    expect(plain.locator(".state")).to_contain_text("waits for the disk, page 7")
    expect(plain).to_have_class(re.compile("waits"))
    page.locator(".play").click()
    expect(warm.locator(".state")).to_contain_text("12 probes on 3 pages")
    page.keyboard.press("End")
    expect(plain.locator(".n")).to_have_text("100 µs")
    expect(question).to_contain_text("Plain binary search waits for 1 cold page: 100 µs")

    page.locator(".disk").select_option("hdd")
    expect(question).to_contain_text("12.0 ms")
    page.wait_for_url("**storage=hdd**")


def test_a_click_makes_a_page_cold(page, server):
    """The search that reads it waits, and the steps of the same lookup know."""
    page.goto(f"{server}/lookup?set=pages")
    warm = page.locator(".lane").last
    expect(warm.locator(".kv-cold")).to_have_count(11)
    page.keyboard.press("End")
    expect(warm.locator(".n")).to_have_text("0.27 µs")
    warm.get_by_role("button", name="page 12: hot").click()
    expect(warm.locator(".kv-cold")).to_have_count(12)
    expect(warm.locator(".n")).to_have_text("100 µs")
    expect(page.locator(".say")).to_contain_text("Both searches wait for the disk")
    page.get_by_role("tab", name="Step by step").click()
    expect(page.locator(".sum")).to_contain_text("none")
    page.locator(".last").click()
    expect(page.locator(".sum")).to_contain_text("1 × 100 µs")
    page.get_by_role("button", name="page 12: cold").click()
    expect(page.locator(".sum")).to_contain_text("none")


def test_the_next_race_opens_at_its_end(page, server):
    """For readers who have seen one. A lagging reader pays a probe more."""
    page.goto(f"{server}/lookup?set=pages")
    title = page.locator(".say")
    expect(title).to_contain_text("The index has just grown")
    page.get_by_role("button", name="Lagging reader").click()
    expect(page.locator(".cap")).to_contain_text("one probe more than before 2.1")
    expect(title).to_contain_text("which one finds it first?")
    page.keyboard.press("End")
    expect(title).to_contain_text(
        "needs one more probe. Here it also waits for 2 cold pages more: 200 µs."
    )
    page.get_by_role("button", name="Reader at the tail").click()
    expect(title).to_contain_text("Plain binary search waits for 1 cold page")
    page.goto(f"{server}/lookup?set=five&target=23")
    expect(title).to_contain_text("All pages are hot")


def test_one_entry_earlier_all_pages_are_hot(page, server):
    """A click leads from one race to the other, without the server."""
    page.goto(f"{server}/lookup?set=full&target=5242883")
    title, plain = page.locator(".say"), page.locator(".lane").first
    expect(title).to_contain_text("so some middles of plain binary search have moved")
    expect(plain.locator(".kv-cold")).to_have_count(7)
    page.get_by_role("button", name="One entry earlier").click()
    expect(title).to_contain_text("One entry earlier, the middles have not moved yet")
    expect(plain.locator(".kv-cold")).to_have_count(0)
    page.keyboard.press("End")
    expect(plain.locator(".n")).to_have_text("0.41 µs")
    expect(title).to_contain_text("All pages are hot")
    page.get_by_role("button", name="One entry later").click()
    expect(plain.locator(".n")).to_have_text("700 µs")


def test_the_keys_are_the_races_after_each_control(page, server):
    """A pointer leaves the focus to the page: Home goes to the start after every control."""
    page.goto(f"{server}/lookup?set=pages")
    now = page.locator(".count")
    page.locator(".n").first.wait_for()
    for use in (
        lambda: page.locator(".last").click(),
        lambda: page.locator(".prev").click(),
        lambda: page.locator(".clock").click(),
        lambda: page.locator(".page button").first.click(),
        lambda: page.get_by_role("button", name="One entry earlier").click(),
        lambda: choose(page, ".disk", "ssd"),
    ):
        page.keyboard.press("End")
        page.keyboard.press("ArrowLeft")
        expect(now).not_to_have_text("0.00 µs")
        use()
        page.keyboard.press("Home")
        expect(now).to_have_text("0.00 µs")
    page.locator(".play").click()
    page.locator(".play", has_text="Pause").wait_for()
    page.keyboard.press("Space")
    page.locator(".play", has_text="Play").wait_for()


def choose(page, selector: str, value: str) -> None:
    """Chooses from a list as a reader with a mouse does."""
    page.locator(selector).dispatch_event("pointerdown")
    page.locator(selector).focus()
    page.locator(selector).select_option(value)


SHARES = """([card, parts]) => {
  const found = name => [...document.querySelectorAll('*')].flatMap(e => [...(e.shadowRoot?.querySelectorAll(name) ?? [])]);
  const boxes = found(card).map(e => e.getBoundingClientRect()).filter(box => box.height);
  const seen = boxes.reduce((sum, box) => sum + Math.max(0, Math.min(innerHeight, box.bottom) - box.top), 0);
  const inside = parts.every(part => found(part).every(e => e.getBoundingClientRect().bottom <= innerHeight));
  return [seen / boxes.reduce((sum, box) => sum + box.height, 0), inside];
}"""


STEPS = (".fx, .two > .card", [".bar", ".say", ".pages", ".two > .card"])
RACE = (".fig", [".bar", ".say", ".lane:last-child"])


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.nightly)])
@pytest.mark.parametrize(
    ("query", "card", "parts"),
    [
        ("set=full&target=100000", *RACE),
        ("set=full&step=13", *STEPS),
        pytest.param("set=pages", *RACE, marks=pytest.mark.nightly),
        pytest.param("set=pages&step=14", *STEPS, marks=pytest.mark.nightly),
        pytest.param("set=twenty&step=5", *STEPS, marks=pytest.mark.nightly),
    ],
)
def test_the_first_screen(browser, server, theme, query, card, parts):
    """At 1280 x 720 at least four fifths of the figure, and all that is needed to follow it."""
    with watched(browser, theme=theme) as page:
        page.set_viewport_size({"width": 1280, "height": 720})
        page.goto(f"{server}/lookup?{query}")
        page.locator(card).first.wait_for()
        if "step" not in query:
            page.locator(".n").first.wait_for()
            page.keyboard.press("End")
            expect(page.locator(".n").first).to_have_text(NUMBER)
        else:
            expect(page.locator(".sum")).to_contain_text("Waits so far")
        # the page is drawn from above to below, and moves until all of it is there
        page.wait_for_function(
            f"wanted => {{ const [share, inside] = ({SHARES})(wanted); return share >= 0.8 && inside; }}",
            arg=[card, parts],
        )


@pytest.mark.parametrize("language", ["en", pytest.param("zh", marks=pytest.mark.nightly)])
def test_the_steps_open_on_the_first_probe(page, server, language):
    """Its line of code, all its values, the whole figure and the bar are on the first screen."""
    page.goto(f"{server}/lookup?set=pages&tab=steps&lang={language}")
    expect(page.locator(".code .on")).to_contain_text("lo, hi ← F, N − 1")
    values = page.locator(".vals > div:visible .v").all_inner_texts()
    target, entries, warm_from = "258\u202f051", "7\u202f168", "6\u202f143"
    # target, N, F, probes, lo, hi, mid, key
    assert values == [
        target, entries, warm_from, "1", warm_from, "7\u202f167", "–", "221\u202f187"
    ]  # fmt: skip
    for width, height in ((1280, 720), (1024, 768)):
        page.set_viewport_size({"width": width, "height": height})
        parts = [".bar", ".say", ".fx", ".code", ".waits", ".vals"]
        page.wait_for_function(
            f"wanted => {{ const [share, inside] = ({SHARES})(wanted); return share === 1 && inside; }}",
            arg=[".fx, .two > .card", parts],
        )
        # of page 11 one slot belongs to the warm section, and of page 10 none
        marks = page.locator(".pages .page .warm")
        assert [marks.nth(number).locator("i").count() for number in (10, 11, 12)] == [0, 1, 1]
        assert 4 <= marks.nth(11).locator("i").bounding_box()["width"] <= 6


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
            page.locator(".n").first.wait_for()
            page.keyboard.press(key)
            expect(page.locator(".n").first).to_have_text(NUMBER if key == "End" else "?")
            assert rests_on_first_screen(page, ".bar", ".lane:last-child .strip")
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
    behind = page.get_by_role("button", name="Lagging reader")
    behind.wait_for()
    is_first_run[0] = False
    behind.click()
    expect(page.locator(".cap")).to_contain_text("older than the warm section")
    page.get_by_role("button", name="Reader at the tail").click()
    expect(page.locator(".cap")).to_contain_text("readers at the tail keep its pages hot")
    page.get_by_role("button", name="More").click()
    expect(page.get_by_role("combobox", name="Warm section, entries")).to_have_value("1024")
