import hashlib
import shutil
from operator import itemgetter
from pathlib import Path

import pytest

from kafkaviz.analysis.broker_health import check
from kafkaviz.errors import CannotOpen
from kafkaviz.log.broker import join_tiered, open_broker
from kafkaviz.pipeline.datasource.source_reader import Malformed
from kafkaviz.pipeline.datasource.source_schema import FORMATS
from tests.pipeline.source_reading import read, reader_of
from tests.support.tiered_storage import answers, unpack, write_aiven_store

ANSWERS = answers()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> tuple[Path, Path]:
    return unpack(tmp_path_factory.mktemp("tiered"))


@pytest.fixture
def store(recorded, tmp_path) -> Path:
    """Returns a copy of the store that a test may change."""
    return shutil.copytree(recorded[1], tmp_path / "store")


@pytest.mark.parametrize("is_aiven", [False, True])
@pytest.mark.parametrize("topic", ANSWERS)
def test_the_records_are_those_of_a_consumer(recorded, tmp_path, topic, is_aiven):
    """With keys and values, from remote and local segments."""
    logs, store = recorded
    if is_aiven:
        store = write_aiven_store(store, logs, tmp_path / "bucket", compressed=True)
    options = {"isolation": "read_uncommitted", "payload": "true", "task_bytes": "16384"}
    table = read("kafka_records", logs, tiered=str(store), topics=topic, **options)
    rows = []
    for row in sorted(table.to_pylist(), key=itemgetter("offset")):
        if row["offset"] >= ANSWERS[topic]["log_start"] and not row["is_control"]:
            digest = hashlib.sha256(row["value"]).hexdigest()[:16]
            rows.append([row["offset"], row["timestamp_ms"], row["key"].decode(), digest])
    expected = [[record[0], record[1], *record[3:]] for record in ANSWERS[topic]["records"]]
    assert rows == expected


@pytest.mark.parametrize("topic", ANSWERS)
def test_committed_records_are_those_of_a_consumer(recorded, topic):
    """A transaction may begin in a remote segment and end in a local one."""
    table = read("kafka_records", recorded[0], tiered=str(recorded[1]), topics=topic)
    offsets = sorted(row["offset"] for row in table.to_pylist() if not row["is_control"])
    start = ANSWERS[topic]["log_start"]
    assert [offset for offset in offsets if offset >= start] == ANSWERS[topic]["committed"]


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_reads_the_joined_directory(recorded, name):
    joined = read(name, join_tiered(*recorded))
    assert read(name, recorded[0], tiered=str(recorded[1])).num_rows == joined.num_rows
    assert joined.num_rows > read(name, recorded[0]).num_rows


def test_the_workers_of_a_cluster_see_no_view(recorded):
    reader = reader_of("kafka_batches", recorded[0], is_local=False, tiered=str(recorded[1]))
    with pytest.raises(CannotOpen) as fault:
        reader.partitions()
    assert fault.value.what.key == "tiered.on_cluster"


@pytest.mark.parametrize("is_torn", [False, True], ids=["flipped", "torn"])
def test_damage_of_a_remote_segment_is_reported_by_the_directory(recorded, store, is_torn):
    """By the name of the broker's file, not its place in the cache."""
    logs = recorded[0]
    (log,) = store.rglob(f"orders-0-*/{41:020}-*.log")
    data = bytearray(log.read_bytes())
    data[3000] ^= 1
    log.write_bytes(data[:-5] if is_torn else data)
    options = {"topics": "orders", "offsets": "61-90" if is_torn else "41-60"}
    with pytest.raises(Malformed) as fault:
        read("kafka_records", logs, tiered=str(store), **options)
    assert str(fault.value).startswith(f"{logs}/orders-0/{41:020}.log, byte ")


@pytest.fixture
def holed(recorded, store) -> tuple[Path, Path]:
    """Returns a store without the .log of offsets 41 to 64 of orders-0."""
    lose_segment(store, "orders-0", 41)
    return recorded[0], store


def lose_segment(store: Path, partition: str, base_offset: int) -> None:
    for path in store.rglob(f"{partition}-*/{base_offset:020}-*"):
        path.unlink()


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("kafka_records", {"topics": "orders", "offsets": "45-50"}),
        ("kafka_records", {"topics": "orders"}),
        ("kafka_records", {}),
        ("kafka_batches", {"topics": "orders", "offsets": "64-70"}),
        ("kafka_segments", {}),
        ("kafka_files", {"subscribe": "orders"}),
        ("kafka_files", {"assign": '{"orders": [0]}', "failOnDataLoss": "true"}),
    ],
)
def test_a_range_in_a_hole_ends_the_query(holed, name, asked):
    """With the broker's file and the offsets. PERMISSIVE makes it a row."""
    logs, store = holed
    expected = rf"{logs}/orders-0/{41:020}\.log: offsets 41 to 64: the metadata says that"
    for mode in ("FAILFAST", "DROPMALFORMED"):
        with pytest.raises(Malformed, match=expected):
            read(name, logs, tiered=str(store), mode=mode, **asked)
    rows = read(name, logs, tiered=str(store), mode="PERMISSIVE", **asked).to_pylist()
    (problem,) = (row["problem"] for row in rows if row["problem"])
    assert "offsets 41 to 64" in problem


@pytest.mark.parametrize("asked", [{"offsets": "0-40"}, {"offsets": "65-"}])
def test_records_around_a_hole_are_read(holed, recorded, asked):
    logs, store = holed
    for options in ({"topics": "orders", **asked}, {"topics": "payments,audit"}):
        rows = read("kafka_records", logs, tiered=str(store), **options)
        whole = read("kafka_records", recorded[0], tiered=str(recorded[1]), **options)
        assert rows["offset"].equals(whole["offset"]) and rows.num_rows > 20


def test_a_hole_before_all_that_is_left_is_one(recorded, store):
    """From the first offset that the metadata knows; `earliest` is an option."""
    logs = recorded[0]
    lose_segment(store, "orders-0", 0)
    with pytest.raises(Malformed, match="offsets 0 to 19"):
        read("kafka_files", logs, tiered=str(store), subscribe="orders")
    with pytest.raises(Malformed, match="offsets 0 to 19"):
        read("kafka_records", logs, tiered=str(store), topics="orders", offsets="5-6")


def test_a_transaction_that_may_end_in_a_hole_is_not_decided(recorded, store):
    logs = recorded[0]
    partition = open_broker(join_tiered(*recorded)).partition("payments-0")
    base, first = next(
        (offset, min(since.values()))
        for offset in sorted(partition.snapshots)
        if (since := partition.snapshot(offset).open_transactions)
        and min(since.values()) > 0
        and offset in partition.remote_bases
    )
    lose_segment(store, "payments-0", base)
    options = {"topics": "payments", "tiered": str(store)}
    with pytest.raises(Malformed, match=f"{base:020}.log"):
        read("kafka_records", logs, offsets=f"{first}-{base - 1}", **options)
    assert read("kafka_records", logs, offsets=f"0-{first - 1}", **options).num_rows


@pytest.mark.parametrize("kind", ["rsm-manifest", "log", "indexes"])
def test_a_bad_object_is_its_segments_alone(recorded, tmp_path, kind):
    """Queries that do not touch it succeed, whichever object it is; check has a finding."""
    logs, store = recorded
    bucket = write_aiven_store(store, logs, tmp_path / "bucket", compressed=True)
    (path,) = bucket.rglob(f"orders-*/0/{41:020}-*.{kind}")
    path.write_bytes(path.read_bytes()[:5])
    for options in ({"topics": "payments,audit"}, {"topics": "orders", "offsets": "0-40"}):
        rows = read("kafka_records", logs, tiered=str(bucket), **options)
        whole = read("kafka_records", logs, tiered=str(store), **options)
        assert rows["offset"].equals(whole["offset"]) and rows.num_rows > 20
    with pytest.raises(Malformed, match=path.name):
        read("kafka_records", logs, tiered=str(bucket), topics="orders")
    rows = read("kafka_records", logs, tiered=str(bucket), topics="orders", mode="PERMISSIVE")
    (problem,) = (row["problem"] for row in rows.to_pylist() if row["problem"])
    assert path.name in problem and "offsets 41 to 64" in problem
    health, whole = check(join_tiered(logs, bucket)), check(join_tiered(logs, store))
    assert health.restart == whole.restart
    (finding,) = (
        finding for finding in health.findings if finding.code == "remote-segment-unreadable"
    )
    assert finding.partition == "orders-0" and path.name in str(finding.evidence.found)
