"""python -m benchmarks [NAME...]: runs benchmarks/bench_NAME.py and prints the rows of their tables
in README.md.

Each bench_*.py has run() -> list[str]: one or more rows of Markdown, with the cells of HEAD. row()
makes one.
"""

import argparse
import importlib
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import HEAD, row


def names() -> list[str]:
    """Returns the names of all benchmarks, without bench_."""
    return sorted(
        file.stem.removeprefix("bench_") for file in Path(__file__).parent.glob("bench_*.py")
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the named benchmarks, or all, one after the other, so that each has the machine to
    itself.
    """
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__.splitlines()[0]
    )
    parser.add_argument("names", metavar="NAME", nargs="*", help=f"one of: {', '.join(names())}")
    chosen = parser.parse_args(argv).names or names()
    for unknown in set(chosen) - set(names()):
        parser.error(f"there is no benchmark {unknown}; there are: {', '.join(names())}")
    print(
        f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores\n",
        file=sys.stderr,
    )
    print(row(*HEAD), row(*("---" for _ in HEAD)), sep="\n", flush=True)
    for name in chosen:
        print(*importlib.import_module(f"benchmarks.bench_{name}").run(), sep="\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
