"""Every page in both themes: what axe-core finds serious or critical, and what is cut off at 1280 px.

The nine pages in light are plain; their other states, and dark, are the matrix.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import test_browser
from tests.journeys.walk import SETTLED

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-core: pip install -r requirements-dev.txt")
sync_api = test_browser.sync_api
pytestmark = test_browser.pytestmark

CLIPPED = (Path(__file__).parent / "clipped.js").read_text(encoding="utf-8")
GRAVE = ("serious", "critical")
PATIENCE_MS = 120_000
DAMAGED, KILLED = "kafka-4.3.1-damaged", "kafka-4.3.1-killed-selection"


@dataclass(frozen=True)
class State:
    """A page in a state worth looking at: its address, and what is there once it has come to rest. of: another sample."""

    path: str
    shows: str
    of: str = ""


STATES = {
    "Broker": State("?", ".js-plotly-plot .main-svg"),
    "Broker, killed": State("?", ".js-plotly-plot .main-svg", KILLED),
    "Broker, nothing there": State("?dir=/nowhere", ".kv-state"),
    "Segment": State("segment?tp=payments-0&segment=7975&pin=11612", "tr.on"),
    "Segment, Time index": State("segment?tp=payments-0&segment=7975&tab=Time+index", "tr.on"),
    "Segment, Bytes": State("segment?tp=payments-0&segment=7975&pin=11612&tab=Bytes", ".hex .h.on"),
    "Lookup": State("lookup?tp=orders-0&by=timestamp&step=6", ".say"),
    "Lookup, large": State("lookup?set=full&target=1234567&step=6", ".lane"),
    "Page cache": State("page_cache", ".js-plotly-plot .main-svg"),
    "Rolls": State("rolls", ".js-plotly-plot .main-svg"),
    "Rolls, of a topic-partition": State("rolls?tp=tiny-index-0", ".js-plotly-plot .main-svg"),
    "Tuning": State("tuning?tp=payments-0", ".kv-verdict"),
    "Tuning, whole broker": State("tuning?tune=Whole+broker", ".st-key-kv_topics tbody tr"),
    "Health": State("health?", ".fi", DAMAGED),
    "Health, nothing found": State("health?tp=orders-0", ".verdict h2"),
    "Explore": State("explore", ".st-key-kv_answer_rows tbody tr"),
    "Workshop": State("workshop", "h1"),
    "Workshop, answered": State("workshop?lesson=last-offset&at=2", "h1"),
}


PLAIN = [pytest.param((name, "light"), id=f"{name}-light", marks=pytest.mark.matrix if "," in name else ()) for name in STATES]
SLOW = [pytest.param((name, "dark"), id=f"{name}-dark", marks=pytest.mark.matrix) for name in STATES]


@pytest.fixture(scope="module", params=[*PLAIN, *SLOW])
def opened(request, server: str, browser: "sync_api.Browser", samples: dict[str, Path]) -> Iterator["sync_api.Page"]:
    """The page in this state, drawn; opened once for all that is asked of it."""
    name, theme = request.param
    state = STATES[name]
    of = f"&dir={samples[state.of]}" if state.of else ""
    with test_browser.watched(browser, theme=theme) as page:
        page.set_default_timeout(PATIENCE_MS)
        page.goto(f"{server}/{state.path}{of}")
        page.locator(state.shows).first.wait_for(state="attached", timeout=test_browser.SPARK_PATIENCE_MS)
        page.locator(SETTLED).wait_for()
        page.evaluate("document.fonts.ready.then(() => new Promise(requestAnimationFrame)).then(() => null)")
        yield page


@pytest.fixture(scope="module")
def samples(damaged: Path, killed: Path) -> dict[str, Path]:
    """The other broker directories, by name."""
    return {DAMAGED: damaged, KILLED: killed}


def test_nothing_grave_for_those_who_do_not_see_or_point(opened):
    """axe-core, the components' shadow roots included."""
    found = axe.Axe().run(opened, options={"resultTypes": ["violations"]}).response["violations"]
    assert [line for one in found if one["impact"] in GRAVE for line in told(one)] == []


def told(violation: dict) -> list[str]:
    """The rule and each element that breaks it: Streamlit's own parts break none, so that none is excused."""
    return [f"{violation['id']}: {' '.join(node['html'].split())[:200]}" for node in violation["nodes"]]


def test_nothing_is_cut_off(opened):
    """No page scrolls sideways; text ends in an ellipsis only where the whole of it is told on hover."""
    assert opened.evaluate(CLIPPED) == []


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        ("<p>all of it</p>", ""),
        ("<div style='width:2000px'>wide</div>", "MAIN is 2000 px wide in a window of 1280"),
        ("<p style='width:40px;overflow:hidden;white-space:nowrap'>more than there is room for</p>", "p. shows 40 of"),
        ("<p style='width:40px;overflow:hidden;white-space:nowrap;text-overflow:ellipsis'>more than that</p>", "p. shows 40 of"),
        ("<p title='all' style='width:40px;overflow:hidden;white-space:nowrap;text-overflow:ellipsis'>more than that</p>", ""),
    ],
)
def test_what_is_cut_off_is_seen(browser, inside, said):
    """A main that is scrolled sideways, and text that ends early without telling the rest."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_content(f"<body style='margin:0'><main data-testid=stMain style='overflow:auto'>{inside}</main>")
    found = page.evaluate(CLIPPED)
    page.close()
    assert len(found) == bool(said) and all(said in line for line in found)
