"""Records that are left out: aborted and open transactions, and all replicas but one."""

import shutil
from bisect import bisect_left
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from kafkaviz import versions
from kafkaviz.format import names, producer_snapshot, txn_index
from kafkaviz.format.batch import TRANSACTIONAL
from kafkaviz.log.broker import open_broker
from kafkaviz.pipeline.datasource.source_reader import Malformed
from kafkaviz.search.consumer import ConsumerRecord, fetches
from kafkaviz.search.fetch import find_bounds
from kafkaviz.search.log_view import view_partition
from tests.pipeline import whole_logs
from tests.pipeline.source_reading import counted, read, read_together
from tests.pipeline.transaction_batches import marker, of_producer, plain, read_transactions
from tests.support.brokers import copy_partitions

START_MS = whole_logs.START_MS


def consumed(partition, start_offset: int = 0, most: int = 1000) -> list[int]:
    """Returns the offsets of a consumer with isolation.level=read_committed, from one on."""
    log, behaviour, offsets = view_partition(partition), versions.search_profile("4.3.1"), []
    bounds = find_bounds(log, behaviour, "read_committed")
    offset = max(start_offset, bounds.start_offset)
    while offset < bounds.limit_offset and len(offsets) < most:
        records = [
            record for _, record in fetches(log, offset, behaviour, bounds, "read_committed")
        ]
        if not isinstance(records[-1], ConsumerRecord):
            break
        offsets.append(records[-1].offset)
        offset = offsets[-1] + 1
    return offsets


def offsets(directory: Path, **options: str) -> list[int]:
    return read("kafka_records", directory, **options)["offset"].to_pylist()


@pytest.fixture
def broker_directory(tmp_path):
    """Returns two segments: producer 7 aborts in both, 8 commits, 9 stays open from offset 15 on;
    no snapshot, one .txnindex.
    """
    directory = whole_logs.broker(tmp_path / "made")
    first = [plain(0), of_producer(7, 1), of_producer(8, 3), plain(5), marker(8, 6, 1)]
    second = [of_producer(7, 7), marker(7, 9, 0), of_producer(7, 10), marker(7, 12, 1)]
    second += [plain(13), plain(14), of_producer(9, 15), plain(17)]
    whole_logs.write(directory / "t-0", first)
    stem = whole_logs.write(directory / "t-0", second, 7)
    entries = np.array([(0, 7, 1, 9, 10)], txn_index.ENTRY)
    stem.with_suffix(".txnindex").write_bytes(txn_index.build(entries))
    return directory


def test_a_consumer_sees_neither_aborted_nor_open_transactions(broker_directory):
    rows = read("kafka_records", broker_directory).to_pylist()
    assert [row["offset"] for row in rows] == [0, 3, 4, 5, 6, 9, 10, 11, 12, 13, 14]
    assert [row["offset"] for row in rows if row["is_control"]] == [6, 9, 12]
    assert "aborted" not in rows[0]
    assert [row["offset"] for row in rows if not row["is_control"]] == consumed(
        open_broker(broker_directory).partitions[0]
    )
    assert offsets(broker_directory, offsets="11-16") == [11, 12, 13, 14]
    assert offsets(broker_directory, offsets="7-8") == []


@pytest.mark.parametrize("txnindex", [True, False])
def test_uncommitted_shows_the_outcome_of_each(broker_directory, txnindex):
    """true for an aborted one, null for an open one; without a .txnindex by the markers."""
    if not txnindex:
        (broker_directory / "t-0" / f"{7:020d}.txnindex").unlink()
    rows = read(
        "kafka_records", broker_directory, isolation="read_uncommitted", columns="offset,aborted"
    ).to_pylist()
    aborted_by_offset = {row["offset"]: row["aborted"] for row in rows}
    assert list(aborted_by_offset) == list(range(18))
    assert [offset for offset, aborted in aborted_by_offset.items() if aborted] == [1, 2, 7, 8]
    assert [offset for offset, aborted in aborted_by_offset.items() if aborted is None] == [15, 16]


@pytest.mark.nightly
def test_aborted_transactions_of_a_real_broker(clean):
    """As a consumer gets them from the start of each segment on: with .txnindex files, snapshots,
    and one open transaction.
    """
    checked = 0
    for partition in open_broker(clean).partitions:
        if partition.topic not in ("payments", "refunds"):
            continue
        options = {"topics": partition.topic, "partitions": str(partition.partition)}
        rows = read("kafka_records", clean, **options, columns="offset,is_control").to_pylist()
        offsets = [row["offset"] for row in rows if not row["is_control"]]
        for segment in partition.live:
            place = bisect_left(offsets, segment.base_offset)
            assert consumed(partition, segment.base_offset) == offsets[place : place + 1000]
        options |= {"isolation": "read_uncommitted", "columns": "offset,aborted"}
        everything = read("kafka_records", clean, **options).to_pylist()
        before_limit = [row for row in everything if row["offset"] <= rows[-1]["offset"]]
        left_out = {row["offset"] for row in before_limit} - {row["offset"] for row in rows}
        assert left_out == {row["offset"] for row in before_limit if row["aborted"]}
        checked += len(left_out)
    assert checked > 100


def test_a_range_reads_no_marker_that_decides_nothing_of_it(tmp_path, monkeypatch):
    """Ten segments of decided transactions without a snapshot: none after the range is opened."""
    directory = whole_logs.broker(tmp_path / "made")
    for first in range(0, 300, 30):
        batches = [
            batch
            for at in range(first, first + 30, 3)
            for batch in (of_producer(7, at), marker(7, at + 2, at % 2))
        ]
        whole_logs.write(directory / "t-0", batches, first)
    expected = [offset for offset in offsets(directory) if 30 <= offset <= 40]
    assert expected == [32, 33, 34, 35, 38, 39, 40]
    with counted(monkeypatch) as reads:
        assert offsets(directory, offsets="30-40") == expected
    assert {name for name in reads.names if name.endswith(".log")} == {
        f"{first:020d}.log" for first in (0, 30)
    }


@pytest.mark.parametrize(
    ("name", "needed"),
    [
        ("orders-0", {"00000000000000038321.snapshot"}),
        ("payments-0", {"00000000000000000000.txnindex", "00000000000000007975.txnindex"}),
    ],
)
def test_the_end_of_the_log_is_not_read_for_records_before_the_last_roll(
    clean, monkeypatch, name, needed
):
    """Each batch has the answer of the newest snapshot and the end of the log, which are read only
    if one of its transactions was open at the roll, by the roll's snapshot and the .txnindex.
    """
    partition = open_broker(clean).partition(name)
    batches = np.concatenate([segment.batches() for segment in partition.live[:-1]])
    everything = read_transactions(partition)[0]
    opened = []
    for last_offset in range(0, partition.active.base_offset, 1000):
        asked = batches[batches["last_offset"] <= last_offset]
        with counted(monkeypatch) as reads:
            transactions = read_transactions(partition, last_offset)[0]
        assert (transactions.are_aborted(asked) == everything.are_aborted(asked)).all()
        assert (transactions.are_open(asked) == everything.are_open(asked)).all()
        opened += reads.names
    assert set(opened) == needed


def test_a_range_reads_the_transaction_indexes_that_decide_about_it(clean, monkeypatch):
    """Earlier segments are not read, nor those after the one that decides all of it."""
    partition = open_broker(clean).partition("payments-0")
    everything = read_transactions(partition)[0]
    batches = np.concatenate([segment.batches() for segment in partition.live])
    opened = {}
    for first in range(0, 17_001, 500):
        with counted(monkeypatch) as reads:
            transactions = read_transactions(partition, first + 999, first)[0]
        asked = batches[(batches["base_offset"] >= first) & (batches["last_offset"] <= first + 999)]
        assert (transactions.are_aborted(asked) == everything.are_aborted(asked)).all()
        assert (transactions.are_open(asked) == everything.are_open(asked)).all()
        opened[first] = sorted(int(name.split(".")[0]) for name in reads.names)
    assert opened[1000] == [0] and opened[9000] == [7975] and opened[7000] == [0, 7975]


def test_a_transaction_that_was_open_at_the_last_roll_is_followed(tmp_path):
    """Its records are before the roll, the marker that aborts it after. A snapshot without it is
    checked against that marker.
    """
    directory = whole_logs.broker(tmp_path / "made")
    whole_logs.write(directory / "t-0", [plain(0), of_producer(7, 1)], 0)
    whole_logs.write(directory / "t-0", [plain(3), marker(7, 4, 0)], 3)
    producers = np.zeros(1, producer_snapshot.PRODUCER)
    producers["producer_id"] = 7
    snapshot = directory / "t-0" / "00000000000000000003.snapshot"
    producers["current_txn_first_offset"] = 1
    snapshot.write_bytes(producer_snapshot.build(producers))
    assert offsets(directory, offsets="0-2") == [0]
    producers["current_txn_first_offset"] = -1
    snapshot.write_bytes(producer_snapshot.build(producers))
    with pytest.raises(Malformed, match="abort different transactions"):
        read("kafka_records", directory, offsets="0-2")
    assert offsets(directory, offsets="0-2", mode="DROPMALFORMED") == [0]


def test_a_transaction_index_that_kafka_refuses_ends_the_query(broker_directory):
    """An unknown version; the markers give the same in the other modes."""
    path = broker_directory / "t-0" / f"{7:020d}.txnindex"
    data = path.read_bytes()
    path.write_bytes(b"\1" + data[1:])
    with pytest.raises(Malformed, match=rf"{path.name}: Unexpected aborted transaction version 1"):
        read("kafka_records", broker_directory)
    rows = read("kafka_records", broker_directory, mode="PERMISSIVE").to_pylist()
    assert sum("txnindex" in (row["problem"] or "") for row in rows) == 1
    sound = [row["offset"] for row in rows if row["offset"] is not None]
    assert sound == [0, 3, 4, 5, 6, 9, 10, 11, 12, 13, 14]
    assert offsets(broker_directory, mode="DROPMALFORMED") == sound
    assert read("kafka_batches", broker_directory).num_rows == 13


@pytest.fixture
def payments(clean, tmp_path) -> Path:
    """Returns a broker directory that was shut down cleanly, with only the log payments-0."""
    return copy_partitions(clean, tmp_path / "kafka", ("payments-0",))


def test_without_its_transaction_indexes_a_log_shows_the_same(payments):
    """On a log of 4.3.1 the markers replace the .txnindex files."""
    expected = offsets(payments)
    for path in (payments / "payments-0").glob("*.txnindex"):
        path.write_bytes(b"\1" + path.read_bytes()[1:])
    assert offsets(payments, mode="DROPMALFORMED") == expected
    everything = offsets(payments, isolation="read_uncommitted", mode="DROPMALFORMED")
    assert len(everything) > len(expected) > 10_000


def replicas(tmp_path, ends: dict[str, int], clusters: dict[str, str] | None = None) -> list[str]:
    for name, end in ends.items():
        directory = whole_logs.broker(tmp_path / name)
        cluster = (clusters or {}).get(name, "made")
        (directory / "meta.properties").write_text(
            f"version=1\nnode.id={name[-1]}\ncluster.id={cluster}\n"
        )
        whole_logs.write(directory / "t-0", [plain(offset) for offset in range(end)])
    return [str(tmp_path / name) for name in ends]


def brokers_of(name: str, directories: list[str], **options: str) -> list[str]:
    return read_together(name, directories, **options)["broker"].to_pylist()


def test_of_several_replicas_one_is_read(tmp_path):
    directories = replicas(tmp_path, {"broker-3": 5, "broker-1": 4, "broker-2": 5})
    assert brokers_of("kafka_records", directories) == ["broker-2"] * 5
    everything = read_together("kafka_records", directories, replicas="all")
    assert Counter(everything["broker"].to_pylist()) == {
        "broker-1": 4,
        "broker-2": 5,
        "broker-3": 5,
    }
    assert set(everything["replica_reason"].to_pylist()) == {None}
    shutil.copytree(tmp_path / "broker-1" / "t-0", tmp_path / "broker-1" / "u-0")
    assert sorted(brokers_of("kafka_records", directories)) == ["broker-1"] * 4 + ["broker-2"] * 5


def test_the_formats_of_files_have_every_replica(tmp_path):
    directories = replicas(tmp_path, {"broker-1": 4, "broker-2": 5})
    for name in ("kafka_segments", "kafka_batches", "kafka_time_index"):
        assert set(brokers_of(name, directories)) == {"broker-1", "broker-2"}
        assert set(brokers_of(name, directories, replicas="one")) == {"broker-2"}


def test_topics_of_two_clusters_are_no_replicas(tmp_path):
    directories = replicas(tmp_path, {"broker-1": 4, "broker-2": 5}, {"broker-2": "another"})
    assert sorted(brokers_of("kafka_records", directories)) == ["broker-1"] * 4 + ["broker-2"] * 5


def test_what_is_known_to_be_no_replica_is_read(tmp_path):
    """Partitions without a broker directory around them, and topics of one name with different ids."""
    alone = [tmp_path / name / "t-0" for name in ("here", "there")]
    for number, path in enumerate(alone):
        path.parent.mkdir()
        whole_logs.write(path, [plain(offset) for offset in range(3 + number)])
    assert len(brokers_of("kafka_records", list(map(str, alone)))) == 7
    directories = replicas(tmp_path, {"broker-1": 4, "broker-2": 5})
    for path, letter in zip(directories, "AB", strict=True):
        text = f"version: 0\ntopic_id: {letter}kXzOiiERbadGF_c6qNvhw"
        (Path(path) / "t-0" / "partition.metadata").write_text(text)
    assert len(brokers_of("kafka_records", directories)) == 9


def test_an_index_that_cannot_be_opened_hides_no_replica(tmp_path):
    """The log's end is then found in the .log."""
    directories = replicas(tmp_path, {"broker-1": 4, "broker-2": 5})
    index = Path(directories[1]) / "t-0" / "00000000000000000000.index"
    index.unlink(missing_ok=True)
    index.symlink_to(index.name)
    assert brokers_of("kafka_records", directories, mode="PERMISSIVE") == ["broker-2"] * 5


def flip_bytes(data: bytes) -> dict[str, bytes]:
    """Yields a .txnindex with one byte of each field changed, shortened, and emptied.

    A first or stable offset that is only a little too small hides nothing else.
    """
    size = txn_index.ENTRY.itemsize
    damaged = {
        f"{name}, byte {at}": data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :]
        for name, (layout, start) in txn_index.ENTRY.fields.items()
        for at, flip in ((start, 0x40), (start + layout.itemsize - 1, 2))
        if at == start or name in ("version", "producer_id", "last_offset")
    }
    return damaged | {
        "torn": data[:-1],
        "without its last entry": data[:-size],
        "without its first entry": data[size:],
        "empty": b"",
        "zeros": bytes(len(data)),
    }


@pytest.mark.parametrize(
    ("base_offset", "asked"),
    [(0, "0-7974"), pytest.param(7975, "7975-", marks=pytest.mark.nightly)],
)
def test_a_transaction_index_that_is_wrong_ends_the_query(payments, base_offset, asked):
    """A real broker's, 4.3.1: whatever is changed in it, no aborted record is a row. Without
    FAILFAST the markers are used.
    """
    expected = offsets(payments, offsets=asked)
    path = payments / "payments-0" / f"{base_offset:020d}.txnindex"
    data = path.read_bytes()
    for how, damaged in flip_bytes(data).items():
        path.write_bytes(damaged)
        with pytest.raises(Malformed, match=path.name):
            offsets(payments, offsets=asked)
        dropped = offsets(payments, offsets=asked, mode="DROPMALFORMED", columns="offset")
        assert dropped == expected, how
    path.unlink()
    with pytest.raises(Malformed, match=path.name):
        offsets(payments, offsets=asked)
    path.write_bytes(data)
    assert offsets(payments, offsets=asked) == expected


def test_a_range_is_held_against_markers_that_lie_after_it(payments):
    """The entry that hides records of the range is missing; its marker is in the same segment."""
    (payments / names.CLEAN_SHUTDOWN).unlink()
    path = payments / "payments-0" / f"{0:020d}.txnindex"
    entries = txn_index.parse(path.read_bytes())
    entry = next(entry for entry in entries if entry["last_offset"] - entry["first_offset"] > 10)
    asked = f"{entry['first_offset']}-{entry['first_offset'] + 1}"
    whole = offsets(payments, offsets=asked)
    path.write_bytes(txn_index.build(entries[entries != entry]))
    with pytest.raises(Malformed, match=path.name):
        offsets(payments, offsets=asked)
    assert offsets(payments, offsets=asked, mode="DROPMALFORMED") == whole


@pytest.mark.parametrize("offsets", ["10000-10010", "8000-9000", "9459-10458"])
def test_nothing_is_held_against_batches_outside_the_range(clean, offsets):
    """A split reads some batches around the range, whose transactions were not looked up."""
    options = {"topics": "payments", "isolation": "read_committed", "offsets": offsets}
    assert read("kafka_records", clean, **options).num_rows


def test_an_empty_batch_that_compaction_left_is_held_against_nothing(tmp_path):
    """Its marker is gone, and the next one aborts another transaction."""
    directory = whole_logs.broker(tmp_path / "made")
    fields = {"producer_id": 7, "producer_epoch": 0, "record_count": 0}
    empty = whole_logs.framed(0, b"", [START_MS] * 2, TRANSACTIONAL, **fields)
    batches = [empty, of_producer(7, 2), marker(7, 4, 0)]
    stem = whole_logs.write(directory / "t-0", batches)
    entries = np.array([(0, 7, 2, 4, 5)], txn_index.ENTRY)
    stem.with_suffix(".txnindex").write_bytes(txn_index.build(entries))
    producers = np.zeros(1, producer_snapshot.PRODUCER)
    producers["producer_id"], producers["current_txn_first_offset"] = 7, -1
    snapshot = directory / "t-0" / "00000000000000000005.snapshot"
    snapshot.write_bytes(producer_snapshot.build(producers))
    assert offsets(directory) == [4]
