"""Remote retention: Kafka's rules as a plain loop, the changes by release, and a real broker."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaviz.__main__ import main
from kafkaviz.analysis.checks.plan import plan_check
from kafkaviz.analysis.retention import NO_LIMIT, RetentionLimits
from kafkaviz.analysis.tiering.remote_retention import (
    RemoteRetention,
    RemoteState,
    remote_limits,
    remote_retention,
    remote_retentions,
)
from kafkaviz.log.broker import open_broker, read_tiered_state
from kafkaviz.log.settings import open_settings
from kafkaviz.log.tiered.remote_log_metadata import (
    COPY_FINISHED,
    COPY_STARTED,
    DELETE_STARTED,
    RemoteLogEvents,
)
from kafkaviz.log.tiered.tiered_partition import SegmentPlace, TieredPartition, TieredSegment
from kafkaviz.messages import say
from kafkaviz.render import retention_text

NOW_MS = 1_000
STORED_STATES = (COPY_STARTED, COPY_FINISHED, DELETE_STARTED)


def remote(
    start: int,
    end: int,
    epochs: dict[int, int],
    time_ms: int = 0,
    size: int = 10,
    state: str = COPY_FINISHED,
    is_local: bool = False,
) -> TieredSegment:
    return TieredSegment(
        start_offset=start,
        end_offset=end,
        place=SegmentPlace.REMOTE,
        segment_id=f"{start:05}-{end}-{time_ms}-{size}-{state}",
        leader_epochs=epochs,
        log_bytes=size,
        state=state,
        is_local=is_local,
        max_timestamp_ms=time_ms,
    )


def local(start: int, size: int) -> TieredSegment:
    place = SegmentPlace.LOCAL
    return TieredSegment(
        start_offset=start, end_offset=None, place=place, log_bytes=size, is_local=True
    )


def partition_of(*segments: TieredSegment, lineage=((0, 0),), log_start: int = 0):
    return TieredPartition(
        directory="orders-0",
        topic_id=None,
        segments=tuple(segments),
        log_start=log_start,
        has_directory=True,
        lineage=tuple(lineage),
        events=RemoteLogEvents(total=1, superseded=0),
    )


def limits(
    retention_ms: int | None = NO_LIMIT,
    retention_bytes: int | None = NO_LIMIT,
    deletes: bool = True,
) -> RetentionLimits:
    return RetentionLimits(
        deletes=deletes, retention_ms=retention_ms, retention_bytes=retention_bytes
    )


def retention(
    partition: TieredPartition, by: RetentionLimits, release=(4, 4, 0), end=1_000, now_ms=NOW_MS
) -> RemoteRetention:
    return remote_retention(partition, by, release=release, now_ms=now_ms, log_end_offset=end)


def states(result: RemoteRetention) -> list[str]:
    return [item.state for item in result.segments]


def filtered(epochs: dict[int, int]) -> dict[int, int]:
    left = dict(sorted(epochs.items()))
    for epoch, following in zip(sorted(epochs), sorted(epochs)[1:], strict=False):
        if epochs[epoch] == epochs[following]:
            del left[epoch]
    return left


def fits_plainly(segment: TieredSegment, lineage: dict[int, int], log_end: int) -> bool:
    """Runs isRemoteSegmentWithinLeaderEpochs of 4.4.0, line by line."""
    own = filtered(dict(segment.leader_epochs))
    last = max(own)
    if last < min(lineage) or last > max(lineage):
        return False
    first = min(epoch for epoch in own if epoch >= min(lineage))
    for epoch, offset in own.items():
        if epoch < first:
            continue
        if epoch not in lineage:
            return False
        lower = [known for known in lineage if known < epoch]
        higher = [known for known in sorted(lineage) if known > epoch]
        if epoch == first and lower and offset < lineage[epoch]:
            return False
        if epoch == last and higher and segment.end_offset > lineage[higher[0]] - 1:
            return False
        if epoch != last:
            own_higher = min(known for known in own if known > epoch)
            if (higher[0], lineage[higher[0]]) != (own_higher, own[own_higher]):
                return False
    return segment.end_offset < log_end


def deleted_plainly(
    partition: TieredPartition, by: RetentionLimits, log_end: int
) -> dict[str, str]:
    """Runs cleanupExpiredRemoteLogSegments of 4.4.0, line by line."""
    remote_rows = [row for row in partition.segments if row.segment_id]
    lineage = filtered(dict(partition.lineage))
    listed = {
        epoch: [
            row
            for row in sorted(remote_rows, key=lambda row: (row.start_offset, row.segment_id))
            if epoch in row.leader_epochs
        ]
        for epoch in sorted({epoch for row in remote_rows for epoch in row.leader_epochs})
    }
    finished = [row.end_offset for row in remote_rows if row.place is SegmentPlace.REMOTE]
    highest = max(finished, default=-1)
    total = sum(
        row.log_bytes for row in partition.segments if row.is_local and row.start_offset >= highest
    )
    total += sum(
        row.log_bytes
        for row in remote_rows
        if row.state == COPY_FINISHED and fits_plainly(row, lineage, log_end)
    )
    over = total - by.retention_bytes if by.retention_bytes >= 0 else 0
    deleted: dict[str, str] = {}
    can_go_on = True
    for epoch in sorted(lineage):
        for row in listed.get(epoch, ()):
            if not can_go_on:
                break
            if row.state == DELETE_STARTED:
                deleted[row.segment_id] = "retried"
                continue
            if row.segment_id in deleted:
                continue
            rule = None
            is_valid = False
            if max(row.leader_epochs) <= min(lineage) and row.end_offset < partition.log_start:
                rule = "log-start"
            else:
                is_valid = fits_plainly(row, lineage, log_end)
                is_old = row.max_timestamp_ms < NOW_MS - by.retention_ms
                if is_valid and by.retention_ms >= 0 and is_old:
                    rule = "time"
                    over = max(0, over - row.log_bytes)
                elif is_valid and over > 0 and over - row.log_bytes >= 0:
                    rule = "size"
                    over -= row.log_bytes
            if rule:
                deleted[row.segment_id] = rule
            can_go_on = rule is not None or not is_valid
    for epoch, rows in listed.items():
        if epoch < partition.lineage[0][0]:
            for row in rows:
                if max(row.leader_epochs) < partition.lineage[0][0]:
                    deleted.setdefault(row.segment_id, "epochs")
    return deleted


@st.composite
def logs(draw):
    """Returns a log of up to three epochs and copies of it, some of them by another leader."""
    starts = sorted(draw(st.lists(st.integers(0, 60), min_size=1, max_size=3)))
    first_epoch = draw(st.integers(0, 2))
    lineage = [(first_epoch + number, start) for number, start in enumerate(starts)]
    rows = {}
    for _ in range(draw(st.integers(0, 7))):
        start = draw(st.integers(0, 80))
        end = start + draw(st.integers(0, 30))
        own = {
            epoch: max(begin, start)
            for number, (epoch, begin) in enumerate(lineage)
            if begin <= end and (number + 1 == len(lineage) or lineage[number + 1][1] > start)
        }
        if not own or draw(st.integers(0, 4)) == 0:
            own = {draw(st.integers(0, 5)): start}
        row = remote(
            start,
            end,
            own,
            time_ms=draw(st.integers(0, NOW_MS)),
            size=draw(st.integers(0, 40)),
            state=draw(st.sampled_from((*STORED_STATES, COPY_FINISHED))),
        )
        if row.state != COPY_FINISHED:
            row = replace(row, place=SegmentPlace.UNFINISHED)
        rows[row.segment_id] = row
    locals_ = [local(start, 5) for start in sorted(draw(st.sets(st.integers(50, 140), max_size=3)))]
    partition = partition_of(
        *rows.values(), *locals_, lineage=lineage, log_start=draw(st.integers(0, 60))
    )
    by = limits(draw(st.integers(-1, NOW_MS)), draw(st.integers(-1, 120)))
    return partition, by, draw(st.integers(60, 140))


@given(logs())
def test_a_pass_deletes_what_a_plain_loop_of_kafkas_rules_does(log):
    partition, by, log_end = log
    result = retention(partition, by, end=log_end)
    due = {item.segment.segment_id: item.state for item in result.segments if item.is_due}
    assert due == deleted_plainly(partition, by, log_end)
    assert len(result.segments) == sum(row.segment_id is not None for row in partition.segments)
    assert all(isinstance(item.state, RemoteState) for item in result.segments)
    assert list(retention_text.remote_lines(result))


@given(logs())
def test_a_kept_segment_goes_once_its_time_has_come(log):
    """A later pass after gone_ms deletes it by its age; a pass at gone_ms does not."""
    partition, by, log_end = log
    result = retention(partition, by, end=log_end)
    due = {item.segment.segment_id for item in result.segments if item.is_due}
    left = [row for row in partition.segments if row.segment_id not in due]
    partition = replace(partition, segments=tuple(left))
    for item in result.segments:
        if item.is_due or item.gone_ms is None:
            continue
        for now_ms, is_due in ((item.gone_ms, False), (item.gone_ms + 1, True)):
            later = retention(
                partition, replace(by, retention_bytes=NO_LIMIT), end=log_end, now_ms=now_ms
            )
            found = {other.segment.segment_id: other.is_due for other in later.segments}
            assert found[item.segment.segment_id] == is_due


TWO = (remote(0, 9, {0: 0}, time_ms=100), remote(10, 19, {0: 10}, time_ms=900))


def test_rules_come_in_kafkas_order():
    """Below the log start, then by time, then by size, until one stays."""
    rows = [remote(10 * n, 10 * n + 9, {0: 10 * n}, time_ms=100 * n) for n in range(6)]
    result = retention(partition_of(*rows, log_start=15), limits(800, 25))
    assert states(result) == ["log-start", "time", "size", "size", "until", "until"]
    assert result.over_bytes == 35 and result.next_log_start == 40
    assert [item.more_bytes for item in result.segments[4:]] == [15, 25]


def test_an_older_segment_keeps_later_ones():
    rows = (remote(0, 9, {0: 0}, time_ms=900), remote(10, 19, {0: 10}, time_ms=100))
    result = retention(partition_of(*rows), limits(500))
    assert states(result) == ["until", "behind"]
    late = result.segments[1]
    assert (late.until_ms, late.gone_ms, late.blocked_by) == (600, 1_400, 0)


@pytest.mark.parametrize(
    ("release", "first"), [((4, 2), "time"), ((4, 3), "until"), ((4, 4, 0), "until")]
)
def test_a_segment_exactly_as_old_as_the_limit(release, first):
    """KAFKA-20091: it went until 4.2, and stays since 4.3."""
    result = retention(partition_of(*TWO), limits(900), release)
    assert states(result) == [first, "until"]


@pytest.mark.parametrize(
    ("release", "expected"), [((3, 9, 0), ["stopped", "stopped"]), ((3, 9, 1), ["until", "until"])]
)
def test_a_limit_longer_than_the_time_since_1970(release, expected):
    """KAFKA-17995: until 3.9.0 an exception ended every pass, for all rules."""
    partition = partition_of(*TWO, log_start=10)
    assert states(retention(partition, limits(NOW_MS + 1), release))[1:] == expected[1:]
    assert states(retention(partition_of(*TWO), limits(NOW_MS + 1), release)) == expected


@pytest.mark.parametrize(
    ("release", "remote_bytes"), [((3, 8, 0), 30), ((3, 8, 1), 20), ((3, 9), 20), ((4, 0), 10)]
)
def test_which_states_retention_bytes_counts(release, remote_bytes):
    """KAFKA-17062 and KAFKA-17428: copies that began, then deletions that began, left the sum."""
    rows = [
        remote(10 * n, 10 * n + 9, {0: 10 * n}, time_ms=900, state=state)
        for n, state in enumerate((COPY_FINISHED, DELETE_STARTED, COPY_STARTED))
    ]
    assert retention(partition_of(*rows), limits(), release).remote_bytes == remote_bytes


@pytest.mark.parametrize(("release", "state"), [((3, 9, 1), "until"), ((4, 0), "retried")])
def test_a_deletion_that_failed(release, state):
    """KAFKA-17428: 4.0 tries it again; before, it waited for its limit."""
    rows = (remote(0, 9, {0: 0}, 900, state=DELETE_STARTED), TWO[1])
    assert states(retention(partition_of(*rows), limits(500), release)) == [state, "until"]


@pytest.mark.parametrize(
    ("release", "state"), [((3, 7, 0), "other-epochs"), ((3, 7, 1), "time"), ((3, 8), "time")]
)
def test_a_segment_that_begins_in_epochs_the_log_has_lost(release, state):
    """KAFKA-16511: the example of isRemoteSegmentWithinLeaderEpochs."""
    overlap = remote(14, 150, {5: 14, 7: 15, 9: 100})
    partition = partition_of(overlap, lineage=((7, 51), (9, 100)), log_start=51)
    assert states(retention(partition, limits(500), release)) == [state]


def test_a_segment_of_two_epochs_was_counted_twice():
    """KAFKA-15479, 3.6.0 alone: the second visit takes the bytes that the next segment needed."""
    rows = (remote(0, 9, {0: 0, 1: 5}), remote(10, 19, {1: 10}))
    partition = partition_of(*rows, lineage=((0, 0), (1, 5)))
    assert states(retention(partition, limits(NO_LIMIT, 0), (3, 6, 0))) == ["size", "bytes"]
    assert states(retention(partition, limits(NO_LIMIT, 0), (3, 6, 1))) == ["size", "size"]


@pytest.mark.parametrize(
    ("release", "doubled"),
    [
        ((3, 6), (0,)),
        ((3, 8), ()),
        ((3, 9), (0,)),
        ((4, 3, 1), (0,)),
        ((4, 3, 2), ()),
        ((4, 4), ()),
    ],
)
def test_a_new_leader_may_count_local_segments_twice(release, doubled):
    """KAFKA-20732: the copied local segments count once more until the leader knows of them."""
    rows = (remote(0, 9, {0: 0}), remote(10, 19, {0: 10}, is_local=True), local(20, 5))
    result = retention(partition_of(*rows), limits(NO_LIMIT, 25), release)
    assert states(result) == ["bytes", "bytes"]
    assert (result.local_bytes, result.remote_bytes) == (5, 20)
    assert result.doubled_segments == doubled


def test_epochs_before_the_first_one_of_the_log():
    """After an unclean election: the segment is unreferenced, and goes at once."""
    rows = (remote(0, 9, {0: 0}, time_ms=900), remote(10, 19, {3: 10}, time_ms=900))
    result = retention(partition_of(*rows, lineage=((2, 0), (3, 10))), limits())
    assert states(result) == ["epochs", "unlimited"]


def test_what_is_not_known():
    """Unknown limits delete nothing by themselves; the log start still does."""
    result = retention(partition_of(*TWO, log_start=10), limits(None, None))
    assert states(result) == ["log-start", "unknown"]
    untimed = partition_of(replace(TWO[0], max_timestamp_ms=None), TWO[1])
    assert states(retention(untimed, limits(10))) == ["unknown", "unknown"]
    disabled = retention(partition_of(*TWO), limits(1, 1, deletes=False))
    assert states(disabled) == ["disabled", "disabled"]
    without = replace(partition_of(*TWO), lineage=())
    assert retention(without, limits()) is None
    assert retention(replace(without, events=None), limits()) is None


def test_a_real_broker_keeps_what_its_settings_keep(tiered):
    """Its topics have no limit; with limits, the oldest segments go by time and by size."""
    logs_, store = tiered
    state = read_tiered_state(store, logs_)
    broker = open_broker(logs_)
    kept = remote_retentions(plan_check(broker), state)
    assert {item.partition for item in kept} == {"orders-0", "payments-0", "audit-0"}
    assert {state for item in kept for state in states(item)} == {"unlimited"}
    typed = {"retention.ms": "-1", "retention.bytes": "100000"}
    settings = open_settings(broker, (4, 3, 1), typed)
    plan = plan_check(broker, "4.3.1", settings=settings)
    by_name = {item.partition: item for item in remote_retentions(plan, state)}
    orders = by_name["orders-0"]
    assert orders.local_bytes + orders.remote_bytes - 100_000 == orders.over_bytes > 0
    due = [item.segment.log_bytes for item in orders.segments if item.is_due]
    following = orders.segments[len(due)].segment.log_bytes
    assert sum(due) <= orders.over_bytes < sum(due) + following
    assert orders.next_log_start == orders.segments[len(due)].segment.start_offset
    assert remote_limits(settings, "orders").retention_bytes == 100_000


def test_the_command_says_what_goes_and_when(tiered, capsys):
    logs_, store = tiered
    arguments = ["tiered", str(logs_), "--tiered", str(store), "--kafka-version", "4.3.1"]
    arguments += ["--now", "1750000400000", "--set", "retention.ms=300000"]
    assert main([*arguments, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)["remote_retention"]
    orders = next(item for item in result if item["partition"] == "orders-0")
    assert orders["retention_ms"]["value"] == 300_000
    due = [item for item in orders["segments"] if item["state"] == "time"]
    assert due and all(item["until_ms"] < 1_750_000_400_000 for item in due)
    waiting = orders["segments"][len(due)]
    assert waiting["state"] == "until" and waiting["gone_ms"] >= 1_750_000_400_000
    assert main(arguments) == 0
    text = capsys.readouterr().out
    last = due[-1]["end_offset"]
    count = f"{len(due)} segments"
    reason = say("remote_retention.run", first="0", last=str(last), segments=count, why="")
    assert f"    {reason}" in text
    assert say("remote_retention.deletes_none") in text


def test_a_broken_time_is_refused(tiered, capsys):
    logs_, store = tiered
    with pytest.raises(SystemExit) as exit_:
        main(["tiered", str(logs_), "--tiered", str(store), "--now", "yesterday"])
    assert exit_.value.code == 2
    capsys.readouterr()
