"""kafkaviz warm compiles and unpacks what pages and commands need first."""

import os
import signal
import tarfile
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from kafkaviz.__main__ import main
from kafkaviz.binary.lazy_njit import CompiledFunction
from kafkaviz.cli import warm
from kafkaviz.log.archives.archive import cache_folder
from kafkaviz.pipeline.spark import java
from tests.pipeline import whole_logs

# each has loops that a page or a command calls when it is opened first, whose results are not
# kept for the process: of those that are, other tests may have been first
COMPILED_MODULES = {
    "analysis.batching.merging",
    "analysis.batching.record_sample",
    "analysis.cost.cold_reads",
    "analysis.cost.page_replay",
    "analysis.sweep.sweeper",
    "analysis.sweep.times",
    "analysis.tuning.index_size",
    "cli.dumping.compiled_records",
    "cli.dumping.lines",
    "format.deep_scan",
    "format.record",
    "format.walk",
    "search.binary_search",
    "simulate.cleaner.record_filter",
    "simulate.producers.batch_encoder",
    "simulate.producers.generator",
    "simulate.recovery",
    "simulate.writer.append_loop",
}


@pytest.fixture
def small_sample(tmp_path, monkeypatch) -> Path:
    directory, start_ms = whole_logs.broker(tmp_path / "broker"), whole_logs.START_MS
    batches = [
        whole_logs.batch(3 * number, [start_ms + number + delta for delta in range(3)], 600)
        for number in range(40)
    ]
    for partition in (warm.PARTITION, warm.CLEANED_PARTITION):
        whole_logs.write(directory / partition, batches)
    # an active segment, so that the first one can be cleaned
    (directory / warm.CLEANED_PARTITION / "00000000000000000120.log").touch()
    archive = tmp_path / "broker.tar.gz"
    with tarfile.open(archive, "w:gz") as file:
        file.add(directory, "broker")
    monkeypatch.setattr(warm.environment, "SAMPLES", tmp_path)
    return archive


def test_everything_that_is_compiled_is_called_once(small_sample, monkeypatch, capsys):
    """Silently; Spark's classes are written meanwhile, and waited for."""
    modules, steps = set(), []
    call = CompiledFunction.__call__

    def record(self, *arguments, **keywords):
        modules.add(self.__wrapped__.__module__.removeprefix("kafkaviz."))
        return call(self, *arguments, **keywords)

    def start_making(cache: Path) -> SimpleNamespace:
        steps.append(cache)
        return SimpleNamespace(wait=lambda: steps.append(len(modules)))

    monkeypatch.setattr(CompiledFunction, "__call__", record)
    monkeypatch.setattr(java, "start_making_archive", start_making)
    monkeypatch.setattr(warm, "_pool", lambda: ThreadPoolExecutor(1))
    assert main(["warm"]) == 0
    assert capsys.readouterr() == ("", "")
    assert modules >= COMPILED_MODULES
    assert steps == [cache_folder(), len(modules)]


def test_the_parts_run_in_other_processes():
    with warm._pool() as pool:
        assert os.getpid() not in pool.map(_process, range(3))


def test_a_killed_process_is_not_waited_for():
    with warm._pool() as pool, pytest.raises(BrokenExecutor):
        pool.submit(_die).result()


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _process(_number: int) -> int:
    return os.getpid()
