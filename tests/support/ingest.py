"""Ingests of the tests: on the Spark of the whole run, or in this process without one."""

import pickle
from pathlib import Path

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
    """Runs an ingest to its end, without findings, for tests of the rows."""
    run = job.start_ingest(directories, catalog, master, full=full, findings=findings)
    run.wait()
    return run


def ingest_in_process(*directories: Path, catalog: Path) -> None:
    """Runs an ingest with findings and without Spark, for fixtures that outlive a test."""
    with pytest.MonkeyPatch.context() as patched:
        without_spark(patched)
        run_ingest(*directories, catalog=catalog, findings=True)


def ingest_for_app(directory: Path, cache: Path) -> Path:
    """Writes the catalog that an app with this cache folder has of a broker, and returns it."""
    from kafkaviz.app.cache.broker_cache import catalog_path
    from kafkaviz.log.broker import open_broker

    catalog = cache / "catalogs" / catalog_path(open_broker(directory)).name
    ingest_in_process(directory, catalog=catalog)
    return catalog


def without_spark(patched: pytest.MonkeyPatch) -> None:
    """Makes every ingest of this process run its tasks in it."""
    patched.setattr(job, "task_runner", lambda spark, group: InProcessRunner())


class InProcessRunner:
    cores = 2

    def run(self, tasks: list, staging: Path) -> list:
        return [
            task_runner.run_task(pickle.loads(pickle.dumps(task)).unpack(), staging)
            for task in tasks
        ]

    def count_ended(self) -> int:
        """Nobody reads the count."""
        return 0

    def cancel(self) -> None:
        """Nothing can be cancelled."""
