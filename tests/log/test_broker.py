"""A broker directory as objects, compared with real brokers and with Kafka's own dumps."""

import json
import os
import shutil
from pathlib import Path

import pytest

from kafkaviz.errors import CannotOpen, CorruptFile
from kafkaviz.format import names
from kafkaviz.log.broker import Broker, open_broker
from kafkaviz.log.partition import log_end_offset, open_partition

DATA = Path(__file__).parents[1] / "data"
DUMPS = json.loads((DATA / "dump_counts.json").read_text())
ARCHIVES = sorted(DUMPS["brokers"])


def counted(broker: Broker) -> dict[str, object]:
    """Returns the counts that the reader finds in each .log and index, in the form of Kafka's dump."""
    facts: dict[str, object] = {}
    for partition in broker.partitions:
        for segment in partition.segments:
            name = f"{partition.directory}/{segment.name}"
            if segment.state not in ("active", "closed"):
                continue
            if segment.log:
                counts = segment.walk().batches["record_count"]
                records = None if (counts == -1).any() else int(counts.sum())
                facts[f"{name}.log"] = {"batches": len(counts), "records": records}
            if segment.index:
                facts[f"{name}.index"] = len(segment.offset_index)
            if segment.timeindex:
                facts[f"{name}.timeindex"] = len(segment.time_index)
    return facts


def compare_with_dump(broker: Broker, name: str) -> int:
    """Compares every file with Kafka's dump of it, and returns the number of files compared."""
    ours, unwritten, died = counted(broker), set(DUMPS["unwritten"][name]), set(DUMPS["died"][name])
    compared = 0
    for file, kafka in DUMPS["brokers"][name].items():
        if file not in ours or kafka is None or file in died:
            continue
        mine = ours[file]
        if isinstance(kafka, dict):
            assert mine["batches"] == kafka["batches"], file
            # Kafka shows no count of old wrappers
            assert kafka["records"] is None or mine["records"] == kafka["records"], file
        else:
            assert mine == (0 if file in unwritten else kafka), file
        compared += 1
    return compared


@pytest.mark.parametrize("name", [name for name in ARCHIVES if "damaged" not in name])
def test_counts_are_those_of_kafkas_dump(name, shared):
    """Batches, records and entries of every file of every directory, by kafka-dump-log 4.3.1."""
    assert compare_with_dump(open_broker(shared / "data" / f"{name}.tar.gz"), name) >= 40


def test_the_sample_has_the_counts_of_kafkas_dump(clean):
    assert compare_with_dump(open_broker(clean), "kafka-4.3.1-clean") > 200


def test_a_clean_broker(clean):
    """A 4.3.1 broker left it when it was stopped."""
    broker = open_broker(clean)
    assert len(broker.partitions) == 37 and not broker.problems
    assert broker.is_clean and broker.clean_body == {"version": 0, "brokerEpoch": 13}
    assert (broker.node_id, broker.cluster_id) == ("1", "a2Fma2F2aXotY2xlYW4tMQ")
    assert broker.directory_id == "ekArurFKRISu0Oyjh8h0sg"
    states = {partition.directory: partition.state for partition in broker.partitions}
    (state,) = (state for name, state in states.items() if name.startswith("obsolete-2019-0."))
    assert state == "delete"


def test_offsets_of_the_checkpoints(clean):
    """Log start moved by deleteRecords, high watermark, recovery point, log end."""
    broker = open_broker(clean)
    moved = broker.partition("device-events.v2-0")
    assert (moved.log_start_offset, moved.high_watermark) == (9037, 12000)
    assert (moved.recovery_point, log_end_offset(moved.active)) == (12000, 12000)
    assert moved.topic_id and len(moved.topic_id) == 22
    assert log_end_offset(broker.partition("empty-room-1").active) == 0


def test_states_of_segments(clean):
    """The last one is active, those before are closed, and .deleted ones are deleted."""
    weblogs = open_broker(clean).partition("weblogs-0")
    assert [segment.state for segment in weblogs.segments] == ["deleted", "closed", "active"]
    assert weblogs.active is weblogs.segments[-1] and weblogs.segments[0].index is not None


def test_preallocated_indexes_of_a_killed_broker(killed):
    """Written and unwritten slots, apparent and allocated bytes."""
    active = open_broker(killed).partition("append-time-0").active
    slots = active.offset_slots
    assert (len(active.offset_index), slots.slots, slots.unwritten_slots) == (104, 8192, 8088)
    assert (len(active.time_index), active.time_slots.slots) == (104, 5461)
    assert active.index.size_bytes == 65536 and active.index.allocated_bytes < 65536


def test_torn_tails_of_a_killed_broker(killed):
    """Where the last whole batch ends, and why the rest is not one; the tails were made by hand."""
    broker = open_broker(killed)
    for name, position, reason in (
        ("append-time-0", 561_373, "torn"),
        ("clicks-zstd-0", 263_795, "torn"),
        ("weblogs-0", 406_105, "bad-length"),
    ):
        end = broker.partition(name).active.walk().end
        assert (end.position, end.reason) == (position, reason), name


def test_missing_and_orphan_files(damaged):
    rides = open_broker(damaged).partition("rides-0")
    assert rides.segment(607).timeindex is None and rides.segment(1811).index is None
    orphan = rides.segment(999_999)
    assert orphan.log is None and orphan.index.size_bytes == 24 and len(orphan.walk().batches) == 0
    assert rides.active.base_offset != 999_999
    states = [segment.state for segment in rides.segments if segment.base_offset == 2418]
    assert states == ["closed", "cleaned"]


def test_an_index_cut_inside_an_entry(damaged):
    """The whole entries are given, and the number of bytes left over."""
    index = open_broker(damaged).partition("metrics-0").segment(0).offset_slots
    assert index.trailing_bytes == 5 and len(index.entries) == index.slots > 0


def test_partitions_stand_as_a_reader_counts_them(clean, tmp_path):
    for name in ("orders-10", "orders-2", "orders-0"):
        shutil.copytree(clean / "empty-room-1", tmp_path / name)
    names = [partition.directory for partition in open_broker(tmp_path).partitions]
    assert names == ["orders-0", "orders-2", "orders-10"]


def test_how_a_broker_was_left(clean, killed, tmp_path):
    """Nothing shows it for a partition copied alone; in its broker directory the marker does."""
    shutil.copytree(clean / "orders-2", tmp_path / "orders-2")
    for paths, state in (
        ((clean, clean / "orders-2"), "clean"),
        ((killed, killed / "append-time-0", tmp_path), "unclean"),
        ((tmp_path / "orders-2",), "unknown"),
    ):
        assert {open_broker(path).shutdown_state for path in paths} == {state}


def test_one_partition_directory_alone(clean):
    """Its broker's checkpoints are still read."""
    (partition,) = open_broker(clean / "orders-0").partitions
    assert (partition.directory, partition.high_watermark) == ("orders-0", 38736)


@pytest.mark.parametrize(
    ("make", "kind"),
    [(lambda path: None, "missing"), (Path.mkdir, "not-kafka"), (Path.touch, "not-kafka")],
)
def test_what_is_no_broker_is_one_clear_line(tmp_path, make, kind):
    make(tmp_path / "x")
    with pytest.raises(CannotOpen) as raised:
        open_broker(tmp_path / "x")
    assert raised.value.kind == kind and "\n" not in str(raised.value)


def test_a_renamed_copy_of_a_partition_says_what_to_do(clean, tmp_path):
    """Without TOPIC-N nothing identifies its log; under its new name it opens."""
    shutil.copytree(clean / "orders-2", tmp_path / "copy")
    with pytest.raises(CannotOpen) as raised:
        open_broker(tmp_path / "copy")
    assert raised.value.kind == "not-kafka"
    assert str(raised.value).endswith("rename it TOPIC-N, such as orders-0")
    (tmp_path / "copy").rename(tmp_path / "copy-0")
    (partition,) = open_broker(tmp_path / "copy-0").partitions
    assert partition.directory == "copy-0"


def test_a_folder_named_like_a_partition_makes_no_broker(tmp_path):
    """Any folder may hold one called gcc-12: without a segment in it, it is not Kafka's."""
    (tmp_path / "gcc-12").mkdir()
    with pytest.raises(CannotOpen, match=r"neither a meta\.properties"):
        open_broker(tmp_path)


def test_a_folder_of_such_folders_is_not_offered(tmp_path):
    """One level down a broker needs its properties, or a segment."""
    (tmp_path / "lib" / "gcc-12").mkdir(parents=True)
    with pytest.raises(CannotOpen) as raised:
        open_broker(tmp_path)
    assert raised.value.nearby == ()


def test_a_broker_one_level_down_is_offered(tmp_path, damaged):
    (tmp_path / "kafka").symlink_to(damaged)
    with pytest.raises(CannotOpen) as raised:
        open_broker(tmp_path)
    assert raised.value.nearby == (tmp_path / "kafka",)


def test_an_unreadable_partition_hides_no_other(damaged, monkeypatch):
    scandir = os.scandir

    def refusing(path: Path) -> object:
        if Path(path).name == "rides-0":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    broker = open_broker(damaged)
    (problem,) = broker.problems
    assert (problem.path.name, problem.what.key) == ("rides-0", "errors.may_not_be_read")
    assert "bookings-0" in {partition.directory for partition in broker.partitions}


def test_a_broken_checkpoint_is_a_problem(tmp_path, damaged):
    copy = Path(shutil.copytree(damaged, tmp_path / "kafka"))
    (copy / "replication-offset-checkpoint").write_text("0\n5\norders x\n")
    broker = open_broker(copy)
    assert [problem.path.name for problem in broker.problems] == ["replication-offset-checkpoint"]
    assert broker.partition("rides-0").high_watermark is None


@pytest.mark.parametrize("body", [b"[" * 60_000, b"\xff" * 3000, b"{}", b"[1]"])
def test_a_strange_marker_is_still_a_clean_stop(tmp_path, damaged, body):
    """A broker only checks whether the marker exists (4.3.1)."""
    copy = Path(shutil.copytree(damaged, tmp_path / "kafka"))
    (copy / ".kafka_cleanshutdown").write_bytes(body)
    broker = open_broker(copy)
    assert broker.is_clean and broker.clean_body in (None, {}) and len(broker.partitions) > 2
    problems = [problem.path.name for problem in broker.problems]
    assert problems == ([] if body == b"{}" else [".kafka_cleanshutdown"])


def test_reading_changes_nothing(killed, fingerprint):
    before = fingerprint(killed)
    broker = open_broker(killed)
    counted(broker)
    for partition in broker.partitions:
        if partition.active:
            log_end_offset(partition.active)
    assert fingerprint(killed) == before


def test_aborted_transactions_of_a_segment(clean):
    """The first lines of Kafka's own dump of the file; a segment without the file has none."""
    segment = open_broker(clean).partition("refunds-1").segment(32)
    first = [(0, 7, 0, 32, 17), (0, 7, 33, 70, 17), (0, 6, 17, 71, 72)]
    assert segment.txn_index[:3].tolist() == first
    assert len(open_broker(clean).partition("orders-0").segments[0].txn_index) == 0


def test_producers_of_a_partition(clean):
    """The snapshots by offset, and the producer that Kafka's own dump shows in one."""
    partition = open_broker(clean).partition("orders-0")
    assert list(partition.snapshots) == [19113, 38321, 38736]
    (producer,) = partition.snapshot(19113).producers.tolist()
    assert producer == (0, 0, 19112, 19112, 67, 1790003174230, -1, -1)
    with pytest.raises(CannotOpen, match="holds no producer snapshot of offset 7"):
        partition.snapshot(7)


def test_a_broken_snapshot_is_reported_by_file_and_byte(tmp_path, clean):
    """One flipped bit, and Kafka's words."""
    broken = tmp_path / "orders-0" / "00000000000000019113.snapshot"
    shutil.copytree(clean / "orders-0", broken.parent)
    data = bytearray(broken.read_bytes())
    data[20] ^= 1
    broken.write_bytes(data)
    partition = open_partition(broken.parent, names.parse_directory("orders-0"))
    words = r"19113.snapshot, byte 6: Snapshot is corrupt \(CRC is no longer valid\)"
    with pytest.raises(CorruptFile, match=words):
        partition.snapshot(19113)


def test_an_entry_that_points_before_the_file_does_not_hide_the_end(data, tmp_path):
    """The log end offset is then found from byte 0 on."""
    directory = Path(shutil.copytree(data / "kafka-4.3.1" / "nulls-0", tmp_path / "nulls-0"))
    before = log_end_offset(open_broker(directory).partitions[0].active)
    index = directory / "00000000000000000000.index"
    index.write_bytes(index.read_bytes() + (9).to_bytes(4, "big") + b"\xff\xff\xff\0")
    assert log_end_offset(open_broker(directory).partitions[0].active) == before > 0
