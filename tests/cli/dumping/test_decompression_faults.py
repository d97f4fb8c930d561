"""Damaged snappy data: what DumpLogSegments of 4.3.1 threw for the same bytes."""

import cramjam
import pytest

from kafkaviz.binary import codec
from kafkaviz.format import record
from kafkaviz.format.record import Record
from tests.cli.dumping.running import dumped
from tests.cli.hostile_files import NAME, batch

BODY = record.build(
    [
        Record(offset_delta=number, timestamp_delta_ms=0, key=b"k", value=b"v" * 30)
        for number in range(40)
    ]
)
HEAD_BYTES = {"block": 0, "stream": 20}  # before the size of the first block's data
FAILED = "java.io.IOException: FAILED_TO_UNCOMPRESS(5)"
PARSING = "java.io.IOException: PARSING_ERROR(2)"
EMPTY = "org.xerial.snappy.SnappyIOException: [EMPTY_INPUT] Cannot decompress empty stream"


def damage(data: bytes, start: int, kind: str) -> bytes:
    """Returns the data with other bytes, cut, with another size, or with a size that does not end."""
    changed = bytearray(data)
    if kind == "middle":
        changed[start + 40 : start + 44] = b"\xff" * 4
    elif kind == "cut":
        del changed[-10:]
    elif kind == "size":
        changed[start] ^= 1
    elif kind == "varint":
        changed[start : start + 6] = b"\xff" * 6
    else:
        del changed[start:]
    return bytes(changed)


@pytest.mark.parametrize(
    ("form", "kind", "cause"),
    [
        ("block", "middle", FAILED),
        ("block", "cut", FAILED),
        ("block", "size", FAILED),
        ("block", "varint", PARSING),
        ("block", "empty", EMPTY),
        ("stream", "middle", FAILED),
        ("stream", "cut", "java.io.IOException: failed to read chunk"),
        ("stream", "size", FAILED),
        ("stream", "varint", PARSING),
    ],
)
def test_snappy_that_cannot_be_read(tmp_path, form, kind, cause):
    """A bare block is read when its stream is opened, a stream of blocks with the first record."""
    packed = {
        "block": bytes(cramjam.snappy.compress_raw(BODY)),
        "stream": codec.compress("snappy", BODY),
    }[form]
    data = batch(
        damage(packed, HEAD_BYTES[form], kind), 40, attributes=codec.CODECS.index("snappy")
    )
    (tmp_path / f"{NAME}.log").write_bytes(data)
    what = cause if form == "block" else "Failed to decompress record stream"
    assert dumped(tmp_path, ["--files", f"{NAME}.log", "--print-data-log"]).err == (
        f'Exception in thread "main" org.apache.kafka.common.KafkaException: {what}\n'
        f"Caused by: {cause}\n"
    )
