"""Tiered storage in a bucket: the segments of a broker of Kafka 4.3.1, joined with its directory."""

import json
import shutil
from pathlib import Path

import pyarrow.compute as pc
import pytest

from kafkaviz.__main__ import main
from kafkaviz.errors import CannotOpen
from kafkaviz.format.batch import is_control
from kafkaviz.log.broker import join_tiered, open_broker, read_tiered_state
from kafkaviz.log.remote import block_cache, file_system, mirror
from tests.pipeline.source_reading import read
from tests.support.object_store import ObjectStore
from tests.support.tiered_storage import answers, partition_of, write_aiven_store, write_local_store


@pytest.mark.slow
@pytest.mark.parametrize("compressed", [None, pytest.param(False, marks=pytest.mark.nightly), True])
def test_a_bucket_is_joined_with_a_broker_directory(
    object_store: ObjectStore, tiered, tmp_path, compressed
):
    """In either layout: the records that a consumer got, and where each segment is."""
    logs, store = tiered
    if compressed is not None:
        store = write_aiven_store(store, logs, tmp_path / "aiven", compressed=compressed)
    key = f"tiered-{compressed}"
    object_store.put_directory(store, key)
    url = f"s3://kafka/{key}"
    partition = open_broker(join_tiered(logs, url)).partition("orders-0")
    assert len(partition.remote_bases) == 15
    records = [
        [record.offset, record.timestamp_ms]
        for segment in partition.live
        for batches in [segment.batches()]
        for batch in batches[~is_control(batches)]
        for record in segment.records(int(batch["position"]))
    ]
    assert records == [record[:2] for record in answers()["orders"]["records"]]
    orders = partition_of(read_tiered_state(url, logs), "orders-0")
    counts = {place: count for place, count in orders.counts.items() if count}
    assert counts == {"local": 1, "both": 3, "remote": 15}
    assert len(open_broker(url).partition("orders-0").live) == 18


@pytest.fixture(scope="module")
def aiven(tiered, tmp_path_factory) -> Path:
    logs, store = tiered
    return write_aiven_store(store, logs, tmp_path_factory.mktemp("aiven"), compressed=True)


@pytest.mark.parametrize("layout", ["local", "aiven"])
def test_an_address_into_a_store_is_a_partition(object_store, tiered, aiven, layout, capsys):
    """A directory or a file of a segment, without an earlier listing."""
    url = f"s3://kafka/{layout}-alone"
    object_store.put_directory(aiven if layout == "aiven" else tiered[1], f"{layout}-alone")
    mirror.forget()
    assert main(["lookup", f"{url}/orders-0", "--offset", "53", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["record"]["offset"] == 53
    assert answer["remote"]["requests"] == {"local": 3, "aiven": 6}[layout]
    mirror.forget()
    assert main(["dump", f"{url}/orders-0/00000000000000000041.log"]) == 0
    assert "baseOffset: 41 " in (out := capsys.readouterr().out)
    assert out.startswith(f"Dumping {url}/")
    expected = [row[0] for row in answers()["orders"]["records"] if row[0] < 395]
    rows = read("kafka_records", f"{url}/orders-0", isolation="read_uncommitted")
    offsets = rows.filter(pc.invert(rows["is_control"]))["offset"].to_pylist()
    assert sorted(offsets) == expected


def test_a_partition_that_is_in_no_store_is_not_there(object_store, tiered):
    object_store.put("brokers/9/meta.properties", b"version=1")
    object_store.put("brokers/9/orders-0/00000000000000000000.log", b"")
    object_store.requests.clear()
    with pytest.raises(CannotOpen) as fault:
        open_broker("s3://kafka/brokers/9/order-0")
    assert fault.value.kind == "missing"
    assert len(object_store.requests) <= 4


@pytest.mark.parametrize("name", ["orders-0", "payments-0"])
@pytest.mark.parametrize("is_whole", [True, False], ids=["whole", "parts"])
@pytest.mark.parametrize("layout", ["local", "aiven"])
def test_a_thousand_records_of_a_remote_segment_take_few_requests(
    object_store, clean, tmp_path, monkeypatch, layout, is_whole, name
):
    """In either layout and isolation; the broker's own files have the same records."""
    if not is_whole:
        monkeypatch.setattr(block_cache, "WHOLE_BYTES", 256 << 10)
    partition = open_broker(clean).partition(name)
    store = write_local_store(partition, tmp_path / "store")
    logs = tmp_path / "logs"
    shutil.copytree(partition.path, logs / name)
    shutil.copy(clean / "meta.properties", logs)
    if layout == "aiven":
        bucket = tmp_path / "bucket"
        store = write_aiven_store(store, logs, bucket, compressed=True, chunk_bytes=100_000)
    for segment in partition.live[:-1]:
        for info in segment.files:
            (logs / name / info.name).unlink()
    url = f"s3://kafka/thousand-{layout}-{is_whole}-{name}"
    object_store.put_directory(store, url.removeprefix("s3://kafka/"))
    options = {"topics": partition.topic, "offsets": "9459-10458", "payload": "true"}
    for isolation in ("read_uncommitted", "read_committed"):
        options |= {"isolation": isolation, "columns": "offset,timestamp_ms,key,value,headers"}
        expected = read("kafka_records", clean, partitions="0", **options)
        view = join_tiered(logs, url)
        block_cache.evict(0)
        file_system.forget_objects()
        object_store.requests.clear()
        rows = read("kafka_records", view, **options)
        assert rows.equals(expected) and rows.num_rows > 300
        assert 0 < len(object_store.data_requests) <= 6


def test_few_records_of_a_remote_segment_take_few_requests(object_store, tiered):
    """The .index and the .log of the segment, and the producer snapshot of the last roll."""
    logs, store = tiered
    object_store.put_directory(store, "tiered-few")
    join_tiered(logs, "s3://kafka/tiered-few")
    object_store.requests.clear()
    options = {"tiered": "s3://kafka/tiered-few", "topics": "orders", "offsets": "41-60"}
    rows = read("kafka_records", logs, **options)
    assert rows.num_rows == 20 and 0 < len(object_store.data_requests) <= 6
