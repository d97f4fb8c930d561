"""An object store as a data source and in a catalog: its credentials are not shown."""

from operator import itemgetter

import pytest

from kafkaviz.log.broker import open_broker
from kafkaviz.pipeline.catalog import catalog
from kafkaviz.pipeline.datasource.source import (
    BatchesSource,
    register,
    session_credentials,
    session_source,
)
from tests.pipeline.source_reading import read
from tests.support.object_store import KEYS

URL = "s3a://kafka/source/broker-1"
SECRET = KEYS["AWS_SECRET_ACCESS_KEY"]


@pytest.fixture
def stored(object_store, clean):
    object_store.put("source/broker-1/meta.properties", (clean / "meta.properties").read_bytes())
    for name in ("accounts-0", "payments-0"):
        object_store.put_directory(clean / name, f"source/broker-1/{name}")
    return object_store


def test_the_sessions_credentials_read(spark, stored, monkeypatch, clean):
    """Hadoop's s3a keys if the environment has none; neither plan nor options show them."""
    settings = {
        "access.key": KEYS["AWS_ACCESS_KEY_ID"],
        "secret.key": SECRET,
        "endpoint": stored.url,
        "endpoint.region": "us-east-1",
        "path.style.access": "true",
    }
    for name in (*KEYS, "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name)
    for name, value in settings.items():
        spark.conf.set(f"spark.hadoop.fs.s3a.{name}", value)
    try:
        register(spark)
    finally:
        for name in settings:
            spark.conf.unset(f"spark.hadoop.fs.s3a.{name}")
    rows = spark.read.format("kafka_batches").load(URL)
    options = {"topics": "accounts,payments", "partitions": "0"}
    columns = ["topic", "base_offset", "position", "size_bytes"]
    expected = read("kafka_batches", clean, columns=",".join(columns), **options).to_pylist()
    actual = [row.asDict() for row in rows.select(columns).collect()]
    key = itemgetter("topic", "base_offset")
    assert sorted(actual, key=key) == sorted(expected, key=key)
    plan = rows._jdf.queryExecution().toString()
    assert SECRET not in plan
    register(spark)  # without them, for the tests that follow


def test_credentials_of_a_session_become_variables(spark):
    assert session_credentials(spark) == ()
    spark.conf.set("spark.hadoop.fs.s3a.endpoint", "store:9000")
    spark.conf.set("spark.hadoop.fs.s3a.connection.ssl.enabled", "false")
    try:
        assert session_credentials(spark) == (("AWS_ENDPOINT_URL", "http://store:9000"),)
    finally:
        spark.conf.unset("spark.hadoop.fs.s3a.endpoint")
        spark.conf.unset("spark.hadoop.fs.s3a.connection.ssl.enabled")


def test_a_format_with_credentials_prints_without_them():
    source = session_source(
        BatchesSource, pushes_filters=False, is_local=True, credentials=(("NAME", SECRET),)
    )
    instance = source({"path": "s3://kafka/x"})
    reader = instance.reader(instance.schema())
    assert SECRET not in f"{source} {instance} {reader}"


def test_a_catalog_of_a_remote_broker_names_its_address(stored, in_process, tmp_path):
    """It is in a local folder; a second ingest reads no segment again and requests no byte."""
    read_segments = []
    for _ in range(2):
        stored.requests.clear()
        ingest = in_process("s3://kafka/source/broker-1", catalog=tmp_path / "catalog")
        read_segments.append(ingest.done.read_segments)
    assert read_segments[0] > 0 == read_segments[1] and stored.ranges == []
    (source,) = catalog.read(tmp_path / "catalog").info.sources
    assert source.path == open_broker("s3://kafka/source/broker-1").path
    files = [path for path in (tmp_path / "catalog").rglob("*.json") if path.is_file()]
    text = "".join(path.read_text() for path in files)
    assert '"s3://kafka/source/broker-1"' in text and "remote/files" not in text
