"""python -m kafkaviz.ui.lessons [FOLDER ...]: checks lessons, and says file:line of all that is
wrong; status 1 if anything is.
"""

import logging
import sys
from pathlib import Path

if __name__ == "__main__":
    logging.disable(logging.WARNING)  # Streamlit tells at every cached call that no page is open
    from kafkaviz.ui.lessons import check

    count, wrong = check.faults([Path(one) for one in sys.argv[1:]] or None)
    for fault in wrong:
        print(fault)
    print(
        f"{count} files, {len(wrong)} faults"
        if count
        else "no lesson found: a file is called name.en.md or name.zh.md"
    )
    sys.exit(1 if wrong or not count else 0)
