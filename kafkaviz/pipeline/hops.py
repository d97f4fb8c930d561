"""How much of a .log is read at once where not every batch is wanted: all of it, or header by header."""

from kafkaviz.format.batch import HEADER_BYTES
from kafkaviz.format.walk import CHUNK_BYTES
from kafkaviz.log.entry_points import EntryPoints

HOP_BYTES = 4096  # of batches this large on average the headers alone are read, one by one; of smaller ones everything
SAMPLED = 16  # batches that the average is of


def chunk_bytes(points: EntryPoints, start: int) -> int:
    """The bytes of a read: of large batches from a byte on the header of one."""
    position = start
    for number in range(SAMPLED):
        batch = points.header(position)
        if batch is None:
            return HEADER_BYTES if number and position - start >= number * HOP_BYTES else CHUNK_BYTES
        position += int(batch["size_bytes"])
    return HEADER_BYTES if position - start >= SAMPLED * HOP_BYTES else CHUNK_BYTES
