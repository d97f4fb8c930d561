"""The memory of an ingest does not grow with the number of segments;
benchmarks/bench_ingest_memory.py has a hundred thousand of them, on Spark.
"""

import json
from pathlib import Path

import pytest

from tests.pipeline.processes import run_python
from tests.support.many_segments import SEGMENTS, change_segment, write_broker, write_template

INGEST = """
import json, multiprocessing, sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from kafkaviz.pipeline.ingest import job
from tests.support import ingest

class WorkerRunner(ingest.InProcessRunner):
    def run(self, tasks, staging):
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as workers:
            return workers.submit(ingest.InProcessRunner().run, tasks, staging).result()

job.task_runner = lambda spark, group: WorkerRunner()
run = ingest.run_ingest(Path(sys.argv[1]), catalog=Path(sys.argv[2]), findings=True)
peak_kb = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
print(json.dumps([run.done.read_segments, peak_kb << 10]))
"""
FEW, MANY = 500, 10_000


@pytest.mark.nightly
def test_memory_does_not_follow_the_number_of_segments(tmp_path):
    """Neither in a first run nor in one that keeps all segments but one: objects of 10 000 segments
    would be some 40 MB. Tasks run in a process of their own, as Spark's do.
    """
    template = write_template(tmp_path / "template")
    few, many = (peaks(tmp_path / str(count), template, count) for count in (FEW, MANY))
    for few_bytes, many_bytes in zip(few, many, strict=True):
        assert many_bytes < 1.1 * few_bytes


def peaks(root: Path, template: Path, count: int) -> list[int]:
    """Returns the peak of resident bytes in a first run, and in one where a segment has changed."""
    broker, found = write_broker(root / "broker", template, count // SEGMENTS), []
    for expected in (count, 1):
        read, peak_bytes = json.loads(run_python(INGEST, broker, root / "catalog"))
        assert read == expected
        found.append(peak_bytes)
        change_segment(broker / "orders-7")
    return found
