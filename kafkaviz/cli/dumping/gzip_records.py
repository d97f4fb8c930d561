"""What Java makes of a gzip batch whose data does not fit its checksum, which it meets only behind
the data.

A flipped bit that still inflates gives wrong records. Kafka reads those first and complains of one
that cannot be, and of the checksum only if it comes to the end of the data.
"""

import zlib

from kafkaviz.binary.codec import LIMIT_BYTES
from kafkaviz.cli.dumping import java_exception
from kafkaviz.cli.dumping.java_exception import JavaException
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import record

HEADER_BYTES = 10  # of a member without a name, as Java writes it
_TRAILER = "java.util.zip.ZipException: Corrupt GZIP trailer"
_CHECKSUM_FAULTS = tuple(
    f"gzip: Error -3 while decompressing data: incorrect {part} check"
    for part in ("data", "length")
)
# of the data: whoever asks for more meets the checksum
_END_FAULTS = ("premature EOF", "payload reached EOF")


def exception_of(
    fault: CorruptBytes, body: bytes, record_count: int, position: int
) -> JavaException | None:
    """What iterating over the batch throws; None where the fault is another one. body: all behind
    the batch's header.
    """
    if str(fault.what) not in _CHECKSUM_FAULTS:
        return None
    try:
        plain = zlib.decompressobj(-zlib.MAX_WBITS).decompress(body[HEADER_BYTES:], LIMIT_BYTES)
    except zlib.error:
        return None
    first_fault = record.first_fault(plain, record_count, is_compressed=True)
    if first_fault and any(words in str(first_fault.what) for words in _END_FAULTS):
        return None
    if first_fault:
        return JavaException(
            java_exception.INVALID_RECORD, str(first_fault.what), position=position
        )
    return JavaException(
        java_exception.KAFKA,
        "Error checking for remaining bytes after reading batch",
        (_TRAILER,),
        position,
    )
