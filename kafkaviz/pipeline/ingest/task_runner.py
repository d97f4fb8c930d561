"""Runs the tasks of an ingest on Spark's workers.

Tasks return only the names of their result files. A SparkContext runs tasks as an RDD, because a
DataFrame would load Spark's planner, which takes 2 s. Spark Connect supports only DataFrames.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from kafkaviz.jobs import JobCancelled
from kafkaviz.messages import message
from kafkaviz.pipeline.ingest import plan
from kafkaviz.pipeline.ingest.merge_files import MergeTask, merge
from kafkaviz.pipeline.ingest.plan import AdviceTask, PackedTask, StartupTask, Task
from kafkaviz.pipeline.ingest.segment_splits import DecodedSplit, DecodeTask, decode
from kafkaviz.pipeline.read.tasks import pack_by_cost

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    from kafkaviz.analysis.batching.advice import BatchingAnswer
    from kafkaviz.pipeline.ingest.task_results import ResultFile, StartupFile

    TaskResult = ResultFile | DecodedSplit | StartupFile | BatchingAnswer | str

TASKS_PER_QUERY = 4096  # tasks per query on Spark Connect, which sends them together: about 4 MB


class TaskRunner(Protocol):
    """Runs the tasks of one ingest."""

    cores: int  # how many tasks can run at the same time; on Spark Connect a guess

    def run(self, tasks: Sequence[PackedTask], staging: Path) -> list["TaskResult"]:
        """Runs the tasks and returns their results, in order.

        The ingest's staging folder must have the path `staging` on every worker.
        """

    def count_ended(self) -> int:
        """Returns how many tasks have ended, counted over all calls of `run`."""

    def cancel(self) -> None:
        """Cancels the running tasks. Another thread calls this."""


def task_runner(spark: "SparkSession | str | None", group: str) -> TaskRunner:
    """Returns a runner. `spark` is a session, or a master or None, as in `session.context`.

    `group` is a unique name for this ingest.
    """
    from kafkaviz.pipeline.spark import session

    if isinstance(spark, str | None):
        if not session.is_connect(spark):
            return ContextRunner(session.context(spark), group)
        spark = session.session(spark)
    if session.is_connected(spark):
        return ConnectRunner(spark, group)
    return ContextRunner(spark.sparkContext, group)


class ContextRunner:
    """Runs tasks as jobs of a SparkContext.

    A large task is a Spark partition of its own. Small tasks share a partition.
    """

    def __init__(self, context: "SparkContext", group: str) -> None:
        self.cores = context.defaultParallelism
        self._context = context
        self._group = group
        self._counts: list[int] = []  # number of tasks in each Spark partition

    def run(self, tasks: Sequence[PackedTask], staging: Path) -> list["TaskResult"]:
        from kafkaviz.pipeline.spark.session import workers_with_kafkaviz

        costs = ((task, task.cost) for task in tasks)
        parts = [part for part, _ in pack_by_cost(costs, plan.MIN_BYTES)]
        self._counts += map(len, parts)
        self._context.setJobGroup(self._group, "kafkaviz", interruptOnCancel=True)
        rdd = self._context.parallelize(parts, len(parts)).mapPartitions(partial(_run_all, staging))
        with workers_with_kafkaviz(self._context):
            rdd.id()  # after this, Spark knows which Python and environment the job uses
        return rdd.collect()

    def count_ended(self) -> int:
        """Returns how many tasks have ended, assuming that Spark ends them in order."""
        tracker = self._context.statusTracker()
        jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(self._group)]
        stages = [tracker.getStageInfo(stage) for job in jobs if job for stage in job.stageIds]
        return sum(self._counts[: sum(stage.numCompletedTasks for stage in stages if stage)])

    def cancel(self) -> None:
        """Cancels the running jobs, and every job that the ingest submits later."""
        context: Any = self._context
        context._jsc.sc().cancelJobGroupAndFutureJobs(self._group)


class ConnectRunner:
    """Runs tasks in queries of a Spark Connect session. A query has one input row per task.

    The server's workers must have kafkaviz and see the same paths.
    """

    def __init__(self, spark: "SparkSession", group: str) -> None:
        self.cores = int(spark.conf.get("spark.default.parallelism", None) or 8)
        self._spark = spark
        self._group = group
        self._ended_before = 0
        self._ended = 0
        self._is_cancelled = False

    def run(self, tasks: Sequence[PackedTask], staging: Path) -> list["TaskResult"]:
        session: Any = self._spark
        session.addTag(self._group)
        session.registerProgressHandler(self._note)
        try:
            return [
                result
                for first in range(0, len(tasks), TASKS_PER_QUERY)
                for result in self._query(tasks[first : first + TASKS_PER_QUERY], staging)
            ]
        finally:
            session.removeProgressHandler(self._note)
            session.removeTag(self._group)

    def _query(self, tasks: Sequence[PackedTask], staging: Path) -> Iterator["TaskResult"]:
        if self._is_cancelled:
            raise JobCancelled(message("errors.run_cancelled"))
        run_rows = _runner_of_rows(staging, tuple(tasks))
        numbers = self._spark.range(0, len(tasks), 1, len(tasks))
        rows = numbers.mapInArrow(run_rows, "number long, result binary").collect()
        self._ended_before += len(tasks)
        self._ended = 0
        by_number = {row["number"]: row["result"] for row in rows}
        return (pickle.loads(by_number[number]) for number in range(len(tasks)))

    def _note(self, stages: Iterable[Any] | None, **_more: object) -> None:
        self._ended = sum(stage.num_completed_tasks for stage in stages or ())

    def count_ended(self) -> int:
        return self._ended_before + self._ended

    def cancel(self) -> None:
        """Cancels this ingest's queries, and prevents further ones."""
        self._is_cancelled = True
        session: Any = self._spark
        session.interruptTag(self._group)


def _runner_of_rows(
    staging: Path, tasks: tuple[PackedTask, ...]
) -> Callable[[Iterable["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]:
    def run_rows(batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        import pyarrow as pa

        for batch in batches:
            for number in batch.column(0).to_pylist():
                result = pickle.dumps(run_task(tasks[number].unpack(), staging))
                yield pa.RecordBatch.from_pydict({"number": [number], "result": [result]})

    return run_rows


def run_task(task: Task, staging: Path) -> "TaskResult":
    from kafkaviz.analysis.batching.advice import answer_topic
    from kafkaviz.pipeline.ingest import task_results
    from kafkaviz.pipeline.ingest.log_startup import predict_startup
    from kafkaviz.pipeline.ingest.split_scan import scan

    if isinstance(task, AdviceTask):
        return answer_topic(task.topic, task.quota)
    if isinstance(task, StartupTask):
        return task_results.write_startups(map(predict_startup, task.startups), staging)
    if isinstance(task, MergeTask):
        return merge(task, staging)
    if isinstance(task, DecodeTask):
        return decode(task, staging)
    segment_tasks = {part.segment_task.number: part.segment_task for part in task.splits}
    is_partial = any(part.is_partial for part in task.splits)
    digests = {number: task_results.digest(part) for number, part in segment_tasks.items()}
    return task_results.write(scan(task, staging), digests, staging, is_partial=is_partial)


def _run_all(staging: Path, parts: Iterable[Iterable[PackedTask]]) -> Iterator["TaskResult"]:
    return (run_task(task.unpack(), staging) for part in parts for task in part)
