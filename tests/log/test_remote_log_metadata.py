"""__remote_log_metadata: its events, and the keyed and compacted form that KIP-1266 proposes."""

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from kafkaviz.__main__ import main
from kafkaviz.format import record, remote_metadata
from kafkaviz.format.remote_metadata import SEGMENT_STATES
from kafkaviz.log.broker import open_broker, read_tiered_state
from kafkaviz.log.tiered.remote_log_metadata import (
    COPY_FINISHED,
    DELETE_FINISHED,
    DELETE_STARTED,
    RemoteLogEvents,
    RemoteLogMetadataCache,
    _records,
)
from kafkaviz.log.tiered.tiered_partition import SegmentPlace
from kafkaviz.messages import say
from tests.pipeline import whole_logs
from tests.support.tiered_storage import partition_of, segment_of


def values_of(logs: Path) -> list[bytes]:
    """Returns the values in the metadata partitions of the recorded broker."""
    return [
        event.value
        for partition in open_broker(logs).partitions
        if partition.topic == "__remote_log_metadata"
        for _, _, event in _records(partition)
        if event.value is not None
    ]


def write_metadata(logs: Path, target: Path, events: list[tuple[bytes | None, bytes | None]]):
    """Copies a broker directory with one metadata partition of these keys and values."""
    shutil.copytree(logs, target)
    for directory in target.glob("__remote_log_metadata-*"):
        shutil.rmtree(directory)
    batches = []
    for offset, (key, value) in enumerate(events):
        part = record.Record(offset_delta=0, timestamp_delta_ms=0, key=key, value=value)
        time_ms = whole_logs.START_MS + offset
        batches.append(whole_logs.framed(offset, record.build([part]), [time_ms]))
    whole_logs.write(target / "__remote_log_metadata-0", batches)
    return target


def key_of(value: bytes) -> bytes | None:
    fields = remote_metadata.decode(value).values
    segment = fields.get("remoteLogSegmentId")
    return segment["id"].encode() if segment else None


def states_of(value: bytes) -> str | None:
    state = remote_metadata.decode(value).values.get("remoteLogSegmentState")
    return None if state is None else SEGMENT_STATES[state]


def test_events_are_counted_by_segment(tiered, capsys):
    """A copied segment has two events, one of them superseded; all four of a deleted one are."""
    logs, store = tiered
    state = read_tiered_state(store, logs)
    counts = Counter(key.decode() for value in values_of(logs) if (key := key_of(value)))
    for partition in state.partitions:
        live = [segment for segment in partition.segments if segment.state]
        assert {segment.segment_id: segment.event_count for segment in live} == {
            segment.segment_id: counts[segment.segment_id] for segment in live
        }
    audit = partition_of(state, "audit-0")
    assert audit.deleted_segments == 1
    assert audit.events == RemoteLogEvents(total=2 * 2 + 4, superseded=2 + 4)
    orders = partition_of(state, "orders-0")
    assert orders.events == RemoteLogEvents(total=36, superseded=18)
    main(["tiered", str(logs), "--tiered", str(store), "--json"])
    partitions = json.loads(capsys.readouterr().out)["partitions"]
    told = {partition["partition"]: partition["metadata_events"] for partition in partitions}
    assert told["orders-0"] == {"total": 36, "superseded": 18}


@pytest.mark.parametrize("is_keyed", [True, False])
def test_an_update_without_its_announcement_counts_if_it_is_keyed(tiered, tmp_path, is_keyed):
    """Kafka 4.4.0 drops such an update, so nobody asks for the segment; with a key it counts."""
    logs, store = tiered
    newest = {key_of(value): value for value in values_of(logs) if key_of(value)}
    events = [(key if is_keyed else None, value) for key, value in newest.items()]
    compacted = write_metadata(logs, tmp_path / "logs", events)
    before = partition_of(read_tiered_state(store, logs), "orders-0")
    partition = partition_of(read_tiered_state(store, compacted), "orders-0")
    if not is_keyed:
        assert partition.count(SegmentPlace.DANGLING) == 18 and not partition.serving_segments
        return
    assert partition.unannounced_segments == 18
    assert partition.counts == before.counts
    for segment, known in zip(partition.segments, before.segments, strict=True):
        for name in ("start_offset", "end_offset", "leader_epochs", "served_end_offset"):
            assert getattr(segment, name) == getattr(known, name), name
    assert partition.events == RemoteLogEvents(total=18, superseded=0)


def test_a_tombstone_removes_its_segment(tiered, tmp_path):
    """The key may have any form: it stands for the segment of the records that had it before."""
    logs, store = tiered
    before = partition_of(read_tiered_state(store, logs), "orders-0")
    removed = before.segments[0].segment_id
    events: list = [(b"any form of " + (key_of(value) or b""), value) for value in values_of(logs)]
    events += [(f"any form of {removed}".encode(), None), (b"never seen", None), (None, None)]
    written = write_metadata(logs, tmp_path / "logs", events)
    partition = partition_of(read_tiered_state(store, written), "orders-0")
    assert partition.deleted_segments == before.deleted_segments + 1
    places = {segment.segment_id: segment.place for segment in partition.segments}
    places_before = {segment.segment_id: segment.place for segment in before.segments}
    assert places == places_before | {removed: SegmentPlace.DANGLING}
    assert partition.events == RemoteLogEvents(total=37, superseded=17 + 3)


def test_a_key_names_a_segment_that_is_being_deleted(tiered, tmp_path):
    """Its copy is not asked for; once the deletion has finished, nothing is known about it."""
    logs, store = tiered
    copied = [value for value in values_of(logs) if states_of(value) == COPY_FINISHED]
    state_byte = SEGMENT_STATES.index(COPY_FINISHED)
    assert {value[-2] for value in copied} == {state_byte}
    events = [(key_of(value), value[:-2] + b"\2" + value[-1:]) for value in copied]
    written = write_metadata(logs, tmp_path / "logs", events)
    partition = partition_of(read_tiered_state(store, written), "orders-0")
    dangling = [seg for seg in partition.segments if seg.place is SegmentPlace.DANGLING]
    assert {segment.state for segment in dangling} == {DELETE_STARTED} and len(dangling) == 18


def test_an_update_may_have_fields_that_no_release_knows(tiered):
    """KIP-1266 adds tagged fields: they are passed over, as a flexible version demands."""
    value = next(value for value in values_of(tiered[0]) if states_of(value) == COPY_FINISHED)
    assert value[-1:] == b"\0"  # the number of tagged fields
    tagged = value[:-1] + bytes([1, 0, 8]) + (42).to_bytes(8, "big")
    assert remote_metadata.decode(tagged).values == remote_metadata.decode(value).values


def test_a_second_announcement_does_not_take_a_copy_back():
    """RemoteLogMetadataCache of Kafka 4.3.1 drops it: the state cannot follow the later one."""
    cache = RemoteLogMetadataCache()
    cache.add(segment_of("a", 0, 9, {0: 0}))
    cache.update("a", COPY_FINISHED)
    cache.add(segment_of("a", 0, 9, {0: 0}))
    assert cache.segments["a"].state == COPY_FINISHED and cache.find(0, 5)


def test_a_finished_deletion_forgets_an_unannounced_segment():
    cache = RemoteLogMetadataCache()
    cache.update("a", COPY_FINISHED, is_keyed=True)
    assert cache.unannounced == {"a": COPY_FINISHED}
    cache.update("a", DELETE_FINISHED, is_keyed=True)
    assert cache.unannounced == {} and cache.deleted == {}


@pytest.mark.parametrize("fault", ["torn", "random", "flipped"])
def test_damaged_metadata_is_a_problem_and_predicts_nothing(tiered, tmp_path, capsys, fault):
    """The text begins with the damaged place; a prediction from a part of the events is none."""
    logs = shutil.copytree(tiered[0], tmp_path / "logs")
    log = max(logs.glob("__remote_log_metadata-*/*.log"), key=lambda path: path.stat().st_size)
    data = bytearray(log.read_bytes())
    if fault == "torn":
        del data[len(data) * 2 // 3 :]
    elif fault == "random":
        data[len(data) // 2 :] = bytes([0xAB]) * (len(data) - len(data) // 2)
    else:
        data[61 + 20] ^= 1
    log.write_bytes(data)
    arguments = ["tiered", str(logs), "--tiered", str(tiered[1])]
    main([*arguments, "--json"])
    answer = json.loads(capsys.readouterr().out)
    (problem,) = answer["problems"]
    assert problem.startswith(str(log)) and answer["remote_retention"] == []
    main(arguments)
    lines = capsys.readouterr().out.splitlines()
    assert lines[2:4] == [
        say("cli_tiered.problem", problem=problem),
        say("cli_tiered.retention_unknown"),
    ]
