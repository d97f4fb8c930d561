"""Progress of a command on stderr."""

import sys
import time
from collections.abc import Callable, Mapping

from kafkaviz import units
from kafkaviz.cli.common import output
from kafkaviz.messages import Text, say

# the shortest times between two lines: on a terminal, and elsewhere
LINE_EVERY_S = 0.2
PLAIN_EVERY_S = 5.0


class ProgressLine:
    """The progress shown on stderr.

    A terminal shows it in its last line, which changes until it is cleared. Elsewhere each text is
    a line of its own.
    """

    def __init__(self) -> None:
        self.is_terminal = sys.stderr.isatty()
        self._is_shown = False
        self._plain_text = ""

    def show(self, text: Text, plain_text: str = "") -> None:
        """Replaces the line.

        Args:
            plain_text: the line to write if stderr is not a terminal; a line equal to the last one
                is not written.
        """
        if self.is_terminal:
            sys.stderr.write(f"\r{output.to_one_line(text)}\x1b[K")
            self._is_shown = True
        elif plain_text not in ("", self._plain_text):
            sys.stderr.write(f"{output.to_one_line(plain_text)}\n")
            self._plain_text = plain_text
        sys.stderr.flush()

    def clear(self) -> None:
        if self._is_shown:
            sys.stderr.write("\r\x1b[K")
            self._is_shown = False


class ByteProgress:
    """The share of the bytes that has been read: a changing line, or plain lines at intervals.

    Without a terminal, nothing is printed for the first PLAIN_EVERY_S seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._sizes: Mapping[str, int] = {}
        self._total_bytes = 0
        self._line = ProgressLine()
        self._clock = clock
        self._interval_s = LINE_EVERY_S if self._line.is_terminal else PLAIN_EVERY_S
        self._started_s = self._shown_s = clock()
        self._before_bytes = 0
        self._source = ""

    def expect(self, sizes: Mapping[str, int]) -> None:
        self._sizes = sizes
        self._total_bytes = sum(sizes.values())

    def show(self, source: str, share: float) -> None:
        """Shows the progress; all sources shown before this one count as read.

        Args:
            share: the share of this source, from 0 to 1.
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
            # a log is read twice if its settings were guessed wrong
            total=max(self._total_bytes, done_bytes),
            speed=units.rate(done_bytes / (now_s - self._started_s)),
        )
        self._line.show(text, text)

    def clear(self) -> None:
        self._line.clear()
