"""The Java of Spark is killed while the Broker page waits for an ingest: the page says so, and its
button starts another.
"""

import os
import textwrap
import threading
from types import SimpleNamespace

import pytest

from kafkaviz.pipeline.ingest.job import Ingest
from tests.pipeline.processes import run_python

SCRIPT = """
    import sys
    import time
    from pathlib import Path

    import pyspark

    from kafkaviz.pipeline.ingest import plan
    from kafkaviz.app.cache import broker_cache
    from kafkaviz.app.state import ingests
    from tests.pipeline.small_logs import write_broker
    from tests.support.pages import assert_no_exception, open_page, page_html

    plan.MIN_BYTES = plan.MAX_BYTES = 1  # a task a segment, so that it takes its time
    plan.cuts = lambda segment, target_bytes: []
    directory = write_broker(Path(sys.argv[1]) / "kafka", {"a-0": [[100] * 3] * 400})


    def until(state):
        deadline = time.monotonic() + 120
        while ingests.state(broker_cache.open_snapshot(directory)) not in state:
            assert time.monotonic() < deadline
            time.sleep(0.02)


    page = open_page(dir=directory)
    until(["reading"])
    pyspark.SparkContext._gateway.proc.kill()
    assert_no_exception(page.run())
    until(["failed"])
    text = page_html(assert_no_exception(page.run()))
    assert "Spark stopped: the run ended early" in text, text
    [again] = [one for one in page.button if one.key == "kv_work_again"]
    plan.MIN_BYTES = plan.MAX_BYTES = 1 << 26
    again.click().run()
    until(["done"])
    text = page_html(assert_no_exception(page.run()))
    assert broker_cache.is_fresh(broker_cache.open_snapshot(directory)) and "read in full" in text
    print("all is read")
"""


@pytest.mark.nightly
def test_the_page_says_that_spark_died_and_starts_it_again(tmp_path):
    """In a process of its own; no traceback, and the catalog is complete in the end."""
    environment = os.environ | {
        "KAFKAVIZ_CACHE": str(tmp_path / "cache"),
        "KAFKAVIZ_MASTER": "local[2]",
    }
    printed = run_python(textwrap.dedent(SCRIPT), tmp_path, environ=environment)
    assert "all is read" in printed and "Py4J" not in printed


def test_how_far_a_run_is_can_be_read_when_its_java_has_ended():
    """The page asks twice a second, also before the run has noticed: no task has ended then."""
    has_asked, ends = threading.Event(), threading.Event()

    def refuse() -> None:
        raise ConnectionRefusedError

    spark = SimpleNamespace(
        sparkContext=SimpleNamespace(
            setJobGroup=lambda *arguments, **more: None, statusTracker=refuse
        )
    )

    def steps(run: Ingest) -> None:
        run.start_reading(spark, [])
        has_asked.set()
        ends.wait(30)

    run = Ingest(steps)
    assert has_asked.wait(30)
    assert (run.progress().state, run.progress().done_tasks) == ("reading", 0)
    ends.set()
    run.wait(30)
