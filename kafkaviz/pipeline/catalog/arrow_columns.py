"""Arrow columns of Python's values and of numpy's, put together from their bytes.

pyarrow.array makes them of anything, and with its first one imports pandas, to know pandas' own
values: 0.4 s of processor in each process, a tenth of a small ingest. So they are written here as
Arrow's format has them: a bit a row that is not null, and the values one behind the other; of texts
in front of these where each begins.

    ["a", None, "bcd"]    bits 0b101, begins 0 1 1 4, "abcd"
"""

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from kafkaviz.pipeline.catalog.schema import BOOL, DOUBLE, INT, LONG, STRING

# as module array and numpy name them
NUMBERS = {INT: ("i", np.int32), LONG: ("q", np.int64), DOUBLE: ("d", np.float64)}
LARGEST_OFFSET = 2**31 - 1  # in the texts of a column


def table(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """A table of rows; what a row does not have is null.

    Raises:
        TypeError: a value is of another type than its column, or OverflowError.
    """
    columns = [column([row.get(field.name) for row in rows], field.type) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def column(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """A column of Python's values, None for null.

    Raises:
        TypeError: a value is of another type, or OverflowError.
    """
    if kind == STRING:
        return repeated_texts(values, [1] * len(values))
    is_absent = np.fromiter((value is None for value in values), bool, len(values))
    if kind == BOOL:
        return numpy_column(np.array(list(map(bool, values)), bool), kind, is_absent)
    code, _ = NUMBERS[kind]
    # strict, unlike numpy: no float is an int here
    numbers = array(code, (0 if value is None else value for value in values))
    return _build(kind, len(values), [pa.py_buffer(numbers)], is_absent)


def numpy_column(
    values: np.ndarray, kind: pa.DataType, is_absent: np.ndarray | None = None
) -> pa.Array:
    """A column of an array of bools or numbers.

    Args:
        is_absent: where it is null.

    Raises:
        OverflowError: a number is none of that type.
    """
    if kind == BOOL:
        return _build(kind, len(values), [_bits(values)], is_absent)
    _, dtype = NUMBERS[kind]
    numbers = values.astype(dtype, casting="same_kind")
    if not np.can_cast(values.dtype, dtype) and not np.array_equal(numbers, values):
        raise OverflowError(f"a number is no {kind}")
    return _build(kind, len(values), [pa.py_buffer(numbers)], is_absent)


def repeated_texts(texts: Sequence[str | None], counts: Sequence[int]) -> pa.Array:
    """A column of texts, None for null.

    Args:
        counts: how often each comes, one behind the other.

    Raises:
        OverflowError: they take more than 2 GiB.
    """
    encoded = [b"" if text is None else text.encode() for text in texts]
    sizes = np.repeat(np.fromiter(map(len, encoded), np.int64, len(encoded)), counts)
    ends = np.cumsum(sizes)
    if len(ends) and ends[-1] > LARGEST_OFFSET:
        raise OverflowError("the texts of a column take more than 2 GiB")
    begins = np.zeros(len(sizes) + 1, np.int32)
    begins[1:] = ends
    data = b"".join(text * count for text, count in zip(encoded, counts, strict=True))
    is_absent = np.repeat(np.fromiter((text is None for text in texts), bool, len(texts)), counts)
    return _build(STRING, len(sizes), [pa.py_buffer(begins), pa.py_buffer(data)], is_absent)


def _build(
    kind: pa.DataType, length: int, buffers: Sequence[pa.Buffer], is_absent: np.ndarray | None
) -> pa.Array:
    """The array of these buffers."""
    validity = None if is_absent is None or not is_absent.any() else _bits(~is_absent)
    return pa.Array.from_buffers(kind, length, [validity, *buffers])


def _bits(values: np.ndarray) -> pa.Buffer:
    """A bit a bool, the lowest first."""
    return pa.py_buffer(np.packbits(values, bitorder="little"))
