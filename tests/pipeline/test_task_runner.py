"""Tasks of an ingest in Spark's workers, and the resulting catalog.

One session serves all of these; the slow ones start others, and some need none.
"""

import json
import pickle
import time
from dataclasses import replace
from pathlib import Path

import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from kafkaviz.format import names
from kafkaviz.log.archives.archive import unpack_if_archive
from kafkaviz.log.broker import open_broker
from kafkaviz.log.file import info
from kafkaviz.pipeline.catalog import catalog
from kafkaviz.pipeline.catalog.schema import CHECK_TABLES, OWN_TABLES, ROW_TABLES, TABLES
from kafkaviz.pipeline.ingest import job, task_results
from kafkaviz.pipeline.ingest import plan as plan_module
from kafkaviz.pipeline.ingest.commit import CatalogTransaction
from kafkaviz.pipeline.ingest.merge_files import MergeTask
from kafkaviz.pipeline.ingest.plan import pack, tasks_per_segment
from kafkaviz.pipeline.ingest.segment_splits import IngestTask
from kafkaviz.pipeline.ingest.task_runner import task_runner
from kafkaviz.pipeline.read.tasks import SegmentTask
from tests.pipeline.catalog_rows import (
    assert_catalog_holds,
    in_order,
    rows,
    stored_segments,
    without_checked,
)
from tests.pipeline.killer_segment import DiesOnce
from tests.pipeline.plain_rows import tables
from tests.pipeline.segment_tasks import empty_task, segment_tasks_of
from tests.pipeline.small_logs import write_broker

KINDS = {
    "log": ("batches", "position"),
    "index": ("offset_entries", "slot"),
    "timeindex": ("time_entries", "slot"),
}


@pytest.fixture
def tiny_tasks(monkeypatch) -> None:
    monkeypatch.setattr(plan_module, "MIN_BYTES", 1)
    monkeypatch.setattr(plan_module, "MAX_BYTES", 1)
    monkeypatch.setattr(plan_module, "cuts", lambda segment, target_bytes: [])


def content_of(folder: Path) -> dict[str, bytes]:
    paths = [
        path
        for path in folder.rglob("*")
        if path.is_file() and path.name != "_catalog.lock" and ".staging" not in str(path)
    ]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def test_the_folders_of_tables_are_ordinary_parquet(spark, in_process, tmp_path):
    """Links of one catalog or of several have the rows, also after the next run."""
    one = write_broker(tmp_path / "made" / "one", {"a-0": [[100] * 5]})
    two = write_broker(tmp_path / "made" / "two", {"b-0": [[100] * 7]})
    in_process(one, catalog=tmp_path / "one")
    in_process(two, catalog=tmp_path / "two")
    in_process(one, two, catalog=tmp_path / "two")
    assert spark.read.parquet(str(tmp_path / "one" / "batches")).count() == 5
    assert spark.read.parquet(f"{tmp_path}/one/batches/*.parquet").count() == 5
    assert spark.read.parquet(f"{tmp_path}/*/batches").count() == 5 + 12
    assert ds.dataset(tmp_path / "two" / "batches").count_rows() == 12


def test_counts_are_those_of_kafkas_own_dumps(clean, damaged, data, in_process, out):
    """Batches, records, offsets and entries of every log, by kafka-dump-log 4.3.1."""
    in_process(clean, damaged, catalog=out)
    expected = json.loads((data / "dump_counts.json").read_text())
    assert_counts(out, expected, {"kafka-4.3.1-clean", "kafka-4.3.1-damaged"})


@pytest.mark.nightly
def test_eight_brokers_are_what_kafka_and_the_in_process_reader_say(shared, data, on_spark, out):
    """2.8.2 to 4.3.1, clean, killed, restarted, damaged: row by row against the reader, by counts
    against Kafka's dumps.
    """
    expected = json.loads((data / "dump_counts.json").read_text())
    archives = [shared / "data" / f"{name}.tar.gz" for name in expected["brokers"]]
    on_spark(*archives, catalog=out)
    assert_counts(out, expected, set(expected["brokers"]))
    twins = [
        tables(open_broker(archive), archive.name.removesuffix(".tar.gz")) for archive in archives
    ]
    for table in [table_ for table_ in TABLES if table_ not in (*CHECK_TABLES, *OWN_TABLES)]:
        plain_rows = in_order([row for twin in twins for row in twin[table]])
        assert without_checked(rows(out, table)) == without_checked(plain_rows)


def assert_counts(out: Path, expected: dict, brokers: set[str]) -> None:
    """Compares the catalog's segments with counts of Kafka's dumps.

    A dump that failed, or an unwritten slot, is not compared.
    """
    read = catalog.read(out)
    directories = {
        (row["broker"], row["directory"]): row for row in read.table("partitions").to_pylist()
    }
    segments = dict(
        zip(
            (segment.key for segment in stored_segments(out)),
            read.table("segments").to_pylist(),
            strict=True,
        )
    )
    compared = 0
    for broker in brokers:
        unsaid = {*expected["died"][broker], *expected["unwritten"][broker]}
        for file, counts in expected["brokers"][broker].items():
            directory, name = file.split("/")
            parsed = names.parse_file(name)
            if file in unsaid or counts is None or (broker, directory) not in directories:
                continue
            row = segments[broker, directory, parsed.base_offset, ""]
            ingested, dumped = (
                row_counts(row, parsed.kind),
                of_dump(counts) if parsed.kind == "log" else counts,
            )
            # a dump does not tell what old wrappers hold
            if parsed.kind == "log" and counts["batches"]:
                ingested |= {
                    name: None for name in ("records", "first_offset") if dumped[name] is None
                }
            assert ingested == dumped, file
            compared += 1
    assert compared > 100 * len(brokers)


def row_counts(row: dict, kind: str) -> dict | int:
    if kind != "log":
        return row["offset_entries" if kind == "index" else "time_entries"]
    return {
        name: row[name]
        for name in ("batches", "records", "first_offset", "last_offset", "valid_bytes")
    }


def of_dump(counts: dict) -> dict:
    end = {"first_offset": counts["first_base_offset"], "valid_bytes": counts["end_position"]}
    return {**{name: counts[name] for name in ("batches", "records", "last_offset")}, **end}


def test_a_long_plan_reaches_the_workers(spark, tmp_path):
    """Eight thousand segments without files, in eight tasks, in order."""
    splits = list(tasks_per_segment([empty_task(number) for number in range(8_000)]))
    tasks = [
        IngestTask(tuple(split.splits[0] for split in splits[number::8]), plan_module.MIN_BYTES)
        for number in range(8)
    ]
    results = task_runner(spark, "a run").run(list(map(pack, tasks)), tmp_path)
    summaries = [summary for result in results for summary in task_results.read(tmp_path, result)]
    expected = [number for first in range(8) for number in range(first, 8_000, 8)]
    assert [summary.number for summary in summaries] == expected


def test_a_wrong_cut_is_read_again(tmp_path, on_spark, out, monkeypatch):
    """A second job reads that segment in one piece, without its splits' files. A third puts
    together those of each of three tables.
    """
    broker = write_broker(tmp_path / "made", {"a-0": [[100] * 90], "b-0": [[100] * 90]})
    monkeypatch.setattr(
        plan_module,
        "cuts",
        lambda segment, target_bytes: [4050 if "a-0" in str(segment.log.path) else 4000],
    )
    run = on_spark(broker, catalog=out)
    assert run.progress().total_tasks == 4 + 1 + len(ROW_TABLES)
    assert_catalog_holds(out, broker)


def test_a_cancelled_run_leaves_the_catalog(tmp_path, on_spark, out, tiny_tasks):
    """It ends within about a second, in the middle of its tasks; the session serves the next run."""
    broker = write_broker(tmp_path / "made", {"a-0": [[100] * 3] * 400})
    small = write_broker(tmp_path / "small", {"a-0": [[100] * 3]})
    on_spark(small, catalog=out)
    before = content_of(out)
    run = job.start_ingest([broker], out, "local[2]")
    while run.progress().done_tasks < 3:
        assert run.wait(0.05) is None
    progress = run.progress()
    assert (
        progress.state == "reading"
        and 0 < progress.done_bytes < progress.total_bytes
        and progress.bytes_per_s > 0
    )
    start = time.monotonic()
    run.cancel()
    with pytest.raises(job.JobCancelled):
        run.wait()
    assert time.monotonic() - start < 2
    assert run.progress().state == "cancelled"
    assert content_of(out) == before
    assert on_spark(small, catalog=out).progress().state == "fresh"
    assert content_of(out) == before


def test_cancelled_before_its_first_task(tmp_path, on_spark, out, tiny_tasks):
    broker = write_broker(tmp_path / "made", {"a-0": [[100] * 3] * 40})
    for wait_s in (0.0, 0.1):
        run = job.start_ingest([broker], out, "local[2]")
        assert run.wait(wait_s) is None
        run.cancel()
        with pytest.raises(job.JobCancelled):
            run.wait()
    assert content_of(out) == {}
    on_spark(broker, catalog=out)
    assert_catalog_holds(out, broker)


@pytest.mark.slow
def test_a_worker_that_dies_does_not_double_rows(tmp_path, on_spark, out, monkeypatch):
    """Its task is tried again; what the first attempt had written is not in the catalog."""
    broker = write_broker(tmp_path / "made", {"a-0": [[61] * 70_000, [100] * 3]})
    plan, marker = job.plan, tmp_path / "died"

    def dying(segment_tasks: list[SegmentTask], cores: int) -> list[IngestTask]:
        (task,) = plan(segment_tasks, cores)
        last = task.splits[-1]
        segment = DiesOnce(**vars(last.segment_task.segment), marker=marker)
        return [
            replace(
                task,
                splits=(
                    *task.splits[:-1],
                    replace(last, segment_task=replace(last.segment_task, segment=segment)),
                ),
            )
        ]

    monkeypatch.setattr(job, "plan", dying)
    staged: list[Path] = []
    lay_out = CatalogTransaction.lay_out

    def looking(place: CatalogTransaction) -> list[MergeTask]:
        staged.extend((place.staging / "batches").iterdir())
        return lay_out(place)

    monkeypatch.setattr(CatalogTransaction, "lay_out", looking)
    on_spark(broker, catalog=out, master="local[2,3]")
    assert marker.exists() and len(staged) == 2
    keys = catalog.read(out).table("batches", columns=["segment_base_offset", "position"])
    assert keys.num_rows == len({*zip(*keys.to_pydict().values(), strict=True)}) == 70_003
    assert sum(pq.read_metadata(path).num_rows for path in (out / "batches").iterdir()) == 70_003


@pytest.mark.nightly
def test_a_worker_that_dies_again_and_again_ends_the_run(tmp_path, on_spark, out, monkeypatch):
    """local[2] does not try twice: the run fails in one line, and leaves the catalog."""
    broker = write_broker(tmp_path / "made", {"a-0": [[100] * 3]})
    on_spark(broker, catalog=out)
    before = content_of(out)
    log = broker / "a-0" / f"{0:020d}.log"
    dying = DiesOnce(
        base_offset=0, state="active", log=info(log), marker=tmp_path / "no" / "such" / "folder"
    )
    monkeypatch.setattr(
        job,
        "plan",
        lambda segment_tasks, cores: tasks_per_segment(
            [SegmentTask(number=0, broker="b", topic="t", partition=0, segment=dying)]
        ),
    )
    with pytest.raises(job.IngestError, match="the run ended early: ") as raised:
        on_spark(broker, catalog=out, full=True)
    assert "\n" not in str(raised.value)
    assert content_of(out) == before


def test_tasks_pickle_without_what_was_read(clean):
    """A worker gets names and stamps, not arrays."""
    segment_tasks = segment_tasks_of(clean)
    tasks = plan_module.plan(segment_tasks, 2)
    assert len(pickle.dumps(list(tasks))) < 1000 * len(segment_tasks)


@pytest.mark.nightly
@pytest.mark.parametrize("master", ["local[1]", "local[*]"])
def test_the_number_of_cores_changes_no_row(master, clean, on_spark, out):
    on_spark(clean, catalog=out, master=master)
    assert_catalog_holds(out, clean)
    assert unpack_if_archive(clean) == clean


def test_small_tasks_share_a_worker(some_partitions, spark, on_spark, out):
    run = on_spark(some_partitions, catalog=out, findings=True)
    tracker = spark.sparkContext.statusTracker()
    jobs = map(tracker.getJobInfo, tracker.getJobIdsForGroup(run.group))
    stages = [tracker.getStageInfo(stage) for job in jobs for stage in job.stageIds]
    assert (run.progress().total_tasks, [stage.numTasks for stage in stages]) == (2, [1])
