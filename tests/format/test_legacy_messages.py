"""Messages of magic 0 and 1: content, refusals, and a plain reader that agrees."""

import struct
import zlib

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kafkaviz.binary import codec
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import batch_records, legacy_messages
from tests.format import plain_legacy
from tests.support.batch_reading import records_until_fault
from tests.support.legacy_messages import build_message

SIZED = st.none() | st.binary(max_size=30)
INT64 = st.integers(-(2**63), 2**63 - 1)
APPEND_TIME = 8


def wrapper(
    magic: int,
    offset: int,
    inner: bytes,
    codec_id: int = 1,
    timestamp_ms: int = -1,
    attributes: int = 0,
) -> bytes:
    compressed = codec.compress(codec.CODECS[codec_id], inner)
    return build_message(
        magic, offset, None, compressed, timestamp_ms=timestamp_ms, attributes=codec_id | attributes
    )


def answer(batch: bytes) -> tuple[list[tuple], str | None]:
    messages = legacy_messages.read(batch)
    records, fault = records_until_fault(batch)
    assert messages.fault == fault or messages.fault.what == fault.what
    types = messages.rows["timestamp_type"].tolist()
    kinds = [legacy_messages.TIMESTAMP_TYPES[kind] for kind in types]
    answers = [
        (found.offset, found.timestamp_ms, kind, found.key, found.value, found.crc, found.is_valid)
        for found, kind in zip(records, kinds, strict=True)
    ]
    return answers, fault and str(fault.what).rpartition("of the decompressed messages: ")[2]


def offsets_of(batch: bytes) -> list[int]:
    return [record[0] for record in answer(batch)[0]]


def test_a_message_byte_by_byte():
    """LegacyRecord of Kafka 4.3.1 counts its size without offset and size."""
    data = bytes.fromhex(
        "0000000000000007 0000001a 2472569a 01 00 0000000000000005 00000002 6b31 00000002 7631"
    )
    assert build_message(1, 7, b"k1", b"v1", timestamp_ms=5) == data
    rows = legacy_messages.read(data).rows
    assert rows[
        [
            "position",
            "size_bytes",
            "offset",
            "crc",
            "magic",
            "attributes",
            "timestamp_type",
            "timestamp_ms",
        ]
    ].tolist() == [(0, 38, 7, 0x2472569A, 1, 0, legacy_messages.CREATE_TIME, 5)]
    assert rows[
        ["key_position", "key_size_bytes", "value_position", "value_size_bytes"]
    ].tolist() == [(30, 2, 36, 2)]


def test_a_message_of_magic_0_has_no_time():
    """Its attributes may claim LogAppendTime, a bit that magic 0 does not have."""
    records, fault = answer(build_message(0, 3, None, b"", attributes=APPEND_TIME))
    assert fault is None and records[0][:5] == (3, -1, "NoTimestampType", None, b"")


def test_offsets_inside_magic_0_are_real_and_inside_magic_1_relative():
    """Offset 0 of a wrapper means that the inner offsets are real (old librdkafka)."""
    inner = {
        magic: b"".join(
            build_message(magic, offset, b"k", b"v", timestamp_ms=9) for offset in (0, 2, 5)
        )
        for magic in (0, 1)
    }
    assert offsets_of(wrapper(0, 5, inner[0])) == [0, 2, 5]
    assert offsets_of(wrapper(1, 45, inner[1])) == [40, 42, 45]
    assert offsets_of(wrapper(1, 0, inner[1])) == [0, 2, 5]
    # the wrapper's magic decides
    assert offsets_of(wrapper(1, 5, inner[0])) == [0, 2, 5]


def test_a_cut_last_message_inside_moves_the_offsets():
    """The cut message is left out, and the wrapper's offset is that of the last whole message."""
    inner = b"".join(build_message(1, offset, b"k", b"v", timestamp_ms=9) for offset in range(3))
    assert offsets_of(wrapper(1, 10, inner[:-1])) == [9, 10]
    assert offsets_of(wrapper(0, 10, inner[:-1])) == [0, 1]


def test_the_wrapper_says_whose_clock_it_was():
    """LogAppendTime applies to all inner messages; with CreateTime each keeps its own."""
    inner = (
        build_message(1, 0, b"k", b"v", timestamp_ms=5)
        + build_message(1, 1, b"k", b"v", timestamp_ms=6, attributes=APPEND_TIME)
        + build_message(0, 2, b"k", b"v")
    )
    times = {
        attributes: [record[1:3] for record in answer(wrapper(1, 2, inner, 1, 70, attributes))[0]]
        for attributes in (0, APPEND_TIME)
    }
    assert times[0] == [(5, "CreateTime"), (6, "CreateTime"), (-1, "NoTimestampType")]
    assert times[APPEND_TIME] == [
        (70, "LogAppendTime"),
        (70, "LogAppendTime"),
        (-1, "NoTimestampType"),
    ]


def test_a_wrong_checksum_inside_is_reported_and_stops_nothing():
    """Kafka's iterator does not look at it."""
    inner = bytearray(
        b"".join(build_message(1, offset, b"k", b"v", timestamp_ms=5) for offset in range(2))
    )
    inner[12] ^= 1
    batch = wrapper(1, 1, bytes(inner))
    assert [record[-1] for record in answer(batch)[0]] == [
        False,
        True,
    ] and batch_records.is_crc_valid(batch)


@pytest.mark.parametrize(
    ("batch", "size_bytes", "what"),
    [
        (wrapper(1, 5, b""), 0, "Found invalid compressed record set with no inner records"),
        (wrapper(1, 5, bytes(11)), 0, "Found invalid compressed record set with no inner records"),
        (wrapper(1, 5, bytes(12)), 0, "Record size is less than the minimum record overhead (14)"),
        (
            build_message(0, 5, None, None, attributes=1),
            0,
            "Found invalid compressed record set with null value (magic = 0)",
        ),
        (
            build_message(1, 5, None, b"", attributes=4),
            0,
            "Invalid wrapper compressionType found in legacy deep record iterator 1",
        ),
        (build_message(1, 5, None, b"", attributes=7), 0, "Unknown compression type id: 7"),
        (
            wrapper(1, 1, build_message(1, 2, b"k", b"v")),
            0,
            "wrapper offset '1' is less than the last inner message offset '2' and it is",
        ),
        (
            wrapper(1, 5, build_message(1, 0, b"k", b"v") + wrapper(1, 1, b"")),
            1,
            "Inner messages must not be compressed",
        ),
        (
            wrapper(
                1, 5, build_message(1, 0, b"k", b"v") + build_message(1, 1, b"", b"", attributes=5)
            ),
            1,
            "Unknown compression type id: 5",
        ),
        (
            build_message(0, 5, b"k", b"v")[:-1],
            0,
            "a batch of 28 bytes, of which only 27 are there",
        ),
        (build_message(0, 5, b"k", b"v")[:16], 0, "no batch in 16 bytes"),
        (bytes(17), 0, "Record size 0 is less than the minimum record overhead (14)"),
    ],
)
def test_what_kafka_refuses(batch, size_bytes, what):
    records, fault = records_until_fault(batch)
    assert (
        len(records) == size_bytes and what in str(fault.what) and 0 <= fault.position <= len(batch)
    )
    with pytest.raises(CorruptBytes):
        batch_records.read_batch(batch)


def raw(body: bytes, offset: int = 0) -> bytes:
    return struct.pack(">qiI", offset, len(body) + 4, zlib.crc32(body)) + body


@pytest.mark.parametrize(
    ("batch", "what"),
    [
        (raw(bytes(2) + struct.pack(">i", 5) + b"1234"), "newLimit > capacity: (5 > 4)"),
        (raw(bytes(2) + struct.pack(">i", 4) + b"1234"), "IndexOutOfBoundsException"),
        (raw(bytes(2) + struct.pack(">i", 1) + b"1" + bytes(3)), "IndexOutOfBoundsException"),
        (
            raw(bytes(2) + struct.pack(">i", 0) + struct.pack(">i", 1)),
            "newLimit > capacity: (1 > 0)",
        ),
        (raw(bytes(2) + struct.pack(">i", 0) + struct.pack(">i", -7)), None),
        (raw(b"\1" + bytes(9)), "IndexOutOfBoundsException"),
        (raw(b"\x80" + bytes(17)), None),
        (
            wrapper(0, 0, bytes(11) + b"\x0d" + bytes(13)),
            "Record size is less than the minimum record overhead (14)",
        ),
        (wrapper(0, 0, raw(bytes(10))), None),
        (
            wrapper(0, 0, raw(b"\0\1" + struct.pack(">i", 9) + bytes(4))),
            "Inner messages must not be compressed",
        ),
        (raw(b"\0\1" + struct.pack(">i", 9) + bytes(4)), "IndexOutOfBoundsException"),
    ],
)
def test_the_last_byte_counts(batch, what):
    assert answer(batch)[1] == what
    assert answer(batch) == plain_legacy.messages(batch)


def test_inside_any_magic_but_0_and_1_has_its_own_time():
    """Any other magic has the layout of magic 1 and keeps its own time."""
    inner = raw(b"\2\0" + struct.pack(">qii", 5, -1, -1)) + raw(
        b"\xff\x08" + struct.pack(">qii", 6, -1, -1), 1
    )
    batch = wrapper(1, 1, inner, 1, 70, APPEND_TIME)
    assert [record[1:3] for record in answer(batch)[0]] == [(5, "CreateTime"), (6, "LogAppendTime")]
    assert answer(batch) == plain_legacy.messages(batch)


def test_lz4_of_magic_0_has_another_header_checksum():
    """It covers more bytes: 1a instead of 82; magic 1 refuses it (KIP-57)."""
    inner = build_message(0, 0, b"k", b"v")
    frame = codec.compress("lz4", inner)
    old = frame.replace(bytes.fromhex("604082"), bytes.fromhex("60401a"), 1)
    assert answer(build_message(0, 0, None, old, attributes=3))[1] is None
    assert answer(build_message(0, 0, None, frame, attributes=3))[1] is None
    refused = answer(build_message(1, 0, None, old, attributes=3))[1]
    assert refused == "lz4: Stream frame descriptor corrupted"


def test_a_wrapper_past_the_limit_is_given_up():
    batch = wrapper(1, 1, build_message(1, 0, b"k", bytes(10**6)))
    assert legacy_messages.read(batch, limit_bytes=10**7).fault is None
    what = legacy_messages.read(batch, limit_bytes=1000).fault.what
    assert "expands past 1000 bytes" in str(what)


CLOCK = st.sampled_from([0, 0, APPEND_TIME])
MESSAGES = st.lists(
    st.tuples(st.sampled_from([0, 1, 1, 1]), INT64 | st.integers(0, 9), SIZED, SIZED, INT64, CLOCK),
    max_size=5,
)


@st.composite
def batches(draw) -> bytes:
    """Draws a message or wrapper, unchanged or with bytes changed."""
    inner = bytearray(
        b"".join(
            build_message(*fields, timestamp_ms=timestamp_ms, attributes=attributes)
            for *fields, timestamp_ms, attributes in draw(MESSAGES)
        )
    )
    for _ in range(draw(st.integers(0, 2)) if inner else 0):
        inner[draw(st.integers(0, len(inner) - 1))] = draw(
            st.sampled_from([0, 1, 2, 5, 0x7F, 0x80, 0xFF])
        )
    magic, offset, timestamp_ms, clock = draw(
        st.tuples(st.sampled_from([0, 1]), INT64 | st.integers(0, 30), INT64, CLOCK)
    )
    codec_id = draw(st.sampled_from([1, 2, 3]))
    if draw(st.booleans()):
        batch = bytearray(
            build_message(
                magic, offset, draw(SIZED), draw(SIZED), timestamp_ms=timestamp_ms, attributes=clock
            )
        )
    else:
        batch = bytearray(wrapper(magic, offset, bytes(inner), codec_id, timestamp_ms, clock))
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.integers(12, len(batch) - 1))
        batch[place] = draw(st.integers(0, 255))
    return bytes(batch)


@settings(max_examples=400)
@given(batches())
@example(build_message(1, 0, None, b"x" * 20, attributes=3))
@example(wrapper(1, -(2**63), build_message(1, 2**63 - 1, b"", b"")))
def test_the_compiled_pass_agrees_with_the_plain_reader(batch):
    if 2 <= batch[16] < 128:
        return
    assert answer(batch) == plain_legacy.messages(batch)


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec_id", range(4))
def test_cut_anywhere_or_with_any_bit_flipped_only_corrupt_bytes(magic, codec_id):
    """Flipped ones give records or CorruptBytes, and never a right checksum."""
    inner = b"".join(
        build_message(magic, offset, b"key", b"value" * 3, timestamp_ms=9) for offset in range(3)
    )
    batch = (
        wrapper(magic, 5, inner, codec_id)
        if codec_id
        else build_message(magic, 5, b"key", b"value" * 3, timestamp_ms=9)
    )
    assert batch_records.is_crc_valid(batch)
    for cut in range(len(batch)):
        with pytest.raises(CorruptBytes):
            batch_records.read_batch(batch[:cut])
        assert not batch_records.is_crc_valid(batch[:cut])
    for bit in range(8 * len(batch)):
        flipped = bytearray(batch)
        flipped[bit // 8] ^= 1 << bit % 8
        _, fault = records_until_fault(bytes(flipped))
        assert fault is None or 0 <= fault.position <= len(batch)
        # the offset is not part of the checksum
        assert batch_records.is_crc_valid(bytes(flipped)) == (bit < 64)


@given(st.binary(max_size=80), st.sampled_from([0, 1, 255]))
def test_any_bytes_give_messages_or_a_fault(data, magic):
    batch = bytes(8) + struct.pack(">i", len(data) + 5) + bytes(4) + bytes([magic]) + data
    records, fault = records_until_fault(batch)
    assert fault is None or (isinstance(fault, CorruptBytes) and 0 <= fault.position <= len(batch))
    assert fault is not None or records


def test_the_buffer_of_the_caller_stays_as_it_is():
    data = bytearray(build_message(1, 7, b"k1", b"v1", timestamp_ms=5))
    for buffer in (data, memoryview(data), np.frombuffer(data, np.uint8)):
        assert batch_records.read_batch(buffer)[0].key == b"k1"
    data[-1] = 0
    assert zlib.crc32(bytes(data[16:])) != 0x2472569A and not batch_records.is_crc_valid(data)
