"""Printing for all commands: on any terminal, in any encoding, with digits that can be pasted."""

import json
import re
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from typing import Any
from unicodedata import east_asian_width

from kafkaviz import units
from kafkaviz.jobs import ReadMeter, ReadProgress
from kafkaviz.messages import Message, Text, message, render

PIPED_WIDTH = 118  # width of a line if the output is not a terminal
MIN_WIDTH = 60  # narrower lines break names
MAX_WIDTH = 160  # wider lines are hard to read
# The version of each JSON form. It must be raised if a field is removed, renamed or changes its
# meaning, but not if a field is added.
SCHEMAS = {
    "calibrate": 1,
    "check": 1,
    "commits": 1,
    "compaction": 1,
    "compare": 1,
    "compare-catalogs": 1,
    "dump": 1,
    "ingest": 1,
    "key": 1,
    "lookup": 1,
    "lookup-index": 1,
    "rebuild": 1,
    "records": 1,
    "report": 1,
    "simulate": 1,
    "simulate-list": 1,
    "tiered": 1,
    "transactions": 1,
    "tune": 1,
}
# compiled only when a line has wide characters, because that takes 1/40 of a small command's time
_WIDE = r"[\u2e80-\uffef]"
# a Chinese character or a word, with the spaces and the punctuation that must follow it
_BREAKABLE = r"(?:[（「《“]*(?:[\u2e80-\uffef]|[^\s\u2e80-\uffef]+)[，。；：、！？）」》”]*\s*|\s+)"


def set_up() -> None:
    r"""Makes stdout and stderr escape characters that their encoding lacks, such as \u2013."""
    streams: tuple[Any, ...] = sys.stdout, sys.stderr
    for stream in streams:
        with suppress(AttributeError):  # a stream that was replaced, as in a test
            stream.reconfigure(errors="backslashreplace")


def to_one_line(text: Text) -> str:
    """Returns the text as one line, with control characters escaped and digits not grouped."""
    return units.escape_line(units.ungroup(render(text)))


def say(lines: Iterable[Text]) -> None:
    """Prints lines. On a terminal, long lines are wrapped with an indent."""
    printed = map(to_one_line, lines)
    if sys.stdout.isatty():
        printed = chain.from_iterable(map(_fold, printed))
    print("\n".join(printed))


def _fold(line: str) -> Iterator[str]:
    if _display_width(line) <= line_width():
        return iter((line,))
    text = line.lstrip()
    return wrap(text, line[: len(line) - len(text)], hanging="  ")


def note(text: Text) -> None:
    """Prints a line on stderr."""
    print(to_one_line(text), file=sys.stderr, flush=True)


def pad(text: str, width: int, align: str = "<") -> str:
    """Pads a text to a column's width. A Chinese character is two columns wide."""
    blanks = " " * max(width - _display_width(text), 0)
    return blanks + text if align == ">" else text + blanks


def line_width() -> int:
    """Returns the terminal's width, or COLUMNS if set; at least MIN_WIDTH, at most MAX_WIDTH."""
    columns = shutil.get_terminal_size((PIPED_WIDTH, 0)).columns
    return min(max(columns, MIN_WIDTH), MAX_WIDTH)


def wrap(
    text: Text, start: str = "", *, breaks_words: bool = False, hanging: str = ""
) -> Iterator[str]:
    """Wraps a text into lines. An empty text gives no lines.

    Chinese text may break between any two characters, but not before punctuation.

    Args:
        start: the start of the first line; other lines are indented by its width.
        breaks_words: whether lines may also break after a hyphen.
        hanging: additional indentation of the lines after the first.
    """
    width = line_width()
    line = to_one_line(text)
    indent = " " * _display_width(start) + hanging
    if line.isascii() or not re.search(_WIDE, line):
        return iter(
            textwrap.wrap(
                line,
                width,
                initial_indent=start,
                subsequent_indent=indent,
                break_long_words=False,
                break_on_hyphens=breaks_words,
            )
        )
    return _wrap_wide(line, start, indent, width)


def _wrap_wide(line: str, start: str, indent: str, width: int) -> Iterator[str]:
    row = start
    room = width - _display_width(start)
    for unit in re.findall(_BREAKABLE, line):
        if _display_width(unit.rstrip()) > room and row.strip() != start.strip():
            yield row.rstrip()
            row = indent
            start = ""
            room = width - len(indent)
            unit = unit.lstrip()
        row = row + unit
        room = room - _display_width(unit)
    yield row.rstrip()


def _display_width(text: str) -> int:
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def schema(form: str) -> str:
    """Returns the `"schema"` of a JSON form: name and version, such as `check/1`."""
    return f"{form}/{SCHEMAS[form]}"


def say_json(form: str, value: dict) -> None:
    """Prints one ASCII JSON object, whose first key is "schema". `form` is a name in `SCHEMAS`.

    Bytes in file names that are not UTF-8 become U+FFFD.
    """
    print(json.dumps({"schema": schema(form)} | _legible(value)))


def say_newer(warning: Message | None, directory: str = "") -> None:
    """Prints a warning on stderr, if there is one: a newer, unknown release wrote a directory."""
    if warning:
        note(f"kafkaviz: {directory}{': ' if directory else ''}{render(warning)}")


def _legible(value):
    if isinstance(value, str | Message):
        value = str(value)
        return units.replace_surrogates(units.ungroup(value))
    if isinstance(value, dict):
        return {name: _legible(part) for name, part in value.items()}
    return [_legible(part) for part in value] if isinstance(value, list | tuple) else value


# shortest time between two updates: on a terminal, and elsewhere
LINE_EVERY_S = 0.2
PLAIN_EVERY_S = 5.0


class ProgressLine:
    """Shows progress on stderr.

    On a terminal, each text replaces the one before. Elsewhere, each text is a line.
    """

    def __init__(self) -> None:
        self.is_terminal = sys.stderr.isatty()
        self._is_shown = False
        self._plain_text: Text = ""

    def show(self, text: Text, plain_text: Text = "") -> None:
        """Shows `text` if stderr is a terminal. Otherwise prints `plain_text` on a line of its own.

        Does not print `plain_text` if it is "", or if it equals the last printed text.
        """
        if self.is_terminal:
            sys.stderr.write(f"\r{to_one_line(text)}\x1b[K")
            self._is_shown = True
        elif plain_text not in ("", self._plain_text):
            sys.stderr.write(f"{to_one_line(plain_text)}\n")
            self._plain_text = plain_text
        sys.stderr.flush()

    def clear(self) -> None:
        if self._is_shown:
            sys.stderr.write("\r\x1b[K")
            self._is_shown = False


class ByteProgress(ReadMeter):
    """Shows on stderr what share of all bytes has been read.

    If stderr is not a terminal, nothing is printed in the first `PLAIN_EVERY_S` seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(self._show_line)
        self._line = ProgressLine()
        self._clock = clock
        self._interval_s = LINE_EVERY_S if self._line.is_terminal else PLAIN_EVERY_S
        self._started_s = self._shown_s = clock()

    def _show_line(self, progress: ReadProgress) -> None:
        now_s = self._clock()
        if now_s - self._shown_s < self._interval_s:
            return
        self._shown_s = now_s
        text = message(
            "cli.reading_bytes",
            source=progress.name,
            done=progress.done_bytes,
            # a log whose settings were guessed wrong is read twice, which may exceed the total
            total=max(progress.total_bytes, progress.done_bytes),
            speed=units.rate(progress.done_bytes / (now_s - self._started_s)),
        )
        self._line.show(text, text)

    def clear(self) -> None:
        self._line.clear()
