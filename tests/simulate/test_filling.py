"""Building batches: byte for byte as the tables of format/ and Kafka's own classes build them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaviz.binary import varint
from kafkaviz.format import record
from kafkaviz.format.batch import BATCH, HEADER_BYTES, rows
from kafkaviz.format.record import Record
from kafkaviz.simulate.producers import batch_encoder
from tests.support.batch_reading import build_from_row

# made with the classes of Kafka 4.3.1
ABORT = bytes.fromhex(
    "000000000000000a00000042ffffffff021dca6ba500300000000000000000000003e800000000000003e800000000000000050001ffffffff00000001"
    "2000000008000000000c00000000000700"
)
THREE_RECORDS = bytes.fromhex(
    "000000000000006400000055000000040247ee93bc0000000000020000018bcfe568000000018bcfe56805ffffffffffffffffffffffffffff0000000314"
    "000000046b31047631001e000a02010a68656c6c6f020268027810000504046b330100"
)
RECORDS = [
    Record(offset_delta=0, timestamp_delta_ms=0, key=b"k1", value=b"v1"),
    Record(offset_delta=1, timestamp_delta_ms=5, key=None, value=b"hello", headers=(("h", b"x"),)),
    Record(offset_delta=2, timestamp_delta_ms=-3, key=b"k3", value=None),
]


def row_of(data: bytes) -> np.ndarray:
    row = rows(np.zeros(1, np.int64), np.frombuffer(data, np.uint8)[None, :HEADER_BYTES].copy())
    row["crc"] = 0
    return row


def sealed(table: np.ndarray, bodies: list[bytes]) -> bytes:
    unsealed = bytearray(b"".join(bytes(HEADER_BYTES) + body for body in bodies))
    data = np.frombuffer(unsealed, np.uint8)
    batch_encoder.seal(table, data)
    return data.tobytes()


@pytest.mark.parametrize("sealed_batch", [ABORT, THREE_RECORDS], ids=["marker", "records"])
def test_a_batch_of_kafkas_classes_is_sealed_as_they_did(sealed_batch):
    row = row_of(sealed_batch)
    assert sealed(row, [sealed_batch[HEADER_BYTES:]]) == sealed_batch
    assert int(row["crc"][0]) == int.from_bytes(sealed_batch[17:21], "big")


def test_a_marker_is_that_of_kafkas_classes():
    data = np.zeros(batch_encoder.MARKER_BYTES, np.uint8)
    assert batch_encoder.put_marker(data, 0, 0, 7) == batch_encoder.MARKER_BYTES == len(ABORT)
    assert data.tobytes()[HEADER_BYTES:] == ABORT[HEADER_BYTES:]


def test_records_as_the_format_builds_them_are_those_of_kafkas_classes():
    assert record.build(RECORDS) == THREE_RECORDS[HEADER_BYTES:]


@given(
    st.lists(
        st.tuples(
            st.binary(max_size=2000), st.integers(-(2**63), 2**63 - 1), st.integers(0, 2**31 - 1)
        ),
        max_size=5,
    )
)
def test_any_batches_are_sealed_as_by_the_table_of_the_format(batches):
    table = np.zeros(len(batches), BATCH)
    for row, (body, number, small) in zip(table, batches, strict=True):
        row["size_bytes"], row["magic"], row["attributes"] = HEADER_BYTES + len(body), 2, 0x30
        row["base_offset"], row["last_offset"] = small, small + 3
        row["base_timestamp_ms"], row["max_timestamp_ms"] = number, ~number
        row["producer_id"], row["producer_epoch"], row["base_sequence"] = number, -1, -1
        row["leader_epoch"] = row["record_count"] = small
    bodies = [body for body, _, _ in batches]
    assert sealed(table, bodies) == b"".join(map(build_from_row, table, bodies))


def test_batches_longer_than_the_data_are_refused():
    """Before a byte is written; so is a batch without room for a header."""
    row = row_of(ABORT)
    with pytest.raises(IndexError, match="78 bytes of batches in 77"):
        batch_encoder.seal(row, np.zeros(77, np.uint8))
    row["size_bytes"] = 60
    with pytest.raises(IndexError):
        batch_encoder.seal(row, np.zeros(78, np.uint8))


@given(st.integers(-(2**63), 2**63 - 1))
def test_a_varint_is_that_of_the_binary_floor(number):
    data = np.zeros(10, np.uint8)
    end = batch_encoder.put_varint(data, 0, number)
    assert data[:end].tobytes() == varint.write_varlong(number)
    assert batch_encoder.varint_bytes(number) == end


@given(st.integers(0, 2**62), st.integers(1, 25))
def test_digits_are_pythons(number, count):
    """Only the last digits if the field is short, leading zeros if it is long."""
    data = np.zeros(count, np.uint8)
    batch_encoder.put_digits(data, 0, number, count)
    assert data.tobytes().decode() == f"{number:0{count}d}"[-count:]
    assert batch_encoder.digits(number) == len(str(number))


def test_a_piece_of_the_pool_continues_from_its_beginning():
    data, pool = np.zeros(11, np.uint8), np.frombuffer(b"abcd", np.uint8)
    batch_encoder.put_pieces(data, 1, 10, pool, 2)
    assert data.tobytes() == b"\0cdabcdabcd"


def test_hexadecimal_digits_are_those_of_the_number():
    data = np.zeros(18, np.uint8)
    batch_encoder.put_hex(data, 0, np.uint64(0x0123456789ABCDEF), 18)
    assert data.tobytes() == b"fedcba9876543210fe"
