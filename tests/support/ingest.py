"""Ingests of the tests: on the Spark of the whole run, or in this process without one."""

import pickle
from pathlib import Path
from types import SimpleNamespace

import pytest

from kafkaviz.pipeline.ingest import job, task_runner

MASTER = "local[2]"


def run_ingest(
    *directories: Path,
    catalog: Path,
    master: str = MASTER,
    full: bool = False,
    findings: bool = False,
) -> job.Ingest:
    """An ingest, run to its end; without findings, for tests of the rows."""
    run = job.start_ingest(directories, catalog, master, full=full, findings=findings)
    run.wait()
    return run


def ingest_in_process(*directories: Path, catalog: Path) -> None:
    """An ingest with findings and without Spark, for fixtures that outlive a test."""
    with pytest.MonkeyPatch.context() as patched:
        without_spark(patched)
        run_ingest(*directories, catalog=catalog, findings=True)


def without_spark(patched: pytest.MonkeyPatch) -> None:
    """Every ingest of this process runs its tasks in it, pickled as for a worker of Spark."""
    session = SimpleNamespace(sparkContext=SimpleNamespace(defaultParallelism=2))
    patched.setattr("kafkaviz.pipeline.spark.session.session", lambda master: session)
    patched.setattr(job, "run_tasks", _run_tasks)


def _run_tasks(run: job.Ingest, spark: object, tasks: list, staging: Path) -> list:
    return [
        row
        for task in tasks
        for row in task_runner.run_task(pickle.loads(pickle.dumps(task)), staging)
    ]
