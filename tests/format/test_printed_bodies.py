"""Bodies of records, compared with the output of Kafka 4.3.1's classes."""

import gzip
import json
from collections import Counter

import pytest

from kafkaviz.errors import CorruptBytes
from kafkaviz.format import control, coordinator_records, metadata, remote_metadata
from tests.conftest import DATA

ROWS = [
    json.loads(line)
    for line in gzip.decompress((DATA / "printed_bodies.jsonl.gz").read_bytes()).splitlines()
]
DECODERS = ("offsets", "transactions", "share", "metadata", "remote", "control")


def part(row: dict, name: str) -> bytes | None:
    return None if row[name] is None else bytes.fromhex(row[name])


def printed(decoder: str, key: bytes | None, value: bytes | None, offset: int) -> str:
    if decoder == "control":
        return control.dump_text(key, value)
    if decoder in ("metadata", "remote"):
        return {"metadata": metadata, "remote": remote_metadata}[decoder].dump_text(value, offset)
    return coordinator_records.dump_text(key, value, offset, decoder)


def answer(row: dict) -> dict:
    try:
        return {
            "printed": printed(row["decoder"], part(row, "key"), part(row, "value"), row["offset"])
        }
    except CorruptBytes as fault:
        return {"raises": fault.java_text}


@pytest.mark.parametrize("decoder", DECODERS)
def test_a_body_is_printed_as_kafka_prints_it(decoder):
    """Bytes built by the schemas with every version and tag, and damaged ones."""
    rows = [row for row in ROWS if row["decoder"] == decoder]
    wrong = [row for row in rows if answer(row).items() - row.items()]
    assert len(rows) > 10
    assert wrong == []


def test_the_rows_hold_every_type():
    types = {decoder: Counter() for decoder in DECODERS}
    for row in ROWS:
        if "printed" in row and "rror" not in row["printed"]:
            key = (
                part(row, "value")[1]
                if row["decoder"] in ("metadata", "remote")
                else int.from_bytes(part(row, "key")[:2], "big")
            )
            types[row["decoder"]][key] += 1
    assert set(coordinator_records.OFFSETS) <= set(types["offsets"])
    assert set(coordinator_records.TRANSACTIONS) <= set(types["transactions"])
    assert set(coordinator_records.SHARE_STATE) <= set(types["share"])
    # 29 is of 4.4.0; test_metadata.py has what its classes print
    assert set(metadata.RECORD_TYPES) - {29} <= set(types["metadata"])
    assert set(remote_metadata.RECORD_TYPES) <= set(types["remote"])


@pytest.mark.parametrize("decoder", DECODERS)
def test_a_cut_or_flipped_body_is_corrupt_at_worst(decoder):
    """Returns text or raises CorruptBytes, never another error."""
    rows = [row for row in ROWS if row["decoder"] == decoder and row["value"]][::25]
    answers = 0
    for row in rows:
        value = part(row, "value")
        for at in range(len(value)):
            flipped = value[:at] + bytes([value[at] ^ 0x81]) + value[at + 1 :]
            for damaged in (value[:at], flipped):
                try:
                    answers += bool(printed(decoder, part(row, "key"), damaged, 0))
                except CorruptBytes as fault:
                    answers += bool(fault.what)
    assert answers == 2 * sum(len(part(row, "value")) for row in rows) > 0
