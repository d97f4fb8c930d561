"""python -m tests.kafka.record_record_checks: hands batches with wrong records to Kafka as to a
leader and as to a follower, and one with each bit of its magic flipped to a recovery and to a
follower; writes tests/data/record_checks.jsonl.
"""

import json
import struct
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kafkaviz.binary.crc32c import crc32c
from kafkaviz.format import batch
from kafkaviz.format.record import Record
from kafkaviz.units import file_stem
from tests.kafka import batches
from tests.kafka.harness import RELEASES, Kafka, zipped

CHECKS = Path(__file__).parents[1] / "data" / "record_checks.jsonl"
NOW_MS = 1_790_000_000_000
HOUR_MS = 3_600_000
MAGIC_AT, LAST_OFFSET_DELTA_AT, RECORD_COUNT_AT = 16, 23, 57
AN_HOUR_AHEAD = {"message.timestamp.after.max.ms": str(HOUR_MS)}  # the default from 4.0 on
COMPACTED = {"cleanup.policy": "compact"}


def main() -> int:
    lines = []
    for release in RELEASES:
        with Kafka(release) as kafka:
            lines += _appends(kafka)
            lines += _flipped_magic(kafka)
    CHECKS.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return 0


def _records(
    *, deltas: tuple[int, ...] = (0, 1, 2), ahead_ms: int = 0, key: bytes | None = b"k"
) -> list[Record]:
    """Returns three records, the last one so far ahead of the clock."""
    times = [*range(len(deltas) - 1), ahead_ms]
    return [
        Record(offset_delta=delta, timestamp_delta_ms=time, key=key, value=b"value")
        for delta, time in zip(deltas, times, strict=True)
    ]


def _with_checksum(data: bytes) -> bytes:
    crc = struct.pack(">I", crc32c(data[batch.CRC_START :]))
    return data[: batch.CRC_START - len(crc)] + crc + data[batch.CRC_START :]


def _one_more(data: bytes) -> bytes:
    """Returns a batch that claims a fourth record in both count fields."""
    changed = bytearray(data)
    struct.pack_into(">i", changed, LAST_OFFSET_DELTA_AT, 3)
    struct.pack_into(">i", changed, RECORD_COUNT_AT, 4)
    return _with_checksum(bytes(changed))


def _cases() -> Iterator[tuple[str, str, dict[str, str], bytes]]:
    """Yields fault, codec, settings and batch of each case; the first has no fault."""
    for codec in ("none", "lz4"):
        made = {"base_ms": NOW_MS, "packed": codec}
        sound = batches.v2(0, _records(), **made)
        swapped = batches.v2(0, _records(deltas=(0, 2, 1)), last_offset_delta=2, **made)
        yield "nothing", codec, {}, sound
        yield "count", codec, {}, _one_more(sound)
        late = batches.v2(0, _records(ahead_ms=HOUR_MS + 1), **made)
        yield "timestamp", codec, AN_HOUR_AHEAD, late
        yield "key", codec, COMPACTED, batches.v2(0, _records(key=None), **made)
        yield "offsets", codec, {}, swapped


def _appends(kafka: Kafka) -> Iterator[dict]:
    for wrong, codec, settings, data in _cases():
        for mode in ("leader", "follower"):
            with tempfile.TemporaryDirectory() as folder:
                error = _append(kafka, mode, data, settings, folder)
                log = Path(folder, f"{file_stem(0)}.log")
                is_same = not error and log.read_bytes() == data
            yield {
                "version": kafka.release,
                "mode": mode,
                "wrong": wrong,
                "codec": codec,
                "error": error,
                "is_stored_as_sent": is_same,
            }


def _append(
    kafka: Kafka, mode: str, data: bytes, settings: dict[str, str], folder: str
) -> dict | None:
    """Returns the exception of an append to an empty log, which stays in a folder, or None."""
    step = {"op": "append", "now": NOW_MS, "b": [[0, 2, len(data), NOW_MS, NOW_MS, 3, 0]]}
    history = {"mode": mode, "settings": {"retention.ms": "-1", **settings}, "start_offset": 0}
    history |= {"start_clock": NOW_MS, "appended_gz": zipped(data), "steps": [step]}
    return kafka.replay(history | {"keep": folder})["steps"][0].get("error")


def _flipped_magic(kafka: Kafka) -> Iterator[dict]:
    """Returns, per bit, how many bytes a recovery cuts off the .log, and what a follower says."""
    sound = batches.v2(0, _records(), NOW_MS)
    for bit in range(8):
        data = bytearray(sound)
        data[MAGIC_AT] ^= 1 << bit
        with tempfile.TemporaryDirectory() as folder:
            error = _append(kafka, "follower", bytes(data), {}, folder)
        yield {
            "version": kafka.release,
            "magic_bit": bit,
            "hex": data.hex(),
            "recovery_cuts_bytes": kafka.recover(bytes(data), 0, {})["truncated"],
            "follower_error": error,
        }


if __name__ == "__main__":
    sys.exit(main())
