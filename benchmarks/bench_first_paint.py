"""The time of each page until its first figure is painted, after a click in the sidebar.

The rival is the same page in a browser with empty caches. The server has read its sample broker and
has shown each page to another browser. Chromium runs without a window. The click is the first one
in its tab, once some seconds after the previous page and once immediately. The page is blank while
it shows neither its head, nor a figure, nor a skeleton of one.
"""

import os
import statistics
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import row
from docs import browsing

if TYPE_CHECKING:
    import subprocess

    from playwright.sync_api import Page

    Server = tuple[str, subprocess.Popen]  # its address and its process

RUNS = 3
READING_MS = 3000  # how long a page is read before the next click
CATALOG_S, PATIENCE_MS = 300.0, 60_000
PAGES = {  # by the sidebar: the path, and an element that appears with the page's first figure
    "Broker": ("", ".js-plotly-plot .main-svg"),
    "Segment": ("segment", ".detail svg"),
    "Lookup": ("lookup", ".say"),
    "Page cache": ("page_cache", ".lane svg"),
    "Rolls": ("rolls", ".js-plotly-plot .main-svg"),
    "Tuning": ("tuning", ".kv-verdict"),
    "Health": ("health", ".verdict h2"),
    "Compare": ("compare", ".st-key-kv_empty_compare"),
    "Explore": ("explore", ".st-key-kv_answer_rows tbody tr"),
    "Workshop": ("workshop", ".kv-lesson h1"),
}
START, START_OF_IT = "Health", "Compare"  # where the click is, and where that on the first is
# Frame by frame until the page of this name has its figure: after how many seconds, and the longest
# time in between without head, figure or skeleton. A click is the start, or else the navigation.
WATCH = """([name, figure, clicks]) => new Promise(painted => {
  const find = (root, selector) => {
    for (const element of root.querySelectorAll(selector))
      if (element.checkVisibility({ visibilityProperty: true })) return element;
    for (const { shadowRoot } of root.querySelectorAll('*')) {
      const element = shadowRoot && find(shadowRoot, selector);
      if (element) return element;
    }
  };
  const start = clicks ? performance.now() : 0;
  let bare = start, blank = 0; // since when there is nothing to see: null where there is something
  const look = () => {
    const now = performance.now(), main = document.querySelector('[data-testid=stMain]');
    const current = document.querySelector('.st-key-kv_nav_current')?.textContent.includes(name);
    const figured = current && main && find(main, figure);
    const waits = document.querySelector('#kv-wait'); // the skeleton of the whole page
    const shows = figured || waits || (main && find(main, 'h1, [data-testid=stSkeleton]'));
    if (bare !== null) blank = Math.max(blank, now - bare);
    bare = shows ? null : (bare ?? now);
    if (figured) painted([(now - start) / 1000, blank / 1000]);
    else requestAnimationFrame(look);
  };
  const links = [...document.querySelectorAll('.st-key-kv_nav a')];
  if (clicks) links.find(link => link.textContent.includes(name)).click();
  requestAnimationFrame(look);
})"""


@dataclass(frozen=True)
class Paint:
    """Seconds until a page's first figure, the longest time without anything visible, and the
    processor time of the server and of the page's process in the browser.
    """

    seconds: float
    blank_s: float
    server_s: float
    browser_s: float

    def text(self) -> str:
        """Returns the cell of a table."""
        return (
            f"{self.seconds:.2f} s, {self.blank_s:.2f} s of it blank; of a processor the server "
            f"{self.server_s:.2f} s, the browser {self.browser_s:.2f} s"
        )


def run() -> list[str]:
    """Returns a row per page, the median of some runs each, and one for the first page that a
    server ever shows.
    """
    with (
        tempfile.TemporaryDirectory() as folder,
        browsing.started(Path(folder)) as server,
    ):
        first = opened(server, "Broker")
        wait_for_catalog(Path(folder))
        for name in PAGES:
            opened(server, name)
        rows = [measured(server, name) for name in PAGES]
    return [
        *rows,
        row("Broker page, the first of a server that has just answered", first.text(), "–", "–"),
    ]


def wait_for_catalog(folder: Path) -> None:
    """Waits until the server has read its sample; raises TimeoutError if it does not."""
    deadline = time.monotonic() + CATALOG_S
    while not any(folder.glob("catalogs/*/_catalog.json")):
        if time.monotonic() > deadline:
            raise TimeoutError("the ingest of the sample has no end")
        time.sleep(0.5)


def measured(server: "Server", name: str) -> str:
    click = median([clicked(server, name, READING_MS) for _ in range(RUNS)])
    at_once = median([clicked(server, name) for _ in range(RUNS)])
    opening = median([opened(server, name) for _ in range(RUNS)])
    return row(
        f"{name} page after a click, load {os.getloadavg()[0]:.1f}",
        click.text(),
        f"clicked at once, {at_once.text()}; in a new browser, {opening.text()}",
        f"{opening.seconds / click.seconds:.1f} ×",
    )


def median(paints: list[Paint]) -> Paint:
    """Returns the median of each of their numbers."""
    return Paint(*map(statistics.median, zip(*map(astuple, paints), strict=True)))


@contextmanager
def new_tab() -> Generator["Page"]:
    """Returns the only tab of a new browser."""
    with browsing.chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(PATIENCE_MS)
        yield page


def opened(server: "Server", name: str) -> Paint:
    """Opens a page by its address in a new browser, whose process has done nothing before."""
    with new_tab() as page:
        page.goto(f"{server[0]}/{PAGES[name][0]}", wait_until="commit")
        return watched(server, page, name, clicks=False)


def clicked(server: "Server", name: str, reading_ms: float = 0) -> Paint:
    """Opens a page by a click on its link, in a tab whose page is complete and was read."""
    path, figure = PAGES[START_OF_IT if name == START else START]
    with new_tab() as page:
        page.goto(f"{server[0]}/{path}")
        page.locator(figure).first.wait_for()
        page.locator(".st-key-kv_nav a", has_text=name).wait_for()
        page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(reading_ms)
        return watched(server, page, name, clicks=True)


def watched(server: "Server", page: "Page", name: str, *, clicks: bool) -> Paint:
    """Watches a page until its figure is painted, from a click on its link or from its opening."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")

    def browser_s() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "ProcessTime")

    server_before_s, browser_before_s = processor_s(server[1].pid), browser_s() if clicks else 0.0
    seconds, blank_s = page.evaluate(WATCH, [name, PAGES[name][1], clicks])
    return Paint(
        seconds,
        blank_s,
        processor_s(server[1].pid) - server_before_s,
        browser_s() - browser_before_s,
    )


def processor_s(process: int) -> float:
    """Returns the processor time of a process so far, from Linux."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
