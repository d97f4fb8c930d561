import json
from pathlib import Path

import pytest

from kafkaviz.__main__ import main
from kafkaviz.log.remote import address, block_cache, file_system
from kafkaviz.messages import message, say
from tests.support.tiered_storage import unpack, write_aiven_store

ORDERS = "s3://kafka/priced/orders-0"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> tuple[Path, Path]:
    return unpack(tmp_path_factory.mktemp("tiered"))


@pytest.fixture
def answer(capsys):
    """Returns a function that runs a lookup and returns its JSON."""

    def lookup(place: Path | str, *options: object) -> dict:
        assert main(["lookup", *map(str, (place, *options)), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return lookup


@pytest.fixture
def remote_of(answer):
    """Returns a function that looks an offset up in a tiered log."""

    def lookup(logs: Path, store: Path | str, offset: int, *options: object) -> dict:
        tiered = ("--tiered", store, "--offset", offset, *options)
        return answer(logs / "orders-0", *tiered)["remote"]

    return lookup


def test_a_remote_lookup_is_priced_by_its_requests(recorded, remote_of):
    """Whole indexes, then the .log from the position of the index to the end of the batch."""
    remote = remote_of(*recorded, 53, "--remote-request-ms", "20")
    assert [(read["file"], read["requests"], read["bytes"]) for read in remote["reads"]] == [
        ("00000000000000000041.index", 1, 32),
        ("00000000000000000041.timeindex", 1, 48),
        ("00000000000000000041.log", 1, 4705 - 2990),
    ]
    assert (remote["requests"], remote["bytes"], remote["modelled_ms"]) == (3, 1795, 60)


def test_a_local_lookup_costs_no_request(recorded, remote_of):
    remote = remote_of(*recorded, 360)
    assert remote["reads"] == [] and remote["modelled_ms"] == 0


def test_a_chunk_is_a_request(recorded, tmp_path, remote_of):
    """In Aiven's layout the manifest is a request too: bytes 2990 to 4704 in chunks of 1000."""
    logs, store = recorded
    bucket = write_aiven_store(store, logs, tmp_path / "bucket", compressed=False)
    remote = remote_of(logs, bucket, 53)
    assert [read["requests"] for read in remote["reads"]] == [1, 1, 1, 3]
    assert remote["reads"][-1]["bytes"] == 3000


@pytest.fixture
def stored(object_store, clean):
    """Returns a partition of the sample broker in an object store before any request."""
    object_store.put_directory(clean / "orders-0", "priced/orders-0")
    file_system.forget_times()
    return object_store


def test_a_lookup_in_an_object_store_says_what_it_asked(stored, answer):
    """The file of each step, with the server's count and the measured time."""
    stored.requests.clear()
    found = answer(ORDERS, "--offset", 25000)
    remote, stem = found["remote"], "00000000000000019113"
    assert [read["file"] for read in remote["reads"]] == [f"{stem}.index", f"{stem}.log"]
    assert [search["file"] for search in found["searches"]] == [f"{stem}.index"]
    for read in remote["reads"]:
        asked = [item for item in stored.data_requests if item.path.endswith(read["file"])]
        ranges = [
            item.byte_range.removeprefix("bytes=").split("-") for item in asked if item.byte_range
        ]
        brought_bytes = sum(int(last) + 1 - int(first) for first, last in ranges)
        assert (read["requests"], read["bytes"]) == (len(asked), brought_bytes)
        assert read["measured_ms"] > 0
    assert remote["measured_ms"] == pytest.approx(
        sum(read["measured_ms"] for read in remote["reads"]), abs=0.01
    )
    times = file_system.store_time(address.parse("s3://kafka/priced").store)
    assert remote["measured_requests"] == times.requests > remote["requests"] == 4
    assert remote["request_ms"] * 4 == pytest.approx(remote["modelled_ms"], abs=0.01)


@pytest.mark.parametrize("is_whole", [True, False], ids=["whole", "parts"])
@pytest.mark.parametrize("by", ["offset", "timestamp"])
def test_a_lookup_says_as_many_requests_as_the_server_counted(
    stored, clean, answer, monkeypatch, by, is_whole
):
    """Per file; the second lookup adds none, and the next process predicts as many."""
    if not is_whole:
        monkeypatch.setattr(block_cache, "WHOLE_BYTES", 256 << 10)
    record = answer(clean / "orders-0", "--offset", 25000)["record"]
    value = 25000 if by == "offset" else record["timestamp_ms"]
    stored.requests.clear()
    first = answer(ORDERS, f"--{by}", value)["remote"]
    paths = [request.path.rpartition("/")[2] for request in stored.data_requests]
    counts = {read["file"]: read["requests"] for read in first["reads"]}
    assert len(counts) == {"offset": 2, "timestamp": 3}[by]
    assert counts == {name: paths.count(name) for name in counts}
    stored.requests.clear()
    second = answer(ORDERS, f"--{by}", value)["remote"]
    assert stored.ranges == [] and second["reads"] == first["reads"]
    file_system.forget_times()
    third = answer(ORDERS, f"--{by}", value)["remote"]
    assert {read["file"]: read["requests"] for read in third["reads"]} == counts
    assert third["measured_ms"] is None and third["bytes"] == first["bytes"]


def test_reads_of_cached_files_are_modelled(stored, answer, capsys):
    arguments = ["lookup", ORDERS, "--offset", "25000"]
    assert main(arguments) == 0
    measured = capsys.readouterr().out
    file_system.forget_times()  # as in the next process
    stored.requests.clear()
    remote = answer(ORDERS, "--offset", 25000)["remote"]
    assert stored.ranges == []
    assert [(read["requests"], read["bytes"], read["measured_ms"]) for read in remote["reads"]] == [
        (2, 1576, None),
        (2, 1046811, None),
    ]
    assert (remote["measured_ms"], remote["measured_requests"]) == (None, 0)
    assert (remote["request_ms"], remote["modelled_ms"]) == (50, 200)
    assert main(arguments) == 0
    modelled = capsys.readouterr().out
    step = say("cli_lookup.remote_object_step")
    assert measured.count(step) == modelled.count(step) == 2
    requests = message("lookup.n_requests", n=2)
    line = say("cli_lookup.remote_price_modelled", requests=requests, size=1576, ms=100)
    assert f"{step}\n  {line}\n" in modelled and line not in measured


def test_a_large_file_is_modelled_by_the_places_that_are_read(stored, answer, monkeypatch):
    answer(ORDERS, "--offset", 25000)
    file_system.forget_times()
    monkeypatch.setattr(block_cache, "WHOLE_BYTES", 256 << 10)
    log = answer(ORDERS, "--offset", 25000)["remote"]["reads"][1]
    assert (log["requests"], log["bytes"]) == (2, 512 << 10)


def test_a_broker_is_priced_with_the_latency_of_its_store(recorded, object_store, remote_of):
    logs, store = recorded
    object_store.put_directory(store, "priced-store")
    url = "s3://kafka/priced-store"
    file_system.forget_times()
    remote = remote_of(logs, url, 53)
    times = file_system.store_time(address.parse(url).store)
    assert remote["measured_requests"] == times.requests > 0
    assert remote["request_ms"] == pytest.approx(times.elapsed_ms / times.requests, abs=0.001)
    assert remote["modelled_ms"] == pytest.approx(3 * remote["request_ms"], abs=0.01)
    stated = remote_of(logs, url, 53, "--remote-request-ms", "20")
    assert (stated["modelled_ms"], stated["measured_requests"]) == (60, 0)


def test_a_lookup_on_disk_has_no_remote_reads(clean, answer):
    assert "remote" not in answer(clean / "orders-0", "--offset", 25000)


@pytest.mark.parametrize("text", ["-1", "soon", "inf", "nan"])
def test_a_latency_is_a_number_of_milliseconds(recorded, remote_of, text):
    """Anything else is a usage error."""
    with pytest.raises(SystemExit) as end:
        remote_of(*recorded, 53, "--remote-request-ms", text)
    assert end.value.code == 2
