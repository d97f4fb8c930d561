"""Every page in both themes: what axe-core finds serious or critical, and what is cut off at 1280 px."""

import re
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

# Rules that Streamlit's own parts break, and that nothing outside can mend: (rule, a part of the element, why).
STREAMLITS: list[tuple[str, str, str]] = []


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


@pytest.fixture(scope="module", params=[(name, theme) for name in STATES for theme in ("light", "dark")], ids=lambda one: "-".join(one))
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
    """Rule and element, those of Streamlit's own left out."""
    places = [re.sub(r"\s+", " ", node["html"]) for node in violation["nodes"]]
    known = [part for rule, part, _ in STREAMLITS if rule == violation["id"]]
    return [f"{violation['id']}: {place[:200]}" for place in places if not any(part in place for part in known)]


def test_nothing_is_cut_off(opened):
    """No page scrolls sideways; text ends in an ellipsis only where the whole of it is told on hover."""
    assert opened.evaluate(CLIPPED) == []
