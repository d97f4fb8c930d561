"""The parts that JSON lines consist of.

Objects, problems, and columns that are null in some rows.
"""

import json

import numpy as np

from kafkaviz.cli.dumping.lines import OptionalNumber, Part, Word
from kafkaviz.units import replace_surrogates

# a column as lines.render has it, or more parts in a list
Columns = dict[str, np.ndarray | Word | list[Part]]


def line(kind: str, **fields) -> bytes:
    """One object as a line."""
    return json.dumps({"kind": kind} | fields, separators=(",", ":")).encode() + b"\n"


def problem(code: str, position: int | None, size_bytes: int | None, message: str) -> bytes:
    """Something wrong: its code in the list of findings, and the bytes it is about."""
    return line(
        "problem",
        code=code,
        position=position,
        size_bytes=size_bytes,
        message=replace_surrogates(message),
    )


def unwritten_line(position: int, size_bytes: int) -> bytes:
    """Bytes that were set ahead and never written."""
    return line("unwritten", position=position, size_bytes=size_bytes)


def nullable(numbers: np.ndarray, is_present: np.ndarray) -> list[Part]:
    """A column of numbers, null where none is there."""
    return [Word(is_present, ("null", "")), OptionalNumber(numbers, is_present)]


def flag_or_null(flags: np.ndarray, is_present: np.ndarray) -> Word:
    """true, false or null."""
    return Word(np.where(is_present, flags.astype("i8"), 2), ("false", "true", "null"))


def objects(kind: str, columns: Columns) -> list[Part]:
    """What lines.render takes for a line a row: one object each."""
    parts: list[Part] = [f'{{"kind":"{kind}"']
    for name, column in columns.items():
        parts.append(f',"{name}":')
        parts += column if isinstance(column, list) else [column]
    return [*parts, "}\n"]
