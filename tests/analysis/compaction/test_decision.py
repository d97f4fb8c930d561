"""Which part of a log the cleaner takes: what Kafka's LogCleanerManager and LogToClean said."""

import pytest

from kafkaviz.analysis.compaction.decision import Barrier, CompactionRules, decide, read_log_state
from kafkaviz.analysis.json_objects import to_json_object
from kafkaviz.config_def import DAY_MS
from kafkaviz.log.broker import open_broker
from tests.analysis.compaction.recorded import lines, write_broker
from tests.support.cases import all_cases


def decision_of(line: dict, folder):
    state = read_log_state(
        open_broker(write_broker(line, folder / line["id"])).partitions[0],
        now_ms=line["now"],
        producer_expiration_ms=DAY_MS,
    )
    rules = CompactionRules(
        min_cleanable_dirty_ratio=line["settings"]["min.cleanable.dirty.ratio"],
        min_compaction_lag_ms=line["settings"]["min.compaction.lag.ms"],
        max_compaction_lag_ms=line["settings"]["max.compaction.lag.ms"],
    )
    return decide(state.facts, line["checkpointed"], rules, line["now"])


@all_cases("line", lines(), ids=lambda line: line["id"])
def test_the_decision_is_that_of_kafka(line, tmp_path):
    decided = decision_of(line, tmp_path)
    decision = to_json_object(decided) | {"total_bytes": decided.total_bytes}
    report = line["report"]
    expected = {name: report[name] for name in report if name != "checkpoint_after_decision"}
    assert {name: decision[name] for name in expected} == expected


BARRIERS = {
    "4.4.0-compact-6-0": Barrier.OPEN_TRANSACTION,
    "4.4.0-compact-7-0": Barrier.HIGH_WATERMARK,
    "4.4.0-compact-12-0": Barrier.ACTIVE_SEGMENT,
    "4.4.0-compact-24-0": Barrier.MIN_COMPACTION_LAG,
}


@pytest.mark.parametrize("name", BARRIERS)
def test_what_ends_the_cleanable_part(name, tmp_path):
    line = next(line for line in lines() if line["id"] == name)
    assert decision_of(line, tmp_path).held_by == BARRIERS[name]
