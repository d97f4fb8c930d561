"""Fixtures of the pipeline tests: an ingest on the Spark session of the whole run."""

from collections.abc import Callable

import pytest

from kafkaviz.pipeline.ingest import job
from tests.support.ingest import run_ingest


@pytest.fixture
def on_spark(spark) -> Callable[..., job.Ingest]:
    """An ingest on Spark, run to its end."""
    return run_ingest
