"""Retention: Kafka's rules as a plain loop, what Kafka's own log deleted, and real brokers."""

import gzip
import json
import shutil
import struct
from dataclasses import replace
from itertools import pairwise
from operator import attrgetter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaviz.analysis.broker_health import Health, check
from kafkaviz.analysis.checks.plan import CheckPlan, plan_check
from kafkaviz.analysis.retention import (
    NO_LIMIT,
    LogRetention,
    RetentionLimits,
    SegmentAge,
    log_retention,
    segment_retention,
    sort_by_urgency,
    with_limits,
)
from kafkaviz.analysis.retention_sums import retention_changes
from kafkaviz.analysis.segment import anatomy
from kafkaviz.format.names import METADATA_DIRECTORY
from kafkaviz.log.broker import open_broker
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import message
from kafkaviz.render.retention_text import basis_text, headline_text, newest_text, reason_text
from kafkaviz.units import DAY_MS, format_bytes
from tests.analysis.lab import Lab
from tests.support.findings import checked

PLACES = ("log_start_offset", "high_watermark", "log_end_offset")
# newest time, size
SEGMENTS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 60)), min_size=1, max_size=7)


def ages_of_rows(rows) -> list[SegmentAge]:
    return [
        SegmentAge(10 * number, size, time, "record", 10 * number)
        for number, (time, size) in enumerate(rows)
    ]


def due(retention: LogRetention) -> list[tuple[int, str]]:
    return [
        (segment.age.base_offset, segment.state) for segment in retention.segments if segment.is_due
    ]


def states(retention: LogRetention) -> list[str]:
    return [segment.state for segment in retention.segments]


def retention_by_partition(directory: Path) -> dict[str, LogRetention]:
    return {log.partition: log for log in checked(directory).retention}


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
    assert due(retention) == plainly(segments, by, now_ms, log_start, high_watermark)
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
    assert due(log) == plainly(segments, by, 50, log_start, 75, uploaded)
    unlimited = plainly(segments, by, 50, log_start, 75)
    kept = [segment.age.base_offset for segment in log.segments if segment.state == "not-uploaded"]
    assert kept == [base_offset for base_offset, _ in unlimited[len(due(log)) :]]
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
    all_states, passes_by_log = set(), {}
    for cleanup in passes:
        segments = [
            SegmentAge(base, size, time, "record") for base, size, time in cleanup["segments"]
        ]
        by = limits(
            cleanup["retention_ms"], cleanup["retention_bytes"], "delete" in cleanup["policy"]
        )
        places = {name: cleanup[name] for name in ("now_ms", *PLACES)}
        retention = log_retention(cleanup["partition"], segments, by, **places)
        assert [base for base, _ in due(retention)] == cleanup["deleted"], cleanup
        all_states.update(states(retention))
        passes_by_log[cleanup["of"], cleanup["partition"]] = cleanup["segments"]
    assert all_states >= {
        *("log-start", "size", "time", "until", "behind", "bytes", "unlimited", "compacted"),
        "high-watermark",
    }
    for name in ("clean", "killed", "damaged"):
        retained = retention_by_partition(request.getfixturevalue(name))
        known = {
            partition: rows
            for (topic, partition), rows in passes_by_log.items()
            if topic.endswith(f"-{name}") and partition in retained
        }
        assert len(known) >= 3
        for partition, rows in known.items():
            ages = [segment.age for segment in retained[partition].segments]
            mine = [[age.base_offset, age.size_bytes, age.timestamp_ms] for age in ages]
            assert mine == rows, partition


@given(SEGMENTS, st.integers(0, 40))
def test_a_segment_is_deleted_at_the_time_forecast(rows, ms):
    segments, by = ages_of_rows([(time, size + 1) for time, size in rows]), limits(ms)
    for segment in log_retention("a-0", segments, by, now_ms=-1).segments:
        for now_ms, is_gone in ((segment.gone_ms, False), (segment.gone_ms + 1, True)):
            deleted = [base for base, _ in plainly(segments, by, now_ms, 0, 10 * len(segments))]
            assert (segment.age.base_offset in deleted) == is_gone
        is_blocked = segment.blocked_by is not None
        assert is_blocked == (segment.gone_ms > segment.until_ms) == (segment.state == "behind")


@given(SEGMENTS, st.integers(0, 200))
def test_a_segment_is_deleted_once_so_much_more_is_written(rows, most_bytes):
    segments = ages_of_rows([(0, size + 1) for _, size in rows])
    by = limits(NO_LIMIT, most_bytes)
    *closed, active = segments
    # the last one grows itself: a roll comes first
    for segment in log_retention("a-0", segments, by, now_ms=0).segments[:-1]:
        more_bytes = segment.more_bytes
        for written_bytes, is_gone in ((more_bytes, True), ((more_bytes or 0) - 1, False)):
            if written_bytes is None or written_bytes < 0:
                continue
            grown = [*closed, replace(active, size_bytes=active.size_bytes + written_bytes)]
            deleted = [base for base, _ in plainly(grown, by, 0, 0, 10 * len(grown))]
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
    health = checked(directory)
    watermarks = checkpointed(directory, "replication-offset-checkpoint")
    log_starts = checkpointed(directory, "log-start-offset-checkpoint")
    left_out = ("metrics-0", "rides-0") if name == "damaged" else ()
    logs = [log for log in health.retention if log.limits.deletes and log.partition not in left_out]
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
    new_limits = {"retention_ms": retention_ms, "retention_bytes": retention_bytes}
    proposed = [with_limits(log, replace(log.limits, **new_limits)) for log in logs]
    changes = retention_changes(logs, proposed, lambda log: log.partition)
    assert {change.name: change.due_bytes for change in changes} == expected
    current = {log.partition: log.due_bytes for log in logs}
    assert {change.name: change.current_due_bytes for change in changes} == current
    if name == "clean":
        total = sum(change.log_bytes for change in changes)
        assert 0 < sum(expected.values()) < total


def before_deletion(clean: Path, name: str) -> list[SegmentAge]:
    """Returns the segments of a log, with the one that a real broker deleted, as .deleted."""
    partition = open_broker(clean).partition(name)
    (deleted,) = [segment for segment in partition.segments if segment.state == "deleted"]
    left = retention_by_partition(clean)[name].segments
    age = SegmentAge(deleted.base_offset, deleted.log.size_bytes, 0, "record")
    return [age, *(segment.age for segment in left)]


def test_what_a_real_broker_deleted_by_size(clean):
    """weblogs, retention.bytes 1 500 000: segment 0 waits as .deleted. Without it the log is no
    longer above the limit by more than its size.
    """
    by = limits(retention_bytes=1_500_000)
    before = before_deletion(clean, "weblogs-0")
    left = log_retention("weblogs-0", before[1:], by, now_ms=0)
    assert states(left) == ["bytes", "bytes"] and left.over_bytes == 289_354
    assert left.segments[0].more_bytes == 1_048_067 - 289_354
    assert states(log_retention("weblogs-0", before, by, now_ms=0)) == ["size", "bytes", "bytes"]


def test_what_a_real_broker_deleted_below_the_log_start(clean):
    """device-events.v2: deleteRecords went to 9037. Segment 0 waits as .deleted; the one that holds
    9037 is kept whole.
    """
    name = "device-events.v2-0"
    log_start_offset = open_broker(clean).partition(name).log_start_offset
    assert log_start_offset == 9037
    retention = log_retention(
        name, before_deletion(clean, name), limits(), now_ms=0, log_start_offset=log_start_offset
    )
    assert states(retention) == ["log-start", "unlimited"]


def left_to_delete(health: Health) -> list[str]:
    """Returns the logs from which a pass without retention.ms would delete a segment."""
    return [
        log.partition
        for log in health.retention
        if due(with_limits(log, replace(log.limits, retention_ms=NO_LIMIT)))
    ]


@pytest.mark.parametrize("sample", ["clean", "damaged"])
def test_a_broker_that_looked_every_two_seconds_left_nothing_to_delete(sample, request):
    """log.retention.check.interval.ms was 2000 and log.retention.ms -1 on the command line, so no
    other rule deletes a segment.
    """
    assert left_to_delete(checked(request.getfixturevalue(sample))) == []


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["kafka-4.3.1-killed-restarted", "kafka-4.4.0-clean"])
def test_other_brokers_left_nothing_to_delete(shared, name):
    assert left_to_delete(check(shared / "data" / f"{name}.tar.gz")) == []


def test_the_record_that_keeps_a_segment(clean):
    """sensors-late: offset 11 000 in the batch of 10 973 to 11 001 has a time 400 days ahead. The
    topic's own settings are shown.
    """
    log = retention_by_partition(clean)["sensors-late-0"]
    first, second = log.segments
    assert (second.age.counted_by, second.age.offset) == ("record", 11_000)
    assert second.until_ms == second.gone_ms == second.age.timestamp_ms + 7 * DAY_MS
    assert second.blocked_by is None and first.gone_ms == first.until_ms
    assert log.limits.ms_source == message("setting_source.default", release="4.3")
    newest = newest_text(second.age)
    assert newest.startswith("2027-10-26") and newest.endswith("offset 11\u202f000")
    assert "if nothing more is written" in reason_text(log, second)


def test_settings_are_those_of_the_topic(clean):
    """weblogs has its own retention.bytes; accounts is compacted, and no limit deletes from it."""
    logs = retention_by_partition(clean)
    by = logs["weblogs-0"].limits
    assert by.retention_bytes == 1_500_000
    assert by.bytes_source.key == "setting_source.named"
    assert by.bytes_source["name"] == "retention.bytes"
    assert by.bytes_source["source"].key == "setting_source.config_record"
    assert set(states(logs["accounts-0"])) == {"compacted"}
    assert "only compacted" in basis_text(logs["accounts-0"].limits)
    assert "__cluster_metadata-0" not in logs


def test_a_segment_without_its_time_index_counts_by_its_file(damaged):
    """rides-0: without the .timeindex of 607 the .log's modification time keeps it."""
    log = retention_by_partition(damaged)["rides-0"]
    segments = {segment.age.base_offset: segment for segment in log.segments}
    assert segments[607].age.counted_by == "mtime"
    assert (segments[1211].state, segments[1211].blocked_by) == ("behind", 607)
    assert "waits for segment 607" in reason_text(log, segments[1211])


def test_slots_never_written_count_as_1970(damaged):
    """metrics-0/1201: the zeroed half of its time index reads 0, so retention.ms deletes it however
    young its records are.
    """
    log = retention_by_partition(damaged)["metrics-0"]
    (segment,) = [segment for segment in log.segments if segment.age.base_offset == 1201]
    assert (segment.age.timestamp_ms, segment.age.counted_by) == (0, "unwritten")
    assert segment.until_ms == 7 * DAY_MS


def test_another_unit_is_remarked(clean):
    """sensors-seconds: as milliseconds they are in January 1970, long expired."""
    first = retention_by_partition(clean)["sensors-seconds-0"].segments[0]
    assert first.state == "time" and "not milliseconds" in newest_text(first.age)
    ages = [SegmentAge(0, 5, 1_790_000_000_000_000_000, "record", 3)]
    log = log_retention("a-0", ages, limits(2**63 - 1), now_ms=0)
    (far,) = log.segments
    assert far.gone_ms == 2**63 - 1 and "not milliseconds" in newest_text(far.age)
    assert reason_text(log, far).startswith("until 9")


def test_a_broker_that_was_killed_counts_its_active_segment_by_its_records(killed):
    for log in checked(killed).retention:
        ages = [segment.age for segment in log.segments]
        assert {age.counted_by for age in ages} <= {"record", "mtime"}, log.partition
        assert all(before.base_offset < after.base_offset for before, after in pairwise(ages))


def test_a_time_index_that_cannot_be_read_leaves_the_rest_unknown():
    """It may be young; the segments before it are deleted anyway."""
    ages = ages_of_rows([(0, 5), (0, 5), (0, 5)])
    ages[1] = SegmentAge(10, 5, None, "unknown")
    retention = log_retention("a-0", ages, limits(10), now_ms=100)
    assert states(retention) == ["time", "unknown", "unknown"]


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
    assert states(retention) == ["time", "high-watermark", "until"]


def test_the_worst_comes_first_and_is_counted():
    ages = ages_of_rows([(day * DAY_MS, 5) for day in (0, 50, 3, 55)])
    log = log_retention("a-0", ages, limits(7 * DAY_MS), now_ms=10 * DAY_MS)
    sorted_states = [segment.state for _, segment in sort_by_urgency([log])]
    assert sorted_states == ["time", "behind", "until", "until"]
    size = format_bytes(log.segments[0].age.size_bytes)
    assert headline_text([log]).endswith(
        f"would delete 1 of 4 segments ({size} of .log); 1 more must wait for an older segment"
    )
    assert headline_text([]) == ""


def test_a_lone_partition_has_its_retention_too(clean, tmp_path):
    """By Kafka's defaults; without the metadata log the topic's settings are unknown."""
    lab = Lab(clean, tmp_path / "kafka", ["orders-0"])
    (log,) = check(lab.path / "orders-0").retention
    assert not log.limits.is_known and log.limits.retention_ms is None
    assert set(states(log)) == {"unknown"} and log.over_bytes is None
    shutil.copytree(clean / METADATA_DIRECTORY, lab.path / METADATA_DIRECTORY)
    (log,) = check(lab.path / "orders-0").retention
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
    logs = retention_by_partition(directory)
    planned, segment_count = plan_check(open_broker(directory)), 0
    outcome = attrgetter("state", "until_ms", "gone_ms", "blocked_by", "more_bytes")
    for partition in planned.broker.partitions:
        for at, segment in enumerate(partition.live):
            retention = retention_of_segment(planned, partition, segment)
            if partition.directory not in logs:
                assert retention is None
                continue
            real = logs[partition.directory].segments[at]
            assert outcome(retention[1]) == outcome(real), segment.log.path
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
    logs = {log.partition: log.segments for log in check(directory).retention}
    assert segment.age.size_bytes == path.stat().st_size
    assert segment.age.size_bytes == logs[path.parent.name][-1].age.size_bytes
