from collections.abc import Callable
from pathlib import Path

import pytest

from kafkaviz.pipeline.ingest import job
from tests.pipeline import whole_logs
from tests.pipeline.small_logs import write_broker
from tests.support.ingest import run_ingest


@pytest.fixture
def on_spark(spark) -> Callable[..., job.Ingest]:
    return run_ingest


@pytest.fixture
def out(tmp_path) -> Path:
    """Returns the folder for a catalog, which does not exist yet."""
    return tmp_path / "catalog"


@pytest.fixture
def broker(tmp_path) -> Path:
    """Returns two topic-partitions of three segments each, with meaningless batches."""
    return write_broker(
        tmp_path / "made",
        {"a-0": [[100] * 5, [120] * 6, [140] * 7], "b-1": [[90] * 8, [95] * 9, [80] * 4]},
    )


@pytest.fixture
def broker_directory(tmp_path) -> Path:
    """Returns a directory with two equal logs of 100 batches with 10 records each."""
    directory = whole_logs.broker(tmp_path / "made")
    times_ms = [whole_logs.START_MS + number for number in range(100)]
    batches = [whole_logs.batch(n * 10, [time_ms] * 10, 80) for n, time_ms in enumerate(times_ms)]
    for name in ("a-0", "b-0"):
        whole_logs.write(directory / name, batches)
    return directory
