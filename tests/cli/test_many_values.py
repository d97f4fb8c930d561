"""One record that holds too many headers or values: one line, not minutes."""

import struct

import pytest

from kafkaviz.__main__ import main
from kafkaviz.binary import varint
from kafkaviz.errors import CannotOpen, CorruptBytes, NotRead
from kafkaviz.format import batch_records, message, metadata, record
from kafkaviz.format.record import Record
from kafkaviz.simulate.startup import small_files
from tests.cli.hostile_files import NAME, batch

FEW = 50
NO_OP, REGISTER_BROKER, PARTITION_CHANGE = 20, 0, 5


def frame(number: int, body: bytes) -> bytes:
    return bytes([1, number, 0]) + body


def tagged(count: int) -> bytes:
    return varint.write_unsigned(count) + b"\x63\0" * count


def registration(count: int) -> bytes:
    ids = struct.pack(">i16sq", 1, bytes(16), 1)
    endpoint = b"\x02a\x02h\x23\x84\0\0\0"
    return frame(
        REGISTER_BROKER, ids + varint.write_unsigned(count + 1) + endpoint * count + b"\x01\0\0\0"
    )


def log_of(path, value: bytes, headers: int = 0):
    built = Record(
        offset_delta=0,
        timestamp_delta_ms=0,
        key=None,
        value=value,
        headers=(("a", b"b"),) * headers,
    )
    path.write_bytes(batch(record.build([built])))
    return path


@pytest.mark.parametrize("arguments", [("--json",), ("--skip-record-metadata",)])
def test_a_dump_of_too_many_headers_is_one_line(tmp_path, monkeypatch, capsys, arguments):
    """Exit status 2, and no words of Kafka's."""
    path = log_of(tmp_path / f"{NAME}.log", b"v", FEW)
    assert main(["dump", str(path), "--print-data-log", *arguments]) == 0
    monkeypatch.setattr(record, "MAX_HEADERS", FEW - 1)
    capsys.readouterr()
    assert main(["dump", str(path), "--print-data-log", *arguments]) == 2
    error = capsys.readouterr().err
    assert error == (
        f"kafkaviz: {path}, byte 0: a record has {FEW} headers, more than the {FEW - 1} that are "
        "read\n"
    )


def test_headers_are_counted_before_they_are_made(monkeypatch):
    """For every reader of records as objects."""
    monkeypatch.setattr(record, "MAX_HEADERS", FEW)
    for count in (FEW, FEW + 1):
        built = Record(
            offset_delta=0, timestamp_delta_ms=0, key=None, value=b"", headers=(("", None),) * count
        )
        records = batch_records.iterate(batch(record.build([built])))
        if count == FEW:
            assert next(records).headers == built.headers
        else:
            with pytest.raises(NotRead):
                next(records)


@pytest.mark.parametrize(
    "make_value", [lambda count: frame(NO_OP, tagged(count)), registration], ids=["tags", "ends"]
)
def test_a_metadata_record_of_too_many_values_is_not_read(
    tmp_path, monkeypatch, capsys, make_value
):
    """Neither by the dump, which prints one line, nor at a start."""
    value = make_value(FEW)
    metadata.decode(value)
    path = log_of(tmp_path / f"{NAME}.log", value)
    command = ["dump", str(path), "--cluster-metadata-decoder"]
    assert main(command) == 0
    monkeypatch.setattr(message, "MAX_VALUES", FEW - 1)
    with pytest.raises(NotRead):
        metadata.decode(value)
    capsys.readouterr()
    assert main(command) == 2
    error = capsys.readouterr().err
    assert error == (
        f"kafkaviz: {path}, byte 0: a record holds more than the {FEW - 1} values that are read\n"
    )
    with pytest.raises(CannotOpen) as raised:
        small_files.bootstrap_fault(path.read_bytes())
    assert raised.value.kind == "large"


def test_a_count_that_the_bytes_do_not_hold_is_kafkas_fault():
    """Two thousand million fields in ten bytes: Kafka's reader ends at the eleventh."""
    with pytest.raises(message.KafkaParseError):
        metadata.decode(frame(NO_OP, varint.write_unsigned(2**31 - 1) + b"\x63\0" * 5))


def test_tagged_fields_before_the_replicas_are_bounded():
    key = struct.pack(">i16s", 3, bytes(16))
    good = frame(PARTITION_CHANGE, key + b"\x02\0\1\xff\2\6\2\0\0\0\7")
    assert metadata.assignment(good).replicas == (7,)
    many = metadata.MAX_TAGGED_FIELDS + 1
    with pytest.raises(CorruptBytes, match="more than the 1000 values"):
        metadata.assignment(
            frame(PARTITION_CHANGE, key + varint.write_unsigned(many) + b"\0\0" * many)
        )
