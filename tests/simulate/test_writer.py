"""The writer against Kafka's own: whole histories of a log, byte for byte."""

from itertools import groupby
from operator import itemgetter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkaviz import versions
from kafkaviz.format import offset_index, time_index
from kafkaviz.simulate.appends import INCOMING, MemoryLogs
from kafkaviz.simulate.config import LogConfig, log_config, release_behaviour
from kafkaviz.simulate.writer.roll_reason import RollCause
from kafkaviz.simulate.writer.writer import CannotLoad, UnifiedLog
from tests.analysis import arrays
from tests.analysis.sweep import plain_sweep
from tests.pipeline import whole_logs
from tests.simulate.replay_vectors import Replay, incoming
from tests.support.vectors import json_lines, unpacked

V4_3, V3_9 = release_behaviour((4, 3, 1)), release_behaviour((3, 9, 0))


def differences(recorded_histories: list[dict]) -> list[str]:
    return [difference for history in recorded_histories for difference in Replay(history).run()]


def test_some_recorded_histories(data):
    """One of each step and each exception, of 3.9.0 and 4.3.1, as leader and as follower."""
    recorded = json_lines(data / "replays.jsonl.gz")
    assert len(recorded) > 20 and versions_of(recorded) == {"3.9.0", "4.3.1"}
    assert differences(recorded) == []


def versions_of(recorded: list[dict]) -> set[str]:
    return {line["version"] for line in recorded}


@pytest.mark.parametrize(("name", "count"), [("replays", 210), ("replays-4.4.0", 60)])
def test_every_recorded_history(shared, name, count):
    """Files, sizes, hashes, rolls, restarts, crashes, truncations, and Kafka's own exceptions."""
    recorded = json_lines(shared / "vectors" / f"{name}.jsonl.gz")
    assert len(recorded) == count and differences(recorded) == []


def test_some_histories_of_4_4(data):
    """A clean stop of 4.4.0 trims first, and creates the unused .timeindex."""
    recorded = json_lines(data / "replays-4.4.0.jsonl.gz")
    assert len(recorded) == 11 and differences(recorded) == []
    assert [line["id"] for line in recorded if line["differs_from_4.3.1"]] == ["4.4.0-23"]
    as_before = [line | {"version": "4.3.1"} for line in recorded]
    assert {line.split(" ")[0] for line in differences(as_before)} == {"4.4.0-23"}


def test_a_changed_byte_of_a_recording_is_noticed(data):
    recorded = json_lines(data / "replays.jsonl.gz")
    history = next(line for line in recorded if "final_closed" in line)
    history["final_closed"]["segments"][-1]["timeindex"]["file_len"] += 12
    assert len(differences([history])) == 1


def test_some_segments_of_an_old_release(data):
    recorded = json_lines(data / "old_segments.jsonl.gz")
    assert len(recorded) == 10 and versions_of(recorded) == {"1.1.1", "2.0.1"}
    assert [line["id"] for line in recorded if old_segment(line)] == []


def test_every_segment_of_an_old_release(shared):
    """1.1.1 with first-offset keys and 2.0.1, filled by a follower's appends."""
    recorded = json_lines(shared / "vectors" / "legacy-segments.jsonl.gz")
    assert len(recorded) == 50 and versions_of(recorded) == {"1.1.1", "2.0.1"}
    assert [line["id"] for line in recorded if old_segment(line)] == []


def old_segment(recorded: dict) -> list[str]:
    """Returns the differences between a recorded segment and the same of the writer."""
    data = unpacked(recorded["log_gz"])
    config = log_config(
        {
            "index.interval.bytes": recorded["index_interval_bytes"],
            "segment.index.bytes": recorded["segment_index_bytes"],
        }
    )
    replay = Replay(recorded)
    replay.logs = MemoryLogs()
    log = replay.log = UnifiedLog(
        config,
        release_behaviour(versions.parse(recorded["version"])),
        now_ms=0,
        start_offset=recorded["base_offset"],
        is_leader=False,
        logs=replay.logs,
    )
    at = 0
    for number, append in enumerate(recorded["appends"]):
        size = sum(batch[2] for batch in append)
        log.append(incoming(data[at : at + size], number, 0), data[at : at + size])
        at += size
    replay.state("open", [recorded["open"] | {"base": recorded["base_offset"]}])
    log.close(0)
    replay.state("closed", [recorded["closed"] | {"base": recorded["base_offset"]}])
    return replay.differences


def batches(sizes: list[int], step_ms: int = 1, appends: np.ndarray | None = None) -> np.ndarray:
    """Returns batches of a record each of these sizes, by default one per append."""
    times_ms = [1_700_000_000_000 + step_ms * number for number in range(len(sizes))]
    return arrays.incoming(arrays.batches(sizes, times_ms=times_ms), appends)


@pytest.mark.parametrize(
    ("most", "index", "timeindex"), [(67, 64, 60), (10_485_760, 10_485_760, 10_485_756)]
)
def test_an_index_is_made_as_long_as_it_may_grow(most, index, timeindex):
    active = UnifiedLog(LogConfig(segment_index_bytes=most), now_ms=0).active
    assert (active.index.file_bytes, active.timeindex.file_bytes) == (index, timeindex)
    assert (active.index.used_bytes(), active.timeindex.used_bytes()) == (b"", b"")


def test_jitter_brings_rolls_forward_by_the_seed():
    """Drawn per segment: the same seed gives the same rolls, none later than segment.ms, none
    earlier than the jitter allows.
    """
    config = LogConfig(segment_ms=100, segment_jitter_ms=40)
    logs = [UnifiedLog(config, now_ms=0, seed=seed) for seed in (1, 1, 2)]
    for log in logs:
        log.append(batches([100] * 3000))
    bases = [[segment.base_offset for segment in log.segments] for log in logs]
    assert bases[0] == bases[1] != bases[2]
    waits = np.diff(bases[0])
    assert waits.min() > 60 and waits.max() <= 101 and len(set(waits.tolist())) > 5


@pytest.mark.parametrize("most", [4, 7, 8, 11])
def test_an_index_without_room_cannot_be_made(most):
    with pytest.raises(CannotLoad, match=f"Invalid max index size: {most}$"):
        UnifiedLog(LogConfig(segment_index_bytes=most), now_ms=0)


@pytest.mark.parametrize("most", [12, 23])
def test_a_time_index_of_one_slot_rolls_at_every_append(most):
    log = UnifiedLog(LogConfig(segment_index_bytes=most), now_ms=0)
    log.append(batches([100] * 5))
    assert [segment.base_offset for segment in log.segments] == [0, 1, 2, 3, 4]
    causes = {segment.roll_reason.cause for segment in log.segments[:-1]}
    assert causes == {RollCause.TIME_INDEX_FULL}


def test_offsets_that_no_entry_can_hold_roll_the_segment():
    """An entry has four bytes for an offset, counted from the base offset."""
    rows = batches([100] * 40)
    rows["base_offset"] = rows["last_offset"] = np.arange(40) << 27
    log = UnifiedLog(LogConfig(), now_ms=0)
    log.append(rows)
    assert [segment.base_offset >> 27 for segment in log.segments] == [0, 16, 32]
    causes = {segment.roll_reason.cause for segment in log.segments[:-1]}
    assert causes == {RollCause.OFFSET_OVERFLOW}


# ---- the compiled loop and the rules in plain words


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(61, 3000), st.integers(-5, 5), st.booleans()), min_size=1, max_size=80
    ),
    st.sampled_from([0, 100, 4096]),
    st.booleans(),
)
def test_the_compiled_loop_is_the_rules(sizes_drawn, interval, per_append):
    sizes, steps, joined = zip(*sizes_drawn, strict=True)
    rows = batches(list(sizes), appends=np.cumsum([not is_joined for is_joined in joined]))
    rows["max_timestamp_ms"] += np.cumsum(steps)
    config = LogConfig(index_interval_bytes=interval)
    log = UnifiedLog(config, V3_9 if per_append else V4_3, now_ms=0, is_leader=False)
    log.append(rows.copy())
    units = [[row] for row in rows]
    if per_append:
        units = [list(group) for _, group in groupby(rows, key=itemgetter("append"))]
    offsets, times = plain_sweep.entries(units, interval, is_closed=False)
    assert log.active.index.entries.tolist() == np.array(offsets, offset_index.ENTRY).tolist()
    assert log.active.timeindex.entries.tolist() == np.array(times, time_index.ENTRY).tolist()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_how_appends_are_handed_over_changes_nothing(data):
    sizes = data.draw(st.lists(st.integers(61, 900), min_size=1, max_size=60))
    config = LogConfig(
        segment_bytes=data.draw(st.integers(900, 5000)),
        index_interval_bytes=300,
        segment_index_bytes=data.draw(st.integers(24, 90)),
    )
    together, apart = UnifiedLog(config, now_ms=0), UnifiedLog(config, now_ms=0)
    rows = batches(sizes, step_ms=data.draw(st.integers(0, 3)))
    together.append(rows.copy())
    for at in range(len(rows)):
        apart.append(rows[at : at + 1].copy())
    assert facts(together) == facts(apart)


def test_a_log_that_keeps_no_state_has_the_same_segments():
    config = LogConfig(segment_bytes=2000, index_interval_bytes=300)
    rows = batches([200] * 40)
    rows["producer_id"], rows["leader_epoch"] = 7, 3
    rows["base_offset"] += 5
    rows["last_offset"] += 5
    whole, bare = (
        UnifiedLog(config, now_ms=0, start_offset=5, keeps_state=state) for state in (True, False)
    )
    for log in (whole, bare):
        log.append(rows.copy())
    assert facts(whole) == facts(bare)
    assert len(whole.segments) > 1
    assert (bool(whole.snapshots), whole.epochs.latest) == (True, 3)
    assert (bare.snapshots, bare.epochs.latest) == ({}, -1)


def facts(log: UnifiedLog) -> list:
    return [
        (
            segment.base_offset,
            segment.log_bytes,
            segment.index.content(),
            segment.timeindex.content(),
            segment.roll_reason,
        )
        for segment in log.segments
    ]


def test_a_truncation_before_the_log_restarts_it():
    """truncateFullyAndStartAt: one empty segment at that offset, no epoch and no producer."""
    log = UnifiedLog(LogConfig(), V4_3, now_ms=0, start_offset=20, logs=MemoryLogs())
    rows = np.zeros(1, INCOMING)
    data = whole_logs.batch(20, [5, 6, 7])
    rows["size_bytes"], rows["base_offset"], rows["last_offset"] = len(data), 20, 22
    rows["record_count"], rows["magic"] = 3, 2
    log.append(rows, data)
    assert (log.log_start_offset, log.log_end_offset) == (20, 23)
    assert log.truncate_to(23, 8) is False
    assert log.truncate_to(5, 8) is True
    assert (log.log_start_offset, log.log_end_offset) == (5, 5)
    assert [segment.base_offset for segment in log.segments] == [5]
    assert (log.epochs.entries, log.snapshots) == ([], {})
    assert log.logs.content(20) == b""
