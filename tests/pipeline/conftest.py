"""What tests of the pipeline share: one Spark for the whole run, and a way to do without."""

import hashlib
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from kafkaviz.pipeline import job, task_runner

TESTED = "local[2]"


@pytest.fixture(scope="session")
def _stopped_at_the_end(cache: Path) -> Iterator[None]:
    """Unstopped, the session would complain when the test run ends."""
    yield
    from kafkaviz.pipeline.session import session

    session(TESTED).stop()


@pytest.fixture
def spark(_stopped_at_the_end: None) -> object:
    """The session of the whole test run; made anew only after a test that had one of another
    master.
    """
    from kafkaviz.pipeline.session import session

    return session(TESTED)


@pytest.fixture
def on_spark(spark) -> Callable[..., job.Ingest]:
    """An ingest on Spark, run to its end."""
    return _ingest


@pytest.fixture
def in_process(monkeypatch) -> Callable[..., job.Ingest]:
    """An ingest whose tasks run right here, pickled as they would be for a worker: everything but
    Spark, in milliseconds.
    """
    without_spark(monkeypatch)
    return _ingest


def ingest_in_process(*directories: Path, catalog: Path) -> None:
    """The same with findings, for fixtures that outlive a test."""
    with pytest.MonkeyPatch.context() as patched:
        without_spark(patched)
        _ingest(*directories, catalog=catalog, findings=True)


def without_spark(patched: pytest.MonkeyPatch) -> None:
    """Every ingest of this process runs its tasks here."""
    session = SimpleNamespace(sparkContext=SimpleNamespace(defaultParallelism=2))
    patched.setattr("kafkaviz.pipeline.session.session", lambda master: session)
    patched.setattr(job, "run_tasks", _run_here)


def _ingest(
    *directories: Path,
    catalog: Path,
    master: str = TESTED,
    full: bool = False,
    findings: bool = False,
) -> job.Ingest:
    """Without findings, for tests of the rows: test_findings asks for them."""
    run = job.start_ingest(directories, catalog, master, full=full, findings=findings)
    run.wait()
    return run


def _run_here(run: job.Ingest, spark: object, tasks: list, staging: Path) -> list:
    return [
        told
        for task in tasks
        for told in task_runner.run_task(pickle.loads(pickle.dumps(task)), staging)
    ]


@pytest.fixture
def fingerprint() -> Callable[[Path], dict[str, tuple]]:
    """Everything about the files of a folder that an ingest must leave alone."""
    return _fingerprint


def _fingerprint(folder: Path) -> dict[str, tuple]:
    found = {}
    for path in sorted(folder.rglob("*")):
        stat = path.stat()
        content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        found[path.relative_to(folder).as_posix()] = (
            stat.st_size,
            stat.st_mtime_ns,
            stat.st_mode,
            content,
        )
    return found
