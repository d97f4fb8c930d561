"""Situations that people reported in public, rebuilt by hand or by a real broker.

tests/data/field_cases/cases.jsonl has one case per line. `input` is an archive with a folder
`broker/`, `command` the arguments of kafkaviz in the folder that holds it, and `expect` the right
answer; `known` names the class or the broker, with its release, that gave it on this very input.
"""

import json
import tarfile
from pathlib import Path

import pytest

from kafkaviz.__main__ import main

FOLDER = Path(__file__).parents[1] / "data" / "field_cases"
CASES = [json.loads(line) for line in (FOLDER / "cases.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_case_from_the_field_is_answered_as_kafka_does(case, tmp_path, monkeypatch, capsys):
    """The command prints one JSON object that agrees with Kafka."""
    with tarfile.open(FOLDER / case["input"]) as archive:
        archive.extractall(tmp_path, filter="data")
    monkeypatch.chdir(tmp_path)
    release = case["kafka_version"]
    arguments = [*case["command"], "--json"]
    if release:
        arguments += ["--kafka-version", release]
    status = main(arguments)
    answer = json.loads(capsys.readouterr().out)
    assert status in (0, 1)
    for name, expected in case["expect"].items():
        assert OBSERVERS[name](answer, expected) == expected


def _starts(answer: dict, _: bool) -> bool:
    return answer["restart"]["starts"]


def _words(answer: dict, expected: str) -> str | None:
    errors = [step["error"] or "" for step in answer["restart"]["steps"]]
    return expected if any(expected in error for error in errors) else None


def _strays(answer: dict, expected: list[str]) -> list[str]:
    steps = answer["restart"]["steps"]
    strays = [step["partition"] for step in steps if step["cause"] == "becomes-stray"]
    return sorted(strays, key=lambda name: expected.index(name) if name in expected else -1)


def _error_in(answer: dict, expected: str) -> str | None:
    """Returns the expected partition if one of its findings is an error."""
    errors = [found for found in answer["findings"] if found["severity"] == "error"]
    return expected if any(found["partition"] == expected for found in errors) else None


def _answer(answer: dict, _: int | None) -> int | None:
    """Returns the offset that a lookup gives."""
    return answer["answer"] and answer["answer"]["offset"]


def _no_traceback(answer: dict, _: bool) -> bool:
    """Returns whether the command answered without an exception."""
    return bool(answer)


OBSERVERS = {
    "starts": _starts,
    "why": _words,
    "strays": _strays,
    "error_in": _error_in,
    "answer": _answer,
    "no_traceback": _no_traceback,
}
