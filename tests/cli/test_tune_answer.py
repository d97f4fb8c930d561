"""The first sentence of kafkaviz tune on three logs is what an expert would say."""

import json

import pytest

from kafkaviz.__main__ import main
from kafkaviz.analysis.cost import calibration

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
batches = 300
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


def answer(tmp_path, capsys, phase: str) -> tuple[dict, list[str]]:
    """Returns the object and the text of a simulated partition."""
    (tmp_path / "made.toml").write_text(WORKLOAD.format(phase=phase))
    assert main(["simulate", str(tmp_path / "made.toml"), "--out", str(tmp_path / "log")]) == 0
    partition = str(tmp_path / "log" / "orders-0")
    capsys.readouterr()
    assert main(["tune", partition, "--json", "--seconds", "1"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert main(["tune", partition, "--seconds", "1"]) == 0
    return document, capsys.readouterr().out.splitlines()


def verdicts(document: dict) -> list[str]:
    return [document[part]["verdict"] for part in ("batches", "codec", "recommendation")]


def test_tiny_batches_should_become_larger(tmp_path, capsys):
    """Most bytes are headers and record overhead, and a lookup reads 40 of them."""
    document, lines = answer(tmp_path, capsys, TINY)
    assert verdicts(document)[0] == "change" and document["answer"]["part"] == "batches"
    assert lines[0].startswith("larger batches matter most: linger.ms=")
    batches = document["batches"]
    assert batches["saving"]["low_share"] > 0.4
    assert batches["headers_after"] < batches["headers_before"] / 2
    assert "  linger.ms=" in "\n".join(lines)


def test_compressed_batches_of_16_kib_stay(tmp_path, capsys):
    document, lines = answer(tmp_path, capsys, COMPRESSED)
    assert 12_000 < document["source"]["batch_bytes_mean"] < 24_000
    assert verdicts(document) == ["keep", "keep", "keep"]
    assert lines[0] == ("keep batches, codec and index as they are: no change is worth it")
    assert document["answer"] == {
        "sentence": lines[0],
        "part": None,
        "topic": None,
        "saved_bytes": 0,
    }
    assert not [line for line in lines if "kafka-configs.sh" in line or "linger.ms=" in line]


def test_batches_of_1_mb_without_a_codec_should_be_compressed(tmp_path, capsys):
    document, lines = answer(tmp_path, capsys, LARGE)
    assert verdicts(document) == ["keep", "change", "keep"]
    assert lines[0].startswith("the codec matters most: ") and " instead of none saves " in lines[0]
    assert "  compression.type=" in "\n".join(lines)
