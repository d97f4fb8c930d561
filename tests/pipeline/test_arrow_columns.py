"""Columns of catalog.arrow_columns, compared with those that pyarrow makes of the same values."""

import numpy as np
import pyarrow as pa
import pytest

from kafkaviz.pipeline.catalog import arrow_columns
from kafkaviz.pipeline.catalog.arrow_columns import (
    column,
    list_column,
    numbers,
    numpy_column,
    repeated_texts,
)
from kafkaviz.pipeline.catalog.schema import BINARY, BOOL, DOUBLE, INT, LONG, STRING, SWEEP
from tests.pipeline.processes import run_python

VALUES = [
    (STRING, ["a", None, "", "中文", "bcd"]),
    (BINARY, [b"a", None, b"", b"\xff\x00", b"bcd"]),
    (BOOL, [True, None, False, *[True] * 20]),
    (INT, [0, -1, None, 2**31 - 1, -(2**31)]),
    (LONG, [2**63 - 1, None, -(2**63), np.int64(7)]),
    (DOUBLE, [0.5, None, 3, float("inf")]),
    *(
        (kind, values)
        for kind in (STRING, BINARY, BOOL, INT, LONG, DOUBLE)
        for values in ([], [None])
    ),
]


@pytest.mark.parametrize(("kind", "values"), VALUES)
def test_a_column_is_the_one_of_pyarrow(kind, values):
    made = column(values, kind)
    made.validate(full=True)
    assert made.equals(pa.array(values, kind))


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "u4", "i8"])
def test_numbers_of_every_width_become_a_column(dtype):
    """Every second number, so that they are not adjacent; some are null."""
    values, is_absent = np.arange(40, dtype=dtype)[::2], np.arange(20) % 3 == 0
    made = numpy_column(values, LONG, is_absent)
    made.validate(full=True)
    assert made.equals(pa.array(values.copy(), LONG, mask=is_absent))


def test_bools_become_bits():
    values = np.arange(21) % 3 == 0
    assert numpy_column(values, BOOL).equals(pa.array(values))


def test_texts_are_repeated():
    made = repeated_texts(["ab", None, "c", "d"], [2, 1, 0, 3])
    made.validate(full=True)
    assert made.to_pylist() == ["ab", "ab", None, "d", "d", "d"]


@pytest.mark.parametrize(
    ("kind", "value", "error"),
    [
        (INT, 2**31, OverflowError),
        (LONG, 1.5, TypeError),
        (LONG, "1", TypeError),
        (BINARY, "text", TypeError),
    ],
)
def test_a_value_of_another_type_is_refused(kind, value, error):
    with pytest.raises(error):
        column([value], kind)


def test_a_number_that_does_not_fit_is_refused():
    with pytest.raises(OverflowError):
        numpy_column(np.array([2**31]), INT)
    with pytest.raises(TypeError):
        numpy_column(np.array([1.5]), LONG)


@pytest.mark.parametrize(("start", "end"), [(0, 20), (3, 17), (5, 5)])
def test_numbers_of_a_column_are_those_of_pyarrow(start, end):
    """Also of a slice that does not begin at a byte of the validity bits."""
    made = pa.array([None if row % 3 == 0 else row for row in range(20)], LONG)[start:end]
    values, is_absent = numbers(made)
    assert is_absent.tolist() == made.is_null().to_pylist()
    assert values[~is_absent].tolist() == made.drop_null().to_pylist()


def test_lists_become_a_column():
    items, counts = column(["a", "b", "c"], STRING), np.array([2, 0, 1, 0])
    made = list_column(items, counts, np.array([False, False, False, True]))
    made.validate(full=True)
    assert made.equals(pa.array([["a", "b"], [], ["c"], None]))
    assert list_column(items, counts).to_pylist() == [["a", "b"], [], ["c"], []]


def test_texts_of_more_than_two_gib_are_refused():
    with pytest.raises(OverflowError):
        repeated_texts(["x" * 1024], [2**21])


def test_a_table_has_null_where_a_row_says_nothing():
    rows = [{"broker": "b", "headers_mean": 1.5}, {"entries": 3}]
    assert arrow_columns.table(rows, SWEEP).equals(pa.Table.from_pylist(rows, SWEEP))


def test_a_column_needs_no_pandas():
    code = (
        "import sys, numpy as np\n"
        "from kafkaviz.pipeline.catalog import arrow_columns\n"
        "from kafkaviz.pipeline.catalog.schema import SWEEP\n"
        "arrow_columns.table([{'broker': 'b'}], SWEEP)\n"
        "print('pandas' in sys.modules)"
    )
    assert run_python(code) == "False\n"
