"""The building blocks of JSON lines: objects, problems, and columns that may be null."""

import json

import numpy as np

from kafkaviz.cli.dumping.lines import OptionalNumber, Part, Word
from kafkaviz.units import replace_surrogates

# a column for lines.render, or a list of parts
Columns = dict[str, np.ndarray | Word | list[Part]]


def line(kind: str, **fields) -> bytes:
    return json.dumps({"kind": kind} | fields, separators=(",", ":")).encode() + b"\n"


def problem(code: str, position: int | None, size_bytes: int | None, message: str) -> bytes:
    return line(
        "problem",
        code=code,
        position=position,
        size_bytes=size_bytes,
        message=replace_surrogates(message),
    )


def unwritten_line(position: int, size_bytes: int) -> bytes:
    """Returns the line for bytes that were preallocated and never written."""
    return line("unwritten", position=position, size_bytes=size_bytes)


def nullable(numbers: np.ndarray, is_present: np.ndarray) -> list[Part]:
    """Returns a column of numbers that is null where `is_present` is False."""
    return [Word(is_present, ("null", "")), OptionalNumber(numbers, is_present)]


def flag_or_null(flags: np.ndarray, is_present: np.ndarray) -> Word:
    return Word(np.where(is_present, flags.astype("i8"), 2), ("false", "true", "null"))


def objects(kind: str, columns: Columns) -> list[Part]:
    """Returns the parts that lines.render needs for one object per row."""
    parts: list[Part] = [f'{{"kind":"{kind}"']
    for name, column in columns.items():
        parts.append(f',"{name}":')
        parts += column if isinstance(column, list) else [column]
    return [*parts, "}\n"]
