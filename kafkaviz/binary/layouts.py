"""Structured dtypes: their fields, and files that are a sequence of equal rows."""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np


def field_names(layout: np.dtype) -> tuple[str, ...]:
    # numpy's own attribute is None for other dtypes
    return cast("tuple[str, ...]", layout.names)


def field_start(layout: np.dtype, name: str) -> int:
    return cast("Mapping[str, Any]", layout.fields)[name][1]


def parse_rows(layout: np.dtype, data: bytes | memoryview | np.ndarray) -> np.ndarray:
    """Returns the rows as an array of `layout`, without a copy. Leaves out a torn last row."""
    return np.frombuffer(data, layout, count=len(data) // layout.itemsize)


def build_rows(layout: np.dtype, rows: np.ndarray) -> bytes:
    """Returns the bytes of rows. `rows` is any array with the fields of `layout`."""
    stored_rows = np.empty(len(rows), layout)
    for name in field_names(layout):
        stored_rows[name] = rows[name]
    return stored_rows.tobytes()
