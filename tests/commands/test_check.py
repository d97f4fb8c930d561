"""kafkaviz check as an operator runs it: words, JSON, exit status."""

import json
import shutil

import pytest

from kafkaviz.__main__ import main
from kafkaviz.commands import check as commands_check


def test_the_json_is_as_documented(damaged, capsys):
    """Every key of the object, of a finding and of a step."""
    assert main(["check", str(damaged), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert list(told) == ["directory", "kafka_version", "findings", "restart", "counts"]
    assert told["kafka_version"]["assumed"] == "4.3.1" and "metadata.version" in told["kafka_version"]["because"]
    assert list(told["findings"][0]) == [
        "code", "severity", "partition", "file", "position", "length", "message", "evidence", "consequence", "next_step", "reference"
    ]  # fmt: skip
    assert list(told["findings"][0]["evidence"]) == ["found", "expected", "found_hex", "expected_hex"]
    severities = [one["severity"] for one in told["findings"]]
    assert severities == sorted(severities, key="error warning info".index)
    assert told["restart"]["clean"] and told["restart"]["starts"]
    assert list(told["restart"]["steps"][0]) == ["partition", "segment", "action", "from_position", "bytes", "why"]
    assert {step["action"] for step in told["restart"]["steps"]} <= {"truncate", "rebuild", "delete", "keep", "fail"}
    assert told["counts"]["error"] == 5


def test_the_words_name_file_bytes_evidence_and_what_to_do(damaged, capsys):
    """What an operator needs stands together."""
    assert main(["check", str(damaged / "bookings-0")]) == 1
    out = capsys.readouterr()
    assert "ERROR    index-offset-mismatch  00000000000000000858.index, bytes 24 to 31" in out.out
    assert "[0000005b00003ff4]" in out.out and "[0000005b00002445]" in out.out
    assert "will succeed" in out.out and "KAFKA-7283" in out.out
    assert out.err == ""
    assert max(map(len, out.out.splitlines())) < 200


@pytest.mark.parametrize(("options", "status"), [([], 0), (["--fail-on", "error"], 0), (["--fail-on", "warning"], 1)])
def test_the_exit_status_tells_whether_there_was_anything(clean, capsys, options, status):
    """The clean directory has true warnings and no error."""
    assert main(["check", str(clean / "tiny-index-0"), *options]) == status
    assert "0 errors, 2 warnings" in capsys.readouterr().out


def test_a_killed_broker_is_told_what_will_be_cut(killed, capsys, monkeypatch):
    """The start that is foretold comes first; what many partitions have in common is told once."""
    monkeypatch.setattr(commands_check, "ALIKE", 1)
    assert main(["check", str(killed)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].startswith("the next start (not stopped cleanly) will succeed:") and "files cut" in lines[2]
    assert sum(line.startswith("recovery-will-rebuild, ") for line in lines) == 1
    assert sum(line.startswith("           also ") for line in lines) >= 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["/nowhere/at/all"], "is not there"),
        (["{clean}", "--kafka-version", "new"], "no version of Kafka"),
        (["{clean}/orders-0/00000000000000000000.log"], "is a file"),
    ],
)
def test_what_cannot_be_checked_is_one_line(clean, capsys, arguments, words):
    """Exit status 2 and no traceback."""
    assert main(["check", *(one.format(clean=clean) for one in arguments)]) == 2
    out = capsys.readouterr()
    assert out.out == "" and words in out.err and len(out.err.splitlines()) == 1


def test_a_refusing_start_says_why(clean, tmp_path, capsys):
    """A directory that is no partition's ends every start."""
    lone = tmp_path / "kafka"
    lone.mkdir()
    for name in ("meta.properties", ".kafka_cleanshutdown", "bootstrap.checkpoint"):
        shutil.copy2(clean / name, lone / name)
    (lone / "old stuff").mkdir()
    assert main(["check", str(lone)]) == 1
    out = capsys.readouterr().out
    assert "WILL FAIL" in out and "Found directory old stuff" in out and "directory-name-bad" in out


def test_nothing_is_changed(damaged):
    """Names, sizes and times are what they were."""
    def state():
        return sorted((path, path.stat().st_size, path.stat().st_mtime_ns) for path in damaged.rglob("*"))

    before = state()
    main(["check", str(damaged), "--json"])
    assert state() == before
