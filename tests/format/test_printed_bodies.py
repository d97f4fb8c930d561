"""Bodies of records, compared with the output of Kafka 4.3.1's classes."""

import pytest

from kafkaviz.errors import CorruptBytes
from kafkaviz.format import control, coordinator_records, metadata, remote_metadata
from tests.support.recorded import recorded

ROWS = recorded("printed_bodies")
DECODERS = ("offsets", "transactions", "share", "metadata", "remote", "control")


def part(row: dict, name: str) -> bytes | None:
    return None if row[name] is None else bytes.fromhex(row[name])


def printed(decoder: str, key: bytes | None, value: bytes | None, offset: int) -> str:
    if decoder == "control":
        return control.dump_text(key, value)
    if decoder == "metadata":
        return metadata.dump_text(value, offset)
    if decoder == "remote":
        return remote_metadata.dump_text(value, offset)
    return coordinator_records.dump_text(key, value, offset, decoder)


def answer(row: dict) -> dict:
    key, value = part(row, "key"), part(row, "value")
    try:
        return {"printed": printed(row["decoder"], key, value, row["offset"])}
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
    types = {decoder: set() for decoder in DECODERS}
    for row in ROWS:
        if "printed" in row and "rror" not in row["printed"]:
            if row["decoder"] in ("metadata", "remote"):
                types[row["decoder"]].add(part(row, "value")[1])
            else:
                types[row["decoder"]].add(int.from_bytes(part(row, "key")[:2], "big"))
    assert set(coordinator_records.OFFSETS) <= types["offsets"]
    assert set(coordinator_records.TRANSACTIONS) <= types["transactions"]
    assert set(coordinator_records.SHARE_STATE) <= types["share"]
    # 29 is of 4.4.0; test_metadata.py has what its classes print
    assert set(metadata.RECORD_TYPES) - {29} <= types["metadata"]
    assert set(remote_metadata.RECORD_TYPES) <= types["remote"]


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
