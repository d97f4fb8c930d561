"""Retention: Kafka's rules as a plain loop, what Kafka's own log deleted, and real brokers."""

import gzip
import json
import shutil
import struct
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaviz.analysis import broker_health
from kafkaviz.analysis.checks.plan import CheckPlan, plan_check
from kafkaviz.analysis.retention import (
    NO_LIMIT,
    RetentionLimits,
    SegmentAge,
    log_retention,
    segment_ages,
    segment_retention,
    sort_by_urgency,
    with_limits,
)
from kafkaviz.analysis.retention_sums import retention_changes
from kafkaviz.analysis.segment import anatomy
from kafkaviz.config_def import DAY_MS
from kafkaviz.figures.text.retention_text import basis_text, headline_text, newest_text, reason_text
from kafkaviz.format.names import METADATA_DIRECTORY
from kafkaviz.log.broker import open_broker
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import message
from kafkaviz.units import format_bytes
from tests.analysis.lab import Lab

PLACES = ("log_start_offset", "high_watermark", "log_end_offset")
# newest time, size
SEGMENTS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 60)), min_size=1, max_size=7)


def ages_of_rows(rows) -> list[SegmentAge]:
    return [
        SegmentAge(10 * number, size, time, "record", 10 * number)
        for number, (time, size) in enumerate(rows)
    ]


def limits(
    retention_ms: int = NO_LIMIT, retention_bytes: int = NO_LIMIT, deletes: bool = True
) -> RetentionLimits:
    return RetentionLimits(
        deletes=deletes,
        policy_source="so",
        retention_ms=retention_ms,
        ms_source="so",
        retention_bytes=retention_bytes,
        bytes_source="so",
    )


def plainly(
    segments: list[SegmentAge],
    by: RetentionLimits,
    now_ms: int,
    log_start: int,
    high_watermark: int,
    uploaded: int | None = None,
) -> list[tuple[int, str]]:
    """Runs UnifiedLog.deleteOldSegments (4.3.1) as three passes from the oldest segment on.

    Args:
        uploaded: the last offset in remote storage, of a tiered log.
    """
    left, deleted_bases, end = list(segments), [], 10 * len(segments)

    def deleted(rule: str, takes) -> None:
        while left:
            following = left[1].base_offset if len(left) > 1 else None
            if not takes(left[0], following):
                return
            if high_watermark < (end if following is None else following) or (
                following is None and left[0].size_bytes == 0
            ):
                return
            if uploaded is not None and not (
                following is not None and (following - 1 <= uploaded or following <= log_start)
            ):
                return
            deleted_bases.append((left.pop(0).base_offset, rule))

    deleted(
        "log-start", lambda segment, following: following is not None and following <= log_start
    )
    if by.deletes:
        over = sum(segment.size_bytes for segment in left) - by.retention_bytes

        def is_too_much(segment: SegmentAge, _) -> bool:
            nonlocal over
            if over - segment.size_bytes < 0:
                return False
            over -= segment.size_bytes
            return True

        if by.retention_bytes >= 0 and over >= 0:
            deleted("size", is_too_much)
        if by.retention_ms >= 0:
            deleted("time", lambda segment, _: now_ms - segment.timestamp_ms > by.retention_ms)
    return deleted_bases


@given(
    SEGMENTS,
    st.integers(-1, 40),
    st.integers(-1, 150),
    st.booleans(),
    st.integers(0, 100),
    st.integers(0, 75),
    st.integers(0, 75),
)
def test_a_pass_deletes_what_the_plain_loop_does(
    rows, ms, size, deletes, now_ms, log_start, high_watermark
):
    segments, by = ages_of_rows(rows), limits(ms, size, deletes)
    retention = log_retention(
        "a-0",
        segments,
        by,
        now_ms=now_ms,
        log_start_offset=log_start,
        high_watermark=high_watermark,
        log_end_offset=10 * len(segments),
    )
    assert [
        (segment.age.base_offset, segment.state) for segment in retention.segments if segment.is_due
    ] == plainly(segments, by, now_ms, log_start, high_watermark)
    assert [segment.age for segment in retention.segments] == segments


@given(SEGMENTS, st.integers(-1, 40), st.integers(-1, 150), st.integers(-1, 75), st.integers(0, 75))
def test_a_tiered_log_keeps_what_is_not_uploaded(rows, ms, size, uploaded, log_start):
    """Its segments stay for that reason up to the first one that would stay anyway."""
    segments = ages_of_rows(rows)
    by = replace(limits(ms, size), is_tiered=True)
    places = {
        "now_ms": 50,
        "log_start_offset": log_start,
        "high_watermark": 75,
        "log_end_offset": 10 * len(segments),
    }
    log = log_retention("a-0", segments, by, highest_remote_offset=uploaded, **places)
    due = [(segment.age.base_offset, segment.state) for segment in log.segments if segment.is_due]
    assert due == plainly(segments, by, 50, log_start, 75, uploaded)
    unlimited = plainly(segments, by, 50, log_start, 75)
    kept = [segment.age.base_offset for segment in log.segments if segment.state == "not-uploaded"]
    assert kept == [base_offset for base_offset, _ in unlimited[len(due) :]]
    local = [size for number, (_, size) in enumerate(rows, 1) if 10 * number - 1 > uploaded]
    if len(rows) * 10 - 1 <= uploaded:
        local = [rows[-1][1]]  # the active segment is never copied
    assert log.not_uploaded_bytes == sum(local)
    assert with_limits(log, by) == log
    assert log_retention("a-0", segments, by, **places).not_uploaded_bytes is None


def test_a_pass_deletes_what_kafka_did(data, request):
    """374 passes of UnifiedLog 4.3.1 over real partitions. Where the directory is a sample, the
    recorded segments are used.
    """
    with gzip.open(data / "retention_passes.jsonl.gz") as file:
        passes = [json.loads(line) for line in file]
    states, passes_by_log = set(), {}
    for cleanup in passes:
        segments = [
            SegmentAge(base, size, time, "record") for base, size, time in cleanup["segments"]
        ]
        by = limits(
            cleanup["retention_ms"], cleanup["retention_bytes"], "delete" in cleanup["policy"]
        )
        retention = log_retention(
            cleanup["partition"],
            segments,
            by,
            **{name: cleanup[name] for name in ("now_ms", *PLACES)},
        )
        assert [
            segment.age.base_offset for segment in retention.segments if segment.is_due
        ] == cleanup["deleted"], cleanup
        states |= {segment.state for segment in retention.segments}
        passes_by_log[cleanup["of"], cleanup["partition"]] = cleanup["segments"]
    assert states >= {
        "log-start",
        "size",
        "time",
        "until",
        "behind",
        "bytes",
        "unlimited",
        "compacted",
        "high-watermark",
    }
    for name in ("clean", "killed", "damaged"):
        retained = {
            log.partition: log.segments
            for log in broker_health.check(request.getfixturevalue(name)).retention
        }
        known = {
            partition: rows
            for (topic, partition), rows in passes_by_log.items()
            if topic.endswith(f"-{name}") and partition in retained
        }
        assert len(known) >= 3
        for partition, rows in known.items():
            mine = [
                [segment.age.base_offset, segment.age.size_bytes, segment.age.timestamp_ms]
                for segment in retained[partition]
            ]
            assert mine == rows, partition


@given(SEGMENTS, st.integers(0, 40))
def test_a_segment_is_deleted_at_the_time_forecast(rows, ms):
    segments, by = ages_of_rows([(time, size + 1) for time, size in rows]), limits(ms)
    for segment in log_retention("a-0", segments, by, now_ms=-1).segments:
        for now_ms, is_gone in ((segment.gone_ms, False), (segment.gone_ms + 1, True)):
            deleted = [base for base, _ in plainly(segments, by, now_ms, 0, 10 * len(segments))]
            assert (segment.age.base_offset in deleted) == is_gone
        assert (
            (segment.blocked_by is not None)
            == (segment.gone_ms > segment.until_ms)
            == (segment.state == "behind")
        )


@given(SEGMENTS, st.integers(0, 200))
def test_a_segment_is_deleted_once_so_much_more_is_written(rows, most_bytes):
    segments = ages_of_rows([(0, size + 1) for _, size in rows])
    for at, segment in enumerate(
        log_retention("a-0", segments, limits(NO_LIMIT, most_bytes), now_ms=0).segments
    ):
        for more_bytes, is_gone in (
            (segment.more_bytes, True),
            ((segment.more_bytes or 0) - 1, False),
        ):
            if more_bytes is None or more_bytes < 0 or at == len(segments) - 1:
                continue  # the last one grows itself: a roll comes first
            grown = [
                *segments[:-1],
                SegmentAge(
                    segments[-1].base_offset, segments[-1].size_bytes + more_bytes, 0, "record"
                ),
            ]
            deleted = [
                base
                for base, _ in plainly(grown, limits(NO_LIMIT, most_bytes), 0, 0, 10 * len(grown))
            ]
            assert (segment.age.base_offset in deleted) == is_gone


def end_and_newest(path: Path) -> tuple[int, int]:
    """Returns the end of the last complete batch of a .log, and the newest maxTimestamp."""
    data = path.read_bytes()
    end, newest_ms = 0, -1
    while end + 43 <= len(data):
        length, magic = struct.unpack_from(">i", data, end + 8)[0], data[end + 16]
        if magic != 2 or end + 12 + length > len(data):
            break
        newest_ms = max(newest_ms, struct.unpack_from(">q", data, end + 35)[0])
        end += 12 + length
    return end, newest_ms


def checkpointed(directory: Path, name: str) -> dict[str, int]:
    """Returns the offsets of a checkpoint by partition directory."""
    path = directory / name
    lines = path.read_text().splitlines()[2:] if path.exists() else []
    return {f"{topic}-{number}": int(offset) for topic, number, offset in map(str.split, lines)}


@pytest.mark.parametrize("name", ["clean", "killed", "damaged"])
@pytest.mark.parametrize(
    ("retention_ms", "retention_bytes"),
    [(7 * DAY_MS, NO_LIMIT), (61 * DAY_MS, NO_LIMIT), (NO_LIMIT, 65_536), (61 * DAY_MS, 500_000)],
)
def test_other_limits_free_the_sums_by_hand(name, retention_ms, retention_bytes, request):
    """From the lengths of the .log files and the newest time in their batch headers alone.

    Two logs are left out: their damaged time indexes hide the newest time from the broker.
    """
    directory = request.getfixturevalue(name)
    health = broker_health.check(directory)
    watermarks = checkpointed(directory, "replication-offset-checkpoint")
    log_starts = checkpointed(directory, "log-start-offset-checkpoint")
    logs = [
        log
        for log in health.retention
        if log.limits.deletes
        and not (name == "damaged" and log.partition in ("metrics-0", "rides-0"))
    ]
    expected = {}
    for log in logs:
        paths = sorted((directory / log.partition).glob("*.log"))
        bases = [int(path.stem) for path in paths]
        left = []
        for path in paths:
            size, newest_ms = end_and_newest(path)
            mtime_ms = path.stat().st_mtime_ns // 1_000_000
            left.append((size, mtime_ms if newest_ms < 0 else newest_ms))
        freed = 0
        over = sum(size for size, _ in left) - retention_bytes
        for number, (size, newest_ms) in enumerate(left):
            following = bases[number + 1] if number + 1 < len(bases) else None
            if following is None and not size:
                break
            if following is not None and following > watermarks[log.partition]:
                break
            is_below_start = following is not None and following <= log_starts.get(log.partition, 0)
            is_too_much = retention_bytes >= 0 and over >= size
            is_too_old = 0 <= retention_ms < health.now_ms - newest_ms
            if not (is_below_start or is_too_much or is_too_old):
                break
            freed += size
            over -= size
        expected[log.partition] = freed
    proposed = [
        with_limits(
            log,
            replace(log.limits, retention_ms=retention_ms, retention_bytes=retention_bytes),
        )
        for log in logs
    ]
    changes = retention_changes(logs, proposed, lambda log: log.partition)
    assert {change.name: change.due_bytes for change in changes} == expected
    assert [change.current_due_bytes for change in changes] == [
        next(log for log in logs if log.partition == change.name).due_bytes for change in changes
    ]
    if name == "clean":
        total = sum(change.log_bytes for change in changes)
        assert 0 < sum(expected.values()) < total


def retention_of(directory, name: str, **given_limits):
    planned = plan_check(open_broker(directory))
    partition = planned.broker.partition(name)
    checked = [
        broker_health.segment.check(segment, planned.facts(partition))
        for segment in partition.segments
        if segment.is_in_use
    ]
    aged = segment_ages(
        [retention.summary for retention in checked],
        clean=planned.is_partition_clean(partition),
        recovery_point=partition.recovery_point,
    )
    return log_retention(
        name,
        aged,
        limits(**given_limits),
        now_ms=planned.now_ms,
        log_start_offset=partition.log_start_offset,
    )


def test_what_a_real_broker_deleted_by_size(clean):
    """weblogs, retention.bytes 1 500 000: segment 0 waits as .deleted. Without it the log is no
    longer above the limit by more than its size.
    """
    partition = open_broker(clean).partition("weblogs-0")
    (deleted,) = [segment for segment in partition.segments if segment.state == "deleted"]
    left = retention_of(clean, "weblogs-0", retention_bytes=1_500_000)
    assert [segment.state for segment in left.segments] == [
        "bytes",
        "bytes",
    ] and left.over_bytes == 289_354
    assert left.segments[0].more_bytes == 1_048_067 - 289_354
    before = [
        SegmentAge(deleted.base_offset, deleted.log.size_bytes, 0, "record"),
        *(segment.age for segment in left.segments),
    ]
    retention = log_retention("weblogs-0", before, left.limits, now_ms=left.now_ms)
    assert [segment.state for segment in retention.segments] == ["size", "bytes", "bytes"]


def test_what_a_real_broker_deleted_below_the_log_start(clean):
    """device-events.v2: deleteRecords went to 9037. Segment 0 waits as .deleted; the one that holds
    9037 is kept whole.
    """
    partition = open_broker(clean).partition("device-events.v2-0")
    (deleted,) = [segment for segment in partition.segments if segment.state == "deleted"]
    assert partition.log_start_offset == 9037
    left = retention_of(clean, "device-events.v2-0")
    before = [
        SegmentAge(deleted.base_offset, deleted.log.size_bytes, 0, "record"),
        *(segment.age for segment in left.segments),
    ]
    retention = log_retention(
        "device-events.v2-0", before, left.limits, now_ms=left.now_ms, log_start_offset=9037
    )
    assert [segment.state for segment in retention.segments] == ["log-start", "unlimited"]


@pytest.mark.parametrize(
    "name",
    [
        "kafka-4.3.1-clean",
        "kafka-4.3.1-damaged",
        "kafka-4.3.1-killed-restarted",
        "kafka-4.4.0-clean",
    ],
)
def test_a_broker_that_looked_every_two_seconds_left_nothing_to_delete(shared, name):
    """log.retention.check.interval.ms was 2000 and log.retention.ms -1 on the command line, so no
    other rule deletes a segment.
    """
    checked = broker_health.check(shared / "data" / f"{name}.tar.gz")
    for log in checked.retention:
        ran = log_retention(
            log.partition,
            [segment.age for segment in log.segments],
            limits(NO_LIMIT, log.limits.retention_bytes),
            now_ms=log.now_ms,
        )
        assert not any(segment.is_due for segment in ran.segments), log.partition


def test_the_record_that_keeps_a_segment(clean):
    """sensors-late: offset 11 000 in the batch of 10 973 to 11 001 has a time 400 days ahead. The
    topic's own settings are shown.
    """
    (log,) = [log for log in broker_health.check(clean, partition="sensors-late-0").retention]
    first, second = log.segments
    assert (second.age.counted_by, second.age.offset) == ("record", 11_000)
    assert (
        second.until_ms == second.gone_ms == second.age.timestamp_ms + 7 * DAY_MS
        and second.blocked_by is None
    )
    assert first.gone_ms == first.until_ms and log.limits.ms_source == message(
        "setting_source.default", release="4.3"
    )
    assert newest_text(second.age).startswith("2027-10-26") and newest_text(second.age).endswith(
        "offset 11\u202f000"
    )
    assert "if nothing more is written" in reason_text(log, second)


def test_settings_are_those_of_the_topic(clean):
    """weblogs has its own retention.bytes; accounts is compacted, and no limit deletes from it."""
    retention_by_partition = {
        retention_by_partition.partition: retention_by_partition
        for retention_by_partition in broker_health.check(clean).retention
    }
    assert retention_by_partition["weblogs-0"].limits.retention_bytes == 1_500_000
    source = retention_by_partition["weblogs-0"].limits.bytes_source
    assert (source.key, source["name"]) == ("setting_source.named", "retention.bytes")
    assert source["source"].key == "setting_source.config_record"
    assert {segment.state for segment in retention_by_partition["accounts-0"].segments} == {
        "compacted"
    } and "only compacted" in basis_text(retention_by_partition["accounts-0"].limits)
    assert "__cluster_metadata-0" not in retention_by_partition


def test_a_segment_without_its_time_index_counts_by_its_file(damaged):
    """rides-0: without the .timeindex of 607 the .log's modification time keeps it."""
    (log,) = broker_health.check(damaged, partition="rides-0").retention
    segment_by_offset = {
        segment_by_offset.age.base_offset: segment_by_offset for segment_by_offset in log.segments
    }
    assert (
        segment_by_offset[607].age.counted_by == "mtime"
        and segment_by_offset[1211].state == "behind"
        and segment_by_offset[1211].blocked_by == 607
    )
    assert "waits for segment 607" in reason_text(log, segment_by_offset[1211])


def test_slots_never_written_count_as_1970(damaged):
    """metrics-0/1201: the zeroed half of its time index reads 0, so retention.ms deletes it however
    young its records are.
    """
    (log,) = broker_health.check(damaged, partition="metrics-0").retention
    (segment,) = [segment for segment in log.segments if segment.age.base_offset == 1201]
    assert (segment.age.timestamp_ms, segment.age.counted_by, segment.until_ms) == (
        0,
        "unwritten",
        7 * DAY_MS,
    )


def test_another_unit_is_remarked(clean):
    """sensors-seconds: as milliseconds they are in January 1970, long expired."""
    (log,) = broker_health.check(clean, partition="sensors-seconds-0").retention
    assert log.segments[0].state == "time" and "not milliseconds" in newest_text(
        log.segments[0].age
    )
    far = log_retention(
        "a-0",
        [SegmentAge(0, 5, 1_790_000_000_000_000_000, "record", 3)],
        limits(2**63 - 1),
        now_ms=0,
    )
    assert far.segments[0].gone_ms == 2**63 - 1 and "not milliseconds" in newest_text(
        far.segments[0].age
    )
    assert reason_text(far, far.segments[0]).startswith("until 9")


def test_a_broker_that_was_killed_counts_its_active_segment_by_its_records(killed):
    for log in broker_health.check(killed).retention:
        assert all(segment.age.counted_by in ("record", "mtime") for segment in log.segments), (
            log.partition
        )
        assert all(
            before.age.base_offset < after.age.base_offset
            for before, after in pairwise(log.segments)
        )


def test_a_time_index_that_cannot_be_read_leaves_the_rest_unknown():
    """It may be young; the segments before it are deleted anyway."""
    retention = log_retention(
        "a-0",
        [
            SegmentAge(0, 5, 0, "record"),
            SegmentAge(10, 5, None, "unknown"),
            SegmentAge(20, 5, 0, "record"),
        ],
        limits(10),
        now_ms=100,
    )
    assert [segment.state for segment in retention.segments] == ["time", "unknown", "unknown"]


def test_what_the_high_watermark_holds():
    retention = log_retention(
        "a-0",
        ages_of_rows([(0, 5), (0, 5), (90, 5)]),
        limits(20),
        now_ms=100,
        log_start_offset=0,
        high_watermark=15,
        log_end_offset=30,
    )
    assert [segment.state for segment in retention.segments] == ["time", "high-watermark", "until"]


def test_the_worst_comes_first_and_is_counted():
    day = DAY_MS
    log = log_retention(
        "a-0",
        ages_of_rows([(0, 5), (50 * day, 5), (3 * day, 5), (55 * day, 5)]),
        limits(7 * day),
        now_ms=10 * day,
    )
    assert [segment.state for _, segment in sort_by_urgency([log])] == [
        "time",
        "behind",
        "until",
        "until",
    ]
    size = format_bytes(log.segments[0].age.size_bytes)
    assert headline_text([log]).endswith(
        f"would delete 1 of 4 segments ({size} of .log); 1 more can go only after an older one"
    )
    assert headline_text([]) == ""


def test_a_lone_partition_has_its_retention_too(clean, tmp_path):
    """By Kafka's defaults; without the metadata log the topic's settings are unknown."""
    lab = Lab(clean, tmp_path / "kafka", ["orders-0"])
    (log,) = broker_health.check(lab.path / "orders-0").retention
    assert not log.limits.is_known and log.limits.retention_ms is None
    assert {segment.state for segment in log.segments} == {"unknown"} and log.over_bytes is None
    shutil.copytree(clean / METADATA_DIRECTORY, lab.path / METADATA_DIRECTORY)
    (log,) = broker_health.check(lab.path / "orders-0").retention
    assert log.partition == "orders-0" and log.limits.retention_ms == 7 * DAY_MS


def retention_of_segment(planned: CheckPlan, partition: Partition, segment: LogSegment):
    return segment_retention(
        partition,
        anatomy.read(segment),
        planned.limits(partition),
        clean=planned.is_partition_clean(partition),
        now_ms=planned.now_ms,
    )


@pytest.mark.parametrize("sample", ["clean", "killed"])
def test_every_segment_is_kept_as_long_as_the_check_says(sample, request):
    directory = request.getfixturevalue(sample)
    checked = {log.partition: log for log in broker_health.check(directory).retention}
    planned, segment_count = plan_check(open_broker(directory)), 0
    for partition in planned.broker.partitions:
        for at, segment in enumerate(partition.live):
            retention = retention_of_segment(planned, partition, segment)
            if partition.directory not in checked:
                assert retention is None
                continue
            mine, real = retention[1], checked[partition.directory].segments[at]
            assert (mine.state, mine.until_ms, mine.gone_ms, mine.blocked_by, mine.more_bytes) == (
                real.state,
                real.until_ms,
                real.gone_ms,
                real.blocked_by,
                real.more_bytes,
            ), segment.log.path
            segment_count += 1
    assert segment_count > 4


def test_what_no_limit_concerns(clean):
    """The metadata log has other rules, and a directory that waits for its deletion goes whole."""
    planned = plan_check(open_broker(clean))
    deleted = next(
        partition for partition in planned.broker.partitions if partition.state == "delete"
    )
    assert retention_of_segment(planned, deleted, deleted.segments[0]) is None
    metadata = planned.broker.partition("__cluster_metadata-0")
    assert retention_of_segment(planned, metadata, metadata.live[0]) is None


def test_a_segment_in_one_of_two_directories_of_which_the_other_was_killed(disks, tmp_path):
    """Only the start of the killed directory recovers its segments."""
    directory = shutil.copytree(disks, tmp_path / "disks")
    (directory / "disk-c" / ".kafka_cleanshutdown").touch()
    planned = plan_check(open_broker(directory))
    path = next(
        partition.live[-1].log.path
        for partition in planned.broker.partitions
        if partition.path.parent.name == "disk-c" and partition.log_bytes
    )
    with path.open("ab") as log:
        log.write(bytes(100))
    planned = plan_check(open_broker(directory))
    partition = planned.broker.partition(path.parent.name)
    _, segment = retention_of_segment(planned, partition, partition.live[-1])
    checked = {log.partition: log.segments for log in broker_health.check(directory).retention}
    assert segment.age.size_bytes == path.stat().st_size
    assert segment.age.size_bytes == checked[path.parent.name][-1].age.size_bytes
