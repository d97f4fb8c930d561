"""What a command is doing, on stderr while it works."""

import sys

from kafkaviz.cli.common import output
from kafkaviz.messages import Text


class ProgressLine:
    """The last line of a terminal, which changes until it is cleared; elsewhere plain lines."""

    def __init__(self) -> None:
        self.is_terminal = sys.stderr.isatty()
        self._is_shown = False
        self._plain_text = ""

    def show(self, text: Text, plain_text: str = "") -> None:
        """Replaces the line.

        Args:
            plain_text: the line to write instead where no terminal is, if it is another than the
                last one.
        """
        if self.is_terminal:
            sys.stderr.write(f"\r{output.to_one_line(text)}\x1b[K")
            self._is_shown = True
        elif plain_text not in ("", self._plain_text):
            sys.stderr.write(f"{output.to_one_line(plain_text)}\n")
            self._plain_text = plain_text
        sys.stderr.flush()

    def clear(self) -> None:
        """Empties the line, if one was shown."""
        if self._is_shown:
            sys.stderr.write("\r\x1b[K")
            self._is_shown = False
