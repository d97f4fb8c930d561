"""What commands print of their own.

On any terminal, in any encoding, with digits that can be pasted.
"""

import json
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from typing import Any
from unicodedata import east_asian_width

from kafkaviz import units
from kafkaviz.messages import Message, Text, language, render

PIPED_WIDTH = 118  # of a line where there is no terminal, in columns
# A narrower line breaks names, and a wider one is hard to read.
MIN_WIDTH, MAX_WIDTH = 60, 160
# The version of each JSON form. It goes up when a field is removed, renamed or changes its
# meaning; a new field leaves it as it is.
SCHEMAS = {
    "calibrate": 1,
    "check": 1,
    "compare": 1,
    "compare-catalogs": 1,
    "dump": 1,
    "ingest": 1,
    "lookup": 1,
    "lookup-index": 1,
    "rebuild": 1,
    "report": 1,
    "simulate": 1,
    "simulate-list": 1,
    "tiered": 1,
    "tune": 1,
}
# compiled when a line is wide: that takes a fortieth of a small command's time
_WIDE = r"[\u2e80-\uffef]"
# a character of Chinese or a word, with the blanks and the punctuation that stay behind it
_BREAKABLE = r"(?:[（「《“]*(?:[\u2e80-\uffef]|[^\s\u2e80-\uffef]+)[，。；：、！？）」》”]*\s*|\s+)"


def set_up() -> None:
    r"""Lets nothing that is printed end a command.

    What an encoding does not have is written out, as \u2013.
    """
    streams: tuple[Any, ...] = sys.stdout, sys.stderr
    for stream in streams:
        with suppress(AttributeError):  # of a stream that somebody put in the place of a real one
            stream.reconfigure(errors="backslashreplace")


def to_one_line(text: Text) -> str:
    """Words for one line.

    Names in them cannot drive the terminal, and digits stand without spaces between.
    """
    return units.escape_line(
        units.ungroup(text if isinstance(text, str) else text.render(language()))
    )


def say(lines: Iterable[Text]) -> None:
    """Prints lines; on a terminal those that are too long for it continue indented."""
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
    """Prints a line beside the result, on stderr."""
    print(to_one_line(text), file=sys.stderr, flush=True)


def pad(text: str, width: int, align: str = "<") -> str:
    """A text in a column: a letter of 中文 takes two places."""
    blanks = " " * max(width - _display_width(text), 0)
    return blanks + text if align == ">" else text + blanks


def line_width() -> int:
    """Returns the columns of a line: those of the terminal, within bounds.

    The variable COLUMNS comes first, as in other tools.
    """
    columns = shutil.get_terminal_size((PIPED_WIDTH, 0)).columns
    return min(max(columns, MIN_WIDTH), MAX_WIDTH)


def wrap(
    text: Text, start: str = "", *, breaks_words: bool = False, hanging: str = ""
) -> Iterator[str]:
    """A text in lines, start in front of the first; none of an empty text.

    Args:
        hanging: what lines after the first are indented by, beyond `start`.
        breaks_words: behind a hyphen too. Chinese may break between any two of its characters, but
            before no punctuation.
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
    row, room = start, width - _display_width(start)
    for unit in re.findall(_BREAKABLE, line):
        if _display_width(unit.rstrip()) > room and row.strip() != start.strip():
            yield row.rstrip()
            row, start, room = indent, "", width - len(indent)
            unit = unit.lstrip()
        row, room = row + unit, room - _display_width(unit)
    yield row.rstrip()


def _display_width(text: str) -> int:
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def schema(form: str) -> str:
    """Returns what `"schema"` holds in a JSON form of SCHEMAS: its name and version, `check/1`."""
    return f"{form}/{SCHEMAS[form]}"


def say_json(form: str, value: dict) -> None:
    """Prints one object as ASCII JSON that begins with its schema.

    Bytes of names that are not UTF-8 become U+FFFD.

    Args:
        form: a name in SCHEMAS.
    """
    print(json.dumps({"schema": schema(form)} | _legible(value)))


def say_newer(warning: Message | None, directory: str = "") -> None:
    """Warns that a directory is newer than any release that is known.

    It says on stderr that the directory is read as the newest.
    """
    if warning:
        note(f"kafkaviz: {directory}{': ' if directory else ''}{render(warning)}")


def _legible(value):
    """The same, each text of it legible and its digits plain."""
    if isinstance(value, str | Message):
        value = str(value)
        return units.replace_surrogates(units.ungroup(value))
    if isinstance(value, dict):
        return {name: _legible(part) for name, part in value.items()}
    return [_legible(part) for part in value] if isinstance(value, list | tuple) else value
