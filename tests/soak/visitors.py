"""python -m tests.soak.visitors: VISITORS=20 on one server who all click at once, page after page,
each with a place and settings of their own; how long until each has the whole page, and the
server's memory.
"""

import os
import random
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from docs import browsing
from tests.soak.classroom import MIB, processor_s, resident_bytes, row, share_below, warm
from tests.soak.visitor import Visitor

LIMIT_S, LIMIT_BYTES = 1.0, 1536 * MIB  # of 95 in 100 clicks; of the server
PARTITIONS = ("heartbeat-0", "payments-0", "orders-0", "dense-index-0", "device-events.v2-0")
INDEX_SIZES = ("1 KiB", "2 KiB", "4 KiB", "8 KiB", "16 KiB", "32 KiB", "64 KiB", "128 KiB")
SEGMENT_SIZES = ("1 MiB", "2 MiB", "4 MiB", "8 MiB", "16 MiB", "32 MiB", "64 MiB")
HEAD = f"{'page':12} {'median':>8} {'p95':>8} {'longest':>8} {'work':>8}   seconds"


def clicks(visitor: int) -> dict[str, tuple[str, dict[str, str]]]:
    """Returns the clicks of a visitor, in turn: name, page, address."""
    choose = random.Random(visitor).choice
    partition = {"tp": choose(PARTITIONS)}
    index_size = INDEX_SIZES[visitor % len(INDEX_SIZES)]
    segment_size = SEGMENT_SIZES[visitor % len(SEGMENT_SIZES)]
    return {
        "broker": ("", {}),
        "segment": ("segment", partition),
        "lookup": ("lookup", partition),
        "a lookup": ("lookup", partition | {"target": str(visitor * 97)}),
        "page cache": ("page_cache", {}),
        "rolls": ("rolls", {}),
        "new rolls": ("rolls", {"room": index_size, "size": segment_size}),
        "tuning": ("tuning", partition),
        "new tuning": ("tuning", partition | {"consider": str(1024 << visitor % 8)}),
        "health": ("health", {}),
        "explore": ("explore", {}),
        "workshop": ("workshop", {"lesson": str(visitor % 8 + 1)}),
    }


@dataclass
class Clicks:
    """The results of a simultaneous click of every visitor.

    `seconds`: until each had the whole page. `work_s`: the server's processor time per visitor.
    """

    seconds: list[float] = field(default_factory=list)
    work_s: float = 0.0

    def line(self, name: str) -> str:
        return f"{name:12} {row(self.seconds)} {self.work_s:8.3f}"


def visit(address: str, process: int, visitors: int) -> dict[str, Clicks]:
    """Runs every click of every visitor, by its name.

    `process`: the number of the server's process. Asserts that no page shows an error.
    """
    results = {name: Clicks() for name in clicks(0)}
    marks: list[float] = []  # the server's processor time before each click, and at the end
    together = threading.Barrier(visitors, lambda: marks.append(processor_s(process)))
    faults: list[str] = []

    def click_through(number: int, visitor: Visitor) -> None:
        visitor.see("")
        for name, (page, query) in clicks(number).items():
            together.wait()
            start = time.monotonic()
            faults.extend(visitor.see(page, **query).exceptions)
            results[name].seconds.append(time.monotonic() - start)
        together.wait()

    with ExitStack() as stack:
        tabs = [stack.enter_context(Visitor(address)) for _ in range(visitors)]
        with ThreadPoolExecutor(visitors) as pool:
            list(pool.map(click_through, range(visitors), tabs))
    assert not faults, faults
    for result, (before, after) in zip(results.values(), pairwise(marks), strict=True):
        result.work_s = (after - before) / visitors
    return results


def main() -> int:
    """Returns 0 if 95 of 100 clicks took at most LIMIT_S, and the server LIMIT_BYTES."""
    visitors = int(os.environ.get("VISITORS") or 20)
    with (
        tempfile.TemporaryDirectory(prefix="kafkaviz-visitors-") as folder,
        browsing.started(Path(folder)) as (address, process),
    ):
        warm(address, Path(folder))
        results = visit(address, process.pid, visitors)
        server_bytes = resident_bytes(process.pid)
    print(HEAD)
    for name, result in results.items():
        print(result.line(name))
    seconds = [value for result in results.values() for value in result.seconds]
    work_s = sum(result.work_s for result in results.values()) / len(results)
    print(Clicks(seconds, work_s).line("all"))
    print(f"{visitors} visitors; the server holds {server_bytes / MIB:.0f} MiB")
    return 1 if share_below(seconds, 0.95) > LIMIT_S or server_bytes > LIMIT_BYTES else 0


if __name__ == "__main__":
    sys.exit(main())
