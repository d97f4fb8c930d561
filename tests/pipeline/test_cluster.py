"""A standalone master and its workers as separate processes: the same rows as in this process.

Also if one of two workers is killed in the middle, with its executor and its Python processes.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from socket import create_connection, socket

import pyspark
import pytest

import kafkaviz.pipeline
from kafkaviz.pipeline.ingest import job
from kafkaviz.pipeline.ingest import plan as plan_module
from kafkaviz.pipeline.spark.session import prepare, session
from tests.pipeline import whole_logs
from tests.pipeline.catalog_rows import assert_catalog_holds
from tests.pipeline.small_logs import write_broker
from tests.pipeline.source_reading import read

SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
PATIENCE_S = 60


class Cluster:
    def __init__(self, stack: ExitStack, environ: dict[str, str], folder: Path) -> None:
        self._stack, self._environ, self.folder = stack, environ, folder
        self.workers: list[subprocess.Popen] = []
        port = free_port()
        self.address = f"spark://127.0.0.1:{port}"
        self._start(
            "master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"
        )
        wait_for_port(port)

    def add_worker(self, cores: int) -> None:
        folder = self.folder / f"worker-{len(self.workers)}"
        options = f"--cores {cores} --memory 1g --webui-port 0 -d {folder}".split()
        self.workers.append(self._start("worker.Worker", *options, self.address))

    def executors(self, worker: int) -> list[Path]:
        """Returns the folders of the executors that a worker has run."""
        return list((self.folder / f"worker-{worker}").glob("app-*/*"))

    def kill(self, worker: int) -> None:
        """Kills the worker and its executor."""
        os.killpg(self.workers[worker].pid, signal.SIGKILL)

    def _start(self, name: str, *arguments: str) -> subprocess.Popen:
        nowhere = subprocess.DEVNULL
        command = [SPARK_CLASS, f"org.apache.spark.deploy.{name}", *arguments]
        process = subprocess.Popen(
            command,
            env=self._environ,
            stdin=nowhere,
            stdout=nowhere,
            stderr=nowhere,
            start_new_session=True,
        )
        self._stack.callback(process.wait)
        self._stack.callback(ended, process)
        return process


def ended(process: subprocess.Popen) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)


@pytest.fixture
def cluster(tmp_path, cache) -> Iterator[Cluster]:
    environ = dict(os.environ)
    prepare("local", cache, environ)
    with ExitStack() as stack:
        yield Cluster(stack, environ, tmp_path)


@pytest.fixture
def two(cluster) -> Iterator[Cluster]:
    cluster.add_worker(1)
    cluster.add_worker(1)
    yield cluster
    session(cluster.address).stop()


def free_port() -> int:
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def wait_for_port(port: int) -> None:
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        try:
            return create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.2)
    raise AssertionError("the master does not listen")


@pytest.mark.nightly
def test_a_cluster_makes_the_same_catalog(cluster, clean, damaged, on_spark, tmp_path):
    cluster.add_worker(2)
    options = {"catalog": tmp_path / "catalog", "master": cluster.address}
    on_spark(clean, damaged, **options)
    assert_catalog_holds(tmp_path / "catalog", clean, damaged)
    assert on_spark(clean, damaged, **options).progress().state == "fresh"
    assert cluster.executors(0), "the worker has run no executor"


@pytest.mark.nightly
def test_the_command_takes_a_master(two, clean, tmp_path):
    """kafkaviz ingest --master spark://... in a process of its own.

    A copy is ingested, because only this process knows that `clean` comes from an archive.
    """
    directory = shutil.copytree(clean, tmp_path / "broker")
    out = str(tmp_path / "catalog")
    options = ["--catalog", out, "--master", two.address, "--json"]
    command = [sys.executable, "-m", "kafkaviz", "ingest", str(directory), *options]
    report = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    assert report["rows"]["sweep"] > 0 and report["rows"]["findings"] > 0
    assert report["problems"] == []
    assert_catalog_holds(tmp_path / "catalog", directory)
    assert two.executors(0) and two.executors(1)


@pytest.mark.nightly
def test_an_ingest_outlives_a_worker(two, tmp_path, monkeypatch):
    """Killed among 600 tasks: unfinished tasks run elsewhere, and no row appears twice."""
    monkeypatch.setattr(plan_module, "MIN_BYTES", 1)
    monkeypatch.setattr(plan_module, "MAX_BYTES", 1)
    monkeypatch.setattr(plan_module, "cuts", lambda segment, target_bytes: [])
    broker = write_broker(tmp_path / "made", {"a-0": [[100] * 3] * 300, "b-1": [[90] * 500] * 300})
    run = job.start_ingest([broker], tmp_path / "catalog", two.address, findings=False)
    until(lambda: run.progress().done_tasks > 60)
    assert run.progress().state == "reading" and two.executors(0) and two.executors(1)
    two.kill(1)
    assert run.progress().done_tasks < 500
    run.wait()
    assert_catalog_holds(tmp_path / "catalog", broker)


@pytest.mark.nightly
def test_a_query_outlives_a_worker(two, tmp_path):
    broker = whole_logs.broker(tmp_path / "made")
    batches = [whole_logs.batch(number * 10, [whole_logs.START_MS] * 10) for number in range(1000)]
    for partition in range(20):
        whole_logs.write(broker / f"orders-{partition}", batches)
    spark = session(two.address)
    spark.conf.set("spark.sql.shuffle.partitions", 4)
    kafkaviz.pipeline.register(spark)
    frame = (
        spark.read.format("kafka_records")
        .option("task_bytes", 70_000)
        .load(str(broker))
        .groupBy("partition", "offset")
        .count()
    )
    rows: list = []
    thread = threading.Thread(
        target=lambda: rows.extend(frame.where("count = 1").groupBy("partition").count().collect())
    )
    thread.start()
    until(lambda: done_tasks(spark) > 40)
    two.kill(0)
    assert thread.is_alive() and done_tasks(spark) < 300
    thread.join()
    assert sorted(rows) == [(partition, 10_000) for partition in range(20)]
    assert read("kafka_records", broker).num_rows == 200_000


def until(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not happened():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.05)


def done_tasks(spark) -> int:
    tracker = spark.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    return sum(stage.numCompletedTasks for stage in stages if stage)
