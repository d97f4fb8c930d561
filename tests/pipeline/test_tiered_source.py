"""The data source on a broker directory joined with its tiered storage."""

import hashlib
import shutil
from pathlib import Path

import pytest

from kafkaviz.errors import CannotOpen
from kafkaviz.log.broker import join_tiered
from kafkaviz.pipeline.datasource.source import KafkaReader
from kafkaviz.pipeline.datasource.source_reader import Malformed
from kafkaviz.pipeline.datasource.source_schema import FORMATS, columns, parse_options
from tests.pipeline.source_reading import read
from tests.support.tiered_storage import answers, unpack, write_aiven_store

ANSWERS = answers()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> tuple[Path, Path]:
    return unpack(tmp_path_factory.mktemp("tiered"))


@pytest.mark.parametrize("is_aiven", [False, True])
@pytest.mark.parametrize("topic", ANSWERS)
def test_the_records_are_those_of_a_consumer(recorded, tmp_path, topic, is_aiven):
    """With keys and values, of remote segments and of local ones."""
    logs, store = recorded
    if is_aiven:
        store = write_aiven_store(store, logs, tmp_path / "bucket", compressed=True)
    options = {"isolation": "read_uncommitted", "payload": "true", "task_bytes": "16384"}
    table = read("kafka_records", logs, tiered=str(store), topics=topic, **options)
    rows = [
        [
            row["offset"],
            row["timestamp_ms"],
            row["key"].decode(),
            hashlib.sha256(row["value"]).hexdigest()[:16],
        ]
        for row in sorted(table.to_pylist(), key=lambda row: row["offset"])
        if not row["is_control"]
    ]
    start = ANSWERS[topic]["log_start"]
    expected = [[record[0], record[1], *record[3:]] for record in ANSWERS[topic]["records"]]
    assert [row for row in rows if row[0] >= start] == expected


@pytest.mark.parametrize("topic", ANSWERS)
def test_committed_records_are_those_of_a_consumer(recorded, topic):
    """A transaction may begin in a remote segment and end in a local one."""
    table = read("kafka_records", recorded[0], tiered=str(recorded[1]), topics=topic)
    offsets = sorted(row["offset"] for row in table.to_pylist() if not row["is_control"])
    start = ANSWERS[topic]["log_start"]
    assert [offset for offset in offsets if offset >= start] == ANSWERS[topic]["committed"]


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_reads_the_joined_directory(recorded, name):
    """By the option, or by the path of the folder that shows both."""
    joined = read(name, join_tiered(*recorded))
    assert read(name, recorded[0], tiered=str(recorded[1])).num_rows == joined.num_rows
    assert joined.num_rows > read(name, recorded[0]).num_rows


def test_the_workers_of_a_cluster_see_no_view(recorded):
    """One line says so, before anything is read."""
    schema = columns("kafka_batches", parse_options({}))
    from pyspark.sql.pandas.types import from_arrow_schema

    option_values = {"path": str(recorded[0]), "tiered": str(recorded[1])}
    reader = KafkaReader("kafka_batches", option_values, from_arrow_schema(schema), is_local=False)
    with pytest.raises(CannotOpen) as fault:
        reader.partitions()
    assert fault.value.what.key == "tiered.on_cluster"


@pytest.mark.parametrize("is_torn", [False, True], ids=["flipped", "torn"])
def test_damage_of_a_remote_segment_is_told_by_the_directory(recorded, tmp_path, is_torn):
    """In the name of the file that the broker had, and not where the cache shows it."""
    logs, store = shutil.copytree(recorded[0], tmp_path / "logs"), tmp_path / "store"
    shutil.copytree(recorded[1], store)
    (log,) = store.rglob(f"orders-0-*/{41:020}-*.log")
    data = bytearray(log.read_bytes())
    data[3000] ^= 1
    log.write_bytes(data[:-5] if is_torn else data)
    options = {"topics": "orders", "offsets": "61-90" if is_torn else "41-60"}
    with pytest.raises(Malformed) as fault:
        read("kafka_records", logs, tiered=str(store), **options)
    assert str(fault.value).startswith(f"{logs}/orders-0/{41:020}.log, byte ")
