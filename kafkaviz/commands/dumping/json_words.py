"""The parts that JSON lines are made of: objects, problems, and columns that are null in some
rows.
"""

import json

import numpy as np

from kafkaviz.commands.dumping.lines import Masked, Part, Word
from kafkaviz.units import encodable

# a column as lines.render has it, or more parts in a list
Columns = dict[str, np.ndarray | Word | list[Part]]


def line(kind: str, **fields) -> bytes:
    """One object as a line."""
    return json.dumps({"kind": kind} | fields, separators=(",", ":")).encode() + b"\n"


def problem(code: str, position: int | None, size_bytes: int | None, message: str) -> bytes:
    """Something wrong: its code in the list of findings, and the bytes it is about."""
    return line(
        "problem", code=code, position=position, size_bytes=size_bytes, message=encodable(message)
    )


def unwritten(position: int, size_bytes: int) -> bytes:
    """Bytes that were set ahead and never written."""
    return line("unwritten", position=position, size_bytes=size_bytes)


def nullable(numbers: np.ndarray, there: np.ndarray) -> list[Part]:
    """A column of numbers, null where none is there."""
    return [Word(there, ("null", "")), Masked(numbers, there)]


def flag_or_null(flags: np.ndarray, there: np.ndarray) -> Word:
    """true, false or null."""
    return Word(np.where(there, flags.astype("i8"), 2), ("false", "true", "null"))


def objects(kind: str, columns: Columns) -> list[Part]:
    """What lines.render takes for a line a row: one object each."""
    parts: list[Part] = [f'{{"kind":"{kind}"']
    for name, column in columns.items():
        parts.append(f',"{name}":')
        parts += column if isinstance(column, list) else [column]
    return [*parts, "}\n"]
