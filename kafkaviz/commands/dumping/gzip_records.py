"""What Java makes of a gzip batch whose data does not fit its checksum, which it meets only behind
the data.

A flipped bit that still inflates gives wrong records. Kafka reads those first and complains of one
that cannot be, and of the checksum only if it comes to the end of the data.
"""

import zlib

from kafkaviz.binary.codec import LIMIT_BYTES
from kafkaviz.commands.dumping import death
from kafkaviz.commands.dumping.death import Death
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import record

HEADER_BYTES = 10  # of a member without a name, as Java writes it
_TRAILER = "java.util.zip.ZipException: Corrupt GZIP trailer"
_WORDS = tuple(
    f"gzip: Error -3 while decompressing data: incorrect {part} check"
    for part in ("data", "length")
)
# of the data: whoever asks for more meets the checksum
_AT_THE_END = ("premature EOF", "payload reached EOF")


def death_of(fault: CorruptBytes, body: bytes, record_count: int, position: int) -> Death | None:
    """What iterating over the batch throws; None where the fault is another one. body: all behind
    the batch's header.
    """
    if fault.what not in _WORDS:
        return None
    try:
        plain = zlib.decompressobj(-zlib.MAX_WBITS).decompress(body[HEADER_BYTES:], LIMIT_BYTES)
    except zlib.error:
        return None
    broken = record.first_fault(plain, record_count, compressed=True)
    if broken and any(words in broken.what for words in _AT_THE_END):
        return None
    if broken:
        return Death(death.INVALID_RECORD, broken.what, position=position)
    return Death(
        death.KAFKA, "Error checking for remaining bytes after reading batch", (_TRAILER,), position
    )
