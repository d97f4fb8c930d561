"""What stands behind the last complete batch of a log.

Zeros, the start of a batch, or bytes that do not belong.

A log of 500 bytes whose last complete batch ends at 455, and whose other 45 bytes start no batch:
Tail("garbage", 455, 45).
"""

from dataclasses import dataclass

from kafkaviz.format import tail
from kafkaviz.log import file
from kafkaviz.log.file import FileInfo
from kafkaviz.messages import Message, message

READ_BYTES = 16 << 20  # what is behind that in a longer tail is not looked at


@dataclass(frozen=True)
class Tail:
    """Bytes behind the last complete batch.

    "zeros" was set ahead, "torn" begins like the next batch, "garbage" is neither.
    """

    kind: str
    position: int
    size_bytes: int

    @property
    def summary(self) -> Message:
        """What a row of a map has room for."""
        if self.size_bytes > READ_BYTES:
            return message("tail.long", size=self.size_bytes)
        if self.kind == "torn":
            return message("tail.torn")
        if self.kind == "zeros":
            return message("tail.zeros", n=self.size_bytes)
        return message("tail.garbage", n=self.size_bytes)


def read(log: FileInfo, end_position: int, last_offset: int | None) -> Tail | None:
    """The tail of a log behind its last complete batch.

    Args:
        end_position: the byte where that batch ends.
        last_offset: its last offset, None without a batch.

    Returns:
        None without a tail.

    Raises:
        CannotOpen: the .log cannot be read.
    """
    if end_position >= log.size_bytes:
        return None
    tail_bytes = file.read(log.path, end_position, READ_BYTES)
    size_bytes = log.size_bytes - end_position
    return Tail(tail.kind(tail_bytes, last_offset, size_bytes), end_position, size_bytes)
