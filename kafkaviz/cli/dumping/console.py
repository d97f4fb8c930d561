"""Where a dump goes: two byte streams, the first written in big blocks."""

from typing import BinaryIO

from kafkaviz.units import escape_controls

BLOCK_BYTES = 1 << 20


class ReaderGone(Exception):
    """Whoever reads the output has closed it.

    No OSError, which while a file is open would be taken for a fault of that file.
    """


class Console:
    """stdout and stderr; what is said on stderr stands behind all that was printed before it."""

    def __init__(self, out: BinaryIO, err: BinaryIO) -> None:
        self._out, self._err, self._pending, self._pending_bytes = out, err, [], 0

    def write(self, part: bytes | memoryview) -> None:
        """Prints bytes as they are; an array must not be changed afterwards."""
        self._pending.append(part)
        self._pending_bytes += len(part)
        if self._pending_bytes >= BLOCK_BYTES:
            self._hand_on()

    def line(self, text: str) -> None:
        """Prints a line; names of files come back as the bytes they are."""
        self.write(f"{text}\n".encode("utf-8", "surrogateescape"))

    def complain(self, text: str) -> None:
        """Prints on stderr."""
        self.flush()
        self._err.write(_escape_for_terminal(self._err, text.encode("utf-8", "surrogateescape")))
        self._err.flush()

    def flush(self) -> None:
        """Hands on all that waits."""
        self._hand_on()

    def _hand_on(self) -> None:
        data = self._pending[0] if len(self._pending) == 1 else b"".join(self._pending)
        self._pending, self._pending_bytes = [], 0
        try:
            self._out.write(_escape_for_terminal(self._out, data))
            self._out.flush()
        except BrokenPipeError:
            raise ReaderGone from None


def _escape_for_terminal(stream: BinaryIO, data: bytes) -> bytes:
    """Kafka's bytes.

    On a terminal what would drive it is written out, which Kafka's tool does not.
    """
    if not stream.isatty():
        return data
    return (
        escape_controls(bytes(data).decode("utf-8", "surrogateescape"))
        .replace("\r", "\\r")
        .encode()
    )
