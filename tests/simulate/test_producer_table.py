"""Producer snapshots made from batches, beside the files that Kafka made from the same batches."""

import base64
import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from kafkaviz.binary.file_view import reader
from kafkaviz.format.walk import walk
from kafkaviz.simulate.writer.producer_table import ProducerTable


def recorded(path: Path) -> list[dict]:
    """The undamaged lines, those with their batches."""
    lines = (
        gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    )
    return [one for one in map(json.loads, lines.splitlines()) if one.get("batches_gz")]


def made(data: bytes, pieces: int) -> bytes:
    """The snapshot after all batches, taken in as many pieces."""
    batches, table = walk(data)[0], ProducerTable()
    for part in np.array_split(batches, pieces):
        table.take(part, reader(data))
        table = ProducerTable(table.snapshot())
    return table.snapshot()


@pytest.mark.parametrize("pieces", [1, 2, 7])
def test_every_recorded_snapshot(data, pieces):
    """Byte for byte, Kafka's order of the producers included, however often the state went through
    a file on the way.
    """
    found = recorded(data / "producer-snapshots.jsonl.gz")
    assert len(found) >= 20
    assert [
        one["id"]
        for one in found
        if made(gzip.decompress(base64.b64decode(one["batches_gz"])), pieces)
        != bytes.fromhex(one["hex"])
    ] == []


def test_all_45_recorded_snapshots(shared):
    """The whole of vectors/producer-snapshots."""
    found = recorded(shared / "vectors" / "producer-snapshots.jsonl")
    assert len(found) == 45
    assert [
        one["id"]
        for one in found
        if made(gzip.decompress(base64.b64decode(one["batches_gz"])), 1)
        != bytes.fromhex(one["hex"])
    ] == []
