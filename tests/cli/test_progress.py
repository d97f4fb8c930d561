"""How far a command is, on stderr."""

import re
from pathlib import Path

import pytest

from kafkaviz import units
from kafkaviz.__main__ import main
from kafkaviz.cli.common import output
from kafkaviz.cli.common.output import PLAIN_EVERY_S, ByteProgress
from kafkaviz.log.archives.archive import unpack_if_archive


@pytest.fixture
def partition(data) -> Path:
    return unpack_if_archive(data / "kafka-4.3.1" / "tiny-index-0")


def test_a_line_now_and_then(capsys):
    clock = [0.0]
    reading = ByteProgress(lambda: clock[0])
    reading.expect({"a": 1024, "b": 3072})
    reading.show("a", 0.5)
    assert capsys.readouterr().err == ""
    clock[0] = PLAIN_EVERY_S
    reading.show("b", 0.5)
    clock[0] += PLAIN_EVERY_S / 2
    reading.show("b", 0.75)
    reading.clear()
    assert capsys.readouterr().err == "reading b: 2.50 KiB of 4 KiB, 512 B/s\n"


@pytest.mark.parametrize("line", ["check {0}", "tune {0}", "rebuild {0} --out {1}"])
def test_long_commands_show_their_bytes(line, partition, tmp_path, monkeypatch, capsys):
    total = units.format_bytes(sum(path.stat().st_size for path in partition.glob("*.log")))
    assert main([*line.format(partition, tmp_path / "quick").split(), "--json"]) in (0, 1)
    assert "reading" not in capsys.readouterr().err
    monkeypatch.setattr(output, "PLAIN_EVERY_S", 1e-9)
    assert main([*line.format(partition, tmp_path / "slow").split(), "--json"]) in (0, 1)
    lines = [text for text in capsys.readouterr().err.splitlines() if text.startswith("reading ")]
    assert lines and {re.search(r" of (.*), ", text)[1] for text in lines} == {total}
