"""What a command is doing, on stderr while it works."""

import sys
import time
from collections.abc import Callable, Mapping

from kafkaviz import units
from kafkaviz.cli.common import output
from kafkaviz.messages import Text, say

LINE_EVERY_S, PLAIN_EVERY_S = 0.2, 5.0  # on a terminal; where the lines are kept


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


class ByteProgress:
    """How much of the bytes to be read is read: a line that changes, or a line now and then.

    Where there is no terminal, nothing is said of what takes less than PLAIN_EVERY_S.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._sizes: Mapping[str, int] = {}
        self._total_bytes = 0
        self._line, self._clock = ProgressLine(), clock
        self._interval_s = LINE_EVERY_S if self._line.is_terminal else PLAIN_EVERY_S
        self._started_s = self._shown_s = clock()
        self._before_bytes, self._source = 0, ""

    def expect(self, sizes: Mapping[str, int]) -> None:
        """Takes how many bytes each file has, by the name that `show` gets."""
        self._sizes, self._total_bytes = sizes, sum(sizes.values())

    def show(self, source: str, share: float) -> None:
        """Says how far it is; what another source was named for before is read.

        Args:
            share: of this source, from 0 to 1.
        """
        if source != self._source:
            self._before_bytes += self._sizes.get(self._source, 0)
            self._source = source
        now_s = self._clock()
        if now_s - self._shown_s < self._interval_s:
            return
        self._shown_s = now_s
        done_bytes = self._before_bytes + int(share * self._sizes.get(source, 0))
        text = say(
            "cli.reading_bytes",
            source=source,
            done=done_bytes,
            # a log whose settings were guessed wrong is read twice
            total=max(self._total_bytes, done_bytes),
            speed=units.rate(done_bytes / (now_s - self._started_s)),
        )
        self._line.show(text, text)

    def clear(self) -> None:
        """Empties the line, if one was shown."""
        self._line.clear()
