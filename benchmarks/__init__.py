"""Benchmarks: one bench_*.py per question, each compared with a rival in the same run."""

import time
from collections.abc import Callable

HEAD = ("What", "Measured", "Against, in the same run", "Ratio")


def row(*cells: str) -> str:
    """One row of a Markdown table, with the cells of HEAD."""
    return f"| {' | '.join(cells)} |"


def best(
    action: Callable[[], object], runs: int = 5, clock: Callable[[], float] = time.perf_counter
) -> float:
    """The shortest of some runs in seconds: the others were disturbed. clock: time.process_time
    leaves out what others took.
    """
    times = []
    for _ in range(runs):
        start = clock()
        action()
        times.append(clock() - start)
    return min(times)
