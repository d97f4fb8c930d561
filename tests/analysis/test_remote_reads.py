"""What a lookup reads of tiered storage, and its cost."""

import json
from pathlib import Path

import pytest

from kafkaviz.__main__ import main
from tests.support.tiered_storage import unpack, write_aiven_store


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> tuple[Path, Path]:
    return unpack(tmp_path_factory.mktemp("tiered"))


def remote_of(capsys, logs: Path, store: Path, offset: int, *options: str) -> dict:
    args = ["lookup", str(logs / "orders-0"), "--tiered", str(store), "--offset", str(offset)]
    assert main([*args, "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)["remote"]


def test_a_remote_lookup_is_priced_by_its_requests(recorded, capsys):
    """The indexes whole, then the .log from the position of the index to the end of the batch."""
    logs, store = recorded
    remote = remote_of(capsys, logs, store, 53, "--remote-request-ms", "20")
    assert [(read["file"], read["requests"], read["bytes"]) for read in remote["reads"]] == [
        ("00000000000000000041.index", 1, 32),
        ("00000000000000000041.timeindex", 1, 48),
        ("00000000000000000041.log", 1, 4705 - 2990),
    ]
    assert (remote["requests"], remote["bytes"], remote["modelled_ms"]) == (3, 1795, 60)


def test_a_local_lookup_costs_no_request(recorded, capsys):
    """Of a segment in both places the local files are read."""
    remote = remote_of(capsys, *recorded, 360)
    assert remote["reads"] == [] and remote["modelled_ms"] == 0


def test_a_chunk_is_a_request(recorded, tmp_path, capsys):
    """In Aiven's layout, and the manifest is one too: bytes 2990 to 4704 in chunks of 1000."""
    logs, store = recorded
    bucket = write_aiven_store(store, logs, tmp_path / "bucket", compressed=False)
    remote = remote_of(capsys, logs, bucket, 53)
    assert [read["requests"] for read in remote["reads"]] == [1, 1, 1, 3]
    assert remote["reads"][-1]["bytes"] == 3000


def test_a_latency_is_a_number_of_milliseconds(recorded, capsys):
    """Anything else is wrong usage."""
    logs, store = recorded
    for text in ("-1", "soon", "inf", "nan"):
        with pytest.raises(SystemExit) as end:
            remote_of(capsys, logs, store, 53, "--remote-request-ms", text)
        assert end.value.code == 2
