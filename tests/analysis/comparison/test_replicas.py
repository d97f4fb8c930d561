"""Two brokers of one 4.4.0 cluster: the relations, offsets and epochs of their recorded story, and
what 4.4.0 truncated when both were started again.
"""

import gzip
import json
from itertools import pairwise

import pytest

from kafkaviz.analysis.comparison.comparator import compare
from kafkaviz.analysis.comparison.comparison import BrokerComparison, Relation
from kafkaviz.analysis.comparison.index_differences import IndexReason
from kafkaviz.analysis.comparison.leader_epochs import TruncationRule
from tests.conftest import DATA, REPLICAS
from tests.support.cases import all_cases

with gzip.open(DATA / "kafka-4.4.0-replica.json.gz", "rt") as file:
    STORY = json.load(file)
PARTITIONS = STORY["partitions"]
BOTH = [name for name, story in PARTITIONS.items() if len(story["replicas"]) == 2]
WORDS = {
    "equal, index files differ": Relation.INDEX_FILES_DIFFER,
    "equal, segments differ": Relation.SEGMENTS_DIFFER,
    "only in 1": Relation.ONLY_IN_A,
    "only in 2": Relation.ONLY_IN_B,
}


@pytest.fixture(scope="module")
def comparison(cache) -> BrokerComparison:
    return compare(*REPLICAS)


@pytest.fixture(scope="module")
def partitions(comparison):
    return {partition.partition: partition for partition in comparison.partitions}


@all_cases("name", PARTITIONS)
def test_the_relation_is_that_of_the_story(name, partitions):
    """All 23 partitions, each with the worst relation that holds."""
    words = PARTITIONS[name]["relation"]
    assert partitions[name].relation == WORDS.get(words, words.replace(" ", "-"))


def test_no_partition_is_missed_or_made_up(partitions):
    """The metadata log is in the directories but not in the story."""
    assert partitions.keys() - PARTITIONS.keys() == {"__cluster_metadata-0"}
    assert PARTITIONS.keys() - partitions.keys() == set()


@all_cases("name", BOTH)
def test_where_they_part_and_what_one_has_alone(name, partitions):
    story, partition = PARTITIONS[name], partitions[name]
    for field in ("compared_from", "compared_to", "first_divergent_offset", "segment_bases_equal"):
        assert getattr(partition, field) == story[field], field
    epochs = story["leader_epochs_there"]
    assert partition.leader_epochs_there == (epochs and (epochs["1"], epochs["2"]))
    assert [list(offsets) for offsets in partition.different.ranges] == story["different"]
    for side, records in enumerate(partition.only_in, start=1):
        expected = story[f"only_in_{side}"]
        assert records.records == expected["records"]
        assert [list(offsets) for offsets in records.ranges] == expected["ranges"]
    lag, behind = partition.lag, story["behind"]
    assert (lag and lag.offsets) == (behind and behind["by_offsets"])
    assert (lag and lag.side) == (behind and " ab"[behind["broker"]])


@all_cases("name", BOTH)
def test_each_replica_is_as_its_checkpoints_say(name, partitions):
    for side, replica in enumerate(partitions[name].replicas):
        story = PARTITIONS[name]["replicas"][str(side + 1)]
        assert {
            "log_start": replica.log_start_offset,
            "log_end": replica.log_end_offset,
            "high_watermark": replica.high_watermark,
            "cleaner_checkpoint": replica.cleaner_checkpoint,
            "leader_epochs": [list(entry) for entry in replica.epochs.entries],
            "segments": list(replica.segments),
            "invalid_batches": partitions[name].damaged_batches[side],
        } == story


@all_cases("name", BOTH)
def test_a_follower_truncates_where_kafka_truncated(name, partitions):
    """4.4.0 truncated there when both brokers were started together."""
    story = PARTITIONS[name]
    rule = story["by_leader_epochs"]
    walk = partitions[name].truncations[rule["leader"] - 1]
    assert walk.follower_keeps_below == rule["follower_keeps_below"]
    assert [list(offsets) for offsets in walk.follower_loses] == rule["follower_loses"]
    truncations = story["when_started_together"]["truncations"]
    cuts = [step for step in walk.steps if step.rule is not TruncationRule.KEEP]
    assert [step.truncates_to for step in cuts] == [cut["to"] for cut in truncations]
    for step, cut in zip(cuts, truncations, strict=True):
        if step.answer:
            answer = f"leaderEpoch={step.answer.epoch}, endOffset={step.answer.end_offset}"
            assert answer in cut["why"]
        else:
            assert step.rule is TruncationRule.HIGH_WATERMARK and "high watermark" in cut["why"]


def test_the_other_direction_of_a_parted_log(partitions):
    walk = partitions["bids-0"].truncations[0]
    steps = [(step.epoch, step.rule, step.truncates_to) for step in walk.steps]
    assert steps == [(5, TruncationRule.ASK_AGAIN, 180), (2, TruncationRule.KEEP, 180)]
    assert walk.follower_loses == ((180, 219),)


@all_cases("change", STORY["by_hand"], ids=lambda change: change["file"])
def test_what_was_changed_by_hand_is_found_to_the_byte(change, partitions):
    """A flipped bit, also inside lz4; a value with a mended checksum; the position of an entry."""
    directory, _, name = change["file"].partition("/")
    byte = change["at"] + 3 * name.endswith(".index")
    (difference,) = (
        difference
        for difference in partitions[directory].differences
        if (place := difference.location).file == name
        and place.position <= byte < place.position + place.size_bytes
    )
    assert difference.offset == change["batch"]


def test_which_checksum_is_right(partitions):
    """Broker 1's checksum of the flipped bit is right. The changed value has right ones."""
    assert partitions["manifests-0"].differences[0].valid_crcs == (True, False)
    value = next(item for item in partitions["invoices-0"].differences if item.what == "value")
    assert value.valid_crcs == (True, True)
    assert value.values == ("6d 61 72 73 68", "57 52 4f 4e 47")


def test_no_byte_is_reported_twice(partitions):
    """Each field of the header, then the records: no two ranges overlap."""
    differences = partitions["bids-0"].differences
    for side in (0, 1):
        ranges = sorted(
            (location.file, location.position, location.position + location.size_bytes)
            for difference in differences
            if (location := difference.locations[side])
        )
        assert all(
            first[0] != second[0] or first[2] <= second[1] for first, second in pairwise(ranges)
        )
    assert {item.what for item in differences if item.location.size_bytes > 8} == {"record"}


@pytest.mark.parametrize("name", ["deposits-0", "fleet-0"])
def test_a_log_with_gaps_is_no_prefix(name, partitions):
    """The shorter log has records that the longer one's cleaner removed."""
    assert partitions[name].relations[0] is Relation.CLEANED_DIFFERENTLY
    assert Relation.BEHIND not in partitions[name].relations


def test_a_log_of_other_records_is_no_prefix(cache):
    (partition,) = compare(REPLICAS[0] / "bids-0", REPLICAS[0] / "offers-0").partitions
    assert partition.relation is Relation.ALTERED and partition.lag
    assert Relation.BEHIND not in partition.relations


def test_a_single_log_has_the_epochs_of_its_directory(partitions, cache):
    name = f"bids-0/{120:020d}.log"
    (log,) = compare(*(replica / name for replica in REPLICAS)).partitions
    for side, replica in enumerate(log.replicas):
        assert not replica.epochs.is_from_batches
        assert replica.epochs.entries == partitions["bids-0"].replicas[side].epochs.entries


def test_why_indexes_differ(partitions):
    watches, ferry_runs = (partitions[name].indexes for name in ("watches-0", "ferry-runs-0"))
    assert [index.reason for index in watches] == [IndexReason.RESTART] * 2
    assert (watches[0].entries, watches[0].common) == ((43, 44), 43)
    assert [reads.headers for reads in watches[0].lookup.reads] == [3, 1]
    assert [index.reason for index in ferry_runs] == [IndexReason.DAMAGE]
    assert ferry_runs[0].contradicted == ((), (2,))


def test_a_deleted_topic_names_its_directory(partitions):
    renamed = next(name for name in PARTITIONS if name.startswith("surveys-0."))
    assert partitions["surveys-0"].other_directory == renamed
    assert partitions[renamed].other_directory == "surveys-0"


@pytest.mark.parametrize("archive", REPLICAS)
def test_a_directory_is_identical_to_itself(archive):
    comparison = compare(archive, archive)
    assert set(comparison.counts) == {Relation.IDENTICAL} and comparison.has_equal_records
    assert comparison.start is not None and not comparison.start.is_started


@pytest.mark.parametrize("sample", ["clean", "damaged"])
def test_a_sample_is_identical_to_itself(sample, request):
    """Compacted logs, transactions, old and torn files give no false alarm."""
    path = request.getfixturevalue(sample)
    assert set(compare(path, path).counts) == {Relation.IDENTICAL}


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["3.9.0-leader", "4.3.1-killed", "4.4.0-clean", "4.4.0-killed"])
def test_a_whole_directory_is_identical_to_itself(name, shared):
    path = shared / "data" / f"kafka-{name}.tar.gz"
    assert set(compare(path, path).counts) == {Relation.IDENTICAL}


@pytest.mark.slow
def test_a_leader_and_its_follower(shared):
    """The records of 3.9.0 are the same; the follower indexed appends and rolled by its own clock."""
    leader, follower = (
        shared / "data" / f"kafka-3.9.0-{role}.tar.gz" for role in ("leader", "follower")
    )
    comparison = compare(leader, follower)
    partitions = {partition.partition: partition for partition in comparison.partitions}
    assert partitions.pop("__cluster_metadata-0").relation is Relation.BEHIND
    assert all(partition.relation.has_equal_records for partition in partitions.values())
    reasons = {
        index.reason
        for partition in partitions.values()
        for index in partition.indexes
        if index.kind == "index"
    }
    assert IndexReason.PER_APPEND in reasons and IndexReason.DAMAGE not in reasons
