"""What tests of the pipeline share: one Spark for the whole run."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kafkaviz.pipeline.ingest import job
from tests.support.ingest import MASTER, run_ingest


@pytest.fixture(scope="session")
def _stopped_at_the_end(cache: Path) -> Iterator[None]:
    """Unstopped, the session would complain when the test run ends."""
    yield
    from kafkaviz.pipeline.spark.session import session

    session(MASTER).stop()


@pytest.fixture
def spark(_stopped_at_the_end: None) -> object:
    """The session of the whole test run; made anew only after a test that had one of another
    master.
    """
    from kafkaviz.pipeline.spark.session import session

    return session(MASTER)


@pytest.fixture
def on_spark(spark) -> Callable[..., job.Ingest]:
    """An ingest on Spark, run to its end."""
    return run_ingest
