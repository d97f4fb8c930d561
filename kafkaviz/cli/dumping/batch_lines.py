"""The line that is printed for each batch, and the batches that end Kafka's tool."""

from itertools import pairwise

import numpy as np

from kafkaviz.binary.codec import CODECS
from kafkaviz.cli.dumping.java import JavaException
from kafkaviz.cli.dumping.lines import OptionalNumber, Part, Word, flag, render_lines
from kafkaviz.format import batch
from kafkaviz.format.batch import MAGIC_2
from kafkaviz.format.java import ILLEGAL_ARGUMENT
from kafkaviz.format.legacy_messages import (
    APPEND_TIME,
    CREATE_TIME,
    NO_TIMESTAMP,
    TIMESTAMP_TYPES,
)


def batch_lines(batches: np.ndarray, valid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the lines of batches (uint8), and the end of each line.

    The batches must be printable, see `count_readable`.
    """
    legacy = batches["magic"] < MAGIC_2
    if not legacy.any():
        return render_lines(*_head(batches), *_tail(batches, valid))
    if legacy.all():
        return render_lines(*_legacy_head(batches), *_tail(batches, valid))
    cuts = [0, *(np.flatnonzero(np.diff(legacy)) + 1), len(batches)]
    parts = [batch_lines(batches[start:stop], valid[start:stop]) for start, stop in pairwise(cuts)]
    starts = np.cumsum([0, *(len(text) for text, _ in parts[:-1])])
    return np.concatenate([text for text, _ in parts]), np.concatenate(
        [ends + offset for (_, ends), offset in zip(parts, starts, strict=True)]
    )


def count_readable(batches: np.ndarray) -> int:
    """Returns the number of batches before the first batch that ends Kafka's tool.

    A codec id above 4 or a negative magic ends the tool in the middle of the batch's line.
    """
    mask = (batch.codec(batches) >= len(CODECS)) | (batches["magic"] < 0)
    return int(np.argmax(mask)) if mask.any() else len(batches)


def fatal_line(row: np.ndarray) -> tuple[np.ndarray, JavaException]:
    """Returns the printed part of a batch's line, and the exception that ends Kafka's tool."""
    head = _head(row) if row["magic"][0] >= MAGIC_2 else _legacy_head(row)
    magic = int(row["magic"][0])
    position = int(row["position"][0])
    what = (
        f"Invalid magic used in LegacyRecord: {magic}"
        if magic < 0
        else f"Unknown compression type id: {batch.codec(row)[0]}"
    )
    return render_lines(*head)[0], JavaException(ILLEGAL_ARGUMENT, what, position=position)


def last_sequence(batches: np.ndarray) -> np.ndarray:
    """Returns the sequence number of each batch's last record; -1 without sequence numbers.

    After 2^31 - 1, sequence numbers continue from 0.
    """
    base = batches["base_sequence"].astype("i8")
    delta = batches["last_offset"] - batches["base_offset"]
    sequence = np.where(base > 2**31 - 1 - delta, delta - (2**31 - 1 - base) - 1, base + delta)
    return np.where(base == -1, -1, sequence.astype("i4"))


def timestamp_type(batches: np.ndarray) -> np.ndarray:
    """Returns the timestamp type of each batch, as an index into `TIMESTAMP_TYPES`."""
    return np.where(
        batches["magic"] == 0,
        NO_TIMESTAMP,
        np.where(batch.is_log_append_time(batches), APPEND_TIME, CREATE_TIME),
    )


def _head(batches: np.ndarray) -> list[Part]:
    horizon = batch.has_delete_horizon(batches)
    return [
        "baseOffset: ",
        batches["base_offset"],
        " lastOffset: ",
        batches["last_offset"],
        " count: ",
        batches["record_count"],
        " baseSequence: ",
        batches["base_sequence"],
        " lastSequence: ",
        last_sequence(batches),
        " producerId: ",
        batches["producer_id"],
        " producerEpoch: ",
        batches["producer_epoch"],
        " partitionLeaderEpoch: ",
        batches["leader_epoch"],
        " isTransactional: ",
        flag(batch.is_transactional(batches)),
        " isControl: ",
        flag(batch.is_control(batches)),
        " deleteHorizonMs: ",
        Word(horizon, ("OptionalLong.empty", "OptionalLong[")),
        OptionalNumber(batches["base_timestamp_ms"], horizon),
        Word(horizon, ("", "]")),
    ]


def _legacy_head(batches: np.ndarray) -> list[Part]:
    return ["offset: ", batches["last_offset"]]


def _tail(batches: np.ndarray, valid: np.ndarray) -> list[Part]:
    return [
        " position: ",
        batches["position"],
        Word(timestamp_type(batches), tuple(f" {name}: " for name in TIMESTAMP_TYPES)),
        batches["max_timestamp_ms"],
        " size: ",
        batches["size_bytes"],
        " magic: ",
        batches["magic"],
        " compresscodec: ",
        Word(batch.codec(batches), CODECS),
        " crc: ",
        batches["crc"],
        " isvalid: ",
        flag(valid),
        "\n",
    ]
