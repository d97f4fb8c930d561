"""Decides which segments broker start-up recovers: unflushed, or with a damaged index.

Follows LogSegment.sanityCheck and the sanityCheck of each index. Kafka 4.3.1 checks only the
transaction index; up to 2.2 all three indexes were checked (KAFKA-7283).

Loading a log uses these checks, and so does a lookup, to know whether loading would change the
files.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, cast

import numpy as np

from kafkaviz import versions
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import offset_index, time_index, txn_index
from kafkaviz.messages import Message, message
from kafkaviz.simulate.config import ReleaseBehaviour


class ReadableFile(Protocol):
    """A file and its bytes."""

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
    """Returns the segments that are recovered after an unclean shutdown (LogLoader.recoverLog).

    These are the segment that contains the recovery point and all later segments.
    """
    first = max((base for base in bases if base <= recovery_point), default=recovery_point)
    return [base for base in bases if base >= first]


def find_recovery_reason(
    get: FileGetter, base: int, behaviour: ReleaseBehaviour
) -> RecoveryReason | None:
    """Returns why loading a log recovers a flushed segment, or None.

    Raises:
        CorruptBytes: Kafka does not know the version of a .txnindex entry, so loading fails. Has
            Kafka's message.
    """
    if not get("index"):
        return RecoveryReason("index-missing", message("index_check.index_missing"))
    fault = _txn_fault(get("txnindex"), base, behaviour) or (
        _old_fault(get, behaviour) if behaviour.checks_indexes else None
    )
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
        return message(
            "index_check.fault_in_file", file=cast(ReadableFile, file).name, problem=fault.what
        )
    return None


def _old_fault(get: FileGetter, behaviour: ReleaseBehaviour) -> Message | None:
    """Checks the offset and time index as Kafka up to 2.2 did."""
    for kind, layout in (("index", offset_index), ("timeindex", time_index)):
        file = get(kind)
        if not file:
            continue
        entries = layout.parse(file.content())
        if file.size_bytes % layout.ENTRY.itemsize:
            return message(
                "index_check.length_no_multiple", file=file.name, entry_bytes=layout.ENTRY.itemsize
            )
        least = 1 if kind == "index" and behaviour.first_offset_keys else 0
        if len(entries) and entries["relative_offset"][-1] < least:
            return message("index_check.last_entry_too_low", file=file.name)
        if (
            kind == "timeindex"
            and len(entries)
            and entries["timestamp_ms"][-1] < entries["timestamp_ms"][0]
        ):
            return message("index_check.last_time_too_low", file=file.name)
    return None
