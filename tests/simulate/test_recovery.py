"""Recovery, compared with Kafka's own LogSegment.recover on whole and damaged logs."""

import struct

import pytest

from kafkaviz.binary.crc32c import crc32c
from kafkaviz.binary.file_view import reader
from kafkaviz.simulate.config import IndexConfig, release_behaviour
from kafkaviz.simulate.recovery import RecoveredSegment, recover
from tests.simulate.recovery_vectors import differences, run_recovery
from tests.support.vectors import content, json_lines, unpacked


def differences_of(vectors: list[dict]) -> list[str]:
    return [difference for line in vectors for difference in differences(line)]


@pytest.mark.parametrize(("name", "count"), [("recoveries", 240), ("recoveries-4.4.0", 60)])
def test_every_recorded_recovery(shared, name, count):
    """3.9.0, 4.3.1 and 4.4.0: files byte for byte, offsets, epochs, exceptions."""
    vectors = json_lines(shared / "vectors" / f"{name}.jsonl.gz")
    assert len(vectors) == count and differences_of(vectors) == []


def test_some_recoveries_of_4_4(data):
    """A recovery that raises leaves files preallocated: a close of 4.4.0 trims nothing."""
    vectors = json_lines(data / "recoveries-4.4.0.jsonl.gz")
    differ = {line["id"] for line in vectors if line["differs_from_4.3.1"] == ["closed"]}
    assert len(vectors) == 10 and len(differ) == 8 and differences_of(vectors) == []
    as_before = differences_of([line | {"version": "4.3.1"} for line in vectors])
    assert {difference.split(" ")[0] for difference in as_before} == differ


def test_every_recovery_of_an_old_segment(shared):
    """1.1.1, whose entries hold first offsets, and 2.0.1: undamaged indexes are equal."""
    vectors = json_lines(shared / "vectors" / "legacy-segments.jsonl.gz")
    assert {line["version"] for line in vectors} == {"1.1.1", "2.0.1"} and len(vectors) == 50
    for line in vectors:
        ours = run_recovery(line, unpacked(line["log_gz"]))
        files = line["recovered"]
        assert ours.index() == content(files["index"]), line["id"]
        assert ours.timeindex() == content(files["timeindex"]), line["id"]
        assert ours.truncated_bytes == line["recover_truncated"] == 0


def test_some_recorded_recoveries(data):
    """One line of each kind of damage and of each exception."""
    vectors = json_lines(data / "recoveries.jsonl.gz")
    assert len(vectors) > 20 and differences_of(vectors) == []


def v2_batch(
    base_offset: int, last_offset_delta: int, size_bytes: int, timestamp_ms: int = 1_700_000_000_000
) -> bytes:
    """Returns a batch of that size with a right checksum and noise as records."""
    body = struct.pack(">hiqqqhii", 0, last_offset_delta, timestamp_ms, timestamp_ms, -1, -1, -1, 1)
    body += bytes(at * 7 % 251 for at in range(size_bytes - 61))
    return struct.pack(">qiibI", base_offset, size_bytes - 12, 0, 2, crc32c(body)) + body


def test_a_batch_larger_than_the_buffer_is_checked_piece_by_piece():
    """A flipped bit in its last piece cuts it off; without one it is valid."""
    log = v2_batch(0, 9, 3000) + v2_batch(10, 0, 3 << 20) + v2_batch(11, 0, 200)
    whole = recover(reader(log), len(log), 0, IndexConfig())
    assert (whole.truncated_bytes, whole.next_offset, whole.stop_reason) == (0, 12, "end")
    flipped = log[:-1000] + bytes([log[-1000] ^ 1]) + log[-999:]
    cut = recover(reader(flipped), len(flipped), 0, IndexConfig())
    assert (cut.valid_bytes, cut.next_offset, cut.stop_reason) == (3000, 10, "crc")


def test_many_batches_are_indexed_as_by_a_plain_loop():
    """More batches than one array of the scan holds, with equal, falling and rising timestamps."""
    batches = [
        (at * 3, 2, 61 + at * 37 % 2, 1_700_000_000_000 + at * 7919 % 5000 * (at % 3))
        for at in range(20_000)
    ]
    log = b"".join(v2_batch(*batch) for batch in batches)
    recovery = recover(reader(log), len(log), 0, IndexConfig(1000))
    offsets, times, position, indexed, largest = [], [], 0, 0, (-1, -1)
    for base, delta, size, timestamp in batches:
        largest = max(largest, (timestamp, base + delta), key=lambda pair: pair[0])
        if position - indexed > 1000:
            offsets.append((base + delta, position))
            times += [largest] * (largest[0] > (times[-1][0] if times else -1))
            indexed = position
        position += size
    times += [largest] * (largest[0] > times[-1][0])
    assert recovery.offset_entries.tolist() == offsets and recovery.time_entries.tolist() == times


def test_a_file_that_became_shorter_ends_where_it_ends():
    log = v2_batch(0, 0, 500) + v2_batch(1, 0, 500)
    recovery = recover(reader(log[:700]), len(log), 0, IndexConfig())
    assert (recovery.valid_bytes, recovery.truncated_bytes) == (500, 500)


def recover_by_releases(log: bytes, interval_bytes: int) -> list[RecoveredSegment]:
    """Returns the recovery of a log by 1.1 and by 2.0."""
    config = IndexConfig(interval_bytes)
    return [
        recover(reader(log), len(log), 0, config, release_behaviour(release))
        for release in ((1, 1), (2, 0))
    ]


def test_wrappers_of_old_messages_are_keyed_by_their_first_offset(data):
    """1.1 and older looked inside a compressed message; 2.0 uses the wrapper's offset."""
    lines = json_lines(data / "batches.jsonl.gz")
    line = next(line for line in lines if line["valid"] and is_wrapper(line))
    old, new = recover_by_releases(v2_batch(0, 0, 100) + bytes.fromhex(line["hex"]), 0)
    assert old.offset_entries.tolist() == [(line["records"][0]["offset"], 100)]
    assert new.offset_entries.tolist() == [(line["header"]["lastOffset"], 100)]


def is_wrapper(line: dict) -> bool:
    """Returns whether it is a compressed old batch with several messages near offset 0."""
    header = line.get("header", {})
    return (
        header.get("magic", 2) < 2
        and header["isCompressed"]
        and len(line.get("records", [])) > 1
        and header["lastOffset"] < 2**31
    )


def test_an_offset_far_away_is_cut_to_32_bits_before_kafka_2():
    """Releases before 2.0 wrote the result of toInt; later ones fail."""
    old, new = recover_by_releases(v2_batch(2**40 + 7, 0, 200), 4096)
    assert old.time_entries["relative_offset"].tolist() == [7] and old.exception is None
    assert len(new.time_entries) == 0 and "LogSegmentOffsetOverflowException" in str(new.exception)
