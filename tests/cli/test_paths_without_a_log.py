"""Paths without a log in use: one line of error, or the content that exists."""

import json
from pathlib import Path

import pytest

from kafkaviz.__main__ import main
from kafkaviz.analysis.lookup.lookups import open_log
from kafkaviz.analysis.opened_path import open_path
from kafkaviz.errors import CannotOpen
from tests.pipeline import whole_logs


@pytest.fixture
def broker(tmp_path) -> Path:
    directory = whole_logs.broker(tmp_path / "kafka")
    whole_logs.write(directory / "t-0", [whole_logs.batch(0, [whole_logs.START_MS] * 3)])
    return directory


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("lookup", "--offset", "1"), "t-0: holds no .log"),
        (("rebuild", "--out", "{out}"), "t-0: holds no .log"),
        (("simulate", "--replay", "--out", "{out}"), "t-0: holds no .log"),
        (("tune",), "kafka: holds no .log of a topic"),
    ],
)
def test_a_partition_without_a_log_is_one_line(broker, tmp_path, capsys, command, words):
    """Only its .index is left; nothing is written."""
    (broker / "t-0" / f"{0:020}.log").unlink()
    name, *options = (word.format(out=tmp_path / "out") for word in command)
    place = options.index("--replay") + 1 if "--replay" in options else 0
    assert main([name, *options[:place], str(broker), *options[place:]]) == 2
    output, error = capsys.readouterr()
    assert (output, error.count("\n")) == ("", 1)
    assert error.endswith(f"{words}\n") and not (tmp_path / "out").exists()


def test_a_broker_without_a_partition_is_one_line(tmp_path, capsys):
    directory = whole_logs.broker(tmp_path / "kafka")
    assert main(["lookup", str(directory), "--offset", "1"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    with pytest.raises(CannotOpen) as fault:
        open_path(directory)
    assert fault.value.what.key == "errors.holds_no_partition"


def test_a_log_that_is_being_deleted_is_looked_up_as_it_is(broker, capsys):
    """A broker serves none of these; a replay takes a partition, not a single log."""
    log = broker / "t-0" / f"{0:020}.log"
    deleted = log.rename(log.with_name(f"{log.name}.deleted"))
    assert main(["lookup", str(deleted), "--offset", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["answer"]["offset"] == 1
    assert main(["simulate", "--replay", str(deleted), "--out", str(broker / "out")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_single_log_is_no_partition_to_replay(broker, tmp_path, capsys):
    """The message names the directory."""
    log = broker / "t-0" / f"{0:020}.log"
    assert main(["simulate", "--replay", str(log), "--out", str(tmp_path / "out")]) == 2
    assert "partition directory" in capsys.readouterr().err


def test_an_index_is_no_log_to_open(broker):
    with pytest.raises(CannotOpen) as fault:
        open_log(open_path(broker / "t-0" / f"{0:020}.index"))
    assert (fault.value.what.key, fault.value.kind) == ("errors.is_no_log", "not-kafka")


def test_a_log_in_a_folder_of_no_partition_has_the_settings_that_are_typed(tmp_path, capsys):
    """Other settings have Kafka's defaults, and Kafka's refusals apply."""
    start_ms = whole_logs.START_MS
    batches = [whole_logs.batch(3 * number, [start_ms] * 3, 600) for number in range(9)]
    log = whole_logs.write(tmp_path / "copied", batches).with_suffix(".log")
    for interval_bytes in (2000, 4096):
        options = ["--out", str(tmp_path / str(interval_bytes)), "--json"]
        options += ["--set", f"index.interval.bytes={interval_bytes}"]
        assert main(["rebuild", str(log), *options]) == 0
        (segment,) = json.loads(capsys.readouterr().out)["segments"]
        offsets, _ = whole_logs.indexed(batches, 0, interval_bytes)
        assert segment["offset_entries"] == len(offsets) > 0
    assert main(["tune", str(log), "--json", "--set", "index.interval.bytes=2000"]) == 0
    current = json.loads(capsys.readouterr().out)["current"]
    assert (current["index.interval.bytes"], current["segment.bytes"]) == (2000, 1 << 30)
    assert main(["tune", str(log), "--set", "segment.ms=soon"]) == 2
    assert "segment.ms" in capsys.readouterr().err
