"""The ingest: broker directories in, a catalog out."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from kafkaviz.analysis.inference.version import assume_release
from kafkaviz.errors import CannotOpen
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.jobs import JobCancelled
from kafkaviz.log.broker import Broker, open_broker
from kafkaviz.log.file import output_path
from kafkaviz.log.settings import Settings, open_settings
from kafkaviz.messages import message
from kafkaviz.pipeline.catalog.catalog import Catalog, missing_files
from kafkaviz.pipeline.catalog.catalog_info import CatalogInfo, CatalogSource, StoredSegment
from kafkaviz.pipeline.ingest import task_results
from kafkaviz.pipeline.ingest.commit import CatalogTransaction, catalog_transaction
from kafkaviz.pipeline.ingest.decoded_batches import DecodedSplit, is_whole
from kafkaviz.pipeline.ingest.findings import (
    findings_table,
    retention_table,
    source_check,
    steps_table,
)
from kafkaviz.pipeline.ingest.ingest_checks import IngestChecks, LoadResult, LogLoad
from kafkaviz.pipeline.ingest.inventory import Inventory, InventoryEntry, inventory, is_readable
from kafkaviz.pipeline.ingest.plan import (
    SegmentTask,
    Task,
    load_tasks,
    plan,
    sort_by_cost,
    tasks_per_segment,
)
from kafkaviz.pipeline.ingest.rows import codec_names
from kafkaviz.pipeline.ingest.run import Ingest, IngestError, IngestResult, Progress
from kafkaviz.pipeline.ingest.segment_tables import (
    SegmentStatistics,
    first_batch,
    partitions_table,
    segments_table,
    statistics_of_read,
    statistics_of_rows,
)
from kafkaviz.pipeline.ingest.summary import SegmentSummary, SplitSummary, merge_splits
from kafkaviz.pipeline.ingest.task_results import ResultFile
from kafkaviz.pipeline.ingest.task_runner import TaskRunner, task_runner
from kafkaviz.pipeline.spark import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kafkaviz.pipeline.ingest.task_runner import TaskResult

__all__ = [
    "Ingest",
    "IngestError",
    "IngestResult",
    "JobCancelled",
    "Progress",
    "ingest",
    "start_ingest",
]


def start_ingest(
    directories: Iterable[Path | str],
    catalog_path: Path | str,
    master: str | None = None,
    *,
    full: bool = False,
    findings: bool = True,
    level: CheckLevel = CheckLevel.RECORDS,
    spark: "SparkSession | None" = None,
) -> Ingest:
    """Starts a run in the background and comes back at once.

    Ingest.wait raises whatever goes wrong.

    Args:
        directories: broker directories or archives of them; the catalog will hold these and no
            others.
        full: reads all of them again, not only what has changed since the last run.
        findings: checks them too, and predicts each broker's next start.
        level: how much of each batch the checks look at.
        spark: the session to run on; without it the one that runs in this process, else one that is
            started for `master`. A session that kafkaviz did not start is used as it is, and stays.
            One of Spark Connect will do: the server's workers then see the same paths.
        master: by default that of spark-submit, else local[*].
    """
    directories, catalog_path = (
        [Path(directory) for directory in directories],
        output_path(Path(catalog_path).expanduser()),
    )
    return Ingest(
        lambda run: ingest(
            run,
            directories,
            catalog_path,
            master if spark is None else spark,
            full=full,
            level=level if findings else None,
        )
    )


def ingest(
    run: Ingest,
    directories: Sequence[Path],
    catalog_path: Path,
    spark: "SparkSession | str | None",
    *,
    full: bool,
    level: CheckLevel | None,
) -> CatalogInfo:
    """All the steps of a run; the old catalog holds until the last of them.

    Args:
        spark: a session, or the master of one to start.
        level: how much of each batch the checks look at; None for no checks.
    """
    if not isinstance(spark, str | None):
        session.refuse_stopped(spark)
    brokers = [open_broker(directory) for directory in directories]
    refuse_inside(catalog_path, brokers)
    disk_inventory = inventory(brokers)
    with catalog_transaction(catalog_path) as transaction:
        old = None if full else transaction.old
        missing = missing_files(catalog_path, old) if old is not None else set()
        if old is not None and not missing and disk_inventory.is_in(old, level):
            run.finish("fresh", kept_segments=len(disk_inventory.segments))
            return old
        catalog_numbers = disk_inventory.catalog_numbers(
            old, missing, needs_sweep=level is not None
        )
        checks = (
            IngestChecks(disk_inventory, Catalog(catalog_path, old) if old else None, level)
            if level
            else None
        )
        segment_tasks, loads = (
            plan_segments(disk_inventory, catalog_numbers, checks),
            checks.loads() if checks else [],
        )
        staging = transaction.make_staging()
        summaries = {} if full else resume(transaction, segment_tasks, checks)
        segment_tasks = [task for task in segment_tasks if task.number not in summaries]
        if segment_tasks or loads:
            summaries |= read_segments(
                run, segment_tasks, loads, staging=staging, spark=spark, checks=checks
            )
        if checks:
            checks.add(
                {
                    number: summary.check_json
                    for number, summary in summaries.items()
                    if summary.check_json is not None
                }
            )
        run.enter("writing")
        stored_segments, statistics = collect_segments(
            transaction,
            disk_inventory,
            catalog_numbers,
            {
                number: summary
                for number, summary in summaries.items()
                if catalog_numbers[number] is None
            },
        )
        transaction.write(
            "segments",
            segments_table(disk_inventory.segments, statistics, settings(disk_inventory.brokers)),
        )
        transaction.write(
            "partitions",
            partitions_table(disk_inventory.partitions, disk_inventory.segments, statistics),
        )
        sources = (
            write_findings(transaction, disk_inventory, checks)
            if checks
            else disk_inventory.sources
        )
        info = transaction.commit(
            sources,
            stored_segments,
            [
                *disk_inventory.problems,
                *(problem for segment in stored_segments for problem in segment.problems),
            ],
        )
    run.finish(
        "done",
        len(segment_tasks),
        sum(task.log_bytes for task in segment_tasks),
        len(disk_inventory.segments) - len(segment_tasks),
    )
    return info


def refuse_inside(catalog_path: Path, brokers: Iterable[Broker]) -> None:
    """Refuses a catalog in an inspected directory, where nothing is ever written.

    Raises:
        CannotOpen: the catalog lies in one.
    """
    inspected = [
        path
        for broker in brokers
        for path in (broker.path, *(partition.path for partition in broker.partitions))
    ]
    for path in inspected:  # a partition directory may be a link to another disk
        if catalog_path.resolve().is_relative_to(path.resolve()):
            raise CannotOpen(
                catalog_path,
                message("errors.inside_inspected", path=path),
                message("errors.give_folder_elsewhere"),
            )


def plan_segments(
    disk_inventory: Inventory, catalog_numbers: Sequence[int | None], checks: IngestChecks | None
) -> list[SegmentTask]:
    """The segments that must be read, for their rows, their findings or both.

    Args:
        catalog_numbers: for each segment its number in the old catalog, or None.
        checks: None where no findings are asked for.
    """
    return [
        SegmentTask(
            number=number,
            broker=entry.broker,
            topic=entry.partition.topic,
            partition=entry.partition.partition,
            segment=entry.segment,
            facts=checks.facts(entry) if checks else None,
            skips_rows=catalog_numbers[number] is not None,
            needs_sweep=checks is not None,
        )
        for number, entry in enumerate(disk_inventory.segments)
        if catalog_numbers[number] is None or (checks and checks.must_read(entry))
    ]


def resume(
    transaction: CatalogTransaction,
    segment_tasks: Sequence[SegmentTask],
    checks: IngestChecks | None,
) -> dict[int, SegmentSummary]:
    """What runs that were killed have found in these segments, where it still holds.

    By the segment's number; their rows lie in the staging folder of this run.
    """
    by_number = merge_by_segment(
        summary
        for summaries in task_results.take_over(
            transaction.leftovers, segment_tasks, transaction.staging
        ).values()
        for summary in summaries
    )
    return {
        number: summary
        for number, summary in by_number.items()
        if summary and (checks is None or checks.is_still_valid(number, summary.check_json))
    }


def read_segments(
    run: Ingest,
    segment_tasks: Sequence[SegmentTask],
    loads: Sequence[LogLoad],
    *,
    staging: Path,
    spark: "SparkSession | str | None",
    checks: IngestChecks | None,
) -> dict[int, SegmentSummary]:
    """Reads the segments and loads the logs on Spark.

    What reading each segment gave, by its number.

    Its rows lie in the staging folder.

    A segment that was cut where no batch starts is read a second time, as a whole. One that was
    decoded in splits is put together of them.
    """
    runner = task_runner(spark, run.group)
    tasks = sort_by_cost([*plan(segment_tasks, runner.cores), *load_tasks(loads, runner.cores)])
    results = run_tasks(run, runner, tasks, staging)
    by_number = merge_by_segment(read_results(results, staging))
    unfinished = [task for task in segment_tasks if by_number.get(task.number) is None]
    if unfinished:
        decoded = decoded_by_segment(
            result for result in results if isinstance(result, DecodedSplit)
        )
        rest = run_tasks(run, runner, tasks_per_segment(unfinished, decoded), staging)
        by_number |= merge_by_segment(read_results(rest, staging))
    if checks:
        checks.add_loads(result for result in results if isinstance(result, LoadResult))
    return cast(dict[int, SegmentSummary], by_number)  # a whole one is


def read_results(results: Iterable["TaskResult"], staging: Path) -> Iterator[SplitSummary]:
    """The summaries in the files that tasks name."""
    for result in results:
        if isinstance(result, ResultFile):
            yield from task_results.read(staging, result)


def run_tasks(
    run: Ingest, runner: TaskRunner, tasks: Sequence[Task], staging: Path
) -> list["TaskResult"]:
    """What each task gives, in their order."""
    run.start_reading(runner, tasks)
    return runner.run(tasks, staging)


def decoded_by_segment(
    decoded_splits: Iterable[DecodedSplit],
) -> dict[int, tuple[DecodedSplit, ...]]:
    """The splits of each segment that was decoded, by its number; none of one with a fault."""
    by_number: dict[int, list[DecodedSplit]] = defaultdict(list)
    for decoded_split in decoded_splits:
        by_number[decoded_split.number].append(decoded_split)
    in_order = {
        number: tuple(sorted(ranges, key=lambda decoded_split: decoded_split.start))
        for number, ranges in by_number.items()
    }
    return {number: ranges for number, ranges in in_order.items() if is_whole(ranges)}


def merge_by_segment(summaries: Iterable[SplitSummary]) -> dict[int, SegmentSummary | None]:
    """What the splits of each segment say together, by the segment's number."""
    by_number: dict[int, list[SplitSummary]] = defaultdict(list)
    for summary in summaries:
        by_number[summary.number].append(summary)
    return {number: merge_splits(parts) for number, parts in by_number.items()}


def collect_segments(
    transaction: CatalogTransaction,
    disk_inventory: Inventory,
    catalog_numbers: Sequence[int | None],
    segment_summaries: dict[int, SegmentSummary],
) -> tuple[list[StoredSegment], list[SegmentStatistics]]:
    """Each segment and what reading it gave, in the inventory's order.

    Those just read, and those that the old catalog still has right.
    """
    stored_by_number = {
        number: new_stored_segment(disk_inventory.segments[number], summary)
        for number, summary in segment_summaries.items()
    }
    statistics = {
        number: statistics_of_read(disk_inventory.segments[number], summary)
        for number, summary in segment_summaries.items()
    }
    transaction.add(stored_by_number.values())
    reuse = {number: old for number, old in enumerate(catalog_numbers) if old is not None}
    if reuse:
        old, old_numbers = cast(CatalogInfo, transaction.old), list(reuse.values())
        reused_segments = transaction.keep([old.segments[number] for number in old_numbers])
        rows = Catalog(transaction.path, old).table("segments").take(old_numbers)
        statistics |= dict(zip(reuse, statistics_of_rows(rows, reused_segments), strict=True))
        stored_by_number |= {
            number: reused_stored_segment(disk_inventory.segments[number], segment)
            for number, segment in zip(reuse, reused_segments, strict=True)
        }
    return [stored_by_number[number] for number in sorted(stored_by_number)], [
        statistics[number] for number in sorted(statistics)
    ]


def new_stored_segment(entry: InventoryEntry, summary: SegmentSummary) -> StoredSegment:
    """How the catalog will name a segment that was just read."""
    unreadable = bool(summary.problems) and not is_readable(entry.segment)
    contents = {
        "first_batch": first_batch(summary),
        "codecs": codec_names(summary.content.codecs),
        "problems": summary.problems,
    }
    return replace(entry.stored, spans=summary.spans, unreadable=unreadable, **contents)


def reused_stored_segment(entry: InventoryEntry, segment: StoredSegment) -> StoredSegment:
    """How the catalog will name a segment whose rows it keeps: its .txnindex may have changed."""
    return replace(segment, files=entry.stored.files)


def settings(brokers: Iterable[tuple[str, Broker]]) -> dict[str, Settings]:
    """What each broker was run with, as far as its directory says, by its name."""
    return {name: open_settings(broker, assume_release(broker).release) for name, broker in brokers}


def write_findings(
    transaction: CatalogTransaction, disk_inventory: Inventory, checks: IngestChecks
) -> list[CatalogSource]:
    """Writes all that was found, and what the next run need not find again.

    The sources with what became of each.
    """
    healths = list(checks.healths())
    transaction.write("findings", findings_table(healths))
    transaction.write("restart_steps", steps_table(healths))
    transaction.write("retention", retention_table(healths))
    transaction.write("checked", checks.table())
    checks_by_broker = {name: source_check(health, checks.level) for name, health in healths}
    return [
        replace(source, checked=checks_by_broker[source.broker])
        for source in disk_inventory.sources
    ]
