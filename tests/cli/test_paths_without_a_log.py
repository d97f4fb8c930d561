"""Paths without a log in use: one line of error, or the content that exists."""

from pathlib import Path

import pytest

from kafkaviz.analysis.lookup.served_log import open_log
from kafkaviz.analysis.opened_path import open_path
from kafkaviz.errors import CannotOpen
from tests.pipeline import whole_logs
from tests.support.commands import json_of, refusal_of


@pytest.fixture
def broker(tmp_path) -> Path:
    directory = whole_logs.broker(tmp_path / "kafka")
    whole_logs.write(directory / "t-0", [whole_logs.batch(0, [whole_logs.START_MS] * 3)])
    return directory


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("lookup {broker} --offset 1", "t-0: holds no .log"),
        ("rebuild {broker} --out {out}", "t-0: holds no .log"),
        ("simulate --replay {broker} --out {out}", "t-0: holds no .log"),
        ("tune {broker}", "kafka: holds no .log of a topic"),
    ],
)
def test_a_partition_without_a_log_is_one_line(broker, tmp_path, command, words):
    """Only its .index is left; nothing is written."""
    (broker / "t-0" / f"{0:020}.log").unlink()
    line = command.format(broker=broker, out=tmp_path / "out")
    assert refusal_of(*line.split()).endswith(f"{words}\n")
    assert not (tmp_path / "out").exists()


def test_a_broker_without_a_partition_is_one_line(tmp_path):
    directory = whole_logs.broker(tmp_path / "kafka")
    assert refusal_of("lookup", directory, "--offset", "1")
    with pytest.raises(CannotOpen) as fault:
        open_path(directory)
    assert fault.value.what.key == "errors.holds_no_partition"


def test_a_log_that_is_being_deleted_is_looked_up_as_it_is(broker):
    """A broker serves none of these; a replay takes a partition, not a single log."""
    log = broker / "t-0" / f"{0:020}.log"
    deleted = log.rename(log.with_name(f"{log.name}.deleted"))
    assert json_of("lookup", deleted, "--offset", "1")["answer"]["offset"] == 1
    assert refusal_of("simulate", "--replay", deleted, "--out", broker / "out")


def test_a_single_log_is_no_partition_to_replay(broker, tmp_path):
    """The message names the directory."""
    log = broker / "t-0" / f"{0:020}.log"
    error = refusal_of("simulate", "--replay", log, "--out", tmp_path / "out")
    assert "partition directory" in error


def test_an_index_is_no_log_to_open(broker):
    with pytest.raises(CannotOpen) as fault:
        open_log(open_path(broker / "t-0" / f"{0:020}.index"))
    assert (fault.value.what.key, fault.value.kind) == ("errors.is_no_log", "not-kafka")


def test_a_log_in_a_folder_of_no_partition_has_the_settings_that_are_typed(tmp_path):
    """Other settings have Kafka's defaults, and Kafka's refusals apply."""
    start_ms = whole_logs.START_MS
    batches = [whole_logs.batch(3 * number, [start_ms] * 3, 600) for number in range(9)]
    log = whole_logs.write(tmp_path / "copied", batches).with_suffix(".log")
    for interval_bytes in (2000, 4096):
        out, interval = tmp_path / str(interval_bytes), f"index.interval.bytes={interval_bytes}"
        (segment,) = json_of("rebuild", log, "--out", out, "--set", interval)["segments"]
        offsets, _ = whole_logs.indexed(batches, 0, interval_bytes)
        assert segment["offset_entries"] == len(offsets) > 0
    current = json_of("tune", log, "--set", "index.interval.bytes=2000")["current"]
    assert (current["index.interval.bytes"], current["segment.bytes"]) == (2000, 1 << 30)
    assert "segment.ms" in refusal_of("tune", log, "--set", "segment.ms=soon")
