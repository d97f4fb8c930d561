"""The page before a chart arrives: its script is already loaded, and a skeleton keeps its size."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.support.browser import PATIENCE_MS, heading, hold_back

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser
CHART_SCRIPT = "**/PlotlyChart.*.js"
COMPONENT_SCRIPT = "**/BidiComponent.*.js"
CHOICE_SCRIPT = "**/ButtonGroup.*.js"
COMPONENT = ".st-key-kv_copy_link"
CHOICE = ".st-key-kv_head .stElementContainer"
EVALUATED = "window.__kafkaviz_idle_scripts?.length === 0"
# how often the script of charts was asked for
FETCHED = """() => performance.getEntriesByType('resource')
  .filter(({ name }) => name.includes('/PlotlyChart.')).length"""
SKELETON = ".st-key-kv_map > [data-testid=stSkeleton]"


@pytest.fixture
def new_page(browser: "Browser") -> Iterator["Page"]:
    """A page of a browser that fetches and evaluates whatever the app asks for."""
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        yield page


def test_a_page_at_rest_evaluates_the_script_of_charts_once(server, new_page):
    """Streamlit reuses the evaluated script when a chart comes."""
    new_page.goto(f"{server}/health")
    heading(new_page, "Health")
    new_page.wait_for_function(EVALUATED)
    assert new_page.evaluate(FETCHED) == 1
    new_page.locator(".st-key-kv_nav a", has_text="Rolls").click()
    new_page.locator(".js-plotly-plot .main-svg").first.wait_for()
    assert new_page.evaluate(FETCHED) == 1


def test_a_chart_that_waits_for_its_script_has_a_skeleton_of_its_size(server, new_page):
    """Nothing below the chart then moves when it comes."""
    release = hold_back(new_page, CHART_SCRIPT)
    new_page.goto(server)
    new_page.locator(SKELETON).wait_for()
    skeleton_px, place_px = (
        new_page.locator(selector).bounding_box()["height"]
        for selector in (SKELETON, ".st-key-kv_map")
    )
    assert skeleton_px == place_px > 600
    release()
    new_page.locator(".st-key-kv_fig_map .main-svg").first.wait_for()
    assert new_page.locator(".st-key-kv_map").bounding_box()["height"] == place_px


@pytest.mark.parametrize(
    ("address", "script", "place"),
    [
        ("rolls?of=Simulated&lang=en", CHOICE_SCRIPT, CHOICE),
        ("lookup?lang=en&projector=1", COMPONENT_SCRIPT, COMPONENT),
        pytest.param(
            "rolls?of=Simulated&projector=1", CHOICE_SCRIPT, CHOICE, marks=pytest.mark.nightly
        ),
        pytest.param(
            "rolls?of=Simulated&lang=en", COMPONENT_SCRIPT, COMPONENT, marks=pytest.mark.nightly
        ),
    ],
)
def test_the_head_stays_where_it_is_when_a_script_comes(server, new_page, address, script, place):
    """What draws nothing takes no place before its script is there, and a choice its own height."""
    release = hold_back(new_page, script)
    new_page.goto(f"{server}/{address}")
    title = new_page.locator(".kv-hd h1")
    title.wait_for()
    new_page.locator(f"{place} [data-testid=stSkeleton]").wait_for(state="attached")
    before_y = title.bounding_box()["y"]
    release()
    new_page.locator(f"{place} button").first.wait_for(state="attached")
    assert title.bounding_box()["y"] == before_y


def test_a_skeleton_of_the_page_is_shown_until_its_head_is_there(server, new_page):
    """It has the reader's colours before Streamlit's scripts have drawn anything."""
    release = hold_back(new_page, "**/static/js/index.*.js")
    new_page.goto(f"{server}/health", wait_until="commit")
    skeleton = new_page.locator("#kv-wait")
    skeleton.wait_for()
    assert skeleton.bounding_box()["width"] == 1280
    new_page.evaluate("localStorage.setItem('stActiveTheme-/health-v2', '\"Dark\"')")
    new_page.reload(wait_until="commit")
    new_page.wait_for_function(
        "getComputedStyle(document.getElementById('kv-wait')).backgroundColor === 'rgb(15, 19, 24)'"
    )
    release()
    heading(new_page, "Health")
    skeleton.wait_for(state="detached")


def test_a_browser_without_scripts_sees_no_skeleton(server, browser):
    """Streamlit's own notice is shown."""
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{server}/health")
        page.locator("#kv-wait").wait_for(state="attached")
        assert not page.locator("#kv-wait").is_visible()
