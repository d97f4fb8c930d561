"""What commands print of their own: on any terminal, in any encoding, with digits that can be
pasted.
"""

import json
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from kafkaviz import units


def set_up() -> None:
    """Lets nothing that is printed end a command: what an encoding does not have is written out, as
    \\u2013.
    """
    streams: tuple[Any, ...] = sys.stdout, sys.stderr
    for stream in streams:
        with suppress(AttributeError):  # of a stream that somebody put in the place of a real one
            stream.reconfigure(errors="backslashreplace")


def to_one_line(text: str) -> str:
    """Words for one line: names in them cannot drive the terminal, and digits stand without spaces
    between.
    """
    return units.escape_line(units.ungroup(text))


def say(lines: Iterable[str]) -> None:
    """Prints lines."""
    print("\n".join(map(to_one_line, lines)))


def say_json(value: dict) -> None:
    """Prints one object as JSON that is ASCII alone; bytes of names that are no UTF-8 become
    U+FFFD.
    """
    print(json.dumps(_legible(value)))


def say_newer(because: str, directory: str = "") -> None:
    """On stderr, where a directory is newer than any release that is known, that it is read as the
    newest; directory: whose directory.
    """
    from kafkaviz.analysis.inference.version import newer_than_known

    if warning := newer_than_known(because):
        print(
            to_one_line(f"kafkaviz: {directory}{': ' if directory else ''}{warning}"),
            file=sys.stderr,
        )


def _legible(value):
    """The same, each text of it legible and its digits plain."""
    if isinstance(value, str):
        return units.replace_surrogates(units.ungroup(value))
    if isinstance(value, dict):
        return {name: _legible(part) for name, part in value.items()}
    return [_legible(part) for part in value] if isinstance(value, list | tuple) else value
