"""A rerun of the Broker page with everything cached, against its first run in the same process: what each click costs a reader.

No browser and no Spark: the script alone, on the sample broker, from the first call to the last element.
"""

import os
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks import row

APP = Path(__file__).parents[1] / "app.py"
RERUNS = 20


def run() -> list[str]:
    """One row: the median of the reruns."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KAFKAVIZ_CACHE"] = folder
        first_s, reruns_s = measure()
    again_s = statistics.median(reruns_s)
    measured = f"{1000 * again_s:.0f} ms, at most {1000 * max(reruns_s):.0f} ms"
    return [row("Broker page rerun, cached, no browser", measured, f"its first run, {first_s:.1f} s", f"{first_s / again_s:.0f} ×")]


def measure() -> tuple[float, list[float]]:
    """Seconds of the first run, and of each rerun."""
    from streamlit.testing.v1 import AppTest

    from kafkaviz.pipeline import job

    Idle.progress = staticmethod(job.Progress)
    job.start_ingest = lambda *given, **named: Idle()
    page = AppTest.from_file(str(APP), default_timeout=60)
    times = []
    for _ in range(RERUNS + 1):
        start = time.perf_counter()
        page.run()
        times.append(time.perf_counter() - start)
        assert not page.exception
    return times[0], times[1:]


class Idle:
    """An ingest that never gets anywhere: Spark would share the two cores."""

    progress = None  # always at the start
