"""Hostile names, keys, values, ids and addresses stay text on every page."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.browsing import serving
from tests.app import hostile
from tests.journeys.walk import SETTLED
from tests.support.browser import SPARK_PATIENCE_MS, watched

pytestmark = [pytest.mark.browser, pytest.mark.nightly]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hostile.broker(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def server(directory: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("hostile-cache"), str(directory)) as address:
        yield address


@pytest.mark.parametrize("name", hostile.PAGES)
def test_hostile_texts_stay_text(server, browser, directory, name):
    """They become no element, colour, formula, link or script, and the page is shown."""
    path, query = hostile.PAGES[name]
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
