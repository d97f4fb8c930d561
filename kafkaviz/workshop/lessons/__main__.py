"""python -m kafkaviz.workshop.lessons [FOLDER ...].

Checks lessons and prints each fault as file:line. Exits with status 1 if there are any.
"""

import logging
import sys
from pathlib import Path

if __name__ == "__main__":
    logging.disable(logging.WARNING)  # Streamlit warns at every cached call outside a page
    from kafkaviz.workshop.lessons import check

    count, faults = check.faults([Path(argument) for argument in sys.argv[1:]] or None)
    for fault in faults:
        print(fault)
    print(
        f"{count} files, {len(faults)} faults"
        if count
        else "no lesson found: a file is called name.en.md or name.zh.md"
    )
    sys.exit(1 if faults or not count else 0)
