"""Producer snapshots made from batches, compared with Kafka's own files."""

from pathlib import Path

import numpy as np
import pytest

from kafkaviz.binary.file_view import reader
from kafkaviz.format.walk import walk
from kafkaviz.simulate.writer.producer_table import ProducerTable
from tests.support.vectors import json_lines, unpacked


def recorded(path: Path) -> list[dict]:
    """Returns the undamaged lines, those with their batches."""
    return [line for line in json_lines(path) if line.get("batches_gz")]


def table_bytes(data: bytes, pieces: int) -> bytes:
    """Returns the snapshot after all batches, processed in as many pieces."""
    batches, table = walk(data)[0], ProducerTable()
    for part in np.array_split(batches, pieces):
        table.take(part, reader(data))
        table = ProducerTable(table.snapshot())
    return table.snapshot()


def differing(lines: list[dict], pieces: int) -> list[str]:
    return [
        line["id"]
        for line in lines
        if table_bytes(unpacked(line["batches_gz"]), pieces) != bytes.fromhex(line["hex"])
    ]


@pytest.mark.parametrize("pieces", [1, 2, 7])
def test_every_recorded_snapshot(data, pieces):
    """Byte for byte in Kafka's order of producers, however often the state went through a file."""
    lines = recorded(data / "producer-snapshots.jsonl.gz")
    assert len(lines) >= 20
    assert differing(lines, pieces) == []


def test_all_45_recorded_snapshots(shared):
    lines = recorded(shared / "vectors" / "producer-snapshots.jsonl")
    assert len(lines) == 45
    assert differing(lines, pieces=1) == []
