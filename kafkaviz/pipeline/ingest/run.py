"""An ingest as a background job, and the runners of its tasks on Spark's workers.

Tasks return only the names of their result files. A SparkContext runs tasks as an RDD, because a
DataFrame would load Spark's planner, which takes 2 s. Spark Connect supports only DataFrames.
"""

import pickle
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from kafkaviz.errors import KafkavizError
from kafkaviz.jobs import Job, JobCancelled
from kafkaviz.messages import Message, message, verbatim
from kafkaviz.pipeline.catalog.catalog_info import CatalogInfo
from kafkaviz.pipeline.ingest import plan
from kafkaviz.pipeline.ingest.merge_files import MergeTask, merge
from kafkaviz.pipeline.ingest.plan import AdviceTask, PackedTask, StartupTask, Task
from kafkaviz.pipeline.read.tasks import DecodedSplit, DecodeTask, decode, pack_by_cost

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    from kafkaviz.analysis.batching.advice import BatchingAnswer
    from kafkaviz.pipeline.ingest.task_results import LoadFile, ResultFile

    TaskResult = ResultFile | DecodedSplit | LoadFile | BatchingAnswer | str

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
    """Returns a runner for a session, or for a Spark master whose session is used or started.

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
    """Runs tasks as queries of a Spark Connect session, with one row per task.

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
    from kafkaviz.pipeline.ingest.ingest_checks import load_log
    from kafkaviz.pipeline.read.scan import scan

    if isinstance(task, AdviceTask):
        return answer_topic(task.topic, task.quota)
    if isinstance(task, StartupTask):
        return task_results.write_loads(map(load_log, task.loads), staging)
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


class IngestError(KafkavizError):
    """An ingest ended early; the catalog is unchanged."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The progress of an ingest."""

    done_tasks: int = 0
    total_tasks: int = 0
    # the .log bytes of the tasks that have ended; Spark tells only their number, so tasks are
    # assumed to end in the order in which they start
    done_bytes: int = 0
    total_bytes: int = 0
    bytes_per_s: float | None = None
    # "starting", "reading", "writing", "done", "fresh" (nothing to do), "failed" or "cancelled"
    state: str = "starting"
    error: Message | None = None


@dataclass(frozen=True)
class IngestResult:
    read_segments: int
    read_bytes: int  # bytes of .log
    kept_segments: int
    seconds: float


class Ingest(Job[CatalogInfo, Progress]):
    """A running ingest; see `start_ingest`.

    `cancel` ends the ingest within about a second and drops the data that was read. While Spark
    starts, cancelling takes until Spark has started. Once the catalog is being replaced, `cancel`
    has no effect.
    """

    protected_states = ("writing",)

    def __init__(self, steps: Callable[["Ingest"], CatalogInfo]) -> None:
        """Starts a thread that runs `steps`, which may raise any error.

        `steps` reports its state with `enter`, `start_reading` and `finish`.
        """
        self.group = f"kafkaviz-{uuid.uuid4().hex}"  # job group of all Spark jobs of this run
        self.done: IngestResult | None = None
        self._runner: TaskRunner | None = None
        self._tasks: list[PackedTask] = []
        self._reading_since = 0.0
        super().__init__(lambda _report: steps(self), Progress(), state="starting")

    def cancellation(self) -> JobCancelled:
        return JobCancelled(message("errors.run_cancelled"))

    def progress(self) -> Progress:
        """Returns the current progress. Asking Spark takes some milliseconds."""
        tasks = self._tasks
        state = self.state
        if state == "reading":
            count = self._count_ended(tasks)
        elif state in ("writing", "done"):
            count = len(tasks)
        else:
            count = 0
        done_bytes = sum(task.log_bytes for task in tasks[:count])
        seconds = time.monotonic() - self._reading_since
        return Progress(
            done_tasks=count,
            total_tasks=len(tasks),
            done_bytes=done_bytes,
            total_bytes=sum(task.log_bytes for task in tasks),
            bytes_per_s=done_bytes / seconds if state == "reading" and count else None,
            state=state,
            error=self._error_message() if state == "failed" else None,
        )

    def _error_message(self) -> Message | None:
        error = self.error
        return error.message if isinstance(error, KafkavizError) else verbatim(str(error))

    def on_stop(self) -> None:
        """Cancels the Spark jobs, and waits a moment for temporary files to be removed."""
        if self._runner is not None:
            with suppress(Exception):  # if the JVM is gone, the run ends anyway
                self._runner.cancel()
        self.settle()

    def start_reading(self, runner: TaskRunner, tasks: Sequence[PackedTask]) -> None:
        """Sets the state to "reading", and adds tasks to those that `progress` counts."""
        self._runner = runner
        self._tasks = [*self._tasks, *tasks]
        self._reading_since = self._reading_since or time.monotonic()
        self.enter("reading")

    def finish(
        self, state: str, read_segments: int = 0, read_bytes: int = 0, kept_segments: int = 0
    ) -> None:
        """Sets the result and the final state: "done", or "fresh" if there was nothing to do."""
        self.done = IngestResult(read_segments, read_bytes, kept_segments, self.seconds)
        self.done_state = state

    def _count_ended(self, tasks: Sequence[PackedTask]) -> int:
        try:
            return min(len(tasks), self._runner.count_ended()) if self._runner else 0
        except Exception:  # the JVM may be gone; the thread of the run reports that
            return 0

    def explain(self, error: Exception) -> Exception:
        """Returns an `IngestError` with the last error line in Spark's or Python's message."""
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        text = next(
            (line for line in reversed(lines) if "Error" in line or "Exception" in line),
            lines[0] if lines else "",
        )
        reason = text[:300] or type(error).__name__
        short_error = IngestError(message("errors.run_ended_early", reason=reason))
        short_error.__cause__ = error
        return short_error
