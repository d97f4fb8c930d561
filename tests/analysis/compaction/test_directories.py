"""The compacted logs of real brokers: their cleaner had nothing left to do when they stopped."""

import pytest

import kafkaviz as kv
from kafkaviz.analysis.compaction.decision import Barrier, DecisionReason
from kafkaviz.log.broker import open_broker
from kafkaviz.log.settings import open_settings
from kafkaviz.render.log_text import describe_barrier, describe_reason
from tests.conftest import SAMPLES
from tests.support.brokers import copy_partitions

NOTHING_TO_DO = (DecisionReason.NOTHING_CLEANABLE, DecisionReason.RATIO_TOO_LOW)


@pytest.mark.parametrize("name", sorted(path.name[:-7] for path in SAMPLES.glob("*.tar.gz")))
def test_a_stopped_broker_had_cleaned_its_logs(name):
    result = kv.compaction(SAMPLES / f"{name}.tar.gz")
    assert not result.unread
    assert result.order == ()
    assert {partition.decision.reason for partition in result.partitions} <= {*NOTHING_TO_DO}
    assert {partition.decision.held_by for partition in result.partitions} <= {
        Barrier.ACTIVE_SEGMENT
    }
    names = {partition.partition for partition in result.partitions}
    assert "__consumer_offsets-0" in names or name == "kafka-4.3.1-killed-selection"


def test_cleaning_a_cleaned_log_again_removes_nothing(clean, tmp_path):
    """Without the checkpoint a whole log counts as dirty, but each key has one record left."""
    names = ("accounts-0", "accounts-1", "__cluster_metadata-0")
    directory = copy_partitions(clean, tmp_path / "copy", names)
    (directory / "cleaner-offset-checkpoint").unlink()
    result = kv.compaction(directory)
    assert result.order == ("accounts-0", "accounts-1")
    for partition in result.partitions:
        assert partition.cleaned.removed.records == 0
        assert partition.cleaned.retained.records > 0
        assert partition.cleaned.next_first_dirty_offset == partition.decision.limits.active_segment


def test_a_typed_policy_counts_for_every_topic(clean):
    broker = open_broker(clean)
    settings = open_settings(broker, overrides={"cleanup.policy": "compact"})
    result = kv.compaction(broker, settings=settings)
    assert len(result.partitions) > 20
    assert [partition.error for partition in result.partitions if partition.error] == []


@pytest.mark.slow
def test_every_compacted_log_of_every_recorded_directory_is_explained(shared):
    """Each log has a reason and a barrier; it is cleaned, refused or fails as Kafka's would."""
    log_count = 0
    for path in sorted((shared / "data").glob("kafka-*.tar.gz")):
        if ".expected." in path.name:
            continue
        result = kv.compaction(path)
        assert [(path.name, log.partition) for log in result.unread] == []
        assert result.partitions, path.name
        log_count += len(result.partitions)
        for partition in result.partitions:
            decision = partition.decision
            assert describe_reason(decision, partition.settings)
            assert describe_barrier(decision, partition.oldest_transaction)
            is_cleaned = partition.cleaned is not None
            assert decision.is_eligible == (is_cleaned or partition.error is not None)
            assert is_cleaned or decision.reason in NOTHING_TO_DO or partition.error
    assert log_count > 40
