"""Inferred settings, compared with real topics of known configuration and with a plain loop."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaviz import versions
from kafkaviz.analysis.commits import read_commits
from kafkaviz.analysis.inferred_release import assume_release, infer_release
from kafkaviz.analysis.inferred_settings import (
    IntervalBounds,
    IntervalEvidence,
    SegmentFacts,
    interval_bounds,
    interval_evidence,
    roll_reasons,
)
from kafkaviz.format.walk import walk
from kafkaviz.log import metadata_log
from kafkaviz.log.broker import open_broker
from kafkaviz.messages import Message, message
from kafkaviz.simulate.directory.broker_files import bootstrap
from tests.analysis.arrays import batches, offset_entries, segment_facts
from tests.analysis.metadata_level import METADATA, raise_level
from tests.support.brokers import copy_partitions, metadata_reads

INTERVAL_BYTES = {  # what each topic was configured with
    "orders-0": 4096,
    "heartbeat-0": 4096,
    "payments-0": 4096,
    "dense-index-0": 0,
    "sparse-index-0": 65536,
    "tiny-index-0": 150,
}


def written(
    sizes: list[int], interval_bytes: int, restart_at: int = -1
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the batches and entries that LogSegment.append of 4.3.1 writes: an entry when more
    than the interval was appended.
    """
    rows = batches(sizes)
    entries, counter = [], 0
    for number, batch in enumerate(rows):
        counter = 0 if number == restart_at else counter
        if counter > interval_bytes:
            entries.append((batch["last_offset"], batch["position"]))
            counter = 0
        counter += batch["size_bytes"]
    return rows, offset_entries(entries)


SIZES = st.lists(st.integers(61, 3000), min_size=1, max_size=80)


@given(SIZES, st.integers(0, 5000))
def test_the_interval_is_within_its_bounds(sizes, interval_bytes):
    rows, entries = written(sizes, interval_bytes)
    bounds = interval_bounds(rows, entries)
    if len(entries):
        assert (bounds.low_bytes or 0) <= interval_bytes <= bounds.high_bytes
    else:
        assert (bounds.low_bytes, bounds.high_bytes) == (None, None)


@given(SIZES, st.integers(0, 5000), st.data())
def test_stretches_infer_what_the_segment_does(sizes, interval_bytes, data):
    rows, entries = written(sizes, interval_bytes)
    cut = data.draw(st.integers(0, len(entries)))
    at = entries["position"][cut] if cut < len(entries) else 1 << 40
    before = int(entries["position"][cut - 1]) if cut else 0
    first = interval_evidence(rows[rows["position"] < at], entries[:cut])
    second = interval_evidence(rows[rows["position"] >= at], entries[cut:], before)
    assert first.merge(second) == IntervalEvidence().merge(interval_evidence(rows, entries))


def test_a_restart_is_recognised():
    """The counter starts at 0 again, so that gap is longer than any interval and is left out."""
    rows, entries = written([500] * 60, 4096, restart_at=30)
    bounds = interval_bounds(rows, entries)
    assert bounds.low_bytes <= 4096 <= bounds.high_bytes and bounds.restarts == 1


def test_entries_of_whole_appends_are_recognised():
    """A follower's append of several batches gets one entry: its last key, its first position."""
    entries = offset_entries([(15, 8000), (23, 16000)])
    bounds = interval_bounds(batches([1000] * 24), entries)
    assert bounds.per_append and bounds.high_bytes == 7999


def contains(bounds: IntervalBounds, interval_bytes: int) -> bool:
    """Returns whether the interval is within the bounds, which may say nothing."""
    if bounds.high_bytes is None:
        return True
    return (bounds.low_bytes or 0) <= interval_bytes <= bounds.high_bytes


def test_the_interval_of_real_topics(clean):
    """The bounds of every segment contain the topic's interval."""
    broker = open_broker(clean)
    for name, interval_bytes in INTERVAL_BYTES.items():
        for segment in broker.partition(name).segments:
            bounds = interval_bounds(segment.batches(), segment.offset_index)
            assert contains(bounds, interval_bytes), (name, segment.name)


def test_the_interval_of_a_follower(shared):
    """The bounds contain the default interval or say nothing: a 3.9.0 follower."""
    broker = open_broker(shared / "data" / "kafka-3.9.0-follower.tar.gz")
    bounds = [
        interval_bounds(segment.batches(), segment.offset_index)
        for name in ("orders-0", "audit-trail-0", "three-parts-0", "server-log-0")
        for segment in broker.partition(name).segments
    ]
    assert any(each.per_append for each in bounds)
    assert all(contains(each, 4096) for each in bounds)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("orders-0", "size"),
        ("heartbeat-0", "size"),
        ("payments-0", "size"),
        ("sparse-index-0", "size"),
        ("rolls-by-time-0", "time"),
        ("sensors-late-0", "time"),
        ("refunds-0", "time"),
        ("refunds-1", "time"),
        ("tiny-index-0", "time-index-full"),
    ],
)
def test_the_rolls_of_real_topics(clean, name, reason):
    reasons = roll_reasons([facts(segment) for segment in open_broker(clean).partition(name).live])
    assert set(reasons[:-1]) == {reason} and reasons[-1] is None


def facts(segment) -> SegmentFacts:
    rows, end = segment.walk()
    first = rows[0]
    return segment_facts(
        end.position,
        int(first["size_bytes"]),
        (int(first["max_timestamp_ms"]), int(rows["max_timestamp_ms"].max())),
        (len(segment.offset_index), len(segment.time_index)),
        segment.base_offset,
        int(first["last_offset"]),
    )


def test_an_offset_that_no_entry_can_hold_rolls():
    before = segment_facts(500, 100, (10, 20), last_offset=9)
    after = segment_facts(100, 100, (30, 30), base_offset=2**31)
    assert roll_reasons([before, after]) == ["offset-overflow", None]


def test_nothing_is_invented():
    last = segment_facts(500, 100, (10, 20), last_offset=9)
    assert roll_reasons([]) == [] and roll_reasons([last]) == [None]
    small = segment_facts(50, 10, (-1, -1), last_offset=9)
    large = segment_facts(500, 10, (-1, -1), base_offset=10, last_offset=19)
    assert roll_reasons([small, large, last])[0] is None


UP_TO_3_6 = message("release.between", first="0.11", last="3.6")


def or_later(release: str) -> Message:
    return message("release.or_later", release=release)


def metadata_version(file: str, level: int, release: str) -> Message:
    return message("release.metadata_version", file=file, level=level, release=release)


@pytest.mark.parametrize(
    ("name", "text", "trace"),
    [
        (
            "kafka-3.9.0-leader",
            or_later("3.9"),
            metadata_version("bootstrap.checkpoint", 21, "3.9"),
        ),
        ("kafka-2.8.2-legacy", UP_TO_3_6, message("release.empty_marker")),
    ],
)
def test_versions_by_the_own_files_of_real_directories(data, name, text, trace):
    looks = infer_release(open_broker(data / f"{name}-excerpt.tar.gz"))
    assert looks.text == text and trace in looks.traces


@pytest.mark.parametrize("read", [infer_release, assume_release, read_commits])
def test_the_metadata_log_is_read_once_for_a_release(clean, monkeypatch, read):
    """Also if 11 partitions have commits, each of which is looked up in its log."""
    images = metadata_reads(monkeypatch)
    read(open_broker(clean))
    assert len(images) == 1


def test_versions_of_the_samples(clean, killed):
    for directory in (clean, killed):
        assert infer_release(open_broker(directory)).text == or_later("4.3")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("kafka-3.9.0-leader", or_later("3.9")),
        ("kafka-4.3.1-killed", or_later("4.3")),
        ("kafka-4.4.0-killed", or_later("4.4")),
        ("kafka-2.8.2-legacy", UP_TO_3_6),
    ],
)
def test_versions_of_real_directories(shared, name, text):
    """Every directory looks like the version that wrote it, and the trace is named."""
    looks = infer_release(open_broker(shared / "data" / f"{name}.tar.gz"))
    assert looks.text == text and looks.traces


@pytest.fixture
def upgraded(clean, tmp_path):
    """Returns the metadata log and small files of a 4.3.1 broker, formatted as by Kafka 3.3."""
    directory = copy_partitions(clean, tmp_path / "upgraded", (METADATA,))
    (directory / "bootstrap.checkpoint").write_bytes(bootstrap((3, 3), 0))
    return directory


def drop_level(upgraded: Path) -> None:
    """Empties the metadata log, so that its level is only in snapshots or bootstrap.checkpoint."""
    (log,) = (upgraded / METADATA).glob("*.log")
    log.write_bytes(b"")


def test_a_level_that_was_raised_is_that_of_the_newest_snapshot(upgraded):
    assumed = assume_release(open_broker(upgraded))
    snapshot = "__cluster_metadata-0/00000000000000000222-0000000001.checkpoint"
    assert assumed.version == "4.3.1"
    assert assumed.traces == (metadata_version(snapshot, 30, "4.3"),)


def test_a_level_that_was_raised_after_the_newest_snapshot_counts(upgraded):
    """`kafka-features upgrade` appends a record, and the next snapshot comes later."""
    (log,) = (upgraded / METADATA).glob("*.log")
    end = metadata_log.read_image(open_broker(upgraded)).end_offset
    data = bootstrap((4, 4), 0)
    row = walk(data)[0][1]  # the header's batch is the first
    # the base offset comes before what the checksum covers
    batch = data[int(row["position"]) + 8 : int(row["position"] + row["size_bytes"])]
    log.chmod(0o644)
    log.write_bytes(log.read_bytes() + end.to_bytes(8, "big") + batch)
    assumed = assume_release(open_broker(upgraded))
    assert assumed.version == "4.4.0" and assumed.is_decided
    assert assumed.traces == (metadata_version(f"{METADATA}/{log.name}", 33, "4.4"),)


def test_nothing_older_is_assumed_than_the_files_show(upgraded):
    """Without a metadata log the level is still of 3.3, and .kafka_cleanshutdown of 3.7 or later."""
    for snapshot in (upgraded / METADATA).glob("*.checkpoint"):
        snapshot.unlink()
    drop_level(upgraded)
    assumed = assume_release(open_broker(upgraded))
    assert assumed.version == versions.NEWEST and not assumed.is_decided
    assert assumed.traces[0] == message("release.broker_epoch") and len(assumed.traces) > 1


def test_what_4_4_leaves_is_seen_before_its_level_is_raised(upgraded, restarted_4_4, tmp_path):
    """An upgraded broker that is stopped leaves the metadata log untrimmed; one formatted for 4.3
    has its level in the first snapshot.
    """
    for kind, size_bytes in (("index", 10_485_760), ("timeindex", 10_485_756)):
        os.truncate(upgraded / METADATA / f"{0:020d}.{kind}", size_bytes)
    assumed = assume_release(open_broker(upgraded))
    assert assumed.version == versions.NEWEST
    assert assumed.traces[0] == message("release.untrimmed_indexes")
    for level in (33, 30):
        directory = raise_level(restarted_4_4, tmp_path / str(level), level)
        (directory / ".kafka_cleanshutdown").unlink()
        assert assume_release(open_broker(directory)).version == "4.4.0"
    assert infer_release(open_broker(directory)).traces == (message("release.first_snapshot"),)


def test_a_snapshot_that_cannot_be_read_says_nothing(upgraded):
    """The release is assumed from a level that contradicts no trace: 3.9."""
    (upgraded / "bootstrap.checkpoint").write_bytes(bootstrap((3, 9), 0))
    for snapshot in (upgraded / METADATA).glob("*.checkpoint"):
        snapshot.write_bytes(snapshot.read_bytes()[:70])
    drop_level(upgraded)
    assumed = assume_release(open_broker(upgraded))
    assert assumed.version == "3.9"
    assert assumed.traces == (metadata_version("bootstrap.checkpoint", 21, "3.9"),)
