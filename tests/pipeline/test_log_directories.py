"""Several log directories of a 4.4.0 broker in one read and in one catalog."""

import json
import shutil
import weakref
from collections import Counter
from pathlib import Path

import pytest

from kafkaviz.analysis import broker_health
from kafkaviz.format import names
from kafkaviz.log.archives.archive import display_path
from kafkaviz.log.broker import open_broker
from kafkaviz.log.partition import Partition
from kafkaviz.pipeline.catalog import catalog
from kafkaviz.pipeline.datasource.replica_choice import ReplicaReason
from kafkaviz.pipeline.ingest import job, plan
from kafkaviz.pipeline.ingest.spools import PartitionSpool
from kafkaviz.pipeline.read.inventory import inventory
from tests.conftest import DATA
from tests.pipeline import whole_logs
from tests.pipeline.catalog_rows import assert_catalog_holds
from tests.pipeline.source_reading import read_together
from tests.support.ingest import ingest_in_process, run_ingest, without_spark

ARCHIVE = DATA / "kafka-4.4.0-jbod-killed-excerpt.tar.xz"
NAMES = ("disk-a", "disk-b", "disk-c")


@pytest.fixture(scope="module")
def ingested(disks, tmp_path_factory) -> catalog.Catalog:
    out = tmp_path_factory.mktemp("catalog") / "out"
    ingest_in_process(disks, catalog=out)
    return catalog.read(out)


def load(name: str, *paths: Path, **options: str) -> list[dict]:
    return read_together(name, paths, **options).to_pylist()


def origins(rows: list[dict]) -> Counter:
    return Counter((row["broker"], row["topic"], row["partition"]) for row in rows)


def test_one_load_of_a_folder_an_archive_or_the_directories(disks):
    """One broker, each partition once, all records of its .log files."""
    options = {
        "isolation": "read_uncommitted",
        "mode": "DROPMALFORMED",
        "columns": "broker,topic,partition,offset,replica_reason",
    }
    by_folder = load("kafka_records", disks, **options)
    by_paths = load("kafka_records", *(disks / name for name in reversed(NAMES)), **options)
    expected: Counter = Counter()
    for partition in open_broker(disks).partitions:
        if partition.state == "current":
            counts = [int(segment.batches()["record_count"].sum()) for segment in partition.live]
            expected[partition.topic, partition.partition] += sum(counts)
    for rows, broker in ((by_folder, disks.name), (by_paths, "disk-a")):
        assert origins(rows) == {(broker, *key): count for key, count in expected.items() if count}
        assert {row["replica_reason"] for row in rows} == {ReplicaReason.ONLY}
    packed = load("kafka_segments", ARCHIVE, columns="broker,topic,partition")
    assert {row["broker"] for row in packed} == {"kafka-4.4.0-jbod-killed-excerpt"}


def test_what_belongs_together(disks, tmp_path):
    """Directories of one node have different ids; two copies of them are two brokers, by their
    folders; a directory and its copy are two.
    """
    copied = shutil.copytree(disks, tmp_path / "copy")
    everything = [folder / name for folder in (disks, copied) for name in NAMES]
    stock = inventory(map(open_broker, everything))
    assert [len(broker.log_directories) for _, broker in stock.brokers] == [3, 3]
    assert len(inventory(map(open_broker, (disks, copied))).brokers) == 2
    pair = inventory(map(open_broker, (disks / "disk-b", copied / "disk-b")))
    assert [len(broker.log_directories) for _, broker in pair.brokers] == [1, 1]
    spooled = [open_broker(disks / name, collect=PartitionSpool) for name in NAMES]
    (broker,) = (broker for _, broker in inventory(spooled).brokers)
    assert isinstance(broker.partitions, PartitionSpool)
    in_order = [partition.directory for partition in broker.partitions]
    assert in_order == sorted(in_order, key=names.natural_sort_key) and len(in_order) > 10


def test_directories_without_an_id_belong_together_unless_they_share_a_partition(tmp_path):
    """Before 3.7 only their contents distinguish two disks from a disk and its copy."""
    for name, held in {"a": "t-0", "b": "t-1", "c": "t-0"}.items():
        directory = whole_logs.broker(tmp_path / name / "data")
        whole_logs.write(directory / held, [whole_logs.batch(0, [whole_logs.START_MS])])
    paths = {name: tmp_path / name / "data" for name in "abc"}
    assert len(inventory(map(open_broker, (paths["a"], paths["b"]))).brokers) == 1
    assert len(inventory(map(open_broker, (paths["a"], paths["c"]))).brokers) == 2


def copy_twice(disks: Path, tmp_path: Path) -> tuple[Path, str]:
    """Returns a copy in which two directories have the same partition, and the partition's name."""
    copied = Path(shutil.copytree(disks, tmp_path / "copy"))
    twice = partition_of(disks / "disk-b")
    shutil.copytree(copied / "disk-b" / twice, copied / "disk-c" / twice)
    return copied, twice


def test_a_partition_in_two_directories_is_read_once(disks, tmp_path):
    copied, twice = copy_twice(disks, tmp_path)
    topic, number = twice.rsplit("-", 1)
    selection = {"topics": topic, "partitions": number}
    options = {"mode": "DROPMALFORMED", "isolation": "read_uncommitted"} | selection
    once = [row["offset"] for row in load("kafka_records", disks, **options)]
    rows = load("kafka_records", copied, **options)
    assert [row["offset"] for row in rows] == once and once
    segments = len(load("kafka_segments", disks, **selection))
    assert len(load("kafka_segments", copied, **selection)) == 2 * segments


def partition_of(directory: Path) -> str:
    partitions = open_broker(directory).partitions
    return max(partitions, key=lambda partition: partition.live_log_bytes).directory


def test_a_partition_in_two_directories_is_in_the_catalog_twice(disks, tmp_path, monkeypatch):
    without_spark(monkeypatch)
    copied, twice = copy_twice(disks, tmp_path)
    out = tmp_path / "out"
    for content in (b"", b"\0" * 10):
        with next((copied / "disk-c" / twice).glob("*.log")).open("ab") as file:
            file.write(content)
        run_ingest(copied, catalog=out, findings=True)
        made = catalog.read(out)
        rows = made.table("partitions").to_pylist()
        both = [row["log_directory"] for row in rows if row["directory"] == twice]
        assert both == [str(copied / "disk-b"), str(copied / "disk-c")]
        in_source = [name for name in made.info.sources[0].directories if name.endswith(twice)]
        assert in_source == [f"disk-b/{twice}", f"disk-c/{twice}"]
        assert_catalog_holds(out, copied)
    run = run_ingest(copied, catalog=out, findings=True)
    assert run.state == "fresh"


def test_one_catalog_of_one_broker(disks, ingested):
    """Each directory is listed, each partition has its own, and the findings equal a check's."""
    (source,) = ingested.info.sources
    assert source.broker == disks.name and source.path == disks / "disk-a"
    listed = {log.path.name: log.has_metadata_log for log in source.log_directories}
    assert listed == {"disk-a": True, "disk-b": False, "disk-c": False}
    assert len({directory.directory_id for directory in source.log_directories}) == 3
    rows = ingested.table("partitions").to_pylist()
    assert {(row["log_directory"], row["directory"]) for row in rows} == {
        (str(display_path(disks / name)), path.name)
        for name in NAMES
        for path in (disks / name).iterdir()
        if path.is_dir()
    }
    health = broker_health.check(open_broker(disks))
    stored = ingested.health(source.broker)
    assert stored.findings == health.findings and stored.restart == health.restart
    retained = [(log.partition, log.log_directory) for log in stored.retention]
    assert retained == [(log.partition, log.log_directory) for log in health.retention]
    by_name = {row["directory"]: row["log_directory"] for row in rows}
    for table in ("findings", "restart_steps", "retention"):
        found = [row for row in ingested.table(table).to_pylist() if row["directory"] in by_name]
        assert {row["log_directory"] for row in found} > {str(display_path(disks / "disk-b"))}
        assert all(row["log_directory"] == by_name[row["directory"]] for row in found)


def test_only_what_changed_is_read_again(disks, tmp_path, monkeypatch):
    """In any of the directories, however they are given; then the catalog is fresh."""
    without_spark(monkeypatch)
    copied = Path(shutil.copytree(disks, tmp_path / "copy"))
    out = tmp_path / "out"
    run_ingest(copied, catalog=out, findings=True)
    again = run_ingest(copied, catalog=out, findings=True)
    assert again.state == "fresh"
    log = next((copied / "disk-b" / partition_of(copied / "disk-b")).glob("*.log"))
    with log.open("ab") as file:
        file.write(b"\0" * 10)
    changed = run_ingest(copied, catalog=out, findings=True)
    assert changed.done is not None and changed.done.read_segments == 1
    (copied / "disk-c" / "replication-offset-checkpoint").write_text("0\n0\n")
    assert run_ingest(copied, catalog=out, findings=True).state == "done"
    assert_catalog_holds(out, copied)
    found = catalog.read(out).health(copied.name)
    assert found.findings == broker_health.check(open_broker(copied)).findings


def test_an_ingest_holds_few_partitions_at_a_time(disks, tmp_path, monkeypatch):
    """With their segments, those of a large broker do not fit into memory."""
    without_spark(monkeypatch)
    monkeypatch.setattr(plan, "MAX_BYTES", 1)  # a task of its own for each partition
    copied = Path(shutil.copytree(disks, tmp_path / "copy"))
    alive: weakref.WeakSet[Partition] = weakref.WeakSet()
    most = Counter()
    unpickle = PartitionSpool.__getitem__

    def unpickle_and_count(self, place):
        partition = unpickle(self, place)
        alive.add(partition)
        most["partitions"] = max(most["partitions"], len(alive))
        return partition

    monkeypatch.setattr(Partition, "__hash__", object.__hash__)
    monkeypatch.setattr(PartitionSpool, "__getitem__", unpickle_and_count)
    out = tmp_path / "out"
    run_ingest(copied, catalog=out, findings=True)
    (copied / "disk-c" / "replication-offset-checkpoint").write_text("0\n0\n")
    assert run_ingest(copied, catalog=out, findings=True).state == "done"
    assert len(open_broker(copied).partitions) == 13
    assert most["partitions"] <= 4


def test_a_catalog_of_before_is_read(disks, tmp_path, monkeypatch):
    """Format 11 has no log directories and lacks columns; the next run adds them."""
    without_spark(monkeypatch)
    out = tmp_path / "out"
    run_ingest(disks / "disk-b", catalog=out, findings=True)
    before = catalog.read(out)
    findings = before.table("findings").num_rows
    document = json.loads((out / "_catalog.json").read_text())
    document["format"] = 11
    for source in document["sources"]:
        del source["log_directories"]
    (out / "_catalog.json").write_text(json.dumps(document))
    drop_column(out, document)
    old = catalog.read(out)
    assert old.info.format == 11 and old.table("findings").num_rows == findings
    for table, column in (("partitions", "log_directory"), ("batches", "uncompressed_bytes")):
        assert old.table(table)[column].null_count == old.info.rows[table]
    assert old.health("disk-b").findings
    run = run_ingest(disks / "disk-b", catalog=out, findings=True)
    assert run.state == "done"
    new = catalog.read(out)
    assert new.table("partitions").equals(before.table("partitions"))
    assert new.table("batches")["uncompressed_bytes"].null_count == 0


def drop_column(out: Path, document: dict) -> None:
    """Writes the tables as they were before they had a column."""
    import pyarrow.parquet as pq

    for table in ("partitions", "batches", "findings", "restart_steps", "retention"):
        column = "uncompressed_bytes" if table == "batches" else "log_directory"
        for name in document["tables"][table]["files"]:
            path = (out / table / name).resolve()
            rows = pq.read_table(path, partitioning=None).drop_columns([column])
            path.unlink()
            pq.write_table(rows, path)


def test_a_catalog_inside_one_of_the_directories_is_refused(disks):
    from kafkaviz.errors import CannotOpen

    with pytest.raises(CannotOpen, match="disk-c"):
        job.start_ingest([disks], disks / "disk-c" / "catalog").wait()
