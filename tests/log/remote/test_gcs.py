from pathlib import Path

import pytest

from kafkaviz.errors import CannotOpen
from kafkaviz.log import file
from kafkaviz.log.broker import open_broker
from kafkaviz.log.remote import address, file_system, mirror
from tests.pipeline.source_reading import read
from tests.support.gcs_server import put_directory, serving_gcs


@pytest.fixture
def query(tmp_path, monkeypatch, clean):
    """Yields the address parameters of a server that has one partition of the sample broker."""
    monkeypatch.setenv("KAFKAVIZ_CACHE", str(tmp_path / "cache"))
    mirror.forget()
    with serving_gcs() as port:
        put_directory(port, clean / "accounts-0", "brokers/9/accounts-0")
        yield f"?endpoint_override=http://127.0.0.1:{port}&anonymous=true"


def test_a_partition_in_google_s_storage_reads_as_here(query, clean, tmp_path):
    """The endpoint may have lost a slash as a Path; a missing object is reported."""
    url = f"gs://kafka/brokers/9/accounts-0{query}"
    rows = read("kafka_records", Path(url))
    expected = read("kafka_records", clean, topics="accounts", partitions="0")
    columns = ["offset", "timestamp_ms", "batch_position"]
    assert rows.num_rows and rows.select(columns).equals(expected.select(columns))
    remote = address.parse(f"gs://kafka/brokers/9/accounts-0/{'0' * 20}.log{query}")
    assert remote is not None and file_system.entity_tag(remote)
    with pytest.raises(CannotOpen) as fault:
        open_broker(f"gs://kafka/brokers/8{query}")
    assert fault.value.kind == "missing"
    log = clean / "accounts-0" / f"{'0' * 20}.log"
    assert file.read(file.absolute_path(str(remote))) == log.read_bytes()
