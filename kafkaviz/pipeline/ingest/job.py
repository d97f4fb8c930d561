"""The steps of an ingest, which reads broker directories and writes a catalog."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from kafkaviz.analysis.inferred_release import assume_release
from kafkaviz.errors import CannotOpen
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.jobs import JobCancelled
from kafkaviz.log.broker import Broker, open_broker
from kafkaviz.log.file import output_path
from kafkaviz.log.settings import Settings, open_settings
from kafkaviz.messages import message
from kafkaviz.pipeline.catalog.catalog import missing_files
from kafkaviz.pipeline.catalog.catalog_info import CatalogInfo, Spans
from kafkaviz.pipeline.ingest import ingest_checks, task_results
from kafkaviz.pipeline.ingest.catalog_tables import TableInputs, write_tables
from kafkaviz.pipeline.ingest.commit import CatalogTransaction, catalog_transaction
from kafkaviz.pipeline.ingest.ingest_checks import IngestChecks, LogStartup, is_still_valid
from kafkaviz.pipeline.ingest.merge_files import merge
from kafkaviz.pipeline.ingest.plan import (
    PackedTask,
    Task,
    load_tasks,
    pack,
    plan,
    sort_by_cost,
    tasks_per_segment,
)
from kafkaviz.pipeline.ingest.run import (
    Ingest,
    IngestError,
    IngestResult,
    Progress,
    TaskRunner,
    task_runner,
)
from kafkaviz.pipeline.ingest.spools import PartitionSpool
from kafkaviz.pipeline.ingest.stored_rows import NO_SEGMENTS, StoredRows, UnchangedDirectories
from kafkaviz.pipeline.ingest.task_results import LoadFile, ResultFile, SummaryFiles, TaskIndex
from kafkaviz.pipeline.read.inventory import Inventory, InventoryEntry, PartitionEntries, inventory
from kafkaviz.pipeline.read.tasks import DecodedSplit, SegmentTask, is_whole, merge_splits
from kafkaviz.pipeline.spark import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kafkaviz.pipeline.ingest.run import TaskResult

__all__ = [
    "Ingest", "IngestError", "IngestResult", "JobCancelled", "Progress", "ingest", "start_ingest",
]  # fmt: skip


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
                loads=work.loads,
                load_results=segment_run.load_results,
                has_new_rows=work.has_new_rows,
                settings=settings(disk_inventory.brokers, checks),
            ),
        )
    run.finish("done", work.count, work.log_bytes, len(work.states) - work.count)
    return info


def refuse_inside(catalog_path: Path, disk_inventory: Inventory) -> None:
    """Raises a CannotOpen if the catalog would be inside an inspected directory.

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


# The states of a segment. UNCHANGED: the old catalog has its rows and findings. READ: this run
# reads it. RESUMED: a killed run has read it. *_FOR_CHECKS: the same, but only for findings,
# because the old catalog has the rows.
UNCHANGED, READ, READ_FOR_CHECKS, RESUMED, RESUMED_FOR_CHECKS = range(5)
TO_READ = (READ, READ_FOR_CHECKS)


@dataclass
class IngestWork:
    """The segments to read, and the logs whose start-up must be predicted.

    Iterating yields the tasks of the segments, and computes them again each time.
    """

    inventory: Inventory
    checks: IngestChecks | None
    states: bytearray = field(default_factory=bytearray)  # a state (`UNCHANGED`, ...) per segment
    # the number of a directory's first segment, by directory number; directories with copied rows
    # are left out
    first_segments: dict[int, int] = field(default_factory=dict)
    # the log that the next broker start-up loads, by directory number
    loads: dict[int, ingest_checks.DirectoryLoad] = field(default_factory=dict)

    @property
    def entries(self) -> Iterator[InventoryEntry]:
        return (
            entry
            for entries in self.inventory.entries_at(self.first_segments)
            for entry in entries.segments
            if self.states[entry.number] in TO_READ
        )

    @property
    def count(self) -> int:
        return sum(map(self.states.count, TO_READ))

    @property
    def log_bytes(self) -> int:
        return sum(entry.segment.log.size_bytes for entry in self.entries if entry.segment.log)

    def __iter__(self) -> Iterator[SegmentTask]:
        return map(self.task, self.entries)

    def task(self, entry: InventoryEntry) -> SegmentTask:
        facts = None
        if self.checks and ingest_checks.is_read(entry):
            facts = self.checks.facts(entry.broker, entry.partition)
        return SegmentTask(
            number=entry.number,
            broker=entry.broker,
            topic=entry.partition.topic,
            partition=entry.partition.partition,
            segment=entry.segment,
            facts=facts,
            skips_rows=self.states[entry.number] == READ_FOR_CHECKS,
            needs_sweep=self.checks is not None,
        )

    def startups(self) -> Iterator[LogStartup]:
        """Yields the logs whose start-up this run must predict."""
        unknown = {
            number: self.first_segments[number]
            for number, load in self.loads.items()
            if not load.is_known
        }
        if self.checks is None:
            return
        for entries in self.inventory.entries_at(unknown):
            load = self.checks.load(self.loads[entries.number].number, entries)
            if load is not None:
                yield load

    def has_new_rows(self, number: int) -> bool:
        """Returns whether this or a killed run writes the rows; else the old catalog has them."""
        return self.states[number] in (READ, RESUMED)

    def is_resumed(self, number: int) -> bool:
        return self.states[number] in (RESUMED, RESUMED_FOR_CHECKS)


def find_work(
    disk_inventory: Inventory,
    stored: StoredRows | None,
    checks: IngestChecks | None,
    keep: Callable[[Spans], None] = lambda _spans: None,
) -> IngestWork:
    """Finds the segments that must be read, for rows, for findings or for both.

    Without `stored`, no row of an old catalog is kept. Without `checks`, no findings are made.
    `keep` is called with the row locations of each segment whose rows are kept.
    """
    work = IngestWork(disk_inventory, checks)
    unchanged = UnchangedDirectories(disk_inventory, stored, checks) if stored else None
    loads = 0
    for entries in disk_inventory.entries:
        load = checks.load(loads, entries) if checks else None
        loads += load is not None
        spans = unchanged.spans(entries, load) if unchanged else None
        if spans is None:
            work.first_segments[entries.number] = len(work.states)
            _find_changes(work, entries, load, stored, keep)
            continue
        work.states += bytes([UNCHANGED]) * len(spans)
        for segment_spans in spans:
            keep(segment_spans)
    return work


def _find_changes(
    work: IngestWork,
    entries: PartitionEntries,
    load: LogStartup | None,
    stored: StoredRows | None,
    keep: Callable[[Spans], None],
) -> None:
    owner = (entries.broker, entries.stored.directory)
    checks = work.checks
    old = stored.partition(*owner) if stored else NO_SEGMENTS
    checked = stored.checked(*owner) if stored and checks else {}
    for entry in entries.segments:
        old_segment = old.find(entry)
        if old_segment is None:
            state = READ
        else:
            must_check = checks is not None and checks.must_read(entry, checked)
            state = READ_FOR_CHECKS if must_check else UNCHANGED
            keep(old_segment.spans)
        work.states.append(state)
    if load is not None:
        is_known = ingest_checks.is_load_known(load, checked)
        work.loads[entries.number] = ingest_checks.DirectoryLoad(load.number, load.digest, is_known)


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
        self._load_files: list[LoadFile] = []
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
        results = self._run_tasks(chain(plan(work, cores), load_tasks(work.startups, cores)))
        files = [result for result in results if isinstance(result, ResultFile)]
        self._load_files = [result for result in results if isinstance(result, LoadFile)]
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

    def load_results(self) -> Iterator[ingest_checks.LoadResult]:
        return task_results.merge_by_number(
            (file.first_number, partial(task_results.read_loads, self._staging, file))
            for file in self._load_files
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
