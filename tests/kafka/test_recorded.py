"""Recorded answers of Kafka's classes (`python -m tests.kafka.record`), compared without Java."""

from itertools import product
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest

from kafkaviz.format import batch
from tests.kafka import checks, mutations
from tests.kafka.__main__ import main
from tests.simulate.replay_vectors import incoming
from tests.support.vectors import content, json_lines, unpacked

ROOT = Path(__file__).parents[2]
RECORDED = json_lines(ROOT / "tests" / "data" / "histories.jsonl.gz")


@pytest.mark.parametrize("line", RECORDED, ids=lambda line: line["id"])
def test_a_recorded_history(line):
    """Every compared file after every step, each roll, each exception: as 4.3.1 or 3.9.0 had them."""
    assert checks.check_replay(line)[0] == []


def test_the_histories_cover_what_they_are_recorded_for():
    roles = set(product(("4.3.1", "3.9.0"), ("leader", "follower")))
    assert {(line["version"], line["mode"]) for line in RECORDED} == roles
    rows = [row for line in RECORDED for row in incoming(unpacked(line["appended_gz"]), 0, 0)]
    assert {int(batch.codec(row)) for row in rows} == {0, 1, 2, 3, 4}
    assert {int(row["magic"]) for row in rows} == {0, 1, 2}
    settings = [line["settings"] for line in RECORDED]
    assert "true" in {each.get("preallocate") for each in settings}
    assert "LogAppendTime" in {each.get("message.timestamp.type") for each in settings}
    closed = [line["final_closed"] for line in RECORDED if "final_closed" in line]
    assert any("txnindex" in segment for state in closed for segment in state["segments"])
    steps = [step for line in RECORDED for step in line["steps"]]
    operations = {"append", "restart", "crash", "truncateTo", "deleteRecords"}
    assert {step["op"] for step in steps} == operations
    refused = {step["error"]["class"].rsplit(".", 1)[1] for step in steps if "error" in step}
    too_large = {"RecordTooLargeException", "RecordBatchTooLargeException"}
    assert refused >= too_large | {"IllegalArgumentException"}


@pytest.mark.parametrize("release", ["4.3.1", "3.9.0"])
def test_the_published_example(release):
    """Strimzi's: the time index is full at 24 entries, so the first segment ends with offset 48."""
    (line,) = (line for line in RECORDED if line["id"] == f"{release}-strimzi")
    assert {batch[2] for step in line["steps"] for batch in step["b"]} == {119}
    first, second = line["final_closed"]["segments"][:2]
    assert (first["base"], second["base"]) == (0, 49)
    assert (len(content(first["index"])), len(content(first["timeindex"]))) == (192, 288)


def test_one_byte_that_is_not_so_is_noticed():
    """An entry, a snapshot, or a byte that Kafka did not write."""
    finished = [line for line in RECORDED if "final_closed" in line]
    line = next(line for line in finished if line["final_closed"]["snapshots"])
    closed = line["final_closed"]
    broken = [
        {"segments": [*closed["segments"][:-1], closed["segments"][-1] | {"log_sha256": "0" * 64}]},
        {"snapshots": closed["snapshots"] | {"00000000000000000001.snapshot": "00"}},
    ]
    for change in broken:
        assert len(checks.check_replay(line | {"final_closed": closed | change})[0]) == 1


def test_without_java_or_maven_one_line_says_so(tmp_path, monkeypatch, capsys):
    """make test-kafka does not fail on a machine that has only Python."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main([]) == 0
    assert capsys.readouterr() == (
        "make test-kafka was skipped: it needs java, javac and mvn, and there is no mvn here.\n",
        "",
    )


def test_a_damaged_directory_that_kafka_treats_otherwise_is_noticed(tmp_path):
    """Each answer of a load, and both of a dump, for the same damage from the same seed."""
    drawn = [mutations.draw_directory(Random(5)) for _ in range(2)]
    assert drawn[0] == drawn[1] and drawn[0] != mutations.draw_directory(Random(6))
    question = {"clean": True, "recovery_point": 0, "log_start": 0}
    log = f"{0:020}.log"
    sizes = {log: 0, f"{0:020}.index": 0, f"{0:020}.timeindex": 0}
    answer = {"log_end": 0, "files": sizes}
    assert list(mutations._load({log: b""}, question, answer)) == []
    for changed in (
        {"log_end": 7},
        {"files": sizes | {log: 1}},
        {"files": sizes | {"x": 1}},
        {"files": sizes | {f"{7:020}.snapshot": 1}},
        {"error": {"class": "java.lang.Error", "message": None}},
    ):
        assert list(mutations._load({log: b""}, question, answer | changed))
    (tmp_path / log).write_bytes(b"")
    output = f"Dumping {log}\nLog starting offset: 0\n"
    for kafka, count in (
        ({"out": output}, 0),
        ({"out": ""}, 1),
        ({"out": output, "error": {"class": "java.lang.Error", "message": "x"}}, 1),
    ):
        tool = SimpleNamespace(dump=lambda *_, answer=kafka: answer)
        assert len(list(mutations._dump(tmp_path, log, tool))) == count
