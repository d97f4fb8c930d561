"""python -m docs.handouts: the hand-outs of all lessons as a PDF a language, by Chromium.

It prints the page that the app gives into kafkaviz/app/takeaway/handouts/.

It needs playwright (requirements-dev.txt), Chromium, and a font with Chinese characters. Beside the
PDFs stands of which lessons they are: tests/app/test_takeaway.py says when to print them anew. One
that is larger than MAX_BYTES is no download; then the app gives the page, to be printed.
"""

import json
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

MAX_BYTES = 2_500_000
PAGE = b"/Type /Page\n"  # as Chromium writes each
SHEET_PX = {"width": 695, "height": 1000}  # of A4 between the margins


def main() -> None:
    """Prints a PDF a language, and notes their lessons and where the answers begin."""
    logging.disable(logging.WARNING)  # Streamlit warns at every cached call that no page is open
    from kafkaviz.app import lessons
    from kafkaviz.app.takeaway import HandoutEdition, handouts, handouts_file_name

    os.environ.pop(lessons.LESSONS, None)  # those of this machine do not come along
    handouts.PRINTED_FOLDER.mkdir(exist_ok=True)
    question_pages: dict[str, int] = {}
    with chromium() as browser:
        for language_code in LANGUAGES:
            with speaking(language_code):
                known = lessons.lessons(language_code)[0]
                pages = {
                    edition: handouts.handouts_page(known, edition)
                    for edition in (HandoutEdition.ANSWERS, HandoutEdition.QUESTIONS)
                }
                path = handouts.PRINTED_FOLDER / handouts_file_name(HandoutEdition.ANSWERS, "pdf")
            data = printed(browser, pages[HandoutEdition.ANSWERS])
            questions = printed(browser, pages[HandoutEdition.QUESTIONS])
            question_pages[language_code] = questions.count(PAGE)
            if len(data) > MAX_BYTES:
                path.unlink(missing_ok=True)
                print(f"{path.name}: {units.size(len(data))} is too large to come along")
            else:
                path.write_bytes(data)
                print(f"{path.name}: {units.size(len(data))}, {data.count(PAGE)} pages")
    note = {"lessons": handouts.digest(), "question_pages": question_pages}
    handouts.PRINTED_FILE.write_text(f"{json.dumps(note)}\n")


def printed(browser: "Browser", page: str) -> bytes:
    """A page on paper; an error in the browser's console ends it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "handouts.html"
        file.write_text(page, encoding="utf-8")
        tab = browser.new_page(viewport=SHEET_PX)
        errors = watch(tab)
        tab.goto(file.as_uri())
        tab.locator("html[data-alive]").wait_for(state="attached")
        if tab.locator("#packed-figures").count():
            tab.locator("html[data-drawn]").wait_for(state="attached")
        data = tab.pdf(prefer_css_page_size=True, print_background=True, tagged=False)
        tab.close()
    if errors:
        sys.exit("\n".join(errors))
    return data


if __name__ == "__main__":
    main()
