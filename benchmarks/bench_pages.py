"""A rerun of every page with everything cached, against its first run in the same process.

This is what each click costs. There is no browser: only the script runs, on the sample broker, from
the first call to the last element. Spark has read the directory before.
"""

import os
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks import row

ROOT = Path(__file__).parents[1]
SAMPLE = "kafka-4.3.1-clean"
RERUNS = 15
SETTLE_S = 90  # until Spark has answered the page's query
SEGMENT = {"tp": "dense-index-0", "segment": "0"}
PAGES = {  # by script; the parameters of its address after the directory
    "app.py": {},
    "pages/segment.py": SEGMENT,
    "pages/lookup.py": SEGMENT,
    "pages/page_cache.py": {},
    "pages/rolls.py": {},
    "pages/tuning.py": {"tp": "dense-index-0"},
    "pages/health.py": {},
    "pages/explore.py": {},
    "pages/workshop.py": {},
}


def run() -> list[str]:
    """Returns a row per page: the median of the reruns."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KAFKAVIZ_CACHE"] = folder
        directory = prepare()
        return [measured(script, query, directory) for script, query in PAGES.items()]


def prepare() -> Path:
    """Unpacks the sample broker and makes its catalog."""
    from kafkaviz.app.cache import broker_cache
    from kafkaviz.log.archives.archive import unpack_if_archive
    from kafkaviz.pipeline.ingest import job

    directory = unpack_if_archive(ROOT / "sample_data" / f"{SAMPLE}.tar.gz")
    job.start_ingest(
        [directory], broker_cache.catalog_path(broker_cache.broker(directory)), master="local[2]"
    ).wait()
    return directory


def measured(script: str, query: dict[str, str], directory: Path) -> str:
    first_s, reruns_s = times(script, {"dir": str(directory)} | query)
    again_s = statistics.median(reruns_s)
    what = (
        f"{script.removeprefix('pages/').removesuffix('.py').replace('app', 'broker').replace('_', ' ')}"  # noqa: E501
        " "
        "page"
    )
    text = f"{1000 * again_s:.0f} ms, at most {1000 * max(reruns_s):.0f} ms"
    return row(
        f"{what}, a rerun with all cached",
        text,
        f"its first run, {first_s:.1f} s",
        f"{first_s / again_s:.0f} ×",
    )


def times(script: str, address: dict[str, str]) -> tuple[float, list[float]]:
    """Returns the seconds of the first run, and of each rerun after nothing changes any more."""
    from streamlit.testing.v1 import AppTest

    page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=SETTLE_S)
    for name, value in address.items():
        page.query_params[name] = value
    if script != "app.py":
        page.switch_page(script)
    first_s, until = timed(page), time.monotonic() + SETTLE_S
    while is_waiting(page) and time.monotonic() < until:
        time.sleep(0.5)
        timed(page)
    assert not is_waiting(page)
    return first_s, [timed(page) for _ in range(RERUNS)]


def timed(page) -> float:
    """Returns the seconds of one run."""
    start = time.perf_counter()
    page.run()
    taken_s = time.perf_counter() - start
    assert not page.exception, page.exception
    return taken_s


def is_waiting(page) -> bool:
    """Returns whether a query is still running; the page then has a button to cancel it."""
    return any(button.label == "Cancel" for button in page.button)
