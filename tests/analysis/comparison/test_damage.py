"""Copies with each damage of the corruption lab, compared with the undamaged log."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from kafkaviz.analysis.comparison.comparator import compare
from kafkaviz.analysis.comparison.comparison import PartitionComparison, Relation
from kafkaviz.analysis.comparison.index_differences import IndexReason
from kafkaviz.format.batch import HEADER
from kafkaviz.format.names import CLEAN_SHUTDOWN
from kafkaviz.log.broker import Broker, open_broker
from kafkaviz.render.comparison_text import describe_relation
from kafkaviz.workshop.lab import FAULTS, LogCopy, copy_log
from tests.support.cases import all_cases

RELEASE = (4, 3, 1)
DIRECTORY = "orders-0"
INDEX_FAULTS = {
    "index-renamed": IndexReason.MISSING,
    "index-removed": IndexReason.MISSING,
    "timeindex-removed": IndexReason.MISSING,
    "file-time": IndexReason.MISSING,
    "entries-swapped": IndexReason.DAMAGE,
    "position-moved": IndexReason.DAMAGE,
    "key-lowered": IndexReason.DAMAGE,
    "index-cut": IndexReason.DAMAGE,
    "index-padded": IndexReason.UNWRITTEN,
    "index-zeroed": IndexReason.ZEROED,
    "index-zeroed-killed": IndexReason.ZEROED,
    "time-late": IndexReason.DAMAGE,
    "times-zeroed": IndexReason.ZEROED,
}
# by the field with the flipped bit; fields outside the checksum are altered
BIT_RELATIONS = {
    "base_offset": Relation.ALTERED,
    "batch_length_bytes": Relation.DAMAGED,
    "leader_epoch": Relation.DIVERGED,
    "magic": Relation.ALTERED,
}
FIELD_STARTS = {start: name for name, (_, start) in HEADER.fields.items()}


@pytest.fixture(scope="module")
def broker(clean) -> Broker:
    return open_broker(clean)


@pytest.fixture(scope="module")
def copies(broker) -> dict[int, LogCopy]:
    partition = broker.partition(DIRECTORY)
    bases = [partition.live[0].base_offset, partition.live[-1].base_offset]
    return {place: copy_log(broker, partition, bases[place], RELEASE) for place in (0, -1)}


@pytest.fixture
def compare_damaged(broker, copies, tmp_path):
    """Compares copies of a segment without and with a fault at one place."""

    def compare_faulty(fault: str, place: int | None = None, segment: int = 0):
        copy = copies[segment]
        chosen = FAULTS[fault].default_place(copy) if place is None else place
        damage = FAULTS[fault].damage(copy, chosen)
        folder = tmp_path / f"{fault}-{chosen}-{segment}"
        write(broker, copy, folder / "a")
        write(broker, damage.copy, folder / "b", is_clean=not FAULTS[fault].has_kill)
        comparison = compare(folder / "a", folder / "b")
        shutil.rmtree(folder)
        return comparison.partitions[0], damage

    return compare_faulty


def compare_copies(broker: Broker, a: LogCopy, b: LogCopy, folder: Path) -> PartitionComparison:
    write(broker, a, folder / "a")
    write(broker, b, folder / "b")
    return compare(folder / "a", folder / "b").partitions[0]


def write(broker: Broker, copy: LogCopy, folder: Path, *, is_clean: bool = True) -> None:
    (folder / DIRECTORY).mkdir(parents=True)
    for path in broker.path.iterdir():
        if path.is_file() and (is_clean or path.name != CLEAN_SHUTDOWN):
            shutil.copy2(path, folder / path.name)
    for name, view in copy.files.items():
        (folder / DIRECTORY / name).write_bytes(view.content())


def first_byte(partition: PartitionComparison) -> int:
    """Returns the first byte of the damaged file that the comparison reports as different."""
    differences = (item for item in partition.differences if item.what not in ("hole", "tail"))
    return min(item.location.position for item in differences)


@all_cases("fault", INDEX_FAULTS)
def test_a_damaged_index_is_no_damaged_log(fault, compare_damaged):
    partition, damage = compare_damaged(fault)
    assert partition.relation is Relation.INDEX_FILES_DIFFER
    assert [index.reason for index in partition.indexes] == [INDEX_FAULTS[fault]]
    assert partition.relation.has_equal_records
    if damage.before is not None and damage.after is not None and not damage.new_name:
        places = zip(damage.before, damage.after, strict=False)
        changed = (place for place, (old, new) in enumerate(places) if old != new)
        shorter = min(len(damage.before), len(damage.after))
        assert first_byte(partition) == next(changed, shorter)


@all_cases("fault", ["epochs", "limit"])
def test_what_is_in_no_log_and_index_is_identical(fault, compare_damaged):
    """The checkpoint repeats the epochs of the batches, and the other damage is a setting."""
    partition, _ = compare_damaged(fault)
    assert partition.relation is Relation.IDENTICAL and not partition.differences


@all_cases(
    "flip",
    [
        *(("bit", byte) for byte in (*FIELD_STARTS, 62, 300, 3000)),
        *(("bit-killed", byte) for byte in (0, 8, 12, 16, 17, 57, 62, 3000)),
    ],
)
def test_a_flipped_bit_of_a_batch(flip, compare_damaged):
    """A kill does not explain a flipped bit inside a segment, so the relation is the same."""
    fault, byte = flip
    partition, damage = compare_damaged(fault, byte)
    field = FIELD_STARTS.get(byte, "records")
    assert partition.relation is BIT_RELATIONS.get(field, Relation.DAMAGED)
    assert [records.records for records in partition.only_in] == [0, 0]
    assert first_byte(partition) == damage.start
    assert field in {item.what for item in partition.differences}


def test_every_fault_of_the_lab_is_compared():
    others = {"epochs", "limit", "bit", "bit-killed", "cut", "cut-killed", "clock"}
    assert set(FAULTS) == set(INDEX_FAULTS) | others


@all_cases("is_killed", [False, True])
def test_a_cut_end_is_damage_only_where_no_kill_explains_it(is_killed, compare_damaged):
    """After a clean stop nothing cuts it; after a kill the next start does."""
    partition, damage = compare_damaged("cut-killed" if is_killed else "cut", segment=-1)
    assert partition.relation is (Relation.BEHIND if is_killed else Relation.DAMAGED)
    assert partition.lag.side == "b" and partition.only_in[0].records == partition.lag.offsets
    tail = next(item for item in partition.differences if item.what == "tail")
    assert tail.location.position + tail.location.size_bytes == damage.start


def test_a_torn_end_is_no_other_segment(broker, copies, tmp_path):
    """All records are present, followed by bytes after the last batch."""
    copy = copies[-1]
    name, data = copy.name("log"), bytes(copy.content("log"))
    write(broker, copy.with_files({name: data + data[:45]}), tmp_path / "a", is_clean=False)
    write(broker, copy, tmp_path / "b")
    partition = compare(tmp_path / "a", tmp_path / "b").partitions[0]
    assert partition.relation is Relation.SEGMENTS_DIFFER and partition.is_torn_alone
    assert describe_relation(partition).key == "comparison.torn_alone"


def test_a_cut_before_other_segments_is_damage(compare_damaged):
    """The records of the cut batch are unreadable, and not reported as cleaned."""
    partition, _ = compare_damaged("cut", segment=0)
    assert partition.relation is Relation.DAMAGED
    assert partition.only_in[0].records == 0 and partition.unreadable.records > 0


def test_a_changed_clock_with_a_mended_checksum_is_altered(compare_damaged):
    """One epoch has two contents, and the indexes belong to different batches."""
    partition, damage = compare_damaged("clock")
    assert partition.relation is Relation.ALTERED
    assert {index.reason for index in partition.indexes} == {IndexReason.OTHER_BATCHES}
    assert damage.start <= partition.differences[1].location.position < damage.stop


def test_each_side_has_its_own_leader_epoch(broker, copies, tmp_path):
    copy = copies[0]
    name, data = copy.name("log"), bytearray(copy.content("log"))
    header = np.frombuffer(data, HEADER, 1)
    header["base_offset"] += 1_000_000
    header["leader_epoch"] = 7
    partition = compare_copies(broker, copy, copy.with_files({name: bytes(data)}), tmp_path)
    assert partition.leader_epochs_there == (0, 7)
    assert partition.relation is Relation.DIVERGED


def test_both_are_damaged(broker, copies, tmp_path):
    copy = copies[0]
    first = FAULTS["bit"].damage(copy, 100).copy
    name, data = copy.name("log"), bytearray(copy.content("log"))
    data[80] ^= 0x10
    partition = compare_copies(broker, first, copy.with_files({name: bytes(data)}), tmp_path)
    assert partition.relation is Relation.DAMAGED and partition.damaged_batches == (1, 1)
