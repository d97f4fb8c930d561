"""python -m docs.handouts: the hand-outs of all lessons as PDFs, printed by Chromium from the page
that the app gives, into kafkaviz/app/takeaway/handouts/.

It needs playwright (requirements-dev.txt), Chromium, and a font with Chinese characters. Beside the
PDFs stands the digest of the lessons: tests/app/test_takeaway.py says when to print them anew. One
that is larger than MOST_BYTES is no download; then the app gives the page, to be printed.
"""

import logging
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from docs.browsing import chromium, watch
from kafkaviz import units
from kafkaviz.messages import LANGUAGES, speaking

if TYPE_CHECKING:
    from playwright.sync_api import Browser

MOST_BYTES = 2_000_000
SHEET_PX = {"width": 695, "height": 1000}  # of A4 between the margins


def main() -> None:
    """Prints a PDF a language, and the digest of their lessons."""
    logging.disable(logging.WARNING)  # Streamlit warns at every cached call that no page is open
    from kafkaviz.app import lessons
    from kafkaviz.app.takeaway import handouts, handouts_file_name

    os.environ.pop(lessons.LESSONS, None)  # those of this machine do not come along
    handouts.PRINTED_FOLDER.mkdir(exist_ok=True)
    with chromium() as browser:
        for language_code in LANGUAGES:
            with speaking(language_code):
                page = handouts.handouts_page(lessons.lessons(language_code)[0], has_notes=False)
                path = handouts.PRINTED_FOLDER / handouts_file_name(has_notes=False, suffix="pdf")
            data = printed(browser, page)
            if len(data) > MOST_BYTES:
                path.unlink(missing_ok=True)
                print(f"{path.name}: {units.size(len(data))} is too large to come along")
            else:
                path.write_bytes(data)
                print(f"{path.name}: {units.size(len(data))}")
    handouts.DIGEST_FILE.write_text(f"{handouts.digest()}\n")


def printed(browser: "Browser", page: str) -> bytes:
    """A page on paper; an error in the browser's console ends it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "handouts.html"
        file.write_text(page, encoding="utf-8")
        tab = browser.new_page(viewport=SHEET_PX)
        errors = watch(tab)
        tab.goto(file.as_uri())
        tab.locator("html[data-drawn][data-alive]").wait_for(state="attached")
        data = tab.pdf(prefer_css_page_size=True, print_background=True)
        tab.close()
    if errors:
        sys.exit("\n".join(errors))
    return data


if __name__ == "__main__":
    main()
