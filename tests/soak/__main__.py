"""python -m tests.soak: DIRECTORIES=200 opened in one server, and its memory and files."""

import os
import sys
import tempfile
from pathlib import Path

from tests.soak import run


def main() -> int:
    """Returns 0 if memory came back."""
    directories = int(os.environ.get("DIRECTORIES") or 200)
    print(run.HEAD)
    usages = []
    with tempfile.TemporaryDirectory(prefix="kafkaviz-soak-") as folder:
        for usage in run.soak(Path(folder), directories, every=10):
            usages.append(usage)
            print(usage, flush=True)
    grown = run.grown(usages)
    print("\n".join(grown) or "Memory, threads and files came back.")
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
