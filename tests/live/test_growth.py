"""Bytes that a running broker adds after the listing are ignored until the next listing."""

import json
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kafkaviz import versions
from kafkaviz.__main__ import main
from kafkaviz.analysis.broker_health import check
from kafkaviz.format import checkpoint, names, offset_index, time_index, txn_index
from kafkaviz.format.walk import walk
from kafkaviz.log.broker import Broker, open_broker
from kafkaviz.search.log_view import view_partition
from kafkaviz.search.lookup import lookup_in_view
from tests.live.churn import pool, write_partitions
from tests.live.moments import Moments

PREALLOCATED_BYTES = 4096
TOPIC = "version: 0\ntopic_id: tpx8pd1IQDqJwMfGzXj6GA\n"


class AppendingBroker:
    """Appends to one partition as Kafka does: the .log first, then the indexes."""

    def __init__(self, folder: Path) -> None:
        segments, own = pool()
        files = segments[0]
        (folder / "meta.properties").write_bytes(own["meta.properties"])
        (folder / names.LOCK).touch()
        self.partition = folder / "live-0"
        self.partition.mkdir()
        (self.partition / names.PARTITION_METADATA).write_text(TOPIC)
        self._paths = {Path(name).suffix: self.partition / name for name in files}
        contents = {Path(name).suffix: data for name, data in files.items()}
        self._log = contents[".log"]
        self.batches = walk(self._log)[0]
        self._offsets = offset_index.parse(contents[".index"])
        self._times = time_index.parse(contents[".timeindex"])
        self._aborted = txn_index.parse(contents[".txnindex"])
        self.count = 0
        for suffix in (".log", ".index", ".timeindex"):
            size_bytes = 0 if suffix == ".log" else PREALLOCATED_BYTES
            self._paths[suffix].write_bytes(bytes(size_bytes))

    def append(self) -> None:
        """Appends the next batch, and then its index entries."""
        row = self.batches[self.count]
        start, end = int(row["position"]), int(row["position"] + row["size_bytes"])
        with self._paths[".log"].open("ab") as log:
            log.write(self._log[start:end])
        for slot in np.flatnonzero(self._offsets["position"] == start).tolist():
            self._write(".index", slot, self._offsets[slot].tobytes())
            last = self._offsets["relative_offset"][slot]
            for place in np.flatnonzero(self._times["relative_offset"] <= last).tolist():
                self._write(".timeindex", place, self._times[place].tobytes())
        for entry in self._aborted[self._aborted["last_offset"] == row["last_offset"]]:
            with self._paths[".txnindex"].open("ab") as index:
                index.write(entry.tobytes())
        self.count += 1

    def append_all(self) -> None:
        while self.count < len(self.batches):
            self.append()

    def append_until_first_abort(self) -> None:
        """Appends up to the batch before the first marker of an abort."""
        while self.batches["last_offset"][self.count] < self._aborted["last_offset"][0]:
            self.append()

    def append_until_second_abort(self) -> None:
        """Appends up to the second marker of an abort, with its entry."""
        while self.batches["last_offset"][self.count - 1] < self._aborted["last_offset"][1]:
            self.append()

    def listed(self) -> Broker:
        return open_broker(self.partition.parent)

    def _write(self, suffix: str, slot: int, entry: bytes) -> None:
        with self._paths[suffix].open("r+b") as index:
            index.seek(slot * len(entry))
            index.write(entry)


@pytest.fixture
def new_broker(tmp_path):
    folder = tmp_path / "broker"
    folder.mkdir()
    return AppendingBroker(folder)


@pytest.fixture
def broker(new_broker):
    for _ in range(len(new_broker.batches) // 3):
        new_broker.append()
    return new_broker


def errors_of(broker_view) -> list[tuple[str, str]]:
    """Returns the errors of a check, as code and message."""
    findings = check(broker_view).findings
    return [
        (finding.code, str(finding.message)) for finding in findings if finding.severity == "error"
    ]


def test_what_was_appended_after_the_listing_is_no_error(broker):
    """Indexes are read later than the .log is listed, and may lead beyond the listed length."""
    assert errors_of(broker.listed()) == []
    listed = broker.listed()
    listed_bytes = listed.partitions[0].active.log.size_bytes
    broker.append_all()
    assert errors_of(listed) == []
    segment = broker.listed().partitions[0].active
    assert segment.log.size_bytes > listed_bytes
    assert segment.offset_index["position"].max() > listed_bytes


def test_the_entries_of_a_listed_log_are_those_of_its_batches(broker):
    listed = broker.listed().partitions[0].active
    broker.append_all()
    last_offset = int(listed.batches()["last_offset"][-1])
    assert len(listed.offset_index) and len(listed.time_index)
    assert listed.offset_index["position"].max() < listed.log.size_bytes
    assert listed.time_index["offset"].max() <= last_offset


def test_a_lookup_ends_where_the_listed_log_does(broker):
    """It finds every listed record, whatever the index says by then."""
    log = view_partition(open_broker(broker.partition).partitions[0])
    last_offset = int(broker.batches["last_offset"][broker.count - 1])
    broker.append_all()
    profile = versions.search_profile()
    assert lookup_in_view(log, profile, offset=last_offset).answer.offset == last_offset
    assert lookup_in_view(log, profile, timestamp_ms="latest").answer.offset == last_offset + 1


def test_a_check_while_a_broker_writes(broker):
    """Again and again while a thread appends, to the end of the log."""
    writer = threading.Thread(target=broker.append_all)
    writer.start()
    try:
        errors = [errors_of(broker.listed()) for _ in range(5)]
    finally:
        writer.join()
    assert errors == [[]] * 5


def test_a_txnindex_that_was_created_after_the_listing_is_not_missing(new_broker):
    """An entry whose marker came later is not wrong either."""
    new_broker.append_until_first_abort()
    before = new_broker.listed()
    new_broker.append()
    first = new_broker.listed()
    assert len(first.partitions[0].active.txn_index) == 1
    new_broker.append_all()
    assert before.partitions[0].active.txnindex is None
    assert errors_of(before) == errors_of(first) == []
    assert len(new_broker.listed().partitions[0].active.txn_index) > 1


def test_a_txnindex_of_a_listed_log_that_is_created_meanwhile(new_broker):
    """The names of a directory are listed before the sizes of its files."""
    new_broker.append_until_first_abort()
    new_broker.append()
    txnindex = next(new_broker.partition.glob("*.txnindex"))
    entries = txnindex.read_bytes()
    txnindex.unlink()
    listed = new_broker.listed()
    assert errors_of(listed) == []  # the broker may be about to create it
    new_broker.append()
    assert [code for code, _ in errors_of(listed)] == ["txnindex-mismatch"]
    txnindex.write_bytes(entries)
    assert errors_of(listed) == []


def test_an_abort_that_is_not_yet_indexed_is_no_error(new_broker):
    """A broker appends to the .log first; only the next append proves that an entry is lost."""
    new_broker.append_until_first_abort()
    new_broker.append_until_second_abort()
    txnindex = next(new_broker.partition.glob("*.txnindex"))
    entries = txnindex.read_bytes()
    txnindex.write_bytes(entries[: -txn_index.ENTRY.itemsize])
    listed = new_broker.listed()
    assert errors_of(listed) == []
    txnindex.write_bytes(bytes(txn_index.ENTRY.itemsize) + entries[txn_index.ENTRY.itemsize :])
    assert [code for code, _ in errors_of(listed)] == ["txnindex-mismatch"]
    txnindex.write_bytes(entries[: -txn_index.ENTRY.itemsize])
    new_broker.append()
    assert [code for code, _ in errors_of(listed)] == ["txnindex-mismatch"]
    txnindex.write_bytes(entries)
    assert errors_of(listed) == []


@pytest.fixture
def retaining(tmp_path):
    """Returns a broker directory in use, with three segments of a log, in two partitions."""
    segments, own = pool()
    folder = tmp_path / "broker"
    write_partitions(folder, segments[1:4])
    for name in ("orders-0", "payments-0"):
        (folder / name / names.PARTITION_METADATA).write_text(TOPIC)
    (folder / "meta.properties").write_bytes(own["meta.properties"])
    (folder / names.LOCK).touch()
    return folder


OLDEST = f"{108:020d}"


def delete_oldest_segment(folder: Path) -> None:
    """As retention does: first the names of the files change, then the files are deleted."""
    for path in sorted((folder / "orders-0").glob(f"{OLDEST}.*")):
        path.rename(f"{path}.deleted").unlink()


def delete_partition(folder: Path) -> None:
    """Deletes a partition as a broker does when its topic is deleted."""
    renamed = folder / f"orders-0.{'0a' * 16}-delete"
    shutil.rmtree((folder / "orders-0").rename(renamed))


def create_partition(folder: Path) -> None:
    """Creates a partition with records that a checkpoint mentions."""
    shutil.copytree(folder / "orders-0", folder / "refunds-0")
    offsets = checkpoint.build_offsets({("refunds", 0): 400})
    (folder / names.RECOVERY_POINT_CHECKPOINT).write_bytes(offsets)


CHANGES = {change.__name__: change for change in (delete_oldest_segment, delete_partition)}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_was_deleted_after_the_listing_is_no_error(retaining, change):
    """One finding for all the files, for information."""
    listed = open_broker(retaining)
    before = {(finding.code, finding.severity) for finding in check(listed).findings}
    change(retaining)
    findings = check(listed).findings
    [vanished] = [finding for finding in findings if finding.code == "unreadable-file"]
    assert vanished.severity == "info" and vanished.partition == "orders-0"
    assert vanished.message.key == "finding.vanished_files" and vanished.message["n"] >= 3
    others = {(finding.code, finding.severity) for finding in findings if finding != vanished}
    assert others <= before


def test_a_partition_that_was_created_after_the_listing_is_not_missing(retaining):
    """The checkpoints that are read later name it."""
    listed = open_broker(retaining)
    create_partition(retaining)
    assert "partition-missing" not in {finding.code for finding in check(listed).findings}
    shutil.rmtree(retaining / "refunds-0")
    assert "partition-missing" in {finding.code for finding in check(listed).findings}


def lookup_while(
    folder: Path, capsys: pytest.CaptureFixture, change: Callable[[Path], None], at: int
) -> tuple[dict, int]:
    """Returns the answer to an offset of the oldest segment, and the number of calls."""
    with Moments(folder, at, lambda: change(folder)) as moments:
        assert main(["lookup", str(folder / "orders-0"), "--offset", "110", "--json"]) == 0
    return json.loads(capsys.readouterr().out), moments.count


def test_a_lookup_in_a_segment_that_is_deleted_meanwhile(retaining, capsys):
    """The directory is listed again: the record is found, or its offset is out of range."""
    _, count = lookup_while(retaining, capsys, delete_partition, -1)
    saved = retaining.with_name("saved")
    shutil.copytree(retaining, saved)
    errors = []
    for at in (*range(0, count, count // 6), count - 1):
        shutil.rmtree(retaining)
        shutil.copytree(saved, retaining)
        answer, _ = lookup_while(retaining, capsys, delete_oldest_segment, at)
        assert (answer["answer"] is None) == ("error" in answer)
        errors.append(answer.get("error", "").partition(":")[0])
    assert set(errors) == {"", "org.apache.kafka.common.errors.OffsetOutOfRangeException"}
