"""python -m docs.contact_sheet: one picture per page, in light and dark, in English and Chinese.

The pictures go to build/contact-sheet/, which is not part of the repository.

    LOOK=folder python -m docs.contact_sheet lookup rolls

takes two pages and puts their drawings next to them, lookup-light.png and lookup-dark.png in that
folder. It needs playwright (requirements-dev.txt), Chromium, and a font with Chinese characters.
The exit status is 1 if a page reports an error in the browser's console.
"""

import io
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import Browser, Page

from docs.browsing import watch
from docs.screenshots import (
    BROKEN,
    PARTED,
    PATIENCE_MS,
    PROJECTED,
    REPLICA,
    SPARK_PATIENCE_MS,
    answered,
    drawn,
    raced,
    raced_by_lagging_reader,
    settle,
    shows,
    take_all,
    taught,
)

OUT = Path(__file__).parents[1] / "build" / "contact-sheet"
# of a page, in px; HEIGHT is used if neither a drawing nor a line of PAGES has another
WIDTH, HEIGHT, SCREEN_HEIGHT = 1440, 1400, 810
CELL, GAP, QUALITY = 640, 16, 80  # on the sheet
GREY = (128, 128, 128)
THEMES, LANGUAGES = ("light", "dark"), ("en", "zh")
DENSE = {"tp": "dense-index-0", "segment": 0}


@dataclass(frozen=True)
class Sheet:
    """A page to photograph.

    Attributes:
        choices: the parameters of its address.
        has_come: waits until the English page is complete.
        prepare: acts on the page before each picture.
        drawing: the name of its drawings; "" for the name of the page.
        height: the height in px without a drawing; 0 for HEIGHT.
    """

    path: str
    choices: dict[str, str | int] = field(default_factory=dict)
    has_come: Callable[[Page], None] = settle
    prepare: Callable[[Page], None] = lambda _page: None
    sample: str = "kafka-4.3.1-clean"
    drawing: str = ""
    height: int = 0


PAGES = {
    "broker": Sheet("/", has_come=shows("read in full, nothing was changed", SPARK_PATIENCE_MS)),
    "segment": Sheet("/segment", {"tp": "payments-0", "segment": 7975, "pin": 11815}),
    "lookup": Sheet("/lookup", DENSE | {"by": "offset", "target": 2247, "step": 11}),
    "tail": Sheet("/lookup", {"set": "full"}, prepare=raced, height=SCREEN_HEIGHT),
    "behind": Sheet(
        "/lookup", {"set": "full"}, prepare=raced_by_lagging_reader, height=SCREEN_HEIGHT
    ),
    "page-cache": Sheet(
        "/page_cache",
        has_come=shows("From 13 to 14 pages"),
        drawing="pagecache",
        height=SCREEN_HEIGHT,
    ),
    "rolls": Sheet("/rolls", has_come=drawn),
    "tuning": Sheet(
        "/tuning", {"tp": "payments-0", "tune": "payments-0", "consider": 16384}, drawn
    ),
    "tuning-batches": Sheet("/tuning", {"tp": "payments-0", "tab": "Batches"}, drawn),
    "disk": Sheet("/disk", {}, shows("the largest part is records")),
    "health": Sheet(
        "/health",
        {},
        shows("This broker will start", SPARK_PATIENCE_MS),
        sample="kafka-4.3.1-killed-selection",
    ),
    "compare": Sheet(
        "/compare", PARTED, shows("If b leads, a drops 70 records"), sample=REPLICA, height=HEIGHT
    ),
    "explore": Sheet("/explore", has_come=answered),
    "workshop": Sheet("/workshop", {"lesson": "last-offset", "at": 2, "answers": "last-offset.2a"}),
    "projector": Sheet("/workshop", PROJECTED, drawn, height=SCREEN_HEIGHT),
    "break-it": Sheet("/workshop", BROKEN, height=SCREEN_HEIGHT),
    "class": Sheet(
        "/workshop", {"lesson": "last-offset", "at": 2}, prepare=taught, height=SCREEN_HEIGHT
    ),
}


def take_shots(browser: Browser, address: str, folder: Path, name: str) -> list[str]:
    """Makes the sheet of one page and returns the errors of the browser's console.

    It has one row per theme: the drawing, then one picture per language.
    """
    page = PAGES[name]
    rows = []
    errors: list[str] = []
    for theme in THEMES:
        drawing = drawn_before(page.drawing or name, theme)
        height = page.height or HEIGHT
        if drawing:
            height = round(drawing.height * WIDTH / drawing.width)
        row = [drawing] if drawing else []
        for language in LANGUAGES:
            choices = {"dir": folder / f"{page.sample}.tar.gz", **page.choices, "lang": language}
            url = f"{address}{page.path}?{urlencode(choices)}"
            row.append(take_image(browser, url, page, theme=theme, height=height, errors=errors))
        rows.append([cell(image) for image in row])
    put_together(rows).save(OUT / f"{name}.webp", quality=QUALITY, method=6)
    return errors


def drawn_before(name: str, theme: str) -> Image.Image | None:
    """Returns the drawing of the page, or None if LOOK names no folder that has it."""
    file = Path(os.environ.get("LOOK") or OUT) / f"{name}-{theme}.png"
    return Image.open(file).convert("RGB") if file.is_file() else None


def take_image(
    browser: Browser, address: str, sheet: Sheet, *, theme: str, height: int, errors: list[str]
) -> Image.Image:
    """Returns a picture of the page at this address, and appends its console errors to `errors`."""
    context = browser.new_context(
        viewport={"width": WIDTH, "height": height}, color_scheme=theme, timezone_id="UTC"
    )
    context.set_default_timeout(SPARK_PATIENCE_MS)
    opened = context.new_page()
    page_errors = watch(opened)
    opened.goto(address)
    opened.locator("h1").first.wait_for(timeout=PATIENCE_MS)
    if "lang=en" in address:
        sheet.has_come(opened)
    settle(opened)
    sheet.prepare(opened)
    settle(opened)
    image = Image.open(io.BytesIO(opened.screenshot())).convert("RGB")
    context.close()
    errors += page_errors
    return image


def cell(image: Image.Image) -> Image.Image:
    """Returns the picture with the width of a cell."""
    return image.resize((CELL, round(image.height * CELL / image.width)), Image.Resampling.LANCZOS)


def put_together(rows: list[list[Image.Image]]) -> Image.Image:
    """Returns all cells on one sheet, with grey lines between them."""
    heights = [max(image.height for image in row) for row in rows]
    width = max(map(len, rows)) * (CELL + GAP) - GAP
    sheet = Image.new("RGB", (width, sum(heights) + GAP * (len(rows) - 1)), GREY)
    for number, row in enumerate(rows):
        for column, image in enumerate(row):
            sheet.paste(image, (column * (CELL + GAP), sum(heights[:number]) + number * GAP))
    return sheet


if __name__ == "__main__":
    sys.exit(take_all(sys.argv[1:] or PAGES, OUT, take_shots))
