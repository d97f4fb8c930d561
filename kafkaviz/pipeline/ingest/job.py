"""An ingest, which reads broker directories and writes a catalog, as a background job."""

import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from kafkaviz.analysis.inferred_release import assume_release
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.jobs import Job, JobCancelled
from kafkaviz.log.broker import Broker, open_broker
from kafkaviz.log.file import output_path
from kafkaviz.log.settings import Settings, open_settings
from kafkaviz.messages import Message, message, verbatim
from kafkaviz.pipeline.catalog.catalog import missing_files
from kafkaviz.pipeline.catalog.catalog_info import CatalogInfo
from kafkaviz.pipeline.ingest import task_results
from kafkaviz.pipeline.ingest.catalog_tables import TableInputs, write_tables
from kafkaviz.pipeline.ingest.check_reuse import IngestChecks, is_still_valid
from kafkaviz.pipeline.ingest.commit import CatalogTransaction, catalog_transaction
from kafkaviz.pipeline.ingest.log_startup import StartupResult
from kafkaviz.pipeline.ingest.merge_files import merge
from kafkaviz.pipeline.ingest.plan import (
    PackedTask,
    Task,
    pack,
    plan,
    sort_by_cost,
    startup_tasks,
    tasks_per_segment,
)
from kafkaviz.pipeline.ingest.segment_splits import DecodedSplit, is_whole, merge_splits
from kafkaviz.pipeline.ingest.spools import PartitionSpool
from kafkaviz.pipeline.ingest.stored_rows import StoredRows
from kafkaviz.pipeline.ingest.task_results import ResultFile, StartupFile, SummaryFiles, TaskIndex
from kafkaviz.pipeline.ingest.task_runner import TaskRunner, task_runner
from kafkaviz.pipeline.ingest.work import READ, RESUMED, RESUMED_FOR_CHECKS, IngestWork, find_work
from kafkaviz.pipeline.read.inventory import Inventory, inventory
from kafkaviz.pipeline.spark import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kafkaviz.pipeline.ingest.task_runner import TaskResult


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

    `cancel` ends the ingest within about a second and drops the data that was read. If Spark is
    still starting, the ingest ends only when Spark has started. Once the catalog is being replaced,
    `cancel` has no effect.
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


def start_ingest(
    directories: Iterable[Path | str | Sequence[Path]],
    catalog_path: Path | str,
    master: str | None = None,
    *,
    full: bool = False,
    findings: bool = True,
    level: CheckLevel = CheckLevel.RECORDS,
    spark: "SparkSession | None" = None,
    delay_s: float = 0.0,
) -> Ingest:
    """Starts an ingest in the background. `Ingest.wait` raises its errors.

    Args:
        directories: each is a log directory, a folder with the log directories of one broker, an
            archive of either, or a sequence of log directories of one broker. The catalog will
            contain exactly these. Directories with the same node.id and cluster.id are one broker.
        full: True reads everything again, not only files that have changed since the last ingest.
        findings: whether to check everything and predict each broker's next start-up.
        level: how much of each batch is checked.
        spark: the session to use, which is not stopped. None: this process's running session, or a
            new one for `master`. With Spark Connect, the server's workers must see the same paths.
        master: the Spark master. None: the master given to spark-submit, or local[*] without one.
        delay_s: seconds to wait before the ingest begins, so that other work can use the processor.
    """
    directories = [
        (Path(directory),) if isinstance(directory, str | Path) else tuple(directory)
        for directory in directories
    ]
    catalog_path = output_path(Path(catalog_path).expanduser())

    def steps(run: Ingest) -> CatalogInfo:
        if delay_s and run.wait_until_over(delay_s):
            raise run.cancellation()
        return ingest(
            run,
            directories,
            catalog_path,
            master if spark is None else spark,
            full=full,
            level=level if findings else None,
        )

    return Ingest(steps)


def ingest(
    run: Ingest,
    directories: Sequence[tuple[Path, ...]],
    catalog_path: Path,
    spark: "SparkSession | str | None",
    *,
    full: bool,
    level: CheckLevel | None,
) -> CatalogInfo:
    """Runs all steps of an ingest. The last step replaces the old catalog.

    `spark` is a session, or the master for which to start one. Without a level, nothing is checked.
    """
    if not isinstance(spark, str | None):
        session.refuse_stopped(spark)
    brokers = [open_broker(*paths, collect=PartitionSpool) for paths in directories]
    disk_inventory = inventory(brokers)
    refuse_inside(catalog_path, disk_inventory)
    with catalog_transaction(catalog_path) as transaction:
        old = None if full else transaction.old
        missing = missing_files(catalog_path, old.info) if old is not None else set()
        if old is not None and not missing and disk_inventory.matches(old, level):
            run.finish("fresh", kept_segments=old.info.rows["segments"])
            return old.info
        stored = None
        if old:
            stored = StoredRows(old, disk_inventory, missing, needs_sweep=level is not None)
        checks = IngestChecks(disk_inventory, level) if level else None
        work = find_work(disk_inventory, stored, checks, transaction.keep)
        transaction.make_staging()
        segment_run = SegmentRun(run, spark, transaction, work)
        if not full:
            segment_run.resume()
        segment_run.read()
        segment_run.lay_out()
        run.enter("writing")
        info = write_tables(
            transaction,
            TableInputs(
                inventory=disk_inventory,
                stored=stored,
                checks=checks,
                summaries=segment_run.summaries.summaries,
                first_segments=work.first_segments,
                directory_startups=work.directory_startups,
                startup_results=segment_run.startup_results,
                has_new_rows=work.has_new_rows,
                settings=settings(disk_inventory.brokers, checks),
            ),
        )
    run.finish("done", work.count, work.log_bytes, len(work.states) - work.count)
    return info


def refuse_inside(catalog_path: Path, disk_inventory: Inventory) -> None:
    """Raises CannotOpen if the catalog would be inside an inspected directory.

    kafkaviz never writes into the directories that it inspects.
    """
    inspected = (
        directory.path
        for _, broker in disk_inventory.brokers
        for directory in chain(broker.log_directories, broker.partitions)
    )
    for path in inspected:  # a partition directory may be a link to another disk
        if catalog_path.resolve().is_relative_to(path.resolve()):
            what = message("errors.inside_inspected", path=path)
            raise CannotOpen(catalog_path, what, message("errors.give_folder_elsewhere"))


class SegmentRun:
    """Runs the tasks of an ingest on Spark, and holds their results."""

    def __init__(
        self,
        run: Ingest,
        spark: "SparkSession | str | None",
        transaction: CatalogTransaction,
        work: IngestWork,
    ) -> None:
        self._run = run
        self._spark = spark
        self._transaction = transaction
        self._work = work
        self._staging = transaction.staging
        self._runner: TaskRunner | None = None
        self._startup_files: list[StartupFile] = []
        self.summaries = SummaryFiles(self._staging)  # of segments read by this or a killed run

    def resume(self) -> None:
        """Moves valid results of killed runs to the staging folder of this run."""
        if not self._transaction.leftovers:
            return
        work = self._work
        files = task_results.take_over(self._transaction.leftovers, TaskIndex(work), self._staging)
        leftover = SummaryFiles(self._staging)
        leftover.add(files)
        entries = work.inventory.segments
        for number, parts in leftover.summaries():
            entry = next(entry for entry in entries if entry.number == number)
            summary = merge_splits(parts)
            checks = work.checks
            if summary is not None and (
                checks is None
                or is_still_valid(entry, summary.check_json, checks.plans[entry.broker].now_ms)
            ):
                is_new = work.states[number] == READ
                work.states[number] = RESUMED if is_new else RESUMED_FOR_CHECKS
        self.summaries.add(files, work.is_resumed)

    def read(self) -> None:
        """Reads the segments on Spark, and predicts the start-up of the logs.

        Several tasks may decode a segment in splits. Then one task reads the decoded batches. A
        segment is read again, as a whole, if a decoded split has a fault, or a split did not end
        where the next one begins.
        """
        work = self._work
        if not work.count and next(work.startups(), None) is None:
            return
        self._runner = task_runner(self._spark, self._run.group)
        cores = self._runner.cores
        results = self._run_tasks(chain(plan(work, cores), startup_tasks(work.startups, cores)))
        files = [result for result in results if isinstance(result, ResultFile)]
        self._startup_files = [result for result in results if isinstance(result, StartupFile)]
        splits = [result for result in results if isinstance(result, DecodedSplit)]
        decoded = decoded_by_segment(splits)
        unfinished = {*(split.number for split in splits), *self._badly_split(files)}
        self.summaries.add(files, lambda number: number not in unfinished)
        if unfinished:
            again = (work.task(entry) for entry in work.entries if entry.number in unfinished)
            rest = self._run_tasks(tasks_per_segment(again, decoded))
            self.summaries.add(result for result in rest if isinstance(result, ResultFile))

    def lay_out(self) -> None:
        transaction = self._transaction
        work = self._work
        for number, spans in self.summaries.spans():
            if work.has_new_rows(number):
                transaction.add({table: (span,) for table, span in spans.items()})
        merges = transaction.lay_out()
        if self._runner is not None and merges:
            self._run_tasks(merges)
        else:
            for task in merges:
                merge(task, self._staging)

    def startup_results(self) -> Iterator[StartupResult]:
        return task_results.merge_by_number(
            (file.first_number, partial(task_results.read_startups, self._staging, file))
            for file in self._startup_files
        )

    def _badly_split(self, files: Iterable[ResultFile]) -> Iterator[int]:
        pieces = SummaryFiles(self._staging)
        pieces.add(file for file in files if file.is_partial)
        return (number for number, parts in pieces.summaries() if merge_splits(parts) is None)

    def _run_tasks(self, tasks: Iterable[Task]) -> list["TaskResult"]:
        assert self._runner is not None
        return run_tasks(self._run, self._runner, sort_by_cost(map(pack, tasks)), self._staging)


def run_tasks(
    run: Ingest, runner: TaskRunner, tasks: Sequence[PackedTask], staging: Path
) -> list["TaskResult"]:
    run.start_reading(runner, tasks)
    return runner.run(tasks, staging)


def decoded_by_segment(parts: Iterable[DecodedSplit]) -> dict[int, tuple[DecodedSplit, ...]]:
    """Returns the decoded splits by segment number, in order. Leaves out segments with a fault."""
    in_order = sorted(parts, key=attrgetter("number", "start"))
    groups = groupby(in_order, key=attrgetter("number"))
    by_number = {number: tuple(splits) for number, splits in groups}
    return {number: splits for number, splits in by_number.items() if is_whole(splits)}


def settings(
    brokers: Iterable[tuple[str, Broker]], checks: IngestChecks | None
) -> dict[str, Settings]:
    if checks is not None:
        return {name: plan.settings for name, plan in checks.plans.items()}
    return {name: open_settings(broker, assume_release(broker).release) for name, broker in brokers}
