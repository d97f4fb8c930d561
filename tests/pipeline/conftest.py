from collections.abc import Callable

import pytest

from kafkaviz.pipeline.ingest import job
from tests.support.ingest import run_ingest


@pytest.fixture
def on_spark(spark) -> Callable[..., job.Ingest]:
    return run_ingest
