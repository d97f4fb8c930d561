"""The log end of a clean start whose offset index is not in order, as UnifiedLog of 4.3.1 found it."""

import struct

import pytest

from tests.cli.hostile_files import NAME, batch
from tests.support.loading import failures, loader_of

BATCHES = [batch(base_offset=offset) for offset in range(5)]
BATCH_BYTES = len(BATCHES[0])


def directory(entries: list[tuple[int, int]]) -> dict[str, bytes]:
    """Writes five batches of a record each, and an index with these entries."""
    return {
        f"{NAME}.log": b"".join(BATCHES),
        f"{NAME}.index": b"".join(struct.pack(">ii", *entry) for entry in entries) + b"\1",
        f"{NAME}.timeindex": b"",
    }


@pytest.mark.parametrize(
    ("entries", "log_end"),
    [
        ([(3, 3 * BATCH_BYTES)], 5),
        ([(3, 3 * BATCH_BYTES), (-5, 1_000_000)], 5),
        ([(9, 3 * BATCH_BYTES), (1, BATCH_BYTES), (2, 1_000_000)], 5),
        ([(1, BATCH_BYTES), (2, 1_000_000)], 0),
        ([(1, BATCH_BYTES), (9, 2 * BATCH_BYTES), (4, 1_000_000)], 5),
    ],
)
def test_the_last_slots_offset_is_searched_for(entries, log_end):
    """Not its position: a search may find another slot, or none and begin at byte 0."""
    loader = loader_of(directory(entries))
    assert not failures(loader)
    assert loader.log_end_offset() == log_end
