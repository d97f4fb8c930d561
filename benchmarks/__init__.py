"""What kafkaviz is fast or slow at: one bench_*.py per question, each compared with something else
in the same run.
"""

import time
from collections.abc import Callable

HEAD = ("What", "Measured", "Against, in the same run", "Ratio")


def row(*cells: str) -> str:
    """Returns a row of a Markdown table, with the cells of HEAD."""
    return f"| {' | '.join(cells)} |"


def best(
    action: Callable[[], object], runs: int = 5, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Returns the shortest of some runs in seconds, because the others were disturbed.

    Args:
        clock: with time.process_time, the time of other processes does not count.
    """
    times = []
    for _ in range(runs):
        start = clock()
        action()
        times.append(clock() - start)
    return min(times)
