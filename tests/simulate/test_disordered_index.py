"""The log end of a clean start whose offset index is not in order, as UnifiedLog of 4.3.1 found it."""

import struct

import pytest

from kafkaviz.binary.file_view import in_memory
from kafkaviz.simulate.config import IndexConfig, release_behaviour
from kafkaviz.simulate.startup.log_loader import LogLoader
from kafkaviz.simulate.steps import StoredLog
from tests.cli.hostile_files import NAME, batch

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
    files = tuple(in_memory(name, data) for name, data in directory(entries).items())
    log = StoredLog(directory="orders-0", files=files, config=IndexConfig())
    loader = LogLoader(log, clean=True, behaviour=release_behaviour((4, 3, 1)))
    assert not [step for step in loader.run() if step.action == "fail"]
    assert loader.log_end_offset() == log_end
