"""What KRaft deletes of the metadata log, by the rules of KafkaMetadataLog (3.9)."""

import shutil
from pathlib import Path

import pytest

from kafkaviz.analysis.metadata_retention import SIZE, TIME, MetadataLimits, metadata_retention
from kafkaviz.log.broker import open_broker
from kafkaviz.log.metadata_log import find_partition
from kafkaviz.log.partition import Partition

NO_LIMIT = -1


@pytest.fixture
def metadata_log(clean) -> Partition:
    """Returns a log with one segment and five snapshots."""
    partition = find_partition(open_broker(clean))
    assert partition is not None
    return partition


def copy_of(metadata_log: Partition, tmp_path: Path) -> Path:
    folder = tmp_path / "kafka" / metadata_log.path.name
    return shutil.copytree(metadata_log.path, folder, copy_function=shutil.copyfile)


def pass_over(partition: Partition, *, max_bytes: int = NO_LIMIT, max_ms: int = NO_LIMIT, now_ms=0):
    limits = MetadataLimits(max_bytes=max_bytes, max_ms=max_ms)
    return metadata_retention(partition, limits, now_ms)


def test_nothing_is_deleted_below_both_limits(metadata_log):
    retention = pass_over(metadata_log)
    newest_ms = retention.snapshots[-1].timestamp_ms
    retention = pass_over(metadata_log, max_bytes=100 << 20, max_ms=600_000, now_ms=newest_ms)
    files = list(Path(metadata_log.path).glob("*.checkpoint"))
    assert len(retention.snapshots) == len(files) == 5
    assert retention.total_bytes == metadata_log.live_log_bytes + sum(
        path.stat().st_size for path in files
    )
    assert (retention.deleted_snapshots, retention.freed_bytes) == ((), 0)


@pytest.mark.parametrize(
    ("excess", "count"),
    [
        pytest.param(0, 0, id="the limit itself is allowed"),
        pytest.param(1, 1, id="one byte more"),
        pytest.param(10**9, 4, id="the newest snapshot stays"),
    ],
)
def test_the_oldest_snapshots_go_while_the_size_is_exceeded(metadata_log, excess, count):
    total = pass_over(metadata_log).total_bytes
    retention = pass_over(metadata_log, max_bytes=max(0, total - excess))
    gone = retention.deleted_snapshots
    assert [snapshot.deleted_by for snapshot in gone] == [SIZE] * count
    assert gone == retention.snapshots[:count]
    assert retention.freed_bytes == sum(snapshot.size_bytes for snapshot in gone)
    assert retention.deleted_segments == ()


def test_snapshots_go_by_the_time_of_their_newest_record(metadata_log):
    snapshots = pass_over(metadata_log).snapshots
    second_ms = snapshots[1].timestamp_ms
    at_limit = pass_over(metadata_log, max_ms=1000, now_ms=second_ms + 1000)
    assert [snapshot.deleted_by for snapshot in at_limit.deleted_snapshots] == [TIME]
    later = pass_over(metadata_log, max_ms=1000, now_ms=second_ms + 1001)
    assert len(later.deleted_snapshots) == 2


def test_segments_go_with_the_snapshots_that_cover_them(clean, metadata_log, tmp_path):
    """A segment is deleted once the next one begins at or below the new log start."""
    ends = [snapshot.end_offset for snapshot in pass_over(metadata_log).snapshots]
    folder = copy_of(metadata_log, tmp_path)
    for base in (ends[2], ends[2] + 1):
        (folder / f"{base:020d}.log").write_bytes(b"x" * 100)
    partition = open_broker(folder).partitions[0]
    first_bytes = partition.live[0].log.size_bytes
    newest_bytes = sum(snapshot.size_bytes for snapshot in pass_over(partition).snapshots[2:])
    retention = pass_over(partition, max_bytes=newest_bytes + 200)
    assert len(retention.deleted_snapshots) == 2
    assert retention.deleted_segments == (0,)
    assert retention.deleted_log_bytes == first_bytes


def test_a_snapshot_with_an_unreadable_header_does_not_go_by_time(metadata_log, tmp_path):
    folder = copy_of(metadata_log, tmp_path)
    oldest = pass_over(metadata_log).snapshots[0].name
    (folder / oldest).write_bytes(b"")
    retention = pass_over(open_broker(folder).partitions[0], max_ms=0, now_ms=2**62)
    assert retention.snapshots[0].timestamp_ms is None
    assert retention.deleted_snapshots == ()
