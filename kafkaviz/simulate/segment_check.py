"""Checks the indexes of a segment, to decide whether start-up recovers the segment.

Kafka 4.3.1 checks only the transaction index; up to 2.2 all three indexes were checked
(LogSegment.sanityCheck, KAFKA-7283). Loading a log runs these checks. A lookup runs them too, to
know whether loading would change files.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, cast

import numpy as np

from kafkaviz import versions
from kafkaviz.binary.file_view import ReadInto
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import batch, legacy_messages, offset_index, time_index, txn_index
from kafkaviz.messages import Message, message
from kafkaviz.simulate.config import ReleaseBehaviour


def resolve_first_offsets(read: ReadInto, batches: np.ndarray) -> np.ndarray:
    """Returns `batches` (rows of BATCH) with the base offsets of wrappers filled in.

    A wrapper is a compressed batch of magic 0 or 1, whose header lacks the base offset. An
    unreadable wrapper gets its last offset as base offset.
    """
    unknown = np.flatnonzero(
        (batches["magic"] < batch.MAGIC_2) & (batches["base_offset"] == batch.UNKNOWN)
    )
    if not len(unknown):
        return batches
    batches = batches.copy()
    for row in unknown.tolist():
        data = np.empty(int(batches["size_bytes"][row]), np.uint8)
        messages = legacy_messages.read(data[: read(int(batches["position"][row]), data)].data)
        is_readable = messages.fault is None and len(messages.rows) > 0
        first = messages.rows["offset"][0] if is_readable else batches["last_offset"][row]
        batches["base_offset"][row] = first
    return batches


class ReadableFile(Protocol):
    """An object with the name, size and content of a file."""

    @property
    def name(self) -> str: ...

    @property
    def size_bytes(self) -> int: ...

    def content(self) -> bytes: ...


# returns the "index", "timeindex" or "txnindex" of a segment; None if the file does not exist
FileGetter = Callable[[str], ReadableFile | None]


class RecoveryReason(NamedTuple):
    """The reason why a segment's indexes are rebuilt: a key of steps.CAUSES, and a sentence."""

    cause: str
    why: Message


def find_unflushed(bases: Sequence[int], recovery_point: int) -> list[int]:
    """Returns the base offsets of the segments that Kafka recovers after an unclean shutdown.

    These are the segment that contains the recovery point and all later segments
    (LogLoader.recoverLog).
    """
    first = max((base for base in bases if base <= recovery_point), default=recovery_point)
    return [base for base in bases if base >= first]


def find_recovery_reason(
    get: FileGetter, base: int, behaviour: ReleaseBehaviour
) -> RecoveryReason | None:
    """Returns why loading a log recovers a flushed segment; None if it is not recovered.

    Raises CorruptBytes, with Kafka's message, for an unknown version of a .txnindex entry: then
    loading fails.
    """
    if not get("index"):
        return RecoveryReason("index-missing", message("index_check.index_missing"))
    fault = _txn_fault(get("txnindex"), base, behaviour)
    if not fault and behaviour.checks_indexes:
        fault = _old_fault(get, behaviour)
    return RecoveryReason("index-corrupt", fault) if fault else None


def _txn_fault(file: ReadableFile | None, base: int, behaviour: ReleaseBehaviour) -> Message | None:
    entries = txn_index.parse(file.content() if file else b"")
    # Kafka's check ends at the first entry below the base offset
    is_below = entries["last_offset"] < base
    if is_below.any():
        entries = entries[: int(np.argmax(is_below)) + 1]
    allows_negative = not versions.ABORTED_TXN_RANGE.applies_to(behaviour.release)
    txn_index.ensure_readable(entries, allows_negative=allows_negative)
    try:
        txn_index.check(entries, base)
    except CorruptBytes as fault:
        name = cast(ReadableFile, file).name
        return message("index_check.fault_in_file", file=name, problem=fault.what)
    return None


def _old_fault(get: FileGetter, behaviour: ReleaseBehaviour) -> Message | None:
    """Returns what Kafka up to 2.2 finds wrong in the offset or time index, or None."""
    for kind, layout in (("index", offset_index), ("timeindex", time_index)):
        file = get(kind)
        if not file:
            continue
        entries = layout.parse(file.content())
        entry_bytes = layout.ENTRY.itemsize
        if file.size_bytes % entry_bytes:
            key = "index_check.length_no_multiple"
            return message(key, file=file.name, entry_bytes=entry_bytes)
        if not len(entries):
            continue
        least = 1 if kind == "index" and behaviour.first_offset_keys else 0
        if entries["relative_offset"][-1] < least:
            return message("index_check.last_entry_too_low", file=file.name)
        if kind == "timeindex" and entries["timestamp_ms"][-1] < entries["timestamp_ms"][0]:
            return message("index_check.last_time_too_low", file=file.name)
    return None
