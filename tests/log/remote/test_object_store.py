"""A directory in an object store gives the same results as on disk, with few requests."""

import json
import os
import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from pyarrow.fs import LocalFileSystem

from kafkaviz.__main__ import main
from kafkaviz.format import producer_snapshot
from kafkaviz.format.batch import HEADER
from kafkaviz.log import file
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import open_broker
from kafkaviz.log.remote import address, block_cache, file_system, mirror
from kafkaviz.log.remote.file_system import REQUESTS
from kafkaviz.messages import say
from kafkaviz.units import file_stem
from tests.pipeline import whole_logs
from tests.pipeline.source_reading import read

ARCHIVE = Path(__file__).parents[3] / "sample_data" / "kafka-4.3.1-damaged.tar.gz"
LOG = "accounts-0/00000000000000000000.log"


@pytest.fixture
def answer(capsys):
    def run(*arguments: str, directory: Path | str) -> tuple[int, str, str]:
        status = main([argument.format(directory) for argument in arguments])
        return status, *(text.replace(str(directory), "DIRECTORY") for text in capsys.readouterr())

    return run


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "{}", "--json"),
        ("lookup", "{}/accounts-0", "--offset", "100", "--json"),
        ("lookup", "{}/accounts-0", "--offset", "100"),
        ("dump", "{}/" + LOG, "--print-data-log"),
        ("dump", "{}/" + LOG, "--json", "--deep-iteration"),
        ("dump", "{}/accounts-0/00000000000000000000.index"),
        ("dump", "{}/accounts-0/00000000000000000000.timeindex"),
    ],
    ids=" ".join,
)
def test_a_command_answers_as_of_the_twin_on_disk(
    arguments, answer, object_store, stored_broker, twin
):
    """Byte for byte, except for the address, the progress, remote reads, and blocks of the disk."""
    status, text, errors = answer(*arguments, directory=stored_broker)
    errors = re.sub("(?m)^reading .*\n", "", errors)
    if arguments[0] == "lookup" and "--json" in arguments:
        lookup = json.loads(text)
        assert lookup.pop("remote")["reads"]
        text = json.dumps(lookup) + "\n"
    elif arguments[0] == "lookup":
        steps, remote, rest = text.partition(f"\n{say('cli_lookup.remote_object_reads')}\n")
        price = rf"{say('cli_lookup.remote_object_step')}\n  \d+ request.*\n"
        steps, count = re.subn(price, "", steps)
        assert remote and count == 2  # the search and the scan
        _, _, after = rest.partition("\n\n")
        text = f"{steps}\n{after}" if after else steps
    twin_status, twin_text, twin_errors = answer(*arguments, directory=twin)
    text, twin_text = (re.sub(r'"allocated_bytes": \d+', "", one) for one in (text, twin_text))
    assert (status, text, errors) == (twin_status, twin_text, twin_errors)


def test_tune_knows_the_settings_of_a_lone_partition(answer, object_store, stored_broker, twin):
    """The metadata log next to it has them, and the size on disk is that in the store."""
    command = ("tune", "{}/accounts-0", "--seconds", "60", "--json")  # enough time for all of it
    remote, local = (
        json.loads(answer(*command, directory=directory)[1]) for directory in (stored_broker, twin)
    )
    assert remote["current"]["segment.ms"] == 600_000
    assert local.pop("footprint") != remote.pop("footprint")
    # the codec is chosen by times that were measured
    for part in ("answer", "codec"):
        assert local.pop(part) and remote.pop(part)
    assert remote == local


@pytest.mark.parametrize(
    "name",
    ["kafka_segments", "kafka_batches", "kafka_records", "kafka_offset_index", "kafka_time_index"],
)
def test_the_data_source_gives_the_twins_rows(name, object_store, stored_broker, twin):
    options = {"topics": "accounts,payments,refunds"}
    rows, twin_rows = (read(name, place, **options) for place in (stored_broker, twin))
    columns = [column for column in rows.column_names if "allocated" not in column]
    assert rows.num_rows and rows.select(columns).equals(twin_rows.select(columns))


# where a thousand records lie, and how many requests they take by isolation: with segments that come
# whole, as those of the sample broker do, and with larger ones, of which an .index finds a part
RANGES = {
    "in the middle": ("orders-0", 25_000, (2, 4), (4, 6)),
    "from a base offset on": ("heartbeat-0", 10_905, (2, 4), (2, 4)),
    "with aborted transactions": ("payments-0", 9_459, (2, 4), (4, 6)),
    "at the end of the log": ("weblogs-0", 32_000, (2, 4), (4, 6)),
    "in the last segment": ("weblogs-0", 24_375, (2, 4), (2, 5)),
    "in two segments": ("orders-0", 37_736, (4, 6), (6, 8)),
}


@pytest.mark.parametrize("is_whole", [True, False], ids=["whole", "parts"])
@pytest.mark.parametrize("isolation", ["read_uncommitted", "read_committed"])
@pytest.mark.parametrize("name", RANGES)
def test_a_thousand_records_take_few_requests(
    name, isolation, is_whole, object_store, stored_broker, twin, monkeypatch
):
    """The .log, the .index of a large one, and for committed records a .txnindex or producer
    snapshot.

    pyarrow asks for the size of each before its first range; a listing is one request per thousand
    files.
    """
    partition, first, *counts = RANGES[name]
    requests = counts[not is_whole][isolation == "read_committed"]
    if not is_whole:
        monkeypatch.setattr(block_cache, "WHOLE_BYTES", 256 << 10)
    open_broker(stored_broker)
    file_system.forget_objects()
    object_store.requests.clear()
    counted_requests = REQUESTS.data_requests
    columns = "topic,partition,offset,timestamp_ms,key,value,headers"
    topic, _, number = partition.rpartition("-")
    options = {"topics": topic, "partitions": number, "payload": "true", "columns": columns}
    options |= {"isolation": isolation, "offsets": f"{first}-{first + 999}"}
    rows = read("kafka_records", stored_broker, **options)
    assert len(object_store.data_requests) == requests
    assert REQUESTS.data_requests - counted_requests == requests
    assert rows.num_rows and rows.equals(read("kafka_records", twin, **options))
    aborted_records = 601 if (topic, isolation) == ("payments", "read_committed") else 0
    assert rows.num_rows == 1000 - aborted_records


# where a thousand records are in a log of three segments, each of some MiB: the first of them by the
# records of a segment, and how many requests they take at most, by isolation
LARGE_RANGES = {
    "in the middle": (lambda count: count // 2, 4, 6),
    "from a base offset on": (lambda count: count, 3, 5),
    "in the middle of the last": (lambda count: 2 * count + count // 2 - 500, 4, 7),
    "from the last base offset on": (lambda count: 2 * count, 3, 6),
    "at the end": (lambda count: 3 * count - 1000, 4, 6),
    "in two segments": (lambda count: count - 500, 7, 9),
    "in the last two": (lambda count: 2 * count - 500, 7, 10),
}
LARGE_LOGS = {"small": (100, 100, 400), "large": (1000, 15, 300)}  # bytes, records, batches


@pytest.fixture(scope="module", params=LARGE_LOGS)
def large_broker(request, object_store_server, tmp_path_factory) -> tuple[Path, str, int]:
    """Returns a cleanly stopped broker, its address in the store, and the records of a segment, all
    equal except for their offsets.
    """
    value_bytes, batch_records, batches = LARGE_LOGS[request.param]
    directory = whole_logs.broker(tmp_path_factory.mktemp("large") / "broker")
    count = batch_records * batches
    body = whole_logs.batch(0, range(batch_records), value_bytes)[HEADER.itemsize :]
    for base in range(0, 3 * count, count):
        written = [
            whole_logs.framed(first, body, range(first, first + batch_records))
            for first in range(base, base + count, batch_records)
        ]
        whole_logs.write(directory / "a-0", written, base)
    producers = np.zeros(1, producer_snapshot.PRODUCER)  # idempotent, in no transaction
    producers["current_txn_first_offset"] = -1
    for offset in (count, 2 * count, 3 * count):
        name = f"{file_stem(offset)}.snapshot"
        (directory / "a-0" / name).write_bytes(producer_snapshot.build(producers))
    object_store_server.put_directory(directory, f"large-{request.param}")
    return directory, f"s3://kafka/large-{request.param}", count


@pytest.mark.parametrize("isolation", ["read_uncommitted", "read_committed"])
@pytest.mark.parametrize("name", LARGE_RANGES)
def test_a_thousand_records_of_large_segments(object_store, large_broker, name, isolation):
    """However long the records are, and into however many tasks a whole segment would be cut.

    The .index, the .log by one range, or by two at its start; a producer snapshot for committed
    records, and in the last segment the end of the log.
    """
    directory, url, count = large_broker
    find_first, *limits = LARGE_RANGES[name]
    first = find_first(count)
    open_broker(url)
    file_system.forget_objects()
    object_store.requests.clear()
    counted_bytes = REQUESTS.read_bytes
    options = {"isolation": isolation, "offsets": f"{first}-{first + 999}", "payload": "true"}
    options |= {"columns": "offset,timestamp_ms,key,value,headers", "task_bytes": str(1280 << 10)}
    rows = read("kafka_records", url, **options)
    assert len(object_store.data_requests) <= limits[isolation == "read_committed"]
    assert REQUESTS.read_bytes - counted_bytes < 2.6 * (1 << 20)
    assert rows.num_rows == 1000 and rows.equals(read("kafka_records", directory, **options))


@pytest.mark.parametrize("damage", ["none", "length", "crc", "torn", "entry", "order"])
def test_a_damaged_log_gives_the_twins_rows(object_store, tmp_path, monkeypatch, damage):
    """Without its .index only a sound log can be read by ranges: here a length is too large, a
    checksum wrong, an end torn, entries astray, or offsets fall.

    A producer snapshot with an offset beyond the log is not used: its transaction is open from
    offset 190 on. Each range is read with an empty cache.
    """
    directory = whole_logs.broker(tmp_path / "made")
    batches = [whole_logs.batch(base, [base] * 10, 500) for base in range(0, 200, 10)]
    if damage == "length":
        batches[5] = batches[5][:8] + (3 * len(batches[5])).to_bytes(4, "big") + batches[5][12:]
    elif damage == "crc":
        batches[5] = batches[5][:-1] + bytes([batches[5][-1] ^ 1])
    elif damage == "torn":
        batches[-1] = batches[-1][:-3]
    elif damage == "order":
        batches[12], batches[3] = batches[3], batches[12]
    stem = whole_logs.write(directory / "a-0", batches)
    if damage == "entry":
        index = stem.with_suffix(".index").read_bytes()
        stem.with_suffix(".index").write_bytes(index[:12] + b"\0\0\7\7" + index[16:])
    producers = np.zeros(1, producer_snapshot.PRODUCER)
    producers["current_txn_first_offset"] = 190
    snapshot = stem.with_name(f"{file_stem(200)}.snapshot")
    snapshot.write_bytes(producer_snapshot.build(producers))
    object_store.put_directory(directory, f"hurt-{damage}")
    columns = "topic,partition,offset,timestamp_ms,batch_position,problem"
    reads = [
        ("read_uncommitted", block_cache.WHOLE_BYTES),
        ("read_committed", block_cache.WHOLE_BYTES),
        ("read_committed", 4096),  # the .log in parts
    ]
    for (isolation, whole_bytes), offsets in product(reads, ("0-", "30-59", "150-", "-20")):
        monkeypatch.setattr(block_cache, "WHOLE_BYTES", whole_bytes)
        block_cache.evict(0)
        file_system.forget_objects()
        options = {"mode": "PERMISSIVE", "offsets": offsets, "isolation": isolation}
        rows, twin_rows = (
            [
                row | {"problem": (row["problem"] or "").replace(str(place), "")}
                for row in read("kafka_records", place, columns=columns, **options).to_pylist()
            ]
            for place in (f"s3://kafka/hurt-{damage}", directory)
        )
        assert rows == twin_rows and len(rows) > 5, (whole_bytes, options)


def test_no_api_of_pyarrow_takes_a_size_from_a_listing(object_store):
    """Once one does, docs/how-to/object-stores.md and the counts above change."""
    object_store.put("sized/file", b"x")
    store = file_system._file_system(address.parse("s3://kafka/sized/file"))
    info = store.get_file_info("kafka/sized/file")
    for open_file in (store.open_input_file, store.open_input_stream):
        with pytest.raises(TypeError):
            open_file(info)


def test_a_lookup_takes_eight_ranges(answer, object_store, stored_broker):
    """Index and .log of two segments, the last one for the log's end, and of the metadata log the
    newest snapshot and the .log after it, which give the release.
    """
    open_broker(stored_broker)
    object_store.requests.clear()
    assert answer("lookup", "{}/orders-0", "--offset", "25000", directory=stored_broker)[0] == 0
    assert len(object_store.ranges) <= 8


def test_the_second_look_is_local(object_store, stored_broker):
    rows = read("kafka_records", stored_broker, topics="payments")
    object_store.requests.clear()
    assert read("kafka_records", stored_broker, topics="payments").equals(rows)
    assert object_store.requests == []


def test_an_archive_is_fetched_whole_and_unpacked(object_store, damaged):
    object_store.put("packed/broker.tar.gz", ARCHIVE.read_bytes())
    broker = open_broker("s3://kafka/packed/broker.tar.gz")
    assert len(broker.partitions) == len(open_broker(damaged).partitions)
    origin = archive.display_path(broker.path / "meta.properties")
    assert origin == "s3://kafka/packed/broker.tar.gz/meta.properties"
    inner = open_broker("s3://kafka/packed/broker.tar.gz/" + broker.partitions[0].directory)
    assert inner.partitions[0].directory == broker.partitions[0].directory


def test_a_file_that_changed_is_read_again_at_the_next_opening(object_store):
    """By size or time; a deleted file is also deleted here."""
    log, index = (f"changing/orders-0/{'0' * 20}.{kind}" for kind in ("log", "index"))
    for key in (log, index):
        object_store.put(key, b"a" * 100)
    open_broker("s3://kafka/changing")
    path = file.absolute_path(f"s3://kafka/{log}")
    assert file.read(path) == b"a" * 100
    object_store.put(log, b"b" * 200)
    object_store.delete(index)
    mirror.forget()
    open_broker("s3://kafka/changing")
    assert file.read(path) == b"b" * 200
    assert [info.name for info in file.list_files(path.parent)] == ["00000000000000000000.log"]


def test_a_file_that_changed_has_the_tag_of_the_new_one(object_store):
    """It has the same size and another time, so the old answer is dropped."""
    key = "tagged/orders-0/00000000000000000000.log"
    object_store.put(key, b"a" * 1_900_000)
    open_broker("s3://kafka/tagged")
    path = file.absolute_path(f"s3://kafka/{key}")
    assert file.read(path, 0, 1) == b"a"
    object_store.put(key, b"b" * 1_900_000)
    os.utime(path, ns=(1, 1))  # as if it had been listed a second ago
    mirror.forget()
    open_broker("s3://kafka/tagged")
    assert file.read(path, 0, 1) == b"b"
    file_system.forget_objects()  # a minute later
    assert file.read(path) == b"b" * 1_900_000


def test_a_worker_elsewhere_needs_no_more_than_the_path(object_store, stored_broker, twin):
    """A file that is in no mirror yet is requested alone."""
    path = file.absolute_path(f"{stored_broker}/{LOG}")
    assert file.read(path) == (twin / LOG).read_bytes()
    assert file.info(path).allocated_bytes == path.stat().st_size
    assert address.display(path) == f"{stored_broker}/{LOG}"
    elsewhere = Path("/another/cache/remote/files", path.relative_to(address.files_root()))
    assert file.read(elsewhere) == (twin / LOG).read_bytes()


def test_a_store_of_plain_paths_is_read_alike(object_store, clean, monkeypatch):
    monkeypatch.setitem(file_system._MAKERS, "hdfs", lambda store: LocalFileSystem())
    url = f"hdfs://of-this-machine:8020{clean}"  # stores are kept by their names
    rows, local_rows = (read("kafka_records", place, topics="accounts") for place in (url, clean))
    assert rows.num_rows and rows.equals(local_rows)
    assert open_broker(url).path != clean


def test_a_mirror_is_its_users_alone(stored_broker, object_store):
    open_broker(stored_broker)
    assert Path(address.files_root()).parent.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("report", "{}/accounts-0", "--out", "s3://kafka/report.html"),
        ("rebuild", "{}/accounts-0", "--out", "s3://kafka/rebuilt"),
        ("simulate", "iot", "--out", "s3://kafka/made"),
        ("ingest", "{}", "--catalog", "s3://kafka/catalog"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_nothing_is_written_to_a_store(arguments, capsys, object_store, clean):
    assert main([argument.format(clean) for argument in arguments]) == 2
    assert "is in a store, and kafkaviz only reads stores" in capsys.readouterr().err
