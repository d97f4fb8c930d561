"""The first sentence of kafkaviz tune on three logs is what an expert would say."""

from collections.abc import Callable

import pytest

from kafkaviz.analysis.batching import ranking
from kafkaviz.analysis.cost import calibration
from tests.support.commands import json_of, text_of

WORKLOAD = """
topic = "orders"
[settings]
"segment.bytes" = 16777216
[[phase]]
idempotent = true
{phase}
"""
# one event per batch, a thousand per second
TINY = """
batches = 20000
batches_per_s = 1000
records_per_batch = 1
value_bytes = 40
"""
# batches of 16 KiB as they are stored
COMPRESSED = """
batches = 60
batches_per_s = 20
batch_bytes = 90000
value_bytes = 300
content = "text"
codec = "gzip"
"""
LARGE = """
batches = 8
batches_per_s = 1
batch_bytes = 1000000
value_bytes = 1000
content = "text"
"""


@pytest.fixture(autouse=True)
def no_calibration(cache):
    calibration.calibration_path().unlink(missing_ok=True)


@pytest.fixture
def answer(tmp_path, monkeypatch) -> Callable[[str], tuple[dict, list[str]]]:
    """Returns a function that gives the object and the text of a simulated partition, both of one
    measurement.
    """
    measured = []

    def measure_once(*arguments: object) -> object:
        if not measured:
            measured.append(measure(*arguments))
        return measured[0]

    def answer(phase: str) -> tuple[dict, list[str]]:
        (tmp_path / "made.toml").write_text(WORKLOAD.format(phase=phase))
        text_of("simulate", tmp_path / "made.toml", "--out", tmp_path / "log")
        command = ("tune", tmp_path / "log" / "orders-0", "--seconds", "1")
        return json_of(*command), text_of(*command).splitlines()

    measure = ranking.measure_batching
    monkeypatch.setattr(ranking, "measure_batching", measure_once)
    return answer


def verdicts(document: dict) -> list[str]:
    return [document[part]["verdict"] for part in ("batches", "codec", "recommendation")]


def test_tiny_batches_should_become_larger(answer):
    """Most bytes are headers and record overhead, and a lookup reads 40 of them."""
    document, lines = answer(TINY)
    assert verdicts(document)[0] == "change" and document["answer"]["part"] == "batches"
    assert lines[0].startswith("larger batches matter most: linger.ms=")
    batches = document["batches"]
    assert batches["saving"]["low_share"] > 0.4
    assert batches["headers_after"] < batches["headers_before"] / 2
    assert "  linger.ms=" in "\n".join(lines)


def test_compressed_batches_of_16_kib_stay(answer):
    document, lines = answer(COMPRESSED)
    assert 12_000 < document["source"]["batch_bytes_mean"] < 24_000
    assert verdicts(document) == ["keep", "keep", "keep"]
    assert lines[0] == "keep batches, codec and index as they are: no change is worth it"
    nothing = {"part": None, "topic": None, "saved_bytes": 0}
    assert document["answer"] == {"sentence": lines[0]} | nothing
    assert not [line for line in lines if "kafka-configs.sh" in line or "linger.ms=" in line]


def test_batches_of_1_mb_without_a_codec_should_be_compressed(answer):
    document, lines = answer(LARGE)
    assert verdicts(document) == ["keep", "change", "keep"]
    assert lines[0].startswith("the codec matters most: ") and " instead of none saves " in lines[0]
    assert "  compression.type=" in "\n".join(lines)
