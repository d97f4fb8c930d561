"""What a running broker appends after a directory was listed is left for the next time."""

import threading
from pathlib import Path

import numpy as np
import pytest

from kafkaviz import versions
from kafkaviz.analysis.health.broker_health import check
from kafkaviz.format import names, offset_index, time_index
from kafkaviz.format.walk import walk
from kafkaviz.log.broker import open_broker
from kafkaviz.search.log_view import view_partition
from kafkaviz.search.lookup import lookup
from tests.live.churn import pool

PREALLOCATED_BYTES = 4096


class AppendingBroker:
    """A broker that appends to one partition as Kafka does: the .log first, then the indexes."""

    def __init__(self, folder: Path) -> None:
        segments, own = pool()
        files = segments[0]
        (folder / "meta.properties").write_bytes(own["meta.properties"])
        (folder / names.LOCK).touch()
        self.partition = folder / "live-0"
        self.partition.mkdir()
        self._paths = {Path(name).suffix: self.partition / name for name in files}
        contents = {Path(name).suffix: data for name, data in files.items()}
        self._log = contents[".log"]
        self.batches = walk(self._log)[0]
        self._offsets = offset_index.parse(contents[".index"])
        self._times = time_index.parse(contents[".timeindex"])
        self.count = 0
        for suffix in (".log", ".index", ".timeindex"):
            size_bytes = 0 if suffix == ".log" else PREALLOCATED_BYTES
            self._paths[suffix].write_bytes(bytes(size_bytes))

    def append(self) -> None:
        """The next batch, and then its index entries."""
        row = self.batches[self.count]
        start, end = int(row["position"]), int(row["position"] + row["size_bytes"])
        with self._paths[".log"].open("ab") as log:
            log.write(self._log[start:end])
        for slot in np.flatnonzero(self._offsets["position"] == start).tolist():
            self._write(".index", slot, self._offsets[slot].tobytes())
            last = self._offsets["relative_offset"][slot]
            for place in np.flatnonzero(self._times["relative_offset"] <= last).tolist():
                self._write(".timeindex", place, self._times[place].tobytes())
        self.count += 1

    def _write(self, suffix: str, slot: int, entry: bytes) -> None:
        with self._paths[suffix].open("r+b") as index:
            index.seek(slot * len(entry))
            index.write(entry)


@pytest.fixture
def broker(tmp_path):
    """A broker directory in use, with the first batches of a log."""
    folder = tmp_path / "broker"
    folder.mkdir()
    appending = AppendingBroker(folder)
    for _ in range(len(appending.batches) // 3):
        appending.append()
    return appending


def errors_of(broker_view) -> list[tuple[str, str]]:
    """The errors of a checkup, as code and message."""
    findings = check(broker_view).findings
    return [
        (finding.code, str(finding.message)) for finding in findings if finding.severity == "error"
    ]


def test_what_was_appended_after_the_listing_is_no_error(broker):
    """Indexes are read later than the .log is listed, and lead beyond what was listed."""
    assert errors_of(open_broker(broker.partition.parent)) == []
    listed = open_broker(broker.partition.parent)
    listed_bytes = listed.partitions[0].active.log.size_bytes
    while broker.count < len(broker.batches):
        broker.append()
    assert errors_of(listed) == []
    segment = open_broker(broker.partition.parent).partitions[0].active
    assert segment.log.size_bytes > listed_bytes
    assert segment.offset_index["position"].max() > listed_bytes


def test_the_entries_of_a_listed_log_are_those_of_its_batches(broker):
    """Of both indexes, to the last batch that was complete."""
    listed = open_broker(broker.partition.parent).partitions[0].active
    while broker.count < len(broker.batches):
        broker.append()
    last_offset = int(listed.batches()["last_offset"][-1])
    assert len(listed.offset_index) and len(listed.time_index)
    assert listed.offset_index["position"].max() < listed.log.size_bytes
    assert listed.time_index["offset"].max() <= last_offset


def test_a_lookup_ends_where_the_listed_log_does(broker):
    """It finds every listed record, whatever the index says by then."""
    log = view_partition(open_broker(broker.partition).partitions[0])
    last_offset = int(broker.batches["last_offset"][broker.count - 1])
    while broker.count < len(broker.batches):
        broker.append()
    profile = versions.search_profile()
    assert lookup(log, profile, offset=last_offset).answer.offset == last_offset
    assert lookup(log, profile, timestamp_ms="latest").answer.offset == last_offset + 1


def test_a_checkup_beside_a_broker_that_writes(broker):
    """Again and again while a thread appends, to the end of the log."""

    def write() -> None:
        while broker.count < len(broker.batches):
            broker.append()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        errors = [errors_of(open_broker(broker.partition.parent)) for _ in range(5)]
    finally:
        writer.join()
    assert errors == [[]] * 5
