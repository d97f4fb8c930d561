"""The bytes after the last complete batch of a log: zeros, a torn batch, or garbage.

For example, a log has 500 bytes, and its last complete batch ends at 455. The other 45 bytes do not
start a batch, so the tail is `Tail("garbage", 455, 45)`.
"""

from dataclasses import dataclass

from kafkaviz.format import tail
from kafkaviz.log import file
from kafkaviz.log.file import FileInfo
from kafkaviz.messages import Message, message

READ_BYTES = 16 << 20  # at most this much of a tail is examined


@dataclass(frozen=True)
class Tail:
    """The bytes after the last complete batch.

    Attributes:
        kind: "zeros" (preallocated), "torn" (begins like the next batch) or "garbage" (neither).
    """

    kind: str
    position: int
    size_bytes: int

    @property
    def summary(self) -> Message:
        if self.size_bytes > READ_BYTES:
            return message("tail.long", size=self.size_bytes)
        if self.kind == "torn":
            return message("tail.torn")
        if self.kind == "zeros":
            return message("tail.zeros", n=self.size_bytes)
        return message("tail.garbage", n=self.size_bytes)


def read(log: FileInfo, end_position: int, last_offset: int | None) -> Tail | None:
    """Returns the tail of a log; None: the log ends with a complete batch.

    Args:
        end_position: the end of the last complete batch.
        last_offset: the last offset of that batch; None: no batch.

    Raises:
        CannotOpen: the .log cannot be read.
    """
    if end_position >= log.size_bytes:
        return None
    tail_bytes = file.read(log.path, end_position, READ_BYTES)
    size_bytes = log.size_bytes - end_position
    return Tail(tail.kind(tail_bytes, last_offset, size_bytes), end_position, size_bytes)
