"""The ingest: broker directories in, a catalog out."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from kafkaviz.analyse.infer.version import assumed_version
from kafkaviz.errors import CannotOpen
from kafkaviz.log.broker import Broker, open_broker
from kafkaviz.log.settings import Settings, open_settings
from kafkaviz.pipeline import session, work
from kafkaviz.pipeline.catalog import Catalog, lost
from kafkaviz.pipeline.catalog_info import CatalogInfo, Source, StoredSegment
from kafkaviz.pipeline.checking import Checking, Load, Loaded
from kafkaviz.pipeline.commit import Workplace, workplace
from kafkaviz.pipeline.findings import findings_table, retention_table, steps_table, verdict
from kafkaviz.pipeline.inventory import Found, Inventory, inventory, is_readable
from kafkaviz.pipeline.plan import LoadTask, Task, Wanted, in_one_piece, load_tasks, plan
from kafkaviz.pipeline.rows import codec_names
from kafkaviz.pipeline.run import Cancelled, Done, Failed, Ingest, Progress
from kafkaviz.pipeline.summary import SegmentRead, Summary, whole
from kafkaviz.pipeline.transform import (
    Facts,
    facts_of_read,
    facts_of_rows,
    first_batch,
    partitions_table,
    segments_table,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Cancelled", "Done", "Failed", "Ingest", "Progress", "ingest", "start_ingest"]


def start_ingest(
    directories: Iterable[Path | str],
    catalog_path: Path | str,
    master: str | None = None,
    full: bool = False,
    findings: bool = True,
    *,
    spark: "SparkSession | None" = None,
) -> Ingest:
    """Starts a run in the background and comes back at once; Ingest.wait raises whatever goes
    wrong.

    directories: broker directories or archives of them; the catalog will hold these and no others.
    full: reads all of them again, not only what has changed since the last run. findings: checks
    them too, and foretells each broker's next start. spark: the session to run on; without it the
    one that runs in this process, else one that is started for `master`: None for that of
    spark-submit, else local[*]. A session that kafkaviz did not start is used as it is, and stays.
    One of Spark Connect will not do.
    """
    directories, catalog_path = (
        [Path(one) for one in directories],
        Path(catalog_path).expanduser().absolute(),
    )
    return Ingest(
        lambda run: ingest(
            run, directories, catalog_path, master if spark is None else spark, full, findings
        )
    )


def ingest(
    run: Ingest,
    directories: Sequence[Path],
    catalog_path: Path,
    spark: "SparkSession | str | None",
    full: bool,
    findings: bool,
) -> CatalogInfo:
    """All the steps of a run; the old catalog holds until the last of them. spark: a session, or
    the master of one to start.
    """
    if not isinstance(spark, str | None):
        session.refuse_unusable(spark)
    brokers = [open_broker(directory) for directory in directories]
    refuse_inside(catalog_path, brokers)
    found = inventory(brokers)
    with workplace(catalog_path) as place:
        old = None if full else place.old
        gone = lost(catalog_path, old) if old is not None else set()
        if old is not None and not gone and found.is_in(old, findings):
            run.ends("fresh", kept_segments=len(found.segments))
            return old
        known = found.known(old, gone, swept=findings)
        checking = (
            Checking(found, Catalog(catalog_path, old) if old else None) if findings else None
        )
        wanted, loads = to_read(found, known, checking), checking.loads() if checking else []
        staging = place.make_staging()
        reads = read(run, wanted, loads, staging, spark, checking) if wanted or loads else {}
        run.enter("writing")
        stored, facts = put_together(place, found, known, reads)
        place.write("segments", segments_table(found.segments, facts, settings(found.brokers)))
        place.write("partitions", partitions_table(found.partitions, found.segments, facts))
        sources = write_findings(place, found, checking) if checking else found.sources
        info = place.commit(
            sources,
            stored,
            [*found.problems, *(problem for one in stored for problem in one.problems)],
        )
    run.ends(
        "done", len(wanted), sum(one.log_bytes for one in wanted), len(found.segments) - len(wanted)
    )
    return info


def refuse_inside(catalog_path: Path, brokers: Iterable[Broker]) -> None:
    """Raises CannotOpen for a catalog in an inspected directory: nothing is ever written there."""
    inspected = [
        path
        for broker in brokers
        for path in (broker.path, *(partition.path for partition in broker.partitions))
    ]
    for path in inspected:  # a partition directory may be a link to another disk
        if catalog_path.resolve().is_relative_to(path.resolve()):
            raise CannotOpen(
                catalog_path, f"lies inside {path}, which is only read", "give a folder elsewhere"
            )


def to_read(
    found: Inventory, known: Sequence[int | None], checking: Checking | None
) -> list[Wanted]:
    """The segments that must be read, for their rows, their findings or both.

    known: for each segment its number in the old catalog, or None. checking: None where no findings
    are asked for.
    """
    return [
        Wanted(
            number,
            one.broker,
            one.partition.topic,
            one.partition.partition,
            one.segment,
            checking.facts(one) if checking else None,
            only_checked=known[number] is not None,
            swept=checking is not None,
        )
        for number, one in enumerate(found.segments)
        if known[number] is None or (checking and checking.lacks(one))
    ]


def read(
    run: Ingest,
    wanted: Sequence[Wanted],
    loads: Sequence[Load],
    staging: Path,
    spark: "SparkSession | str | None",
    checking: Checking | None,
) -> dict[int, SegmentRead]:
    """Reads the segments and loads the logs on Spark: what each segment told, by its number.

    Its rows lie in the staging folder.

    A segment that was cut where no batch starts is read a second time, in one piece.
    """
    if isinstance(spark, str | None):
        spark = session.session(spark)
    cores = spark.sparkContext.defaultParallelism
    told = run_tasks(run, spark, [*plan(wanted, cores), *load_tasks(loads, cores)], staging)
    tried = whole_segments(one for one in told if isinstance(one, Summary))
    again = [one for one in wanted if tried[one.number] is None]
    if again:
        summaries = cast(list[Summary], run_tasks(run, spark, in_one_piece(again), staging))
        tried |= whole_segments(summaries)
    reads = cast(dict[int, SegmentRead], tried)  # one piece is whole
    if checking:
        checking.add_loads(one for one in told if isinstance(one, Loaded))
        checking.add(
            {number: one.checked for number, one in reads.items() if one.checked is not None}
        )
    return {one.number: reads[one.number] for one in wanted if not one.only_checked}


def run_tasks(
    run: Ingest, spark: "SparkSession", tasks: Sequence[Task | LoadTask], staging: Path
) -> list[Summary | Loaded]:
    """One Spark job."""
    run.reads(spark, tasks)
    return work.done(spark, tasks, staging)


def whole_segments(summaries: Iterable[Summary]) -> dict[int, SegmentRead | None]:
    """What the stretches of each segment tell together, by the segment's number."""
    by_number: dict[int, list[Summary]] = defaultdict(list)
    for summary in summaries:
        by_number[summary.number].append(summary)
    return {number: whole(parts) for number, parts in by_number.items()}


def put_together(
    place: Workplace, found: Inventory, known: Sequence[int | None], reads: dict[int, SegmentRead]
) -> tuple[list[StoredSegment], list[Facts]]:
    """Each segment and what it told, in the inventory's order: those just read, and those that the
    old catalog still has right.
    """
    stored = {number: stored_read(found.segments[number], read) for number, read in reads.items()}
    facts = {number: facts_of_read(found.segments[number], read) for number, read in reads.items()}
    place.add(stored.values())
    held = {number: old for number, old in enumerate(known) if old is not None}
    if held:
        old, old_numbers = cast(CatalogInfo, place.old), list(held.values())
        kept = place.keep([old.segments[number] for number in old_numbers])
        rows = Catalog(place.path, old).table("segments").take(old_numbers)
        facts |= dict(zip(held, facts_of_rows(rows, kept), strict=True))
        stored |= {
            number: stored_again(found.segments[number], one)
            for number, one in zip(held, kept, strict=True)
        }
    return [stored[number] for number in sorted(stored)], [
        facts[number] for number in sorted(facts)
    ]


def stored_read(found: Found, read: SegmentRead) -> StoredSegment:
    """How the catalog will name a segment that was just read."""
    unreadable = bool(read.problems) and not is_readable(found.segment)
    told = {
        "first_batch": first_batch(read),
        "codecs": codec_names(read.content.codecs),
        "problems": read.problems,
    }
    return replace(found.stored, spans=read.spans, unreadable=unreadable, **told)


def stored_again(found: Found, kept: StoredSegment) -> StoredSegment:
    """How the catalog will name a segment whose rows it keeps: its .txnindex may have changed."""
    return replace(kept, files=found.stored.files)


def settings(brokers: Iterable[tuple[str, Broker]]) -> dict[str, Settings]:
    """What each broker was run with, as far as its directory tells, by its name."""
    return {
        name: open_settings(broker, assumed_version(broker).version) for name, broker in brokers
    }


def write_findings(place: Workplace, found: Inventory, checking: Checking) -> list[Source]:
    """Writes all that was found, and what the next run need not find again; the sources with what
    became of each.
    """
    healths = list(checking.healths())
    place.write("findings", findings_table(healths))
    place.write("restart_steps", steps_table(healths))
    place.write("retention", retention_table(healths))
    place.write("checked", checking.table())
    verdicts = {name: verdict(health) for name, health in healths}
    return [replace(source, checked=verdicts[source.broker]) for source in found.sources]
