import shutil
import struct
from pathlib import Path

import pytest

from kafkaviz import versions
from kafkaviz.format import java, txn_index
from kafkaviz.format.batch import HEADER, TRANSACTIONAL
from kafkaviz.log.broker import open_broker
from kafkaviz.search import by_time
from kafkaviz.search.fetch import (
    READ_COMMITTED,
    Bounds,
    OffsetOutOfRange,
    fetch_offset,
    find_bounds,
)
from kafkaviz.search.log_view import LogView, view_partition
from kafkaviz.search.lookup import by_offset, lookup_in_view
from kafkaviz.search.scan import translate
from kafkaviz.versions import SearchProfile
from tests.pipeline import whole_logs
from tests.search.recorded import log_of, segment
from tests.support.vectors import json_lines, unpacked


def path_of(searches, scans, with_segment=True) -> dict:
    """Returns slots and reads in the form of the recording."""
    reads = [
        [*([scan.base_offset] if with_segment else []), read.size, read.position]
        for scan in scans
        for read in scan.reads
    ]
    return {
        "index": [
            [search.kind, [probe.slot for probe in search.slot_search.probes]]
            for search in searches
        ],
        "reads": reads,
    }


def first_batch(result) -> list[int] | None:
    batch = result.batch
    if batch is None or batch.size_bytes > result.size_bytes:
        return None
    return [batch.base_offset, batch.last_offset, batch.size_bytes]


def read(log: LogView, query: dict, search_profile: SearchProfile, bounds: Bounds) -> dict:
    try:
        fetched = fetch_offset(
            log,
            query["offset"],
            search_profile,
            bounds,
            query["max"],
            at_least_one=query["min_one"],
        )
    except OffsetOutOfRange as error:
        fault = {"class": error.class_name, "message": str(error)}
        return {"error": fault, "index": [], "reads": []}
    result = {
        "segment": fetched.segment_base_offset,
        "position": fetched.position,
        "metadata_offset": fetched.metadata_offset,
        "size": fetched.size_bytes,
        "first_batch": first_batch(fetched),
        "incomplete": fetched.is_incomplete,
    }
    return {"result": result} | path_of(fetched.searches, fetched.scans)


def translated(log: LogView, query: dict, search_profile: SearchProfile) -> dict:
    segment_view = next(
        segment
        for segment in log.segments
        if segment.base_offset == query.get("segment", segment.base_offset)
    )
    searched, scanned = translate(segment_view, query["offset"], search_profile)
    batch = scanned.batch
    key = batch and (batch.base_offset if search_profile.by_base_offset else batch.last_offset)
    return {"result": batch and [key, batch.position, batch.size_bytes]} | path_of(
        [searched], [scanned], "segment" in query
    )


def by_timestamp(log: LogView, query: dict, search_profile: SearchProfile, bounds: Bounds) -> dict:
    found = by_time.list_offset(log, query["t"], search_profile, bounds)
    answer = found.answer and [found.answer.offset, found.answer.timestamp_ms]
    return {"result": answer} | path_of(found.searches, [found.scan] if found.scan else [])


def assert_as_recorded(recorded: dict, log: LogView) -> int:
    search_profile = versions.search_profile(recorded["version"])
    bounds = find_bounds(log, search_profile)
    assert (bounds.start_offset, bounds.end_offset) == (recorded["log_start"], recorded["log_end"])
    for query in recorded["queries"]:
        names = ("result", "index", "reads", "error")
        expected = {name: query[name] for name in names if name in query}
        if query["m"] == "fetchOffsetByTimestamp":
            actual = by_timestamp(log, query, search_profile, bounds)
            if query["t"] >= 0 or query["t"] == by_time.MAX_TIMESTAMP:
                answer = by_time.list_offset(log, query["t"], search_profile, bounds).answer
                epoch = query["result"] and query["result"][2]
                assert (answer and answer.leader_epoch) == epoch, query
            expected["result"] = expected["result"] and expected["result"][:2]
        elif query["m"] == "read":
            actual = read(log, query, search_profile, bounds)
        else:
            actual = translated(log, query, search_profile)
        assert actual == expected, (recorded["version"], recorded["dataset"]["id"], query)
    return len(recorded["queries"])


def assert_all_as_recorded(path) -> int:
    segments, compared = {}, 0
    for recorded in json_lines(path):
        known = segments.setdefault(recorded["dataset"]["id"], recorded.get("segments"))
        compared += assert_as_recorded(recorded, log_of(recorded, known))
    return compared


def assert_segment_as_recorded(recorded: dict) -> int:
    closed = recorded["closed"]
    segment_view = segment(
        recorded["base_offset"], unpacked(recorded["log_gz"]), closed["index"], closed["timeindex"]
    )
    log = LogView("t-0", (segment_view,))
    search_profile = versions.search_profile(recorded["version"])
    for query in recorded["queries"]:
        if query["m"] == "translateOffset":
            actual = translated(log, query, search_profile)
        else:
            searches, scanned = by_time.find_in_segment(
                segment_view, query["t"], search_profile, segment_view.base_offset
            )
            answer = None if scanned.offset is None else [scanned.offset, scanned.timestamp_ms]
            actual = {"result": answer} | path_of(searches, [scanned], with_segment=False)
        expected = {name: query[name] for name in ("result", "index", "reads")}
        assert actual == expected, (recorded["id"], query)
    return len(recorded["queries"])


@pytest.mark.slow
def test_every_slot_and_read_is_the_one_kafkas_logs_made(shared):
    """4.3.1 and 3.9.0, on logs that are compacted, compressed, out of order, of magic 1, with
    trailing zeros or without time indexes.
    """
    assert assert_all_as_recorded(shared / "vectors" / "lookups.jsonl.gz") == 5864


@pytest.mark.slow
def test_every_slot_and_read_is_the_one_old_segments_made(shared):
    """2.0.1 and 1.1.1 use plain binary search; the keys of 1.1.1 are first offsets."""
    recorded = json_lines(shared / "vectors" / "legacy-segments.jsonl.gz")
    assert sum(map(assert_segment_as_recorded, recorded)) > 1000


def test_slots_and_reads_of_some_recorded_logs(data):
    """One log of each kind."""
    assert assert_all_as_recorded(data / "lookups.jsonl.gz") > 500


def test_slots_and_reads_of_some_old_segments(data):
    """Some segments of 2.0.1 and 1.1.1."""
    assert sum(map(assert_segment_as_recorded, json_lines(data / "old_lookups.jsonl.gz"))) > 100


def served_log(data, tmp_path: Path, **changes: bytes) -> LogView:
    """Returns nulls-0 of 4.3.1 with replaced bytes in some of its files, by suffix."""
    directory = Path(shutil.copytree(data / "kafka-4.3.1" / "nulls-0", tmp_path / "nulls-0"))
    for suffix, content in changes.items():
        (directory / f"00000000000000000000.{suffix}").write_bytes(content)
    return view_partition(open_broker(directory).partitions[0])


@pytest.mark.parametrize("position", [-1, -256])
def test_an_entry_that_points_before_the_file(data, tmp_path, position):
    """A fetch begins at byte 0 (LogSegment.translateOffset); a search for a timestamp throws."""
    log = served_log(data, tmp_path, index=struct.pack(">ii", 1, position))
    profile = versions.search_profile("4.3.1")
    assert by_offset(log, 2, profile).record.offset == 2
    failed = lookup_in_view(log, profile, timestamp_ms="max")
    assert failed.answer is None and failed.searches[0].entry == (1, position)
    assert failed.scan.from_position == position
    assert failed.error.class_name == java.ILLEGAL_ARGUMENT
    words = f"The file channel position cannot be negative, but it is {position}"
    assert str(failed.error.what) == words


def test_a_txnindex_that_kafka_refuses_is_reported(data, tmp_path):
    batches = (data / "kafka-4.3.1" / "nulls-0" / "00000000000000000000.log").read_bytes()
    first = bytearray(batches[:109])
    first[HEADER.fields["attributes"][1] + 1] |= TRANSACTIONAL
    txnindex = b"\x08".ljust(txn_index.ENTRY.itemsize, b"\0")
    log = served_log(
        data, tmp_path, log=whole_logs.summed(bytes(first)) + batches[109:], txnindex=txnindex
    )
    profile = versions.search_profile("4.3.1")
    assert by_offset(log, 0, profile).record.offset == 0
    failed = by_offset(log, 0, profile, READ_COMMITTED, find_bounds(log, profile))
    assert failed.error.class_name == java.KAFKA and failed.record is None
    assert "txnindex, byte 0: Unexpected aborted transaction version 8" in str(failed.error)
