"""The output of a dump: stdout, written in large blocks, and stderr."""

from typing import BinaryIO

from kafkaviz.units import escape_controls

BLOCK_BYTES = 1 << 20


class ReaderGone(Exception):
    """The reader of the output has closed it.

    Not an OSError, because that would count as a fault of the file that is open.
    """


class Console:
    """stdout and stderr; a message on stderr comes after all that was printed before it."""

    def __init__(self, out: BinaryIO, err: BinaryIO) -> None:
        self._out = out
        self._err = err
        self._pending = []
        self._pending_bytes = 0

    def write(self, part: bytes | memoryview) -> None:
        """Prints bytes unchanged; the caller must not change an array afterwards."""
        self._pending.append(part)
        self._pending_bytes += len(part)
        if self._pending_bytes >= BLOCK_BYTES:
            self._hand_on()

    def line(self, text: str) -> None:
        """Prints a line; undecodable bytes of file names are printed unchanged."""
        self.write(f"{text}\n".encode("utf-8", "surrogateescape"))

    def complain(self, text: str) -> None:
        self.flush()
        self._err.write(_escape_for_terminal(self._err, text.encode("utf-8", "surrogateescape")))
        self._err.flush()

    def flush(self) -> None:
        self._hand_on()

    def _hand_on(self) -> None:
        data = self._pending[0] if len(self._pending) == 1 else b"".join(self._pending)
        self._pending = []
        self._pending_bytes = 0
        try:
            self._out.write(_escape_for_terminal(self._out, data))
            self._out.flush()
        except BrokenPipeError:
            raise ReaderGone from None


def _escape_for_terminal(stream: BinaryIO, data: bytes) -> bytes:
    """Returns the bytes; on a terminal, control characters are escaped.

    Kafka's tool does not escape them.
    """
    if not stream.isatty():
        return data
    return (
        escape_controls(bytes(data).decode("utf-8", "surrogateescape"))
        .replace("\r", "\\r")
        .encode()
    )
