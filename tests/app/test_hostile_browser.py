"""Hostile names, keys, values, ids and addresses stay text on every page."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.browsing import serving
from tests.app import hostile
from tests.journeys.walk import SETTLED
from tests.support.browser import SPARK_PATIENCE_MS, watched

pytestmark = [pytest.mark.browser, pytest.mark.nightly]

TP = f"{hostile.SAFE_NAME[:180]}-0"
PAGES = {
    "Broker": ("", {}),
    "Broker, filtered": ("", {"filter": hostile.TEXT[:-5]}),
    "Segment": ("segment", {"tp": TP, "pin": "12"}),
    "Segment, Bytes": ("segment", {"tp": TP, "pin": "12", "tab": "Bytes"}),
    "Segment, a file beside it": (
        "segment",
        {"tp": TP, "tab": "Bytes", "file": f"{hostile.SAFE_NAME[:200]}.txt"},
    ),
    "Segment, not there": ("segment", {"tp": hostile.TEXT[:-5], "segment": hostile.HTML}),
    "Lookup": ("lookup", {"tp": TP, "target": "12"}),
    "Lookup, of nonsense": (
        "lookup",
        {"tp": TP, "target": hostile.HTML, "keys": hostile.TEXT[:-5], "set": "typed"},
    ),
    "Page cache": ("page_cache", {"tp": TP, "pattern": hostile.HTML}),
    "Rolls": ("rolls", {"tp": TP, "of": hostile.MARKUP, "workload": hostile.HTML}),
    "Tuning": ("tuning", {"tp": TP, "consider": hostile.HTML}),
    "Tuning, whole broker": ("tuning", {"tune": "Whole broker"}),
    "Health": ("health", {}),
    "Health, of a release": ("health", {"kafka": hostile.HTML, "finding": hostile.TEXT[:-5]}),
    "Compare": ("compare", {"with": hostile.HTML, "tp": hostile.MARKUP}),
    "Explore": (
        "explore",
        {"sql": f"SELECT topic, '{hostile.HTML}' AS \"{hostile.MARKUP}\" FROM partitions"},
    ),
    "Explore, refused": ("explore", {"sql": hostile.TEXT[:-5]}),
    "Workshop": ("workshop", {"lesson": hostile.HTML, "answers": hostile.MARKUP}),
}


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hostile.broker(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def server(directory: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("hostile-cache"), str(directory)) as address:
        yield address


@pytest.mark.parametrize("name", PAGES)
def test_hostile_texts_stay_text(server, browser, directory, name):
    """They become no element, colour, formula, link or script, and the page is shown."""
    path, query = PAGES[name]
    with watched(browser) as page:
        page.goto(f"{server}/{hostile.address(path, directory, **query)}")
        page.locator("h1").first.wait_for(timeout=SPARK_PATIENCE_MS)
        page.locator(SETTLED).wait_for(timeout=SPARK_PATIENCE_MS)
        page.wait_for_timeout(1500)
        assert page.evaluate(hostile.INJECTED) == []
        assert page.locator("[data-testid=stException]").count() == 0


@pytest.mark.parametrize("missing", ["", "x"])
def test_a_hostile_path_that_is_not_there_is_text(server, browser, directory, missing):
    """A refusal names the path; Go to finds hostile names."""
    with watched(browser) as page:
        page.goto(f"{server}/{hostile.address('', Path(f'{directory}{missing}'))}")
        page.locator("h1").first.wait_for(timeout=SPARK_PATIENCE_MS)
        page.locator(SETTLED).wait_for()
        page.locator(".st-key-kv_goto button").first.click()
        page.locator(".st-key-kv_found").first.wait_for()
        page.wait_for_timeout(800)
        assert page.evaluate(hostile.INJECTED) == []


def test_what_looks_for_injections_finds_them(server, browser):
    with watched(browser) as page:
        page.goto(server)
        page.locator("h1").first.wait_for()
        page.evaluate(
            "document.body.insertAdjacentHTML('beforeend', '<p><b>evilbold</b>"
            '<a href="https://evil.example">x</a>\\u{1F604}</p>\')'
        )
        assert len(page.evaluate(hostile.INJECTED)) == 3
