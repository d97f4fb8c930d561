"""Lines made of columns equal those that an f-string makes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kafkaviz.cli.dumping.lines import OptionalNumber, Word, flag, render, render_lines

LONGS = st.integers(-(2**63), 2**63 - 1)


@given(st.lists(st.tuples(LONGS, LONGS, st.booleans(), st.integers(0, 2)), min_size=1, max_size=30))
def test_each_line_is_what_an_f_string_makes(rows):
    """Constant words, signed 64-bit numbers, choices, and hidden numbers."""
    words = ("none", "", "größer")
    plain = [
        f"a: {first} b: {second if is_shown else ''}{'true' if is_shown else 'false'}|{words[word]}\n".encode()
        for first, second, is_shown, word in rows
    ]
    first, second, is_shown, word = (np.array(column) for column in zip(*rows, strict=True))
    lines, ends = render_lines(
        "a: ",
        first,
        " b: ",
        OptionalNumber(second, is_shown),
        flag(is_shown),
        "|",
        Word(word, words),
        "\n",
    )
    assert lines.tobytes() == b"".join(plain)
    assert np.diff(ends, prepend=0).tolist() == [len(line) for line in plain]


def test_columns_of_any_type_are_numbers():
    columns = [
        np.array([200, 255], "u1"),
        np.array([2**32 - 1, 0], "u4"),
        np.array([-2, 7], ">i2"),
        np.array([-1, -(2**31)], "i4"),
    ]
    parts = [part for column in columns for part in (column, " ")]
    assert render(*parts, "\n").tobytes() == b"200 4294967295 -2 -1 \n255 0 7 -2147483648 \n"


def test_no_row_is_no_line():
    assert render("offset: ", np.empty(0, np.int64), "\n").tobytes() == b""
