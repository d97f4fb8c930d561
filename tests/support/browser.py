from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from docs.browsing import watch

sync_api = pytest.importorskip(
    "playwright.sync_api", reason="needs playwright: pip install -r requirements-dev.txt"
)

PATIENCE_MS = 60_000  # a wait ends with its condition; a machine may be busy
sync_api.expect.set_options(timeout=PATIENCE_MS)
SPARK_PATIENCE_MS = 180_000
# a second of the processor for each page that a test opens; test_first_look_browser.py has them
NO_IDLE_SCRIPTS = "window.__kafkaviz_idle_scripts = []"
GRAVE = ("serious", "critical")
AXE_TRIES, FADED_MS = 8, 350  # Streamlit fades elements that are redrawn
SETTLED = "[data-testid=stApp][data-test-script-state=notRunning]"  # no run of the page goes on
MAX_STEPS = 25  # a tab remembers fifty; where it is full, Back and `history.length` tell less


# pages that no test has open, to be used again: a new one costs a window of Chromium and a
# compilation of Streamlit's scripts, two seconds of processor time
_FREE: list["_Tab"] = []


@dataclass(frozen=True)
class _Tab:
    """A page in a context of its own, and its errors since the list was emptied."""

    browser: "sync_api.Browser"
    page: "sync_api.Page"
    errors: list[str]


@contextmanager
def watched(
    browser: "sync_api.Browser", width: int = 1280, theme: str = "light"
) -> Iterator["sync_api.Page"]:
    """Yields the page of a new visitor, and asserts at its end that its console showed no error."""
    tab = _open(browser)
    tab.page.set_viewport_size({"width": width, "height": 900})
    tab.page.emulate_media(media="screen", color_scheme=theme)
    try:
        yield tab.page
    except BaseException:
        tab.page.context.close()
        raise
    errors = [*tab.errors]
    try:
        _forget_visitor(tab)
    except sync_api.Error:
        tab.page.context.close()
        raise
    assert errors == [], errors


def _open(browser: "sync_api.Browser") -> _Tab:
    free = [tab for tab in _FREE if tab.browser is browser]
    if free:
        _FREE.remove(free[0])
        return free[0]
    page = browser.new_context().new_page()
    page.add_init_script(NO_IDLE_SCRIPTS)
    page.set_default_timeout(PATIENCE_MS)
    return _Tab(browser, page, watch(page))


def _forget_visitor(tab: _Tab) -> None:
    """Leaves the page empty and its site without a trace of the visit, for the next test."""
    page, context = tab.page, tab.page.context
    if page.is_closed() or page.evaluate("history.length") > MAX_STEPS:
        context.close()
        return
    for other in context.pages:
        if other is not page:
            other.close()
    page.unroute_all()
    page.evaluate("try { localStorage.clear(); sessionStorage.clear() } catch {}")
    page.goto("about:blank")
    context.clear_cookies()
    context.clear_permissions()
    page.mouse.move(0, 0)
    page.set_default_timeout(PATIENCE_MS)
    tab.errors.clear()
    _FREE.append(tab)


def heading(page: "sync_api.Page", text: str) -> None:
    page.locator("h1", has_text=text).first.wait_for()


def assert_axe_finds_nothing(
    page: "sync_api.Page", *, impacts: tuple[str, ...] = ("minor", "moderate", *GRAVE)
) -> None:
    """Asserts that no element breaks a rule of axe-core, also in the components' shadow roots."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright",
        reason="needs axe-core: pip install -r requirements-dev.txt",
    )
    for _ in range(AXE_TRIES):
        response = axe.Axe().run(page, options={"resultTypes": ["violations"]}).response
        found = [
            f"{violation['id']}: {' '.join(node['html'].split())[:200]}"
            for violation in response["violations"]
            if violation["impact"] in impacts
            for node in violation["nodes"]
        ]
        if not found:
            break
        page.wait_for_timeout(FADED_MS)
    assert found == []


def hold_back(page: "sync_api.Page", url: str) -> Callable[[], None]:
    """Lets requests for a URL wait until the returned function is called; later ones pass."""
    waiting: list[sync_api.Route] = []
    released = False

    def handle(route: "sync_api.Route") -> None:
        if released:
            route.continue_()
        else:
            waiting.append(route)

    def release() -> None:
        nonlocal released
        released = True
        for route in waiting:
            route.continue_()

    page.route(url, handle)
    return release


def rests_on_first_screen(page: "sync_api.Page", *selectors: str) -> bool:
    """Returns whether each of these is within the window, without scrolling."""
    size = page.viewport_size
    boxes = [page.locator(selector).first.bounding_box() for selector in selectors]
    return page.evaluate("scrollY") == 0 and all(
        box["x"] >= 0
        and box["y"] >= 0
        and box["x"] + box["width"] <= size["width"]
        and box["y"] + box["height"] <= size["height"]
        for box in boxes
    )


def click_a_bar(page: "sync_api.Page") -> None:
    """Clicks the middle of the map's first bar."""
    bars = page.locator(".js-plotly-plot .barlayer .point path")
    bars.first.wait_for(state="attached")
    box = bars.first.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
