"""Small damaged logs, made from a seed, for the same questions to Kafka's classes and kafkaviz."""

import random
import struct
import zlib
from pathlib import Path

import numpy as np

from kafkaviz.binary import codec
from kafkaviz.format import offset_index, producer_snapshot, record, time_index
from kafkaviz.format.batch import HEADER_BYTES, LENGTH_END
from kafkaviz.format.record import Record
from kafkaviz.units import file_stem
from tests.pipeline import whole_logs
from tests.support.legacy_messages import build_message

START_MS = 1_700_000_000_000
BATCHES, RECORDS = 3, 4
CODECS_BY_MAGIC = {0: codec.CODECS[:4], 1: codec.CODECS[:4], 2: codec.CODECS}


def make_log(seed: int, folder: Path) -> dict:
    """Writes a partition directory with one damaged batch or index, from a seed.

    Returns:
        The damage, and the offsets and timestamps to look up.
    """
    chance = random.Random(seed)
    magic = chance.choice((0, 1, 2, 2))
    codec_name = chance.choice(CODECS_BY_MAGIC[magic])
    value_bytes = chance.choice((8, 8, 3000, 12_000))
    damage = chance.choice(("bytes", "bytes", "mended", "mended", "inside", "cut", "index", "time"))
    damaged_batch = chance.choice((0, 0, 1))
    batches = []
    for number in range(BATCHES):
        inner_damage = damage if number == damaged_batch and damage in ("inside", "cut") else ""
        batch = _batch(chance, number, magic, codec_name, value_bytes, inner_damage)
        if number == damaged_batch and damage in ("bytes", "mended"):
            batch = _flip(chance, batch, magic, mends=damage == "mended")
        batches.append(batch)
    folder.mkdir(parents=True)
    stem = folder / file_stem(0)
    stem.with_suffix(".log").write_bytes(b"".join(batches))
    stem.with_suffix(".index").write_bytes(_offset_index(chance, batches, damage))
    stem.with_suffix(".timeindex").write_bytes(_time_index(chance, magic, damage))
    end_offset = BATCHES * RECORDS
    snapshot = producer_snapshot.build(np.empty(0, producer_snapshot.PRODUCER))
    (folder / f"{file_stem(end_offset)}.snapshot").write_bytes(snapshot)
    offsets = list(range(end_offset + 1))
    timestamps = [-3, 0, *(START_MS + 10 * offset for offset in range(end_offset + 1))]
    return {
        "magic": magic,
        "codec": codec_name,
        "damage": damage,
        "offsets": offsets,
        "timestamps": timestamps,
    }


def _batch(
    chance: random.Random, number: int, magic: int, codec_name: str, value_bytes: int, damage: str
) -> bytes:
    base = number * RECORDS
    codec_id = codec.CODECS.index(codec_name)
    values = [chance.randbytes(value_bytes) for _ in range(RECORDS)]
    times = [START_MS + 10 * (base + place) for place in range(RECORDS)]
    if magic == 2:
        body = record.build(
            Record(
                offset_delta=place,
                timestamp_delta_ms=10 * place,
                key=b"k",
                value=values[place],
                headers=(("h", b"x"),) if place % 2 else (),
            )
            for place in range(RECORDS)
        )
        content = _compress(chance, codec_name, body, damage)
        return whole_logs.framed(base, content, times, codec_id)
    if not codec_id:
        messages = [
            build_message(magic, base + place, b"k", values[place], timestamp_ms=times[place])
            for place in range(RECORDS)
        ]
        if damage:
            place = chance.randrange(RECORDS)
            messages[place] = _mend(_flip(chance, messages[place], magic, mends=False), magic)
        return b"".join(messages)
    first = 0 if magic else base
    inner = b"".join(
        build_message(magic, first + place, b"k", values[place], timestamp_ms=times[place])
        for place in range(RECORDS)
    )
    content = _compress(chance, codec_name, inner, damage, is_checked=magic == 1)
    last = base + RECORDS - 1
    return build_message(magic, last, None, content, timestamp_ms=times[-1], attributes=codec_id)


def _compress(
    chance: random.Random, codec_name: str, body: bytes, damage: str, *, is_checked: bool = True
) -> bytes:
    if damage == "inside":
        place = chance.randrange(len(body))
        place = chance.choice((place, chance.randrange(min(40, len(body)))))
        body = body[:place] + bytes([body[place] ^ 1 << chance.randrange(8)]) + body[place + 1 :]
    content = body if codec_name == "none" else codec.compress(codec_name, body)
    if codec_name == "lz4" and not is_checked:
        content = content[:6] + bytes([zlib.crc32(content[:6]) & 0xFF]) + content[7:]
    if damage == "cut":
        content = content[: chance.randrange(len(content))]
    return content


def _flip(chance: random.Random, batch: bytes, magic: int, *, mends: bool) -> bytes:
    """Flips one bit of a batch after its length field."""
    header_bytes = HEADER_BYTES if magic == 2 else 34
    first = chance.choice((LENGTH_END + 4, header_bytes, header_bytes, header_bytes))
    place = chance.randrange(min(first, len(batch) - 1), len(batch))
    if magic < 2 and place == 16:
        place += 1
    flipped = batch[:place] + bytes([batch[place] ^ 1 << chance.randrange(8)]) + batch[place + 1 :]
    if place == 16:  # the magic byte stays: what follows would be another format
        flipped = batch
    return _mend(flipped, magic) if mends else flipped


def _mend(batch: bytes, magic: int) -> bytes:
    """Returns the batch, or its first message, with a right checksum."""
    if magic == 2:
        return whole_logs.summed(batch)
    end = LENGTH_END + struct.unpack_from(">i", batch, 8)[0]
    return batch[:12] + struct.pack(">I", zlib.crc32(batch[16:end])) + batch[16:]


def _offset_index(chance: random.Random, batches: list[bytes], damage: str) -> bytes:
    entries = np.zeros(BATCHES - 1, offset_index.ENTRY)
    position = 0
    for number in range(1, BATCHES):
        position += len(batches[number - 1])
        entries["relative_offset"][number - 1] = (number + 1) * RECORDS - 1
        entries["position"][number - 1] = position
    if damage == "index":
        slot = chance.randrange(BATCHES - 1)
        entries["position"][slot] = chance.choice((-1, -(2**31), -position, 0, position + 1))
    return entries.tobytes()


def _time_index(chance: random.Random, magic: int, damage: str) -> bytes:
    if magic == 0:
        return b""
    entries = np.zeros(BATCHES, time_index.ENTRY)
    for number in range(BATCHES):
        entries["relative_offset"][number] = (number + 1) * RECORDS - 1
        entries["timestamp_ms"][number] = START_MS + 10 * ((number + 1) * RECORDS - 1)
    if damage == "time":
        slot = chance.randrange(BATCHES)
        entries["relative_offset"][slot] = chance.choice((-1, 0, 5, 2**31 - 1))
        entries["timestamp_ms"][slot] += chance.choice((0, 1, -35, 1000))
    return entries.tobytes()
