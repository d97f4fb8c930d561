"""Uploads: the recorded broker of 4.3.1, files removed by hand, and the lag of 4.4 as a table.

tests/kafka/uploads.py holds the same states to a running broker.
"""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kafkaviz.analysis.checks.plan import CheckPlan, plan_check
from kafkaviz.analysis.tiering.upload import (
    PartitionUpload,
    UploadFacts,
    UploadRules,
    UploadState,
    partition_upload,
    segment_uploads,
    tiered_directories,
    tiered_uploads,
)
from kafkaviz.binary.file_view import in_memory
from kafkaviz.format import checkpoint
from kafkaviz.format.names import LEADER_EPOCHS
from kafkaviz.log.broker import open_broker, read_tiered_state
from kafkaviz.search.log_view import SegmentView
from tests.support.tiered_storage import answers

ANSWERS = answers()
BASES = (335, 355, 375, 395)  # the local segments of orders-0; the last one is active
UPLOADED, READY, ACTIVE = UploadState.UPLOADED, UploadState.READY, UploadState.ACTIVE
WAITING, ABOVE = UploadState.WAITING, UploadState.ABOVE_STABLE
DISABLED, LAG = UploadState.COPY_DISABLED, UploadState.COPY_LAG


@pytest.fixture
def logs(tiered, tmp_path) -> Path:
    return shutil.copytree(tiered[0], tmp_path / "logs")


def plan_of(logs: Path, release: str = "4.3.1", **overrides: str) -> CheckPlan:
    plan = plan_check(open_broker(logs), release)
    given = {name.replace("_", "."): value for name, value in overrides.items()}
    return replace(plan, settings=replace(plan.settings, overrides=given))


def orders(plan: CheckPlan, highest_remote_offset: int | None = -1) -> PartitionUpload:
    partition = plan.broker.partition("orders-0")
    return partition_upload(plan, partition, highest_remote_offset=highest_remote_offset)


def states(upload: PartitionUpload) -> list[UploadState]:
    return [segment.state for segment in upload.segments]


@pytest.mark.parametrize("has_store", [True, False])
def test_all_closed_segments_of_the_recorded_broker_are_uploaded(tiered, has_store):
    """By the store, or by __remote_log_metadata alone: up to the offset that Kafka tells."""
    logs, store = tiered
    plan = plan_of(logs)
    state = read_tiered_state(store if has_store else None, logs, tiered_directories(plan))
    uploads, problems = tiered_uploads(plan, state)
    assert problems == ()
    assert {upload.partition for upload in uploads} == {f"{topic}-0" for topic in ANSWERS}
    for upload in uploads:
        answer = ANSWERS[upload.partition.removesuffix("-0")]
        assert upload.highest_remote_offset == answer["latest_tiered"]
        assert upload.last_stable_offset == answer["log_end"]
        assert upload.is_leader is True
        assert states(upload) == [UPLOADED] * (len(upload.segments) - 1) + [ACTIVE]
        assert upload.kept_segments == () and upload.failing is None


def remove_snapshot(logs: Path) -> None:
    (logs / "orders-0" / f"{BASES[2]:020}.snapshot").unlink()


def remove_epochs(logs: Path) -> None:
    (logs / "orders-0" / LEADER_EPOCHS).unlink()


def begin_epochs(entry: str) -> Callable[[Path], None]:
    def change(logs: Path) -> None:
        (logs / "orders-0" / LEADER_EPOCHS).write_text(f"0\n1\n{entry}\n")

    return change


def cut(kind: str) -> Callable[[Path], None]:
    def damage(logs: Path) -> None:
        path = logs / "orders-0" / f"{BASES[1]:020}.{kind}"
        path.write_bytes(path.read_bytes()[:-3])

    return damage


def write_txnindex(logs: Path) -> None:
    """An entry below the base offset: producer 1, offsets 1 to 2."""
    numbers = (0, 2), (1, 8), (1, 8), (2, 8), (3, 8)
    entry = b"".join(number.to_bytes(length, "big") for number, length in numbers)
    (logs / "orders-0" / f"{BASES[1]:020}.txnindex").write_bytes(entry)


def lower_high_watermark(logs: Path) -> None:
    set_offset(logs / "replication-offset-checkpoint", 380)


def set_offset(path: Path, offset: int) -> None:
    offsets = checkpoint.parse_offsets(path.read_bytes()) | {("orders", 0): offset}
    path.write_bytes(checkpoint.build_offsets(offsets))


OFFSETS = {UploadState.SNAPSHOT_MISSING: BASES[2], ABOVE: 380}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda _: None, [READY, READY, READY, ACTIVE]),
        (remove_snapshot, [READY, UploadState.SNAPSHOT_MISSING, WAITING, ACTIVE]),
        (remove_epochs, [UploadState.EPOCHS_MISSING] * 3 + [ACTIVE]),
        # as the next leader does after the file was lost
        (begin_epochs("5 400"), [UploadState.EPOCHS_MISSING] * 3 + [ACTIVE]),
        (begin_epochs("4 340"), [UploadState.EPOCHS_LATE, READY, READY, ACTIVE]),
        (cut("index"), [READY, UploadState.INDEX_DAMAGED, READY, ACTIVE]),
        (cut("timeindex"), [READY, UploadState.INDEX_DAMAGED, READY, ACTIVE]),
        (write_txnindex, [READY, UploadState.INDEX_DAMAGED, READY, ACTIVE]),
        (lower_high_watermark, [READY, READY, ABOVE, ACTIVE]),
    ],
)
def test_what_prevents_an_upload_before_there_was_one(logs, change, expected):
    change(logs)
    upload = orders(plan_of(logs))
    assert states(upload) == expected
    for segment in upload.segments:
        if segment.state is WAITING:
            assert segment.blocked_by == BASES[1]
        if segment.state is UploadState.INDEX_DAMAGED:
            assert segment.why is not None
        if segment.state in OFFSETS:
            assert segment.offset == OFFSETS[segment.state]


@pytest.mark.parametrize(
    ("settings", "release", "highest", "expected"),
    [
        ({}, "4.3.1", 374, [UPLOADED, UPLOADED, READY, ACTIVE]),
        ({}, "4.3.1", None, [UploadState.UNKNOWN] * 3 + [ACTIVE]),
        ({"remote_storage_enable": "false"}, "4.3.1", -1, [UploadState.NOT_ENABLED] * 4),
        ({}, "3.5", -1, [UploadState.NOT_ENABLED] * 4),
        ({"remote_log_copy_disable": "true"}, "3.9", 354, [UPLOADED, DISABLED, DISABLED, ACTIVE]),
        ({"remote_log_copy_disable": "true"}, "3.8", 354, [UPLOADED, READY, READY, ACTIVE]),
        ({"remote_copy_lag_ms": "-1"}, "4.3.1", 354, [UPLOADED, READY, READY, ACTIVE]),
        ({"remote_copy_lag_ms": "86400000"}, "4.4", 354, [UPLOADED, LAG, LAG, ACTIVE]),
    ],
)
def test_settings_and_releases(tiered, settings, release, highest, expected):
    """The pass is one second after the newest record, so that every segment is young."""
    plan = plan_of(tiered[0], release, **settings)
    newest_ms = max(record[1] for record in ANSWERS["orders"]["records"])
    upload = orders(replace(plan, now_ms=newest_ms + 1000), highest)
    assert states(upload) == expected


def test_a_segment_below_the_log_start_is_not_uploaded(logs):
    """Records up to 369 were deleted, so that the first segment has nothing to upload."""
    set_offset(logs / "log-start-offset-checkpoint", 370)
    expected = [UploadState.BELOW_LOG_START, READY, READY, ACTIVE]
    assert states(orders(plan_of(logs))) == expected


def test_what_local_retention_keeps_because_it_is_not_uploaded(logs):
    """KAFKA-19952: of 21 580 bytes in 4 segments, local.retention.bytes allows 8192."""
    remove_snapshot(logs)
    plan = plan_of(logs, local_retention_bytes="8192")
    upload = orders(plan, 354)
    assert states(upload) == [UPLOADED, UploadState.SNAPSHOT_MISSING, WAITING, ACTIVE]
    assert upload.kept_segments == (BASES[1],)
    assert upload.kept_bytes == 6640
    assert upload.failing == upload.segments[1]
    assert orders(plan_of(logs, remote_log_copy_disable="true"), 354).kept_segments == ()


def view(base_offset: int, size_bytes: int, newest_ms: int) -> SegmentView:
    time_entry = newest_ms.to_bytes(8, "big") + (0).to_bytes(4, "big")
    return SegmentView(
        base_offset=base_offset,
        log=in_memory("", bytes(size_bytes)),
        index=in_memory("", b""),
        timeindex=in_memory("", time_entry),
    )


LETTERS = {"r": READY, "u": UPLOADED, "l": LAG, "b": WAITING, "a": ACTIVE}
NEWEST_MS = (10, 50, 90, 95)  # at 100, the closed segments are 90, 50 and 10 ms old


@pytest.mark.parametrize(
    ("lag_ms", "lag_bytes", "highest", "newest_ms", "expected"),
    [
        (0, -1, -1, NEWEST_MS, "rrra"),  # the defaults of 4.4.0
        (50, 0, -1, NEWEST_MS, "rrra"),
        (50, -1, -1, NEWEST_MS, "rrla"),
        (51, -1, -1, NEWEST_MS, "rlla"),
        (50, -1, -1, (10, 96, 20, 95), "rlba"),  # the third is old enough but waits
        (50, -1, -1, (10, 101, 20, 95), "rrra"),  # a time in the future counts as old
        (-1, -1, -1, NEWEST_MS, "llla"),
        (-1, 200, -1, NEWEST_MS, "rrla"),  # 300, 200 and 100 bytes follow the segments
        (-1, 201, -1, NEWEST_MS, "rlla"),
        (1000, 300, -1, NEWEST_MS, "rlla"),
        (-1, 300, 9, NEWEST_MS, "ulla"),  # bytes count from the first segment not uploaded
        (-1, 300, 0, NEWEST_MS, "rlla"),
    ],
)
def test_the_lag_of_4_4(lag_ms, lag_bytes, highest, newest_ms, expected):
    """RLMCopyTask.isEligibleForUpload of 4.4.0: either limit allows an upload, and 0 always does."""
    facts = UploadFacts(
        segments=[view(10 * number, 100, newest_ms[number]) for number in range(4)],
        snapshots=(10, 20, 30),
        epochs=[(0, 0)],
        highest_remote_offset=highest,
        now_ms=100,
    )
    uploads = segment_uploads(facts, UploadRules(lag_ms=lag_ms, lag_bytes=lag_bytes))
    assert [upload.state for upload in uploads] == [LETTERS[letter] for letter in expected]
    for upload in uploads:
        is_timed = upload.state is LAG and lag_ms > 0
        until_ms = newest_ms[upload.start_offset // 10] + lag_ms
        assert upload.until_ms == (until_ms if is_timed else None)
