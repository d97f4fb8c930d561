"""Which segments a load reads anew: unflushed ones, and those with an index it does not trust.

Of Kafka 4.3.1 the transaction index alone is looked at, up to 2.2 all three (KAFKA-7283).

As LogSegment.sanityCheck, and those of TransactionIndex, OffsetIndex and TimeIndex. An index that
is wrong and passes is followed blindly. The checks need the bytes of one segment, wherever they
lie: a load calls them, and so does a lookup that must know whether a load would change what it
reads.
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
    def name(self) -> str:
        """Its name in the directory."""

    @property
    def size_bytes(self) -> int:
        """Its size."""

    def content(self) -> bytes:
        """All its bytes."""


# "index", "timeindex" or "txnindex" of a segment, None where there is no such file
FileGetter = Callable[[str], ReadableFile | None]


class Distrust(NamedTuple):
    """Why the indexes of a segment are built anew.

    Attributes:
        cause: as a StartupStep names it.
        why: the same in words.
    """

    cause: str
    why: Message


def find_unflushed(bases: Sequence[int], recovery_point: int) -> list[int]:
    """The segments that an unclean start recovers (LogLoader.recoverLog).

    From the one on that holds the recovery point.
    """
    first = max((base for base in bases if base <= recovery_point), default=recovery_point)
    return [base for base in bases if base >= first]


def distrust(get: FileGetter, base: int, behaviour: ReleaseBehaviour) -> Distrust | None:
    """Why a load recovers the segment of this base offset though it was flushed, or None.

    A time index that is missing is no reason: an empty one is written.

    Raises:
        CorruptBytes: Kafka does not know the version of a .txnindex, which ends the load; in its
            words.
    """
    if not get("index"):
        return Distrust("index-missing", message("index_check.index_missing"))
    fault = _txn_fault(get("txnindex"), base, behaviour) or (
        _old_fault(get, behaviour) if behaviour.checks_indexes else None
    )
    return Distrust("index-corrupt", fault) if fault else None


def _txn_fault(file: ReadableFile | None, base: int, behaviour: ReleaseBehaviour) -> Message | None:
    entries = txn_index.parse(file.content() if file else b"")
    # the check ends at the first entry below the base offset
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
    """The checks of the offset and the time index up to Kafka 2.2.

    An index that is missing has no fault.
    """
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
