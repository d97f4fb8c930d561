"""What stands behind the last whole batch of a log, in a few words: zeros, the start of a batch, or bytes that do not belong.

A log of 500 bytes whose last whole batch ends at 455, and whose other 45 bytes start no batch, "ends in 45 bytes that do not belong".
"""

import numpy as np

from kafkaviz import units
from kafkaviz.format.batch import HEADER, HEADER_BYTES, LENGTH_END, MAGIC_END
from kafkaviz.log import file
from kafkaviz.log.file import FileInfo

READ_BYTES = 16 << 20  # a longer tail is told by its length alone
KNOWN_MAGIC = (0, 1, 2)


def words(log: FileInfo, valid_bytes: int, last_offset: int | None) -> str:
    """What lies from byte valid_bytes on; last_offset is that of the last whole batch, None where there is none. Raises CannotOpen."""
    torn_bytes = log.size_bytes - valid_bytes
    if torn_bytes > READ_BYTES:
        return f"{units.size(torn_bytes)} after the last batch"
    tail = file.read(log.path, valid_bytes)
    if not tail.strip(b"\0"):
        return f"{units.group(torn_bytes)} zero {'byte' if torn_bytes == 1 else 'bytes'} at the end"
    if _starts_a_batch(tail, last_offset):
        return "last batch cut short"
    return "1 byte that does not belong" if torn_bytes == 1 else f"{units.group(torn_bytes)} bytes that do not belong"


def _starts_a_batch(tail: bytes, last_offset: int | None) -> bool:
    """Whether it reads like a header: its offset goes on from the last one, its magic exists, its length is more than there is."""
    if len(tail) < MAGIC_END:
        return False
    header = np.frombuffer(tail[:HEADER_BYTES].ljust(HEADER_BYTES, b"\0"), HEADER)[0]
    goes_on = int(header["base_offset"]) > (-1 if last_offset is None else last_offset)
    return goes_on and int(header["magic"]) in KNOWN_MAGIC and int(header["batch_length_bytes"]) + LENGTH_END > len(tail)
