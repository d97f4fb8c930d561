"""python -m kafkaviz.workshop.takeaway FOLDER [--language zh].

Writes the Workshop's downloads into a folder: an HTML file per lesson, the notebook, and the
hand-outs with answers, without answers and with notes.
"""

import argparse
import logging
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from kafkaviz import units
from kafkaviz.messages import LANGUAGES, speaking
from kafkaviz.workshop.lessons.grammar import Lesson


def files(lessons: Sequence[Lesson]) -> dict[str, Callable[[], str]]:
    """Returns, per file name, a function that returns the file's text in the current language."""
    # imported here, because these imports make Streamlit print warnings until the command has
    # disabled them
    from kafkaviz.workshop.takeaway import handouts, lesson_page, notebook

    count = len(lessons)
    makers: dict[str, Callable[[], str]] = {
        lesson_page.file_name(lesson): partial(lesson_page.lesson_page, lesson, number, count)
        for number, lesson in enumerate(lessons, 1)
    }
    for edition in handouts.HandoutEdition:
        makers[handouts.file_name(edition)] = partial(handouts.handouts_page, lessons, edition)
    return makers | {notebook.FILE_NAME: notebook.notebook}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m kafkaviz.workshop.takeaway")
    parser.add_argument("folder", type=Path, help="the folder for the files; created if missing")
    parser.add_argument("--language", choices=[*LANGUAGES], default="en")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)  # Streamlit warns at every cached call outside a page
    from kafkaviz.workshop import lessons

    with speaking(arguments.language):
        try:
            arguments.folder.mkdir(parents=True, exist_ok=True)
            for name, make in files(lessons.lessons(arguments.language)[0]).items():
                data = make().encode()
                (arguments.folder / name).write_bytes(data)
                print(f"{arguments.folder / name}: {units.format_bytes(len(data))}", flush=True)
        except OSError as fault:
            sys.exit(f"{fault.filename or arguments.folder}: {fault.strerror}")
