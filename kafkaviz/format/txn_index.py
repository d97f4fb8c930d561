"""The transaction index (.txnindex): the aborted transactions of a segment.

Consumers with read_committed skip these transactions. The file is a sequence of 34-byte entries.
The entry (0, 2000, 980, 1005, 1006) means: producer 2000 began a transaction at offset 980 and
aborted it with the marker at 1005. After that, no transaction below 1006 was open.

Follows TransactionIndex and AbortedTxn of Kafka 4.3.1, which read the file from its first byte on.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from kafkaviz.binary.layouts import build_rows, parse_rows
from kafkaviz.errors import CorruptBytes, FaultKind
from kafkaviz.messages import message, verbatim

ENTRY: np.dtype = np.dtype(
    [
        ("version", ">i2"),  # 0; Kafka up to 4.3 reads only the first byte
        ("producer_id", ">i8"),
        ("first_offset", ">i8"),  # of the transaction, which may have begun in an earlier segment
        ("last_offset", ">i8"),  # of the abort marker; never below the segment's base offset
        # the first offset of the oldest transaction still open then, else last_offset + 1
        ("last_stable_offset", ">i8"),
    ]
)
VERSION = 0
parse = partial(parse_rows, ENTRY)
build = partial(build_rows, ENTRY)


def ensure_readable(entries: np.ndarray, *, allows_negative: bool = True) -> np.ndarray:
    """Returns the entries unchanged if Kafka can read their versions.

    Args:
        allows_negative: True up to Kafka 4.3: the version is one signed byte, and may be negative.
            False from 4.4 on: the version is two bytes and must be 0 (versions.ABORTED_TXN_RANGE).

    Raises:
        CorruptBytes: Kafka refuses the version of an entry.
    """
    versions = entries["version"]
    is_refused = versions != VERSION
    supported = f"supported version range is {VERSION} to {VERSION}"
    if allows_negative:
        versions = versions >> 8
        is_refused = versions > VERSION
        supported = f"current version is {VERSION}"
    if is_refused.any():
        slot = int(np.argmax(is_refused))
        words = f"Unexpected aborted transaction version {versions[slot]}, {supported}"
        raise CorruptBytes(slot * ENTRY.itemsize, verbatim(words), FaultKind.TXN_INDEX)
    return entries


def check(entries: np.ndarray, base_offset: int) -> None:
    """Checks the entries as TransactionIndex.sanityCheck of Kafka 4.3.1 does.

    Raises CorruptBytes if a marker is below `base_offset`: Kafka then recovers the segment. Also
    raises the error of `ensure_readable`.
    """
    is_below = ensure_readable(entries)["last_offset"] < base_offset
    if is_below.any():
        slot = int(np.argmax(is_below))
        problem = (
            f"Last offset of aborted transaction {entry_text(entries[slot])} is less than start "
            f"offset {base_offset}"
        )
        raise CorruptBytes(slot * ENTRY.itemsize, verbatim(problem))


def check_written(entries: np.ndarray, size_bytes: int, end_offset: float) -> None:
    """Checks that a broker could have written this file. Kafka has no such check.

    Args:
        end_offset: the end of the segment, or a later offset.

    Raises:
        CorruptBytes: an entry is torn, has an unknown version or a negative number, breaks the
            order, or ends after `end_offset`.
    """
    torn_bytes = size_bytes % ENTRY.itemsize
    if torn_bytes:
        what = message("finding.length_no_multiple", n=size_bytes, entry_bytes=ENTRY.itemsize)
        raise CorruptBytes(size_bytes - torn_bytes, what)
    last_offsets = entries["last_offset"]
    is_wrong = (entries["version"] != VERSION) | (entries["producer_id"] < 0)
    is_wrong |= (entries["first_offset"] < 0) | (entries["first_offset"] >= last_offsets)
    is_wrong[1:] |= last_offsets[1:] <= last_offsets[:-1]
    is_wrong |= (last_offsets >= end_offset) | (entries["last_stable_offset"] > end_offset)
    if is_wrong.any():
        slot = int(np.argmax(is_wrong))
        what = message("errors.txn_entry_never_written", entry=entry_text(entries[slot]))
        raise CorruptBytes(slot * ENTRY.itemsize, what)


def entry_text(entry: np.void) -> str:
    """Returns an entry as Kafka prints it: AbortedTxn(version=0, producerId=2000, ...)."""
    names = ("version", "producerId", "firstOffset", "lastOffset", "lastStableOffset")
    version, *offsets = entry.item()
    values = zip(names, (version >> 8, *offsets), strict=True)
    return f"AbortedTxn({', '.join(f'{name}={number}' for name, number in values)})"


class IndexRead(NamedTuple):
    """The part of a file that TransactionIndex.collectAbortedTxns reads.

    Attributes:
        entries: the entries that Kafka reads before it stops.
        is_collected: one flag per entry: whether it overlaps the fetched offsets.
        is_complete: whether the last entry made Kafka stop. If not, the file ended, and Kafka also
            searches the next segment.
    """

    entries: np.ndarray
    is_collected: np.ndarray
    is_complete: bool


def read_entries(entries: np.ndarray, fetch_offset: float, upper_bound_offset: float) -> IndexRead:
    """Reads entries until one has a last stable offset at or above `upper_bound_offset`.

    An entry is collected if its marker is at or above `fetch_offset`, and its first offset is below
    `upper_bound_offset`.
    """
    reaches_bound = ensure_readable(entries)["last_stable_offset"] >= upper_bound_offset
    is_complete = bool(reaches_bound.any())
    prefix = entries[: int(np.argmax(reaches_bound)) + 1] if is_complete else entries
    is_collected = (prefix["last_offset"] >= fetch_offset) & (
        prefix["first_offset"] < upper_bound_offset
    )
    return IndexRead(prefix, is_collected, is_complete)


def collect(
    entries: np.ndarray, fetch_offset: float, upper_bound_offset: float
) -> tuple[np.ndarray, bool]:
    """Returns the entries that `read_entries` collects, and whether the search is complete."""
    index_read = read_entries(entries, fetch_offset, upper_bound_offset)
    return index_read.entries[index_read.is_collected], index_read.is_complete


def count_after_truncation(entries: np.ndarray, offset: int) -> int:
    """Returns the number of entries before the first marker at or above `offset` (truncateTo)."""
    is_truncated = ensure_readable(entries)["last_offset"] >= offset
    return int(np.argmax(is_truncated)) if is_truncated.any() else len(entries)
