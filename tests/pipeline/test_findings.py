"""Findings read from a catalog equal those of a check in this process."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafkaviz.analysis import broker_health
from kafkaviz.analysis import findings as finding_table
from kafkaviz.analysis.checks import segment as checks
from kafkaviz.analysis.findings import Evidence, Finding
from kafkaviz.analysis.retention import RetentionLimits, with_limits
from kafkaviz.analysis.serialization import to_plain
from kafkaviz.errors import CannotOpen
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.log import file
from kafkaviz.log.broker import CLEAN_SHUTDOWN, open_broker
from kafkaviz.log.partition import log_end_offset
from kafkaviz.messages import message, verbatim
from kafkaviz.pipeline.catalog import catalog, findings
from kafkaviz.pipeline.catalog.schema import CHECK_TABLES, RESTART_STEPS, TABLES
from kafkaviz.pipeline.ingest import job
from kafkaviz.pipeline.ingest import plan as plan_module
from kafkaviz.pipeline.read import inventory
from kafkaviz.simulate.steps import StartupStep
from tests.pipeline.catalog_rows import assert_catalog_holds, rows
from tests.pipeline.file_access import close_file, opened_files, touch
from tests.pipeline.small_logs import log_bytes, write_segment
from tests.support.ingest import ingest_in_process


@pytest.fixture
def broker(broker) -> Path:
    """Returns the room's broker directory, stopped cleanly."""
    (broker / CLEAN_SHUTDOWN).touch()
    return broker


@pytest.fixture(scope="module")
def killed_catalog(killed, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("findings") / "catalog"
    ingest_in_process(killed, catalog=out)
    return out


@pytest.fixture
def copied(killed, tmp_path) -> Path:
    return shutil.copytree(killed, tmp_path / "killed")


def assert_health(out: Path, *directories: Path) -> None:
    """Asserts that the catalog and its tables hold exactly what a check of each directory says."""
    read, rows = catalog.read(out), {"findings": 0, "restart_steps": 0, "retention": 0}
    for directory in directories:
        broker = open_broker(directory)
        stored, expected = read.health(read_name(read, directory)), broker_health.check(broker)
        assert stored.findings == expected.findings
        assert stored.restart == expected.restart
        assert stored.retention == expected.retention
        for log, expected_log in zip(stored.retention, expected.retention, strict=True):
            assert with_limits(log, log.limits) == with_limits(expected_log, expected_log.limits)
        assert broker_health.Health(broker=broker, **stored._asdict()) == expected
        rows["findings"] += len(expected.findings)
        rows["restart_steps"] += len(expected.restart.steps) if expected.restart else 0
        rows["retention"] += sum(len(log.segments) for log in expected.retention)
    assert {table: read.info.rows[table] for table in rows} == rows


def read_name(read: catalog.Catalog, directory: Path) -> str:
    return next(
        source.broker
        for source in read.info.sources
        if directory.resolve() in (source.path, source.given.resolve())
    )


@pytest.mark.parametrize(
    "sample",
    [*(pytest.param(name, marks=pytest.mark.nightly) for name in ("clean", "killed")), "damaged"],
)
def test_findings_are_those_of_a_check_in_process(sample, request, in_process, out):
    directory = request.getfixturevalue(sample)
    in_process(directory, catalog=out, findings=True)
    assert_health(out, directory)
    assert_catalog_holds(out, directory)
    assert len(catalog.read(out).health(directory.name).findings) > 5


def test_findings_on_spark_are_the_same(
    some_partitions, killed, damaged, on_spark, out, fingerprint
):
    """Three brokers in one catalog, also every row; the directories are unchanged."""
    brokers = (some_partitions, killed, damaged)
    before = [fingerprint(directory) for directory in brokers]
    run = on_spark(*brokers, catalog=out, findings=True)
    assert_health(out, *brokers)
    assert_catalog_holds(out, *brokers)
    assert [fingerprint(directory) for directory in brokers] == before
    progress = run.progress()
    assert (progress.state, progress.done_tasks, progress.done_bytes) == (
        "done",
        progress.total_tasks,
        run.done.read_bytes,
    )
    assert on_spark(*brokers, catalog=out, findings=True).progress().state == "fresh"


@pytest.mark.nightly
def test_findings_of_thirteen_brokers_are_the_same(shared, on_spark, out):
    """2.8.2 to 4.4.0, clean, killed, restarted, damaged. test_log_directories.py has the broker
    with several log directories.
    """
    archives = sorted((shared / "data").glob("kafka-*.tar.gz"))
    archives = [
        archive
        for archive in archives
        if not archive.name.endswith(".expected.tar.gz") and "-jbod-" not in archive.name
    ]
    assert len(archives) == 13
    on_spark(*archives, catalog=out, findings=True)
    assert_health(out, *archives)


def test_the_columns_are_those_that_are_promised(killed, killed_catalog):
    """Readers of the tables without kafkaviz find a finding by topic, partition, file and bytes."""
    expected, read = broker_health.check(killed), catalog.read(killed_catalog)
    names = ("code", "severity", "file", "position", "length")
    for row, finding in zip(read.table("findings").to_pylist(), expected.findings, strict=True):
        assert {name: row[name] for name in names} == {
            name: getattr(finding, name) for name in names
        }
        assert row["evidence"] == finding.evidence.text and row["directory"] == finding.partition
        assert (f"{row['topic']}-{row['partition']}" if row["topic"] else None) == finding.partition
        assert row["broker"] == killed.name
    columns = ("directory", "segment_base_offset", "action", "from_position", "bytes")
    steps = read.table("restart_steps").to_pylist()
    assert [tuple(row[name] for name in columns) for row in steps] == [
        (step.partition, step.segment, step.action, step.from_position, step.size_bytes)
        for step in expected.restart.steps
    ]
    (source,) = read.info.sources
    assert vars(source.checked) == {
        "assumed_release": expected.assumed_release,
        "clean": False,
        "starts": expected.restart.starts,
        "level": CheckLevel.RECORDS,
    }


def test_a_touched_segment_is_read_alone(broker, in_process, out, monkeypatch):
    """The findings are those of a full check.

    Of the others at most the partition's active .log is opened, because a start reads its end.
    """
    in_process(broker, catalog=out, findings=True)
    touch(broker / "a-0" / f"{10:020d}.log")
    with opened_files(monkeypatch) as opened:
        run = in_process(broker, catalog=out, findings=True)
    assert {name for name in opened if name.endswith(".log")} - {f"a-0/{22:020d}.log"} == {
        f"a-0/{10:020d}.log"
    }
    assert not [name for name in opened if name.startswith("b-1/")]
    assert (run.done.read_segments, run.done.kept_segments) == (1, 5)
    assert_health(out, broker)
    assert_catalog_holds(out, broker)


def test_many_small_changes_end_where_a_full_check_does(copied, in_process, out):
    in_process(copied, catalog=out, findings=True)
    logs = sorted(copied.glob("*/*.log"), key=lambda path: -path.stat().st_size)
    with open(logs[0], "r+b") as log:
        log.truncate(logs[0].stat().st_size - 7)
    in_process(copied, catalog=out, findings=True)
    assert_health(out, copied)
    with open(logs[1], "ab") as log:
        log.write(bytes(100))
    logs[2].with_suffix(".index").unlink(missing_ok=True)
    in_process(copied, catalog=out, findings=True)
    assert_health(out, copied)
    write_segment(copied / "new-0", [100] * 3)
    logs[2].rename(logs[2].with_name(logs[2].name + ".deleted"))
    in_process(copied, catalog=out, findings=True)
    assert_health(out, copied)
    before = catalog.read(out).info.rows
    in_process(copied, catalog=out, findings=True, full=True)
    assert catalog.read(out).info.rows == before
    assert_health(out, copied)


def test_the_marker_of_a_clean_stop_changes_findings(broker, in_process, out):
    """Without it segments are checked again, and their rows stay in place."""
    in_process(broker, catalog=out, findings=True)
    before = catalog.read(out)
    codes = [{finding.code for finding in before.health("made").findings}]
    (broker / CLEAN_SHUTDOWN).unlink()
    run = in_process(broker, catalog=out, findings=True)
    assert run.done.read_segments == 6
    after = catalog.read(out)
    assert {table: after.info.tables[table] for table in ("batches", "offset_entries")} == {
        table: before.info.tables[table] for table in ("batches", "offset_entries")
    }
    assert_health(out, broker)
    assert_catalog_holds(out, broker)
    codes.append({finding.code for finding in after.health("made").findings})
    assert "unclean-shutdown" in codes[1] - codes[0]
    assert (before.info.sources[0].checked.clean, after.info.sources[0].checked.clean) == (
        True,
        False,
    )


@pytest.mark.parametrize(
    "changed",
    [
        "a-0/partition.metadata",
        "a-0/leader-epoch-checkpoint",
        "b-1/stranger",
        "strange-name-",
        "server.properties",
        "unknown.txt",
        "recovery-point-offset-checkpoint",
        "cleaner-offset-checkpoint",
        f"a-0/{10:020d}.snapshot",
        f"a-0/{10:020d}.txnindex",
        "../server.properties",
    ],
)
def test_whatever_findings_depend_on_is_noticed(broker, in_process, out, changed):
    """A new small file or directory makes the catalog stale; the next run equals a check."""
    in_process(broker, catalog=out, findings=True)
    properties = "log.retention.ms=1000\nlog.cleanup.policy=compact\n"
    text = {"server.properties": properties, "recovery-point-offset-checkpoint": "0\n1\na 0 99\n"}
    if changed.endswith("-"):
        (broker / changed).mkdir()
    else:
        (broker / changed).write_text(text.get(changed.removeprefix("../"), "nonsense\n"))
    assert not inventory.is_fresh(catalog.read(out), [open_broker(broker)], CheckLevel.RECORDS)
    run = in_process(broker, catalog=out, findings=True)
    assert_health(out, broker)
    assert run.progress().state == "done"
    assert in_process(broker, catalog=out, findings=True).progress().state == "fresh"


def test_a_checkpoint_that_changed_is_in_the_partitions(broker, in_process, out, monkeypatch):
    in_process(broker, catalog=out, findings=True)
    (broker / "replication-offset-checkpoint").write_text("0\n1\na 0 33\n")
    with opened_files(monkeypatch) as opened:
        run = in_process(broker, catalog=out, findings=True)
    assert opened == [] and run.done.read_segments == 0
    assert [row["high_watermark"] for row in rows(out, "partitions")] == [33, None]
    assert_health(out, broker)
    assert_catalog_holds(out, broker)


def test_a_checked_segment_is_read_in_one_piece(copied, in_process, out, monkeypatch):
    monkeypatch.setattr(plan_module, "MIN_BYTES", 1)
    monkeypatch.setattr(plan_module, "MAX_BYTES", 100_000)
    check, checked = checks.check, []
    monkeypatch.setattr(
        checks, "check", lambda segment, *rest: checked.append(segment.log) or check(segment, *rest)
    )
    in_process(copied, catalog=out, findings=True)
    assert len(set(checked)) == len(checked) > 3
    assert_health(out, copied)


def test_an_unreadable_file_is_a_finding_and_hides_nothing(broker, in_process, out, monkeypatch):
    """Its neighbours have theirs; it is read once it can be, though its stamp is the same."""
    readable = close_file(broker / "a-0" / f"{10:020d}.log", monkeypatch)
    in_process(broker, catalog=out, findings=True)
    assert_health(out, broker)
    findings = catalog.read(out).health("made").findings
    (finding,) = [finding_ for finding_ in findings if finding_.code == "unreadable-file"]
    assert finding.file == f"a-0/{10:020d}.log" and finding.message["problem"] == message(
        "errors.may_not_be_read"
    )
    assert {finding_.file for finding_ in findings if finding_.severity == "error"} >= {
        f"a-0/{0:020d}.log",
        f"a-0/{22:020d}.log",
        f"b-1/{0:020d}.log",
    }
    readable["now"] = True
    assert in_process(broker, catalog=out, findings=True).done.read_segments == 1
    assert_health(out, broker)


def test_a_start_that_cannot_be_predicted_leaves_the_findings(broker, in_process, out, monkeypatch):
    """A start reads an unreadable small file, so only the restart is missing."""
    (broker / "a-0" / "leader-epoch-checkpoint").write_text("0\n0\n")
    open_reader = file.reader

    def reader(path: Path):
        if path.name == "leader-epoch-checkpoint":
            raise CannotOpen(path, message("errors.may_not_be_read"), kind="permission")
        return open_reader(path)

    monkeypatch.setattr(file, "reader", reader)
    in_process(broker, catalog=out, findings=True)
    assert_health(out, broker)
    health = catalog.read(out).health("made")
    assert health.restart is None and health.findings
    assert catalog.read(out).info.sources[0].checked.starts is None


def test_without_findings_there_are_none(broker, in_process, out):
    """Such a catalog says so; a run with findings reads everything again, with the sweep."""
    in_process(broker, catalog=out)
    read = catalog.read(out)
    assert [read.info.rows[table] for table in CHECK_TABLES] == [0] * len(CHECK_TABLES)
    assert inventory.is_fresh(read, [open_broker(broker)]) and not inventory.is_fresh(
        read, [open_broker(broker)], CheckLevel.RECORDS
    )
    with pytest.raises(CannotOpen, match="holds no findings of made") as raised:
        read.health("made")
    assert raised.value.kind == "missing"
    before = read.table("batches")
    assert in_process(broker, catalog=out, findings=True).done.read_segments == 6
    assert catalog.read(out).table("batches") == before and catalog.read(out).info.rows["sweep"] > 0
    assert_health(out, broker)
    assert in_process(broker, catalog=out).progress().state == "fresh"
    with pytest.raises(CannotOpen, match="holds no findings of other"):
        catalog.read(out).health("other")


@pytest.mark.parametrize("table", TABLES)
def test_what_the_catalog_has_lost_is_found_again(broker, in_process, out, table):
    """A Parquet file was deleted, so the run must not report that nothing has changed."""
    in_process(broker, catalog=out, findings=True)
    for path in (out / table).iterdir():
        path.unlink()
    assert not inventory.is_fresh(catalog.read(out), [open_broker(broker)])
    found_without_reading = ("partitions", "findings", "restart_steps", "retention")
    expected = 0 if table in found_without_reading else 6
    assert in_process(broker, catalog=out, findings=True).done.read_segments == expected
    assert_health(out, broker)
    assert_catalog_holds(out, broker)


def test_what_was_kept_is_not_believed_blindly(broker, in_process, out, monkeypatch):
    in_process(broker, catalog=out, findings=True)
    evidence = Evidence(verbatim("that"))
    unknown = replace(
        finding_table.finding("log-torn-tail", verbatim("it is so"), evidence), code="no-such-code"
    )
    unknown_text = json.dumps({"findings": to_plain((unknown,)), "summary": None})
    (path,) = (out / "checked").iterdir()
    rows = pq.read_table(path).to_pylist()
    for place, text in ((0, "{}"), (2, unknown_text), (-1, "[[1]]")):
        rows[place]["json"] = text
    pq.write_table(pa.Table.from_pylist(rows, TABLES["checked"]), path)
    touch(broker / "b-1" / f"{16:020d}.index")
    assert in_process(broker, catalog=out, findings=True).done.read_segments == 3
    assert_health(out, broker)


JSON_COLUMNS = {  # the column that a table is read from, and its content
    "findings": ("json", Finding),
    "restart_steps": ("json", StartupStep),
    "retention": ("limits_json", RetentionLimits),
}


@pytest.mark.parametrize(
    ("table", "field", "value"),
    [
        ("findings", "code", "no-such-code"),
        ("findings", "severity", "grave"),
        ("findings", "message", None),
        ("findings", "message", {"key": "finding.of_no_release", "values": {}}),
        ("findings", "message", {"key": "finding.at_offset", "values": {}}),
        ("restart_steps", "why", None),
        ("restart_steps", "action", "explode"),
        ("restart_steps", "cause", "mood"),
        ("retention", "deletes", "perhaps"),
        ("retention", "policy_source", "default of Kafka 4.3"),
    ],
)
def test_json_that_no_check_wrote_is_one_line(killed, killed_catalog, out, table, field, value):
    column, row_type = JSON_COLUMNS[table]

    def spoil(text: str) -> str:
        values = json.loads(text)
        values[[field_.name for field_ in fields(row_type)].index(field)] = value
        return json.dumps(values)

    shutil.copytree(killed_catalog, out, symlinks=True)
    assert_spoilt_row_is_refused(out, table, column, spoil, killed.name)


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("findings", "json", None),
        ("findings", "json", "{"),
        ("restart_steps", "json", None),
        ("retention", "limits_json", None),
        ("retention", "state", "bored"),
        ("retention", "counted_by", "hand"),
    ],
)
def test_rows_that_no_check_wrote_are_one_line(killed, killed_catalog, out, table, column, value):
    shutil.copytree(killed_catalog, out, symlinks=True)
    assert_spoilt_row_is_refused(out, table, column, lambda text: value, killed.name)


def assert_spoilt_row_is_refused(
    out: Path, table: str, column: str, spoil: Callable[[str], str | None], broker: str
) -> None:
    (path,) = (out / table).iterdir()
    rows = pq.read_table(path)
    first, *others = rows[column].to_pylist()
    spoilt = pa.array([spoil(first), *others], pa.string())
    pq.write_table(rows.set_column(rows.column_names.index(column), column, spoilt), path)
    with pytest.raises(
        CannotOpen, match="contains findings that no check produces; run kafkaviz ingest --full"
    ):
        catalog.read(out).health(broker)


def test_numbers_and_names_that_no_column_holds_end_no_run(broker):
    """A snapshot's name may hold any number, a directory's any bytes."""
    step = StartupStep(
        partition="a-0",
        segment=10**19,
        action="delete",
        cause="producer-state",
        why=verbatim("why"),
        file="a-0/10000000000000000000.snapshot",
        size_bytes=5,
    )
    refused = StartupStep(
        partition="odd\udcff",
        segment=None,
        action="fail",
        cause="directory-name",
        why=verbatim("odd\udcff is no name"),
    )
    steps = [findings.step_row("made", step) for step in (step, refused)]
    rows = pa.Table.from_pylist(steps, RESTART_STEPS).to_pylist()
    assert [(row["segment_base_offset"], row["bytes"], row["directory"]) for row in rows] == [
        (None, 5, "a-0"),
        (None, None, "odd\ufffd"),
    ]


def test_a_date_that_comes_closer_is_checked_again(copied, in_process, out):
    """Times ahead of the broker's clock stop being findings when the clock reaches them, although
    no segment changed.
    """
    for path in copied.rglob("*"):
        os.utime(path, ns=(10**18, 10**18))
    in_process(copied, catalog=out, findings=True)
    assert_health(out, copied)
    ahead = {
        finding.partition
        for finding in catalog.read(out).health("killed").findings
        if finding.code == "timestamp-in-future"
    }
    assert len(ahead) > 1
    later_ns = 1_900_000_000 * 10**9
    os.utime(max(copied.glob("*/*.log")), ns=(later_ns, later_ns))
    assert in_process(copied, catalog=out, findings=True).done.read_segments >= len(ahead)
    assert_health(out, copied)
    assert not [
        finding
        for finding in catalog.read(out).health("killed").findings
        if finding.code == "timestamp-in-future"
    ]


def test_another_recovery_point_makes_another_start(copied, in_process, out, monkeypatch):
    in_process(copied, catalog=out, findings=True)
    before = catalog.read(out).health("killed").restart
    partition = max(open_broker(copied).partitions, key=lambda log: len(log.live))
    text = f"0\n1\n{partition.topic} {partition.partition} {log_end_offset(partition.active)}\n"
    checkpoint = copied / "recovery-point-offset-checkpoint"
    written_ns = checkpoint.stat().st_mtime_ns
    checkpoint.write_text(text)
    os.utime(checkpoint, ns=(written_ns, written_ns))  # no broker is running
    with monkeypatch.context() as patch:
        patch.setattr(
            checks, "check", lambda segment, facts: pytest.fail(f"{segment.log} was checked")
        )
        in_process(copied, catalog=out, findings=True)
    assert_health(out, copied)
    assert catalog.read(out).health("killed").restart != before


def test_partitions_given_alone_are_checked_alone(broker, in_process, out):
    in_process(broker / "a-0", catalog=out, findings=True)
    read = catalog.read(out)
    assert broker_health.Health(
        broker=open_broker(broker / "a-0"), **read.health("made")._asdict()
    ) == broker_health.check(open_broker(broker / "a-0"))
    in_process(broker / "b-1", broker / "a-0", catalog=out, findings=True)
    health = catalog.read(out).health("made")
    assert {finding.partition for finding in health.findings} == {
        "a-0",
        "b-1",
    } and health.restart.starts


def test_a_segment_that_grew_is_checked_with_the_one_before_it(broker, in_process, out):
    in_process(broker, catalog=out, findings=True)
    with open(broker / "a-0" / f"{22:020d}.log", "ab") as log:
        log.write(log_bytes([140], base_offset=36))
    write_segment(broker / "a-0", [150] * 3, base_offset=38)
    in_process(broker, catalog=out, findings=True)
    write_segment(broker / "b-1", [150] * 3, base_offset=42)
    assert in_process(broker, catalog=out, findings=True).done.read_segments == 2
    assert_health(out, broker)


def test_a_run_checks_by_default(broker, in_process, out):
    job.start_ingest([broker], out, "local[2]").wait()
    assert_health(out, broker)
