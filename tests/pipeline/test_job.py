"""A run's steps: what it reads, what it keeps, and the catalog it leaves.

Tasks run in this process; test_task_runner.py uses Spark.
"""

import json
import os
import shutil
from pathlib import Path

import pytest

from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.jobs import JobCancelled
from kafkaviz.log import file
from kafkaviz.log.archives import archive
from kafkaviz.log.batch_starts import BatchStarts
from kafkaviz.log.broker import Problem, open_broker
from kafkaviz.messages import message
from kafkaviz.pipeline.catalog import catalog, catalog_info
from kafkaviz.pipeline.catalog.schema import ROW_TABLES, TABLES
from kafkaviz.pipeline.ingest import catalog_tables, check_reuse, job, merge_files
from kafkaviz.pipeline.ingest import plan as plan_module
from kafkaviz.pipeline.read import inventory
from tests.pipeline.catalog_rows import assert_catalog_holds, rows, stored_segments
from tests.pipeline.file_access import close_file, opened_files, touch
from tests.pipeline.small_logs import log_bytes, write_broker, write_segment


@pytest.mark.slow
def test_a_catalog_is_what_the_in_process_reader_says(clean, in_process, out):
    """Every table of a real broker, row by row; test_findings.py has others."""
    in_process(clean, catalog=out)
    assert_catalog_holds(out, clean)


def test_codecs_are_known_without_the_batches(some_partitions, in_process, out, monkeypatch):
    """Each segment has those of its rows of table batches, also if it was read in splits, or kept."""
    monkeypatch.setattr(plan_module, "MAX_BYTES", 100_000)
    monkeypatch.setattr(plan_module, "MIN_BYTES", 100_000)
    cuts, found = plan_module.cuts, []

    def note_cuts(segment, target_bytes):
        found.extend(cuts(segment, target_bytes))
        return cuts(segment, target_bytes)

    monkeypatch.setattr(plan_module, "cuts", note_cuts)
    in_process(some_partitions, catalog=out)
    assert len(found) > 8
    assert_catalog_holds(out, some_partitions)
    read = catalog.read(out)
    expected: dict[tuple, set[str]] = {}
    for row in read.table("batches").to_pylist():
        key = f"{row['topic']}-{row['partition']}", row["segment_base_offset"]
        expected.setdefault(key, set()).add(row["codec"])
    live = {
        (segment.directory, segment.base_offset): set(segment.codecs)
        for segment in stored_segments(out)
        if "batches" in segment.spans
    }
    assert live == {key: expected[key] for key in live}
    assert set.union(*live.values()) == {"none", "gzip", "snappy", "lz4", "zstd"} and len(live) > 15
    before = [segment.codecs for segment in stored_segments(out)]
    next(iter((out / "partitions").iterdir())).unlink()
    in_process(some_partitions, catalog=out)
    assert [segment.codecs for segment in stored_segments(out)] == before


def test_the_inspected_directory_stays_as_it_was(broker, in_process, out, fingerprint):
    before = fingerprint(broker)
    in_process(broker, catalog=out)
    touch(broker / "a-0" / f"{0:020d}.log")
    touched = fingerprint(broker)
    in_process(broker, catalog=out)
    assert fingerprint(broker) == touched
    assert {path: facts[3] for path, facts in touched.items()} == {
        path: facts[3] for path, facts in before.items()
    }


@pytest.mark.parametrize("level", [None, CheckLevel.RECORDS])
def test_an_unchanged_directory_is_not_read(
    broker, in_process, out, monkeypatch, fingerprint, level
):
    """The second run starts no Spark, opens no segment file, and changes only the lock."""
    findings = level is not None
    in_process(broker, catalog=out, findings=findings)
    before = fingerprint(out)
    monkeypatch.setattr(
        "kafkaviz.pipeline.spark.session.context", lambda master: pytest.fail("Spark was started")
    )
    monkeypatch.setattr(
        check_reuse, "plan_check", lambda broker: pytest.fail("a check was planned")
    )
    with opened_files(monkeypatch) as opened:
        run = in_process(broker, catalog=out, findings=findings)
    assert run.progress().state == "fresh" and opened == []
    assert (run.done.read_segments, run.done.kept_segments) == (0, 6)
    changed = {name for name, facts in fingerprint(out).items() if facts != before.get(name)}
    assert changed <= {"_catalog.lock"}
    assert inventory.is_fresh(catalog.read(out), [open_broker(broker)], level)


@pytest.mark.parametrize("kind", ["log", "index", "timeindex"])
def test_a_touched_segment_is_read_alone(broker, in_process, out, monkeypatch, kind):
    """Its neighbours' rows in the same Parquet files are kept without reading their logs."""
    in_process(broker, catalog=out)
    touch(broker / "a-0" / f"{10:020d}.{kind}")
    assert not inventory.is_fresh(catalog.read(out), [open_broker(broker)])
    with opened_files(monkeypatch) as opened:
        run = in_process(broker, catalog=out)
    assert sorted(opened) == [f"a-0/{10:020d}.{kind}" for kind in ("index", "log", "timeindex")]
    assert (run.done.read_segments, run.done.read_bytes, run.done.kept_segments) == (1, 720, 5)
    assert_catalog_holds(out, broker)


def test_full_reads_all_again(broker, in_process, out, monkeypatch):
    in_process(broker, catalog=out)
    with opened_files(monkeypatch) as opened:
        run = in_process(broker, catalog=out, full=True)
    assert len(opened) == 18 and run.done.read_segments == 6
    assert_catalog_holds(out, broker)


def test_a_segment_that_grew_is_read_again(broker, in_process, out):
    """And a new one is added: the one before it is no longer active, and has a reason for its roll."""
    in_process(broker, catalog=out)
    with open(broker / "a-0" / f"{22:020d}.log", "ab") as log:
        log.write(log_bytes([140], base_offset=36))
    write_segment(broker / "a-0", [150] * 3, base_offset=38)
    run = in_process(broker, catalog=out)
    assert run.done.read_segments == 2
    assert_catalog_holds(out, broker)
    states = [row["state"] for row in rows(out, "segments") if row["topic"] == "a"]
    assert states == ["closed", "closed", "closed", "active"]


def test_a_removed_partition_leaves_the_catalog(broker, in_process, out, monkeypatch):
    in_process(broker, catalog=out)
    shutil.rmtree(broker / "a-0")
    with opened_files(monkeypatch) as opened:
        run = in_process(broker, catalog=out)
    assert opened == [] and run.done.read_segments == 0 and run.progress().state == "done"
    assert_catalog_holds(out, broker)
    assert {row["topic"] for table in TABLES for row in rows(out, table)} == {"b"}


def test_an_empty_partition_appears_and_goes(broker, in_process, out):
    in_process(broker, catalog=out)
    (broker / "c-0").mkdir()
    in_process(broker, catalog=out)
    assert_catalog_holds(out, broker)
    (broker / "c-0").rmdir()
    in_process(broker, catalog=out)
    assert_catalog_holds(out, broker)


def test_a_txnindex_is_not_read(broker, in_process, out, monkeypatch):
    in_process(broker, catalog=out)
    (broker / "a-0" / f"{0:020d}.txnindex").write_bytes(bytes(34))
    with opened_files(monkeypatch) as opened:
        in_process(broker, catalog=out)
    assert opened == []
    assert_catalog_holds(out, broker)
    assert in_process(broker, catalog=out).progress().state == "fresh"


def test_a_renamed_suffix_is_another_segment(broker, in_process, out):
    """A segment marked as deleted keeps its counts and loses its rows."""
    in_process(broker, catalog=out)
    for path in sorted((broker / "b-1").glob(f"{0:020d}.*")):
        path.rename(path.with_name(f"{path.name}.deleted"))
    in_process(broker, catalog=out)
    assert_catalog_holds(out, broker)
    states = [row["state"] for row in rows(out, "segments") if row["topic"] == "b"]
    assert states == ["deleted", "closed", "active"]


def test_many_runs_keep_every_row(broker, in_process, out):
    in_process(broker, catalog=out)
    for base_offset in (0, 10, 22, 10, 0):
        touch(broker / "a-0" / f"{base_offset:020d}.log")
        in_process(broker, catalog=out)
        assert_catalog_holds(out, broker)


def test_the_catalog_holds_the_last_selection(broker, damaged, in_process, out):
    """Another directory, and then both: the rows of the one that stays are kept."""
    in_process(broker, catalog=out)
    in_process(damaged, catalog=out)
    assert_catalog_holds(out, damaged)
    run = in_process(broker, damaged, catalog=out)
    assert run.done.read_segments == 6
    assert_catalog_holds(out, broker, damaged)


def test_the_same_broker_elsewhere_is_read(broker, in_process, out, tmp_path):
    """Equal names, sizes and times elsewhere are not the same files."""
    in_process(broker, catalog=out)
    (tmp_path / "copy").mkdir()
    copy = shutil.copytree(broker, tmp_path / "copy" / "made")
    assert in_process(copy, catalog=out).done.read_segments == 6


def test_names_that_are_no_text(tmp_path, in_process, out):
    """Tables have U+FFFD for their bytes; no two are confused, and a second run recognises them."""
    odd = [os.fsdecode(name) for name in (b"caf\xe9-0", b"caf\xe8-0")]
    directory = write_broker(
        tmp_path / "made", {"a-0": [[100] * 5], "b-0": [[100] * 5, [120] * 6], "c-0": [[100] * 5]}
    )
    (directory / "b-0").rename(directory / odd[0])
    (directory / "c-0").rename(directory / odd[1])
    (directory / odd[0] / os.fsdecode(b"not\xe9")).touch()
    brokers = [
        shutil.copytree(directory, tmp_path / os.fsdecode(name)) for name in (b"br\xe9", b"br\xe8")
    ]
    in_process(*brokers, catalog=out, findings=True)
    read = catalog.read(out)
    assert {segment.directory for segment in stored_segments(out)} == {"a-0", *odd}
    assert read.info.rows["batches"] == 2 * (5 + 11 + 5)
    for table in ("partitions", "findings", "restart_steps", "retention"):
        assert {row["directory"] for row in rows(out, table)} - {None} == {"a-0", "caf\ufffd-0"}
    assert {
        row["topic"] for table in ("segments", "batches", "sweep") for row in rows(out, table)
    } == {"a", "caf\ufffd"}
    names = {source.broker for source in read.info.sources}
    assert {Path(name).name for name in names} == {"br\\udce9", "br\\udce8"}
    assert {row["broker"] for row in rows(out, "segments")} == names and all(
        read.health(name).findings for name in names
    )
    assert in_process(*brokers, catalog=out, findings=True).progress().state == "fresh"
    touch(brokers[0] / odd[1] / f"{0:020d}.log")
    assert in_process(*brokers, catalog=out, findings=True).done.read_segments == 1
    in_process(brokers[0], catalog=out, findings=True)
    assert {source.broker for source in catalog.read(out).info.sources} == {"br\ufffd"}


def test_an_archive_goes_by_its_name(in_process, out, tmp_path, clean):
    """The archive's name without its suffix is the broker's; a second run finds it unpacked."""
    sample = Path(__file__).parents[2] / "sample_data" / "kafka-4.3.1-damaged.tar.gz"
    in_process(sample, catalog=out)
    assert {row["broker"] for row in rows(out, "partitions")} == {"kafka-4.3.1-damaged"}
    assert_catalog_holds(out, archive.unpack_if_archive(sample))
    (source,) = catalog.read(out).info.sources
    assert (source.given, source.node_id) == (sample, "1")
    assert in_process(sample, catalog=out).progress().state == "fresh"


def test_a_partition_directory_can_be_given_alone(broker, in_process, out):
    in_process(broker / "a-0", catalog=out)
    assert {(row["broker"], row["directory"]) for row in rows(out, "partitions")} == {
        ("made", "a-0")
    }
    in_process(broker / "b-1", broker / "a-0", catalog=out)
    assert_catalog_holds(out, broker)


def test_a_directory_given_twice_counts_once(broker, in_process, out):
    (broker.parent / "link").symlink_to(broker)
    in_process(broker, broker.parent / "link", broker / ".." / "made", catalog=out)
    assert_catalog_holds(out, broker)


def test_a_wrong_cut_is_read_again_in_one_piece(broker, in_process, out, monkeypatch):
    """The planner cannot refute the index's entries, but the scan can."""
    monkeypatch.setattr(plan_module, "MAX_BYTES", 200)
    monkeypatch.setattr(plan_module, "MIN_BYTES", 200)
    monkeypatch.setattr(BatchStarts, "is_intact", lambda batch_starts, position: True)
    index = broker / "a-0" / f"{10:020d}.index"
    index.write_bytes(
        b"".join(
            (12 * n).to_bytes(4, "big") + (60 * n + 7).to_bytes(4, "big") for n in range(1, 10)
        )
    )
    jobs = []
    run_here = job.run_tasks

    def run_and_note(run, spark, tasks, staging):
        jobs.append(tasks)
        return run_here(run, spark, tasks, staging)

    monkeypatch.setattr(job, "run_tasks", run_and_note)
    in_process(broker, catalog=out)
    first, again, merges = ([task.unpack() for task in tasks] for tasks in jobs)
    assert len(first) > 6
    assert [task.splits[0].segment_task.segment.base_offset for task in again] == [10]
    assert {task.table for task in merges} == set(ROW_TABLES)
    assert_catalog_holds(out, broker)


def test_of_several_files_the_lost_ones_segments_are_read_again(
    broker, in_process, out, monkeypatch
):
    monkeypatch.setattr(merge_files, "LARGE_BYTES", 0)
    in_process(broker, catalog=out)
    before = set((out / "batches").iterdir())
    touch(broker / "a-0" / f"{10:020d}.log")
    touch(broker / "b-1" / f"{16:020d}.log")
    in_process(broker, catalog=out)
    span = next(
        segment.spans["batches"][0]
        for segment in stored_segments(out)
        if (segment.directory, segment.base_offset) == ("a-0", 10)
    )
    path = out / "batches" / span.file
    assert path not in before
    path.write_bytes(path.read_bytes()[:-9])
    run = in_process(broker, catalog=out)
    assert 1 <= run.done.read_segments <= 2 and run.done.kept_segments == 6 - run.done.read_segments
    assert_catalog_holds(out, broker)


def spoil_format(path: Path) -> None:
    older = {"format": min(catalog_info.READ_FORMATS) - 1}
    path.write_text(json.dumps(json.loads(path.read_text()) | older))


def spoil_kind(path: Path) -> None:
    path.unlink()
    (path / "deep").mkdir(parents=True)


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize(
    "spoil", [spoil_kind, spoil_format, lambda path: path.write_text("[" * 100_000)]
)
def test_an_unreadable_description_is_replaced(broker, in_process, out, spoil, full):
    in_process(broker, catalog=out)
    spoil(out / "_catalog.json")
    assert in_process(broker, catalog=out, full=full).done.read_segments == 6
    assert_catalog_holds(out, broker)


def test_what_cannot_be_read_is_a_problem_and_a_row(broker, in_process, out, monkeypatch):
    """Its neighbours have their rows; it is read once it can be, though its stamp is the same."""
    closed = broker / "a-0" / f"{10:020d}.log"
    readable = close_file(closed, monkeypatch)
    in_process(broker, catalog=out)
    assert catalog.read(out).info.problems == (Problem(closed, message("errors.may_not_be_read")),)
    (row,) = [
        row for row in rows(out, "segments") if (row["topic"], row["base_offset"]) == ("a", 10)
    ]
    known = {"log_bytes": 720, "batches": None, "valid_bytes": None, "offset_entries": 5}
    assert {name: row[name] for name in known} == known
    assert len(rows(out, "batches")) == 5 + 7 + 8 + 9 + 4
    assert in_process(broker, catalog=out).progress().state == "fresh"
    readable["now"] = True
    assert in_process(broker, catalog=out).done.read_segments == 1
    assert catalog.read(out).info.problems == ()
    assert_catalog_holds(out, broker)


def test_a_partition_that_cannot_be_listed_is_a_problem(broker, in_process, out, monkeypatch):
    list_files = file.list_files

    def failing(path: Path):
        if path.name == "a-0":
            raise CannotOpen(path, message("errors.may_not_be_read"), kind="permission")
        return list_files(path)

    monkeypatch.setattr(file, "list_files", failing)
    in_process(broker, catalog=out)
    (problem,) = catalog.read(out).info.problems
    assert problem.path == broker / "a-0"
    assert {row["topic"] for row in rows(out, "segments")} == {"b"}


@pytest.mark.parametrize("inside", ["", "catalog", "a-0/catalog", "../made/x"])
def test_a_catalog_inside_an_inspected_directory_is_refused(
    broker, in_process, inside, fingerprint
):
    before = fingerprint(broker)
    with pytest.raises(CannotOpen, match="only read"):
        in_process(broker, catalog=broker / inside)
    assert fingerprint(broker) == before


def test_a_path_that_is_not_a_directory_is_one_line(tmp_path, in_process, out):
    run = job.start_ingest([tmp_path / "nowhere"], out)
    with pytest.raises(KafkavizError, match="nowhere"):
        run.wait()
    assert run.progress().state == "failed" and "nowhere" in str(run.progress().error)
    assert not out.exists()


def test_a_failed_run_leaves_the_catalog(broker, in_process, out, monkeypatch, fingerprint):
    in_process(broker, catalog=out)
    before = fingerprint(out)
    touch(broker / "a-0" / f"{0:020d}.log")

    def fails(*arguments: object) -> None:
        raise RuntimeError("Traceback\n  somewhere\nValueError: no good\n")

    monkeypatch.setattr(catalog_tables, "partition_row", fails)
    with pytest.raises(job.IngestError, match=r"the run ended early: ValueError: no good$"):
        in_process(broker, catalog=out)
    after = fingerprint(out)
    assert {name: after[name][3] for name in after} == {name: before[name][3] for name in before}


def test_the_description_is_json_that_says_what_was_read(broker, in_process, out):
    in_process(broker, catalog=out)
    document = json.loads((out / "_catalog.json").read_text())
    assert document["format"] == catalog_info.FORMAT
    assert document["kafkaviz"] == catalog_info.version()
    (source,) = document["sources"]
    facts = {"broker": "made", "path": str(broker), "node_id": "7", "cluster_id": "made"}
    assert {name: source[name] for name in facts} == facts
    log = (broker / "a-0" / f"{10:020d}.log").stat()
    stamps = {path: stamp for row in stored_segments(out) for path, stamp in row.files.items()}
    assert stamps[f"a-0/{10:020d}.log"] == (log.st_size, log.st_mtime_ns) and len(stamps) == 18
    assert source["files"]["meta.properties"][0] == (broker / "meta.properties").stat().st_size
    assert {table: facts["rows"] for table, facts in document["tables"].items()} == {
        table: len(rows(out, table)) for table in TABLES
    }


def test_a_catalog_inside_a_linked_partition_is_refused(broker, in_process, tmp_path):
    """A partition directory may be a link to another disk, whose target is inspected too."""
    elsewhere = tmp_path / "disk" / "b-0"
    elsewhere.mkdir(parents=True)
    (broker / "b-0").symlink_to(elsewhere)
    with pytest.raises(CannotOpen, match="only read"):
        in_process(broker, catalog=elsewhere / "catalog")
    assert not list(elsewhere.iterdir())


def test_a_run_that_waits_is_cancelled_before_it_has_done_anything(broker, out, monkeypatch):
    """A reader may press Cancel while the page is still drawn."""
    begun = []
    monkeypatch.setattr(job, "ingest", lambda run, *_, **__: begun.append(run))
    run = job.start_ingest([broker], out, delay_s=60.0)
    assert run.state == "starting" and not run.is_over
    run.cancel()
    run.settle()
    with pytest.raises(JobCancelled):
        run.wait()
    assert not begun and not out.exists()


def test_a_run_that_has_waited_continues(broker, out, in_process):
    run = job.start_ingest([broker], out, delay_s=0.01)
    assert run.wait() is not None and run.state == "done"
