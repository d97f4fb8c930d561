"""python -m docs.screenshots: takes the pictures of tour.md, with a server over sample_data.

They go to docs/tour/. Each is light, 1280 px wide, as high as its line in SHOTS says, and in WebP.
With names as arguments, only these pictures are taken:

    python -m docs.screenshots lookup rolls

It needs playwright (requirements-dev.txt) and Chromium. The exit status is 1 if a page reports an
error in the browser's console.
"""

import base64
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast
from urllib.parse import urlencode

from playwright import sync_api
from playwright.sync_api import Browser, Page

from docs.browsing import chromium, serving, watch

ROOT = Path(__file__).parents[1]
OUT = Path(__file__).parent / "tour"
WIDTH, QUALITY = 1280, 82
SETTLE_MS, PATIENCE_MS, SPARK_PATIENCE_MS = 3000, 60_000, 180_000
BUSY = "[data-testid=stStatusWidget], [data-testid=stSpinner], [data-testid=stSkeleton]"


@dataclass(frozen=True)
class Shot:
    """A picture to take.

    Attributes:
        height: the height in px.
        choices: the parameters of the page's address.
        prepare: acts on the page, or waits for it, before the picture is taken.
        sample: the name of an archive of sample_data; "" for the clean one.
    """

    path: str
    height: int
    choices: dict[str, str | int]
    prepare: Callable[[Page], None] = lambda _page: None
    sample: str = ""


def shows(text: str, patience_ms: int = PATIENCE_MS) -> Callable[[Page], None]:
    """Returns a function that waits until the text is on the page."""
    return lambda page: page.get_by_text(text).first.wait_for(timeout=patience_ms)


def scrolled_to(text: str) -> Callable[[Page], None]:
    """Returns a function that waits for a text and scrolls it to the top."""

    def prepare(page: Page) -> None:
        words = page.get_by_text(text).first
        words.wait_for(timeout=PATIENCE_MS)
        settle(page)
        words.evaluate("one => one.scrollIntoView({block: 'start'})")

    return prepare


def drawn(page: Page) -> None:
    """Waits for a Plotly figure."""
    page.locator(".js-plotly-plot .main-svg").first.wait_for(
        state="attached", timeout=SPARK_PATIENCE_MS
    )


def answered(page: Page) -> None:
    """Runs the query again after the first answer, whose time includes the start of Spark."""
    drawn(page)
    settle(page)
    page.get_by_role("button", name="Run").first.click()


def raced(page: Page) -> None:
    """Runs the race of both searches to its end."""
    page.locator(".clock").press("End")
    page.locator(".clock").blur()


def stepped(page: Page) -> None:
    """Waits for the steps of a lookup."""
    page.locator(".transport").wait_for(timeout=PATIENCE_MS)
    settle(page)


def raced_by_lagging_reader(page: Page) -> None:
    """Shows the same race for a lagging reader."""
    page.locator(".st-key-kv_behind button").first.click()
    settle(page)
    raced(page)


def taught(page: Page) -> None:
    """Starts a class at this step, whose learners give the answers in CLASS_ANSWERS."""
    settle(page)
    page.locator(".st-key-kv_class_way_in button").first.click()
    page.locator(".st-key-kv_class_teach button").first.click()
    code = page.locator(".kv-class b").inner_text().split()[-1]
    browser = cast(Browser, page.context.browser)
    for answer in CLASS_ANSWERS:
        learner = browser.new_context().new_page()
        learner.set_default_timeout(SPARK_PATIENCE_MS)
        learner.goto(f"{page.url.partition('?')[0]}?class={code}")
        learner.locator(".st-key-kv_class_seat button").first.click()
        learner.locator(".st-key-kv_class_stuck").wait_for()
        learner.locator(f".st-key-kv_choice_{answer} button").first.click()
        learner.locator("[class*=st-key-kv_opt_chosen]").wait_for()


CLASS_ANSWERS = (1, 0, 1)  # for each learner: the index of the chosen answer
ORDERS = {"tp": "orders-0", "segment": 0}
PROJECTED = {"lesson": "warm-section", "at": 3, "projector": 1, "answers": "warm-section.3c"}
BROKEN = {"lesson": "batches", "break": 1, "answers": "batches~0~156ad"}  # predicted and started
REPLICA = "kafka-4.4.0-replica-1"
PARTED = {  # one partition of two replicas
    "with": str(Path(tempfile.gettempdir()) / "kafka" / "kafka-4.4.0-replica-2.tar.gz"),
    "tp": "bids-0",
    "leader": "b",
}
SHOTS = {
    "broker": Shot("/", 900, {}, shows("read in full, nothing was changed", SPARK_PATIENCE_MS)),
    "segment": Shot("/segment", 960, {**ORDERS, "pin": 500}),
    "bytes": Shot("/segment", 1240, {**ORDERS, "pin": 500, "tab": "Bytes"}),
    "transactions": Shot(
        "/segment",
        1180,
        {"tp": "payments-0", "segment": 15904, "tab": "Transactions"},
        scrolled_to("read_committed stops"),
    ),
    "lookup": Shot("/lookup", 720, {**ORDERS, "by": "offset", "target": 500, "step": 12}, stepped),
    "why": Shot(
        "/lookup",
        900,
        {"tp": "sensors-late-0", "by": "timestamp", "target": 1790003000000},
        scrolled_to("Why this offset"),
    ),
    "tail": Shot("/lookup", 720, {"set": "full"}, raced),
    "behind": Shot("/lookup", 720, {"set": "full"}, raced_by_lagging_reader),
    "page-cache": Shot("/page_cache", 720, {}, shows("From 13 to 14 pages")),
    "rolls": Shot("/rolls", 1060, {}, drawn),
    "tuning": Shot("/tuning", 780, {"tp": "payments-0"}, shows("The codec matters most")),
    "tuning-batches": Shot("/tuning", 720, {"tp": "payments-0", "tab": "Batches"}, drawn),
    "health": Shot("/health", 1060, {}, shows("This broker will start"), "kafka-4.3.1-damaged"),
    "disk": Shot("/disk", 1060, {}, shows("the largest part is records")),
    "compare": Shot(
        "/compare", 1180, PARTED, scrolled_to("If b leads, a drops 70 records"), REPLICA
    ),
    "explore": Shot("/explore", 1000, {}, answered),
    "workshop": Shot("/workshop", 720, {"lesson": "last-offset", "at": 2}),
    "projector": Shot("/workshop", 720, PROJECTED, drawn),
    "break-it": Shot("/workshop", 720, BROKEN),
    "class": Shot("/workshop", 720, {"lesson": "last-offset", "at": 2}, taught),
}


def take_all(
    names: Iterable[str], out: Path, take: Callable[[Browser, str, Path, str], list[str]]
) -> int:
    """Takes the pictures with these names. Returns 1 if a page had an error.

    Args:
        out: the folder of the pictures.
        take: takes one picture; called with the browser, the app's address, the folder of the
            samples and the picture's name. Returns the errors of the browser's console.
    """
    out.mkdir(parents=True, exist_ok=True)
    faults = []
    with (
        samples() as folder,
        server(folder / "kafka-4.3.1-clean.tar.gz") as address,
        chromium() as browser,
    ):
        for name in names:
            faults += [f"{name}: {error}" for error in take(browser, address, folder, name)]
            print(f"{name}: {(out / f'{name}.webp').stat().st_size // 1000} kB", flush=True)
    print("\n".join(faults), file=sys.stderr)
    return 1 if faults else 0


def take_shot(browser: Browser, address: str, folder: Path, name: str) -> list[str]:
    """Takes one picture and returns the errors of the browser's console."""
    shot = SHOTS[name]
    context = browser.new_context(
        viewport={"width": WIDTH, "height": shot.height}, color_scheme="light", timezone_id="UTC"
    )
    context.set_default_timeout(SPARK_PATIENCE_MS)
    page = context.new_page()
    errors = watch(page)
    choices = {"dir": folder / f"{shot.sample or 'kafka-4.3.1-clean'}.tar.gz", **shot.choices}
    page.goto(f"{address}{shot.path}?{urlencode(choices)}")
    page.locator("h1").first.wait_for(timeout=PATIENCE_MS)
    try:
        shot.prepare(page)
        settle(page)
    except sync_api.TimeoutError as late:  # the picture shows what is missing
        errors.append(str(late))
    image = context.new_cdp_session(page).send(
        "Page.captureScreenshot", {"format": "webp", "quality": QUALITY}
    )
    (OUT / f"{name}.webp").write_bytes(base64.b64decode(image["data"]))
    context.close()
    return errors


def settle(page: Page) -> None:
    """Waits until the server runs nothing and everything that arrived is drawn."""
    page.wait_for_timeout(SETTLE_MS)
    page.wait_for_function(
        "selector => !document.querySelector(selector)", arg=BUSY, timeout=PATIENCE_MS
    )
    page.wait_for_timeout(SETTLE_MS)


@contextmanager
def samples() -> Iterator[Path]:
    """Yields a folder with the sample archives.

    It has the same name in every run, because pages show the path of a directory.
    """
    folder = Path(tempfile.gettempdir()) / "kafka"
    folder.mkdir()
    try:
        for archive in (ROOT / "sample_data").glob("*.tar.gz"):
            shutil.copy2(archive, folder)
        yield folder
    finally:
        shutil.rmtree(folder)


@contextmanager
def server(archive: Path) -> Iterator[str]:
    """Yields the address of an app that shows the archive, and has a cache of its own."""
    os.environ["TZ"] = "UTC"
    with tempfile.TemporaryDirectory() as cache, serving(Path(cache), str(archive)) as address:
        yield address


if __name__ == "__main__":
    sys.exit(take_all(sys.argv[1:] or SHOTS, OUT, take_shot))
