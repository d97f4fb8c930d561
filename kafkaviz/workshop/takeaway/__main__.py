"""python -m kafkaviz.workshop.takeaway FOLDER [--language zh].

Writes all files of the Workshop's downloads into a folder: each lesson as an HTML file, the
hand-outs with answers, without answers and with notes, and the notebook.
"""

import argparse
import logging
import sys
from pathlib import Path

from kafkaviz import units
from kafkaviz.messages import LANGUAGES, speaking

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m kafkaviz.workshop.takeaway")
    parser.add_argument("folder", type=Path, help="the folder for the files; created if missing")
    parser.add_argument("--language", choices=[*LANGUAGES], default="en")
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)  # Streamlit warns at every cached call outside a page
    from kafkaviz.workshop import lessons, takeaway

    with speaking(arguments.language):
        try:
            arguments.folder.mkdir(parents=True, exist_ok=True)
            for name, make in takeaway.files(lessons.lessons(arguments.language)[0]).items():
                data = make().encode()
                (arguments.folder / name).write_bytes(data)
                print(f"{arguments.folder / name}: {units.format_bytes(len(data))}", flush=True)
        except OSError as fault:
            sys.exit(f"{fault.filename or arguments.folder}: {fault.strerror}")
