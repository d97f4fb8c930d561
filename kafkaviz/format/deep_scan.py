"""The deep scan (.log): every checksum checked and every record decoded, fast, reading forward in
chunks.

What `kafka-dump-log --deep-iteration` reads, Kafka 4.3.1. Batches and records of magic 2 are
checked and decoded in compiled loops while their chunk is in the processor's cache. A compressed
batch is decompressed between two such loops; messages of magic 0 and 1 are read one by one. A log
of two batches, the second with a flipped byte in the size of its first key:

    position 0      | crc_valid True  | fault 0 | records_read 3
    position 2871   | crc_valid False | fault 2 | records_read 0  and a Fault: record-malformed,
    byte 2938, Kafka's words
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numba import njit

from kafkaviz.binary import codec
from kafkaviz.binary.crc32c import stretch
from kafkaviz.binary.layouts import field_start
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import batch_records, legacy, record
from kafkaviz.format.batch import (
    BATCH,
    CODEC_MASK,
    CRC_START,
    HEADER_BYTES,
    LEGACY_HEADER,
    LOG_APPEND_TIME,
    MAGIC_2,
    rows,
)
from kafkaviz.format.walk import (
    CHUNK_BYTES,
    NEEDS_BYTES,
    REASONS,
    ROWS_AT_ONCE,
    SHORT,
    End,
    Read,
    take_headers,
)

CHECKED: np.dtype = np.dtype(
    [  # one batch, in the machine's own byte order
        *BATCH.descr,
        ("crc_valid", "?"),  # a checksum of zlib in magic 0 and 1
        ("fault", "i1"),  # of its records: a place in FAULTS
        # in front of the fault, if there is one; Kafka gives none of a compressed batch that has
        # one
        ("records_read", "i4"),
        ("records_bytes", "i8"),  # the records, decompressed; of a fault in them, up to it
        ("key_bytes", "i8"),  # the sum of the keys that were read
        ("value_bytes", "i8"),
    ]
)
RECORD: np.dtype = np.dtype(
    [  # one record or message
        ("batch_position", "i8"),  # a byte of the .log
        # in the batch's records once decompressed, from the first record's first byte
        ("position", "i4"),
        ("size_bytes", "i4"),  # with what is in front of it
        ("offset", "i8"),
        ("timestamp_ms", "i8"),  # -1 for none
        ("key_size_bytes", "i4"),  # negative for null
        ("value_size_bytes", "i4"),  # negative for null
        ("header_count", "i4"),
    ]
)
FAULTS = (
    "none",
    "batch-bad-length",
    "record-malformed",
    "batch-record-count",
    "decompress-failed",
    "batch-too-large",
)
NONE, BAD_LENGTH, MALFORMED, RECORD_COUNT, DECOMPRESS, TOO_LARGE = range(len(FAULTS))
LIMIT_BYTES = codec.LIMIT_BYTES

_LEGACY_CRC_START = field_start(LEGACY_HEADER, "magic")
# decompressed records that one call of the compiled loop takes, or one batch
_TOGETHER_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Fault:
    """Why the records of a batch cannot all be read: a place in FAULTS as text, and Kafka's words
    for it.

    batch_position and position are bytes of the .log; in a compressed batch position is that of its
    first record.
    """

    batch_position: int
    code: str
    position: int
    what: str


@dataclass(frozen=True, slots=True)
class Part:
    """What one chunk held: a row of CHECKED a batch, a row of RECORD a record (None unless asked
    for), in the order of the log.
    """

    batches: np.ndarray
    records: np.ndarray | None
    faults: tuple[Fault, ...]


class DeepScan:
    """The batches from one byte of a log to another, each with its records; .end is known once all
    were taken.

    A bad checksum and a fault in the records are told and passed by. The scan ends where
    format.walk.Walk ends, and in front of a batch whose bytes the file has lost since it was
    measured. Memory is bounded by the chunk or the largest batch, whichever is more, by what that
    decompresses to, and by its records if they are asked for.
    """

    def __init__(
        self,
        read: Read,
        start: int,
        stop: int,
        with_records: bool = False,
        chunk_bytes: int = CHUNK_BYTES,
        limit_bytes: int = LIMIT_BYTES,
    ) -> None:
        """read as for Walk. limit_bytes: a batch that is larger, or decompresses to more, is a
        fault; its checksum is still checked.
        """
        self._read, self._start, self._stop, self._with_records, self._limit_bytes = (
            read,
            start,
            stop,
            with_records,
            limit_bytes,
        )
        self._chunk_bytes = max(chunk_bytes, HEADER_BYTES)
        self._buffer, self._position, self._length = np.empty(self._chunk_bytes, np.uint8), start, 0
        self.end: End | Any = None  # Any for None: known once all were taken

    def __iter__(self) -> Iterator[Part]:
        """A Part a chunk, or a batch that is larger than a chunk."""
        headers, positions = (
            np.zeros((ROWS_AT_ONCE, HEADER_BYTES), np.uint8),
            np.empty(ROWS_AT_ONCE, np.int64),
        )
        at, wanted, code = self._start, self._chunk_bytes, NEEDS_BYTES
        while code not in REASONS:
            self._fill(at, wanted)
            behind, filled, code = take_headers(
                self._buffer, self._length, at, at, self._stop, headers, positions, 0
            )
            reaches_out = filled > 0 and behind > at + self._length
            if reaches_out:
                code = NEEDS_BYTES
            whole = filled - reaches_out
            if whole:
                yield self._part(positions[:whole], headers[:whole])
                at, wanted = int(positions[whole] if reaches_out else behind), self._chunk_bytes
            elif code == NEEDS_BYTES and self._length < min(wanted, self._stop - at):
                code = SHORT  # the file is shorter than it was said to be
            elif code == NEEDS_BYTES and behind - at <= max(self._limit_bytes, self._chunk_bytes):
                wanted = int(behind) - at
            elif code == NEEDS_BYTES:
                batches = _table(positions[:1], headers[:1])
                if self._pass_by(batches[0]):
                    yield Part(
                        batches,
                        np.empty(0, RECORD) if self._with_records else None,
                        (_too_large(batches[0], self._limit_bytes),),
                    )
                    at, wanted = int(behind), self._chunk_bytes
                else:
                    code = SHORT
        self.end = End(at, REASONS[code])

    def _fill(self, at: int, wanted: int) -> None:
        """As many bytes as wanted from a byte of the log on, as far as they are there; what is in
        the buffer is not read again.
        """
        kept = (
            self._buffer[at - self._position : self._length]
            if self._position <= at
            else self._buffer[:0]
        )
        if wanted > len(self._buffer):
            self._buffer = np.empty(wanted, np.uint8)
        self._buffer[: len(kept)] = kept
        missing = min(wanted, self._stop - at) - len(kept)
        got = (
            self._read(at + len(kept), self._buffer[len(kept) : len(kept) + missing])
            if missing > 0
            else 0
        )
        self._position, self._length = at, len(kept) + got

    def _part(self, positions: np.ndarray, headers: np.ndarray) -> Part:
        """What the whole batches of the chunk hold."""
        chunk = self._buffer[: self._length]
        # one type of array, so that one compiled version serves chunks and what was decompressed
        chunk.flags.writeable = False
        batches = _table(positions, headers)
        pieces = [_read_plain(chunk, self._position, batches, self._with_records)]
        pieces += _read_compressed(
            chunk, self._position, batches, self._with_records, self._limit_bytes
        )
        pieces += _read_messages(chunk, self._position, batches, self._limit_bytes)
        faults = [
            _told(chunk, self._position, batch, self._limit_bytes)
            for batch in batches[batches["fault"] != NONE]
        ]
        return Part(batches, _in_order(pieces) if self._with_records else None, tuple(faults))

    def _pass_by(self, batch: np.void) -> bool:
        """Finds the checksum of a batch that is too large to be held chunk by chunk; False if the
        file has lost its end.
        """
        magic_2, crc = batch["magic"] >= MAGIC_2, 0
        at, end = (
            int(batch["position"]) + (CRC_START if magic_2 else _LEGACY_CRC_START),
            int(batch["position"] + batch["size_bytes"]),
        )
        self._length = 0  # the buffer no longer holds what it did
        while at < end:
            got = self._read(at, self._buffer[: min(self._chunk_bytes, end - at)])
            if got == 0:
                return False
            crc, at = (
                _sum(self._buffer, got, crc)
                if magic_2
                else zlib.crc32(self._buffer[:got].data, crc),
                at + got,
            )
        batch["crc_valid"], batch["fault"] = crc == batch["crc"], TOO_LARGE
        return True


def _table(positions: np.ndarray, headers: np.ndarray) -> np.ndarray:
    """Rows of CHECKED, of which nothing is checked yet."""
    batches = np.zeros(len(positions), CHECKED)
    as_bytes = batches.view(np.uint8).reshape(len(batches), -1)
    # CHECKED begins as BATCH does
    as_bytes[:, : BATCH.itemsize] = (
        rows(positions, headers).view(np.uint8).reshape(len(batches), -1)
    )
    return batches


def _too_large(batch: np.void, limit_bytes: int) -> Fault:
    position = int(batch["position"])
    return Fault(
        position,
        FAULTS[TOO_LARGE],
        position,
        f"a batch of {batch['size_bytes']} bytes: above {limit_bytes} none is decoded",
    )


def _told(chunk: np.ndarray, chunk_position: int, batch: np.void, limit_bytes: int) -> Fault:
    """The fault of a batch, in the words of the reader that takes one batch at a time."""
    position = int(batch["position"])
    fault = batch_records.fault_of(_bytes(chunk, chunk_position, batch).data, limit_bytes)
    told = cast("CorruptBytes", fault)  # what the compiled pass refused
    return Fault(position, FAULTS[batch["fault"]], position + told.position, told.what)


def _bytes(chunk: np.ndarray, chunk_position: int, batch: np.void) -> np.ndarray:
    """One whole batch."""
    start = int(batch["position"]) - chunk_position
    return chunk[start : start + int(batch["size_bytes"])]


def _in_order(pieces: list[np.ndarray]) -> np.ndarray:
    """The records in the order of the log; each piece is."""
    filled = [piece for piece in pieces if len(piece)]
    if len(filled) < 2:
        return filled[0] if filled else np.empty(0, RECORD)
    joined = np.concatenate(filled)
    return joined[np.argsort(joined["batch_position"], kind="stable")]


def _room(record_counts: np.ndarray, records_bytes: np.ndarray, with_records: bool) -> np.ndarray:
    """A table for as many records as the batches can hold, whatever they say; for none if they are
    not asked for.
    """
    most = np.clip(np.minimum(record_counts, records_bytes // record.LEAST_BYTES + 1), 0, None)
    return np.empty(int(most.sum()) if with_records else 0, RECORD)


# ---- magic 2


def _read_plain(
    chunk: np.ndarray, chunk_position: int, batches: np.ndarray, with_records: bool
) -> np.ndarray:
    """Checks every batch of magic 2, and decodes those that are not compressed; their records, if
    asked for.
    """
    plain = (batches["magic"] >= MAGIC_2) & ((batches["attributes"] & CODEC_MASK) == 0)
    room = _room(batches["record_count"][plain], batches["size_bytes"][plain], with_records)
    return room[: _check(chunk, chunk_position, batches, room)]


def _read_compressed(
    chunk: np.ndarray,
    chunk_position: int,
    batches: np.ndarray,
    with_records: bool,
    limit_bytes: int,
) -> Iterator[np.ndarray]:
    """Decompresses and decodes the batches that are compressed, many at a time: small ones cost a
    call each, not a compiled loop.
    """
    codec_ids = batches["attributes"] & CODEC_MASK
    compressed = (
        (batches["magic"] >= MAGIC_2)
        & (codec_ids != 0)
        & (batches["fault"] == NONE)
        & (batches["record_count"] > 0)
    )
    starts = batches["position"][compressed] - chunk_position
    ends, data = starts + batches["size_bytes"][compressed], chunk.data
    # as lists: a row of an array is slow
    columns = (np.flatnonzero(compressed), starts + HEADER_BYTES, ends, codec_ids[compressed])
    places, plains, together = [], [], 0
    for place, start, end, codec_id in zip(*(column.tolist() for column in columns), strict=True):
        try:
            plains.append(codec.decompress(codec.name(codec_id), data[start:end], limit_bytes))
        except CorruptBytes:
            batches["fault"][place] = DECOMPRESS
            continue
        places.append(place)
        together += len(plains[-1])
        if together >= _TOGETHER_BYTES:
            yield _decode(plains, places, batches, with_records)
            places, plains, together = [], [], 0
    if places:
        yield _decode(plains, places, batches, with_records)


def _decode(
    plains: list[bytes], places: list[int], batches: np.ndarray, with_records: bool
) -> np.ndarray:
    """The records of some batches, decompressed, if asked for."""
    sizes = np.array([len(plain) for plain in plains], np.int64)
    room = _room(batches["record_count"][places], sizes, with_records)
    data = np.frombuffer(b"".join(plains), np.uint8)
    return room[
        : _read_decompressed(data, np.cumsum(sizes), np.array(places, np.int64), batches, room)
    ]


@njit(cache=True, boundscheck=True)
def _check(chunk: np.ndarray, chunk_position: int, batches: np.ndarray, records: np.ndarray) -> int:
    """Checks each batch of magic 2 in the chunk, and reads its records if they are not compressed:
    how many were kept.
    """
    row, filled = np.zeros(1, record.ROW)[0], 0
    for place in range(len(batches)):
        batch = batches[place]
        if batch.magic < MAGIC_2:
            continue
        start, end = (
            batch.position - chunk_position,
            batch.position - chunk_position + batch.size_bytes,
        )
        if batch.size_bytes < HEADER_BYTES:
            batch.fault = BAD_LENGTH
            continue
        batch.crc_valid = stretch(chunk, start + CRC_START, end, 0) == batch.crc
        if batch.record_count < 0:
            batch.fault = RECORD_COUNT
        elif batch.attributes & CODEC_MASK == 0:
            filled = _read_records(
                chunk, start + HEADER_BYTES, end, False, batch, row, records, filled
            )
    return filled


@njit(cache=True, boundscheck=True)
def _read_decompressed(
    data: np.ndarray, ends: np.ndarray, places: np.ndarray, batches: np.ndarray, records: np.ndarray
) -> int:
    """Reads the decompressed records of the batches at some places of the table, one behind
    another: how many were kept.
    """
    row, filled, start = np.zeros(1, record.ROW)[0], 0, 0
    for at in range(len(places)):
        filled = _read_records(
            data, start, ends[at], True, batches[places[at]], row, records, filled
        )
        start = ends[at]
    return filled


@njit(cache=True, boundscheck=True)
def _read_records(data, start, end, compressed, batch, row, records, filled):
    """Reads data[start:end] as the records of a batch, whose row it completes, and keeps them if
    there is room: how many are kept.
    """
    at, count, before, keep, fault = start, 0, filled, len(records) > 0, NONE
    key_bytes, value_bytes = np.int64(0), np.int64(0)
    while count < batch.record_count:
        code, behind, _, _ = record.take_record(data, at, end, compressed, row)
        if code:
            fault = RECORD_COUNT if code == record.TOO_FEW else MALFORMED
            break
        if keep:
            _keep(records[filled], batch, row, at - start)
            filled += 1
        key_bytes += max(row.key_size_bytes, 0)
        value_bytes += max(row.value_size_bytes, 0)
        at, count = behind, count + 1
    if fault == NONE and count > 0 and at < end:
        fault = RECORD_COUNT
    batch.fault = fault
    if fault != NONE and compressed:
        return before
    batch.records_read, batch.records_bytes, batch.key_bytes, batch.value_bytes = (
        count,
        at - start,
        key_bytes,
        value_bytes,
    )
    return filled


@njit(cache=True, boundscheck=True)
def _keep(kept, batch, row, position):
    """One row of RECORD."""
    append_time = batch.attributes & LOG_APPEND_TIME != 0
    kept.batch_position, kept.position, kept.size_bytes = batch.position, position, row.size_bytes
    kept.offset = batch.base_offset + row.offset_delta
    kept.timestamp_ms = (
        batch.max_timestamp_ms if append_time else batch.base_timestamp_ms + row.timestamp_delta_ms
    )
    kept.key_size_bytes, kept.value_size_bytes, kept.header_count = (
        row.key_size_bytes,
        row.value_size_bytes,
        row.header_count,
    )


@njit(cache=True)
def _sum(buffer, length, before):
    """The checksum of a chunk behind others."""
    return stretch(buffer, 0, length, before)


# ---- magic 0 and 1


def _read_messages(
    chunk: np.ndarray, chunk_position: int, batches: np.ndarray, limit_bytes: int
) -> Iterator[np.ndarray]:
    """Checks and reads the messages and wrappers of magic 0 and 1, one at a time; the messages of
    each.
    """
    for place in np.flatnonzero(batches["magic"] < MAGIC_2).tolist():
        batch = batches[place]
        data = _bytes(chunk, chunk_position, batch).data
        found = legacy.read(data, limit_bytes)
        batch["crc_valid"] = batch_records.crc_valid(data)
        batch["fault"] = (
            NONE if found.fault is None else MALFORMED if len(found.data) else DECOMPRESS
        )
        batch["records_read"], batch["records_bytes"] = (
            len(found.rows),
            found.rows["size_bytes"].sum(),
        )
        for name in ("key", "value"):
            batch[f"{name}_bytes"] = np.clip(found.rows[f"{name}_size_bytes"], 0, None).sum()
        yield _kept_messages(batch, found.rows)


def _kept_messages(batch: np.void, messages: np.ndarray) -> np.ndarray:
    """Rows of RECORD for the messages of a batch."""
    kept = np.zeros(len(messages), RECORD)
    kept["batch_position"] = batch["position"]
    for name in (
        "position",
        "size_bytes",
        "offset",
        "timestamp_ms",
        "key_size_bytes",
        "value_size_bytes",
    ):
        kept[name] = messages[name]
    return kept
