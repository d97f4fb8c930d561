"""The tasks of a run on Spark Connect, as queries of a session that answers in this process."""

import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest

from kafkaviz.jobs import JobCancelled
from kafkaviz.pipeline.ingest import task_results, task_runner
from kafkaviz.pipeline.ingest.plan import pack, tasks_per_segment
from kafkaviz.pipeline.ingest.task_runner import ConnectRunner
from tests.pipeline.segment_tasks import empty_task

GROUP = "a run"


class ConnectSession:
    """The part of a Spark Connect session that a runner uses; rows come back in reverse order."""

    def __init__(self, parallelism: str | None = None) -> None:
        self.conf = SimpleNamespace(get=lambda name, default: parallelism or default)
        self.tags: list[str] = []
        self.handlers: list[Callable] = []
        self.interrupted_tags: list[str] = []
        self.query_sizes: list[int] = []
        self.while_running: Callable[[], object] = lambda: None
        self.addTag, self.removeTag = self.tags.append, self.tags.remove
        self.registerProgressHandler = self.handlers.append
        self.removeProgressHandler = self.handlers.remove
        self.interruptTag = self.interrupted_tags.append

    def range(self, start: int, end: int, step: int, partitions: int) -> "ConnectSession":
        assert (start, step, end) == (0, 1, partitions)
        self.query_sizes.append(end)
        return self

    def mapInArrow(self, function: Callable, schema: str) -> "ConnectSession":
        assert schema == "number long, result binary"
        self.function = function
        return self

    def collect(self) -> list[dict]:
        assert self.tags == [GROUP]
        rows = []
        for number in reversed(range(self.query_sizes[-1])):
            batches = self.function(iter([pa.RecordBatch.from_pydict({"id": [number]})]))
            rows += [row for batch in batches for row in batch.to_pylist()]
            for handler in self.handlers:
                handler([SimpleNamespace(num_completed_tasks=len(rows))], inflight_tasks=0)
            self.while_running()
        return rows


@pytest.fixture
def tasks() -> list:
    return [pack(task) for task in tasks_per_segment(map(empty_task, range(5)))]


@pytest.fixture
def small_queries(monkeypatch) -> Iterator[None]:
    monkeypatch.setattr(task_runner, "TASKS_PER_QUERY", 2)


def test_results_come_in_the_order_of_the_tasks(tasks, small_queries, tmp_path):
    """Several queries return rows in another order; nothing of the run stays in the session."""
    session = ConnectSession()
    results = ConnectRunner(session, GROUP).run(tasks, tmp_path)
    numbers = [
        summary.number for result in results for summary in task_results.read(tmp_path, result)
    ]
    assert numbers == [0, 1, 2, 3, 4]
    assert session.query_sizes == [2, 2, 1]
    assert session.tags == session.handlers == []


def test_the_tasks_that_have_ended_are_counted_over_all_queries(tasks, small_queries, tmp_path):
    """Spark reports those of the running query; those of earlier queries are all done."""
    session = ConnectSession()
    runner = ConnectRunner(session, GROUP)
    counts = []
    session.while_running = lambda: counts.append(runner.count_ended())
    runner.run(tasks, tmp_path)
    assert counts == [1, 2, 3, 4, 5]
    runner._note(None)
    assert runner.count_ended() == 5


def test_a_cancelled_run_asks_no_further_query(tasks, small_queries, tmp_path):
    session = ConnectSession()
    runner = ConnectRunner(session, GROUP)
    session.while_running = runner.cancel
    with pytest.raises(JobCancelled):
        runner.run(tasks, tmp_path)
    assert session.query_sizes == [2] and set(session.interrupted_tags) == {GROUP}
    assert session.tags == session.handlers == []


@pytest.mark.parametrize(("parallelism", "cores"), [("3", 3), (None, 8)])
def test_how_many_tasks_run_at_a_time(parallelism, cores):
    assert ConnectRunner(ConnectSession(parallelism), GROUP).cores == cores


def test_the_master_of_a_server_is_given_a_session(monkeypatch):
    """Its session is started where no SparkContext can be, and recognised by its class."""
    from kafkaviz.pipeline.spark import session

    connected = type("SparkSession", (ConnectSession,), {"__module__": "pyspark.sql.connect.x"})()
    masters = []
    monkeypatch.setattr(session, "session", lambda master: masters.append(master) or connected)
    runner = task_runner.task_runner("sc://there", GROUP)
    assert isinstance(runner, ConnectRunner) and masters == ["sc://there"]


def test_a_task_runs_from_its_pickled_copy(tasks, tmp_path: Path):
    run_rows = task_runner._runner_of_rows(tmp_path, tuple(tasks))
    (first, second) = run_rows([pa.RecordBatch.from_pydict({"id": [3, 1]})])
    rows = [batch.to_pylist()[0] for batch in (first, second)]
    assert [row["number"] for row in rows] == [3, 1]
    results = [pickle.loads(row["result"]) for row in rows]
    summaries = [summary for result in results for summary in task_results.read(tmp_path, result)]
    assert [summary.number for summary in summaries] == [3, 1]
