"""Every page in both themes and languages: what axe-core finds serious or critical, cut or
overlapping text, and what Tab reaches.

The ten pages in light and English run in the plain tests; other states, dark, Chinese, paper and
Tab are nightly.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pytest

from tests.conftest import REPLICAS
from tests.journeys.walk import CLIPPED, OVERLAPPING, SETTLED, TABBED
from tests.support.browser import (
    GRAVE,
    SPARK_PATIENCE_MS,
    assert_axe_finds_nothing,
    sync_api,
    watched,
)

pytestmark = pytest.mark.browser
PATIENCE_MS = 120_000
AFTER_RESIZE_MS, TRIES = 350, 8  # a figure is redrawn a moment after its window has changed
MAX_STOPS, MAX_ON_ONE = 200, 24  # Tab goes from cell to cell of Streamlit's table, and on
DAMAGED, KILLED = "kafka-4.3.1-damaged", "kafka-4.3.1-killed-selection"
IN_FRONT = "[role=dialog], [role=menu], [data-testid=stPopoverBody]"
ROOMS = {
    "1280 px": (1280, "screen"),
    "1024 px": (1024, "screen"),
    "390 px": (390, "screen"),
    "at 200 %": (640, "screen"),
    "on paper": (1304, "print"),
}
PLAIN_ROOMS = ("1280 px", "390 px")


@dataclass(frozen=True)
class State:
    """A page in a state worth checking: its address, and the words on it at rest.

    `of`: another sample; `opens`: the button that is pressed then, and what it opens.
    """

    path: str
    shows: str
    sample: str = ""
    opens: tuple[str, str] | None = None


FIGURE, TABLE_ROW = ".js-plotly-plot .main-svg", "tbody tr"
# a button, and what it opens
UPLOAD = (".st-key-kv_upload button", "[role=dialog]")
PICKER = (".st-key-kv_pick_tp button:visible", "[role=menuitem]")
POPOVER = ("[data-testid=stPopover] button", "[data-testid=stPopoverBody]")
COMPARE = "compare?dir={}&with={}".format(*REPLICAS)
SEGMENT = "segment?tp=payments-0&segment=7975"
STATES = {
    "Broker": State("?", FIGURE),
    "Broker, killed": State("?", FIGURE, KILLED),
    "Broker, nothing there": State("?dir=/nowhere", ".kv-state"),
    "Broker, upload": State("?", FIGURE, opens=UPLOAD),
    "Broker, keys": State("?", FIGURE, opens=(".st-key-kv_keys button", "[role=dialog] .kv-kb")),
    "Segment": State(f"{SEGMENT}&pin=11612", ".detail svg"),
    "Segment, Time index": State(f"{SEGMENT}&tab=Time+index", "tr.on"),
    "Segment, Bytes": State(f"{SEGMENT}&pin=11612&tab=Bytes", ".hex .h.on"),
    "Segment, Transactions": State(
        "segment?tp=payments-0&segment=15904&tab=Transactions",
        ".st-key-kv_transactions_batches table",
    ),
    "Segment, Go to": State(
        SEGMENT, ".detail svg", opens=(".st-key-kv_goto button", ".st-key-kv_found a")
    ),
    "Segment, its picker": State(SEGMENT, ".detail svg", opens=PICKER),
    "Lookup": State("lookup?tp=orders-0&by=timestamp&step=6", ".say"),
    "Lookup, how to read it": State("lookup?tp=orders-0", ".say", opens=POPOVER),
    "Lookup, the record": State("lookup?tp=orders-0&by=offset&target=2247&step=30", ".rec"),
    "Lookup, large": State("lookup?set=full&target=1234567", ".lane"),
    "Page cache": State("page_cache?", ".lane svg"),
    "Rolls": State("rolls?", FIGURE),
    "Rolls, of a topic-partition": State("rolls?tp=tiny-index-0", FIGURE),
    "Tuning": State("tuning?tp=payments-0", ".kv-verdict"),
    "Tuning, codec": State("tuning?tp=payments-0&tab=Codec", FIGURE),
    "Tuning, batches": State("tuning?tp=payments-0&tab=Batches", FIGURE),
    "Tuning, other settings": State("tuning?tp=payments-0&if_size=4+MiB", FIGURE),
    "Tuning, budgets": State("tuning?tp=payments-0&storage=hdd", FIGURE),
    "Tuning, whole broker": State("tuning?tune=Whole+broker", f".st-key-kv_topics {TABLE_ROW}"),
    "Health": State("health?", ".item", DAMAGED),
    "Health, nothing found": State("health?tp=orders-0", ".verdict h2"),
    "Disk": State("disk?", ".kv-disk .disk-records"),
    "Disk, what may go": State("disk?", ".st-key-kv_freeing_csv", DAMAGED),
    "Compare": State(f"{COMPARE}&tp=bids-0&leader=b", ".st-key-kv_fig_logs .main-svg"),
    "Compare, a changed value": State(f"{COMPARE}&tp=invoices-0", ".kv-hexpair mark"),
    "Compare, with nothing": State("compare?", ".st-key-kv_empty_compare"),
    "Explore": State("explore?", f".st-key-kv_answer_rows {TABLE_ROW}"),
    "Workshop": State("workshop?", "h1"),
    "Workshop, answered": State("workshop?lesson=last-offset&at=2&answers=last-offset.2a", "h1"),
    "Workshop, lab": State("workshop?lesson=time&break=1", ".kv-hex"),
    "Workshop, lab started": State(
        "workshop?lesson=batches&break=1&answers=batches~0~156ab", ".st-key-kv_break_result"
    ),
    "Workshop, notes": State("workshop?lesson=three-files&notes=1", "h1"),
    "Workshop, glossary": State("workshop?word=warm_section", ".st-key-kv_word_card"),
    "Workshop, take away": State(
        "workshop?lesson=time", "h1", opens=(".st-key-kv_takeaway button", ".kv-take")
    ),
    "Workshop, hand-out": State("workshop?lesson=warm-section&paper=1", "h1"),
    "Workshop, hand-out with notes": State("workshop?lesson=rolls&paper=1&notes=1", "h1"),
}


def looks() -> Iterator:
    """Each state in each language and theme."""
    for language, theme, name in product(("en", "zh"), ("light", "dark"), STATES):
        is_plain = (language, theme) == ("en", "light") and "," not in name
        yield pytest.param(
            (name, language, theme),
            id=f"{name}-{language}-{theme}",
            marks=() if is_plain else pytest.mark.nightly,
        )


@pytest.fixture(scope="module", params=looks())
def opened(
    request, server: str, browser: "sync_api.Browser", samples: dict[str, Path]
) -> Iterator["sync_api.Page"]:
    """Returns the page in this state, drawn; opened once for all checks."""
    name, language, theme = request.param
    state = STATES[name]
    query = f"&dir={samples[state.sample]}" if state.sample else ""
    with watched(browser, theme=theme) as page:
        page.set_default_timeout(PATIENCE_MS)
        page.goto(
            f"{server}/{state.path}{query}" + ("" if language == "en" else f"&lang={language}")
        )
        page.locator(state.shows).first.wait_for(state="attached", timeout=SPARK_PATIENCE_MS)
        page.locator(SETTLED).wait_for()
        page.wait_for_timeout(AFTER_RESIZE_MS)  # what the first run led to has begun
        page.locator(SETTLED).wait_for()
        if state.opens:
            pressed, comes = state.opens
            page.locator(pressed).first.click()
            page.locator(comes).first.wait_for()
            page.wait_for_timeout(AFTER_RESIZE_MS)  # it fades in
        page.evaluate(
            "document.fonts.ready.then(() => new Promise(requestAnimationFrame)).then(() => null)"
        )
        yield page


@pytest.fixture(scope="module")
def samples(damaged: Path, killed: Path) -> dict[str, Path]:
    return {DAMAGED: damaged, KILLED: killed}


def test_axe_core_finds_nothing_serious(opened):
    assert_axe_finds_nothing(opened, impacts=GRAVE)


@pytest.mark.parametrize(
    "room",
    [
        room if room in PLAIN_ROOMS else pytest.param(room, marks=pytest.mark.nightly)
        for room in ROOMS
    ],
)
def test_nothing_is_cut_off_or_drawn_over(opened, room):
    """No page scrolls sideways, no text overlaps, and cut text is shown on hover."""
    width, medium = ROOMS[room]
    if medium == "print" and opened.locator(IN_FRONT).count():
        pytest.skip("nobody prints a dialog")
    is_narrow = width < 1280
    opened.emulate_media(media=medium)
    opened.set_viewport_size({"width": width, "height": 900})
    for _ in range(TRIES if is_narrow or medium == "print" else 1):
        opened.wait_for_timeout(AFTER_RESIZE_MS if opened.viewport_size["width"] != 1280 else 0)
        faults = opened.evaluate(CLIPPED, is_narrow) + opened.evaluate(OVERLAPPING)
        if not faults:
            break
    opened.emulate_media(media="screen")
    opened.set_viewport_size({"width": 1280, "height": 900})
    assert faults == []


@pytest.mark.nightly
def test_tab_reaches_every_control(opened):
    """Each control shows the focus, and none traps it; in a dialog it stays there."""
    opened.wait_for_timeout(AFTER_RESIZE_MS)
    opened.evaluate(f"({TABBED})()")
    stops, stays = [], 0
    while len(stops) < MAX_STOPS and stays < MAX_ON_ONE:
        opened.keyboard.press("Tab")
        stop = opened.evaluate("tabbed.step()")
        if stop["before"] < 0:
            stops, stays = [*stops, stop], 0
        elif stop.get("isLast") and len(stops) > 1:
            stays += 1
        else:
            break
    assert stays < MAX_ON_ONE and stop["before"] == 0, stop
    assert [stop["name"] for stop in stops if not stop["isShown"]] == []
    if not opened.locator(IN_FRONT).count():
        assert opened.evaluate("tabbed.missed()") == []


@pytest.mark.parametrize(
    ("path", "pressed", "comes"),
    [
        ("?", "k", "[role=dialog] .st-key-kv_found a"),
        pytest.param("?", "?", "[role=dialog] .kv-kb", marks=pytest.mark.nightly),
        pytest.param("?", *UPLOAD, marks=pytest.mark.nightly),
        pytest.param("lookup?", *POPOVER, marks=pytest.mark.nightly),
        pytest.param(SEGMENT, *PICKER, marks=pytest.mark.nightly),
    ],
)
@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.nightly)])
def test_escape_leads_back(server, browser, path, pressed, comes, theme):
    """A dialog shows the focus, and Escape returns it to its place."""
    with watched(browser, theme=theme) as page:
        page.set_default_timeout(PATIENCE_MS)
        page.goto(f"{server}/{path}")
        start = page.locator(pressed if len(pressed) > 1 else ".st-key-kv_goto button").first
        start.wait_for()
        page.locator(SETTLED).wait_for()
        start.focus()
        page.keyboard.press("Enter" if len(pressed) > 1 else pressed)
        page.locator(comes).first.wait_for()
        if "dialog" in comes:
            page.locator("[role=dialog]:focus-within").wait_for()
        page.evaluate(f"({TABBED})()")
        if "Popover" not in comes:  # that holds nothing but words
            page.keyboard.press("ArrowDown" if comes.endswith("menuitem]") else "Tab")
            assert page.evaluate("tabbed.step()")["isShown"]
        page.keyboard.press("Escape")
        page.locator(comes).first.wait_for(state="detached")
        page.wait_for_function("start => start.matches(':focus')", arg=start.element_handle())


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        ("<p>all of it</p>", ""),
        ("<div style='width:2000px'>wide</div>", "MAIN is 2000 px wide in a window of 1280"),
        ("<p>more than there is room for</p>", "p. shows 40 of"),
        ("<p style='text-overflow:ellipsis'>more than that</p>", "p. shows 40 of"),
        ("<p title='all' style='text-overflow:ellipsis'>more than that</p>", ""),
    ],
)
def test_what_is_cut_off_is_detected(browser, inside, text):
    """A main that is scrolled sideways, and text that ends early without a hover text."""
    if "more" in inside:
        inside = f"<style>p {{ width:40px; overflow:hidden; white-space:nowrap }}</style>{inside}"
    faults = on_a_page(browser, inside, lambda page: page.evaluate(CLIPPED, False))
    assert len(faults) == bool(text) and all(text in line for line in faults)


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ("<p>one</p><p>below it</p>", []),
        ("<p>one</p><p style='margin-top:-30px'>another</p>", ["one / another"]),
        ("<svg><text x=9 y=20>one</text><text x=20 y=22>another</text></svg>", ["one / another"]),
        ("<div style='height:9px;overflow:hidden'><br>one</div><div>another</div>", []),
    ],
)
def test_what_is_drawn_over_is_detected(browser, inside, expected):
    """Overlapping texts, also those of a figure, unless a frame hides them."""
    assert on_a_page(browser, inside, lambda page: page.evaluate(OVERLAPPING)) == expected


@pytest.mark.parametrize(
    ("inside", "are_shown", "missed"),
    [
        ("<button>a</button><a href=#>b</a>", [True, True], []),
        ("<button style='outline:0'>a</button>", [False], []),
        ("<button style='outline:2px solid #ddd'>a</button>", [False], []),
        ("<button>a</button><div style='cursor:pointer'>b</div>", [True], ["div b"]),
    ],
)
def test_what_tab_does_not_show_or_reach_is_detected(browser, inside, are_shown, missed):
    """A focus without an outline, or with one too pale; a control that only a mouse reaches."""

    def walked(page):
        page.evaluate(f"({TABBED})()")
        stops = [(page.keyboard.press("Tab"), page.evaluate("tabbed.step()"))[1] for _ in are_shown]
        return [stop["isShown"] for stop in stops], page.evaluate("tabbed.missed()")

    assert on_a_page(
        browser, f"<style>:focus-visible {{ outline: 2px solid #000 }}</style>{inside}", walked
    ) == (are_shown, missed)


def on_a_page(browser, inside, action):
    """Runs the checks that need only the page itself."""
    with watched(browser) as page:
        page.set_content(
            f"<body style='margin:0'><main data-testid=stMain style='overflow:auto'>{inside}</main>"
        )
        return action(page)
