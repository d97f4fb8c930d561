"""Which part of a log the cleaner takes: what Kafka's LogCleanerManager and LogToClean said."""

import pytest

from kafkaviz.analysis.compaction.decision import Barrier
from kafkaviz.analysis.json_objects import to_json_object
from tests.analysis.compaction.recorded import decide_recorded, lines, open_recorded
from tests.support.cases import all_cases


@all_cases("line", lines(), ids=lambda line: line["id"])
def test_the_decision_is_that_of_kafka(line, tmp_path):
    _, decided = decide_recorded(line, open_recorded(line, tmp_path))
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
    _, decision = decide_recorded(line, open_recorded(line, tmp_path))
    assert decision.held_by == BARRIERS[name]
