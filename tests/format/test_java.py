import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaviz.format import java


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (1048576.0, "1048576.0"),
        (1e7, "1.0E7"),
        (9999999.0, "9999999.0"),
        (1e-3, "0.001"),
        (1e-4, "1.0E-4"),
        (0.00123, "0.00123"),
        (-1.5, "-1.5"),
        (1e300, "1.0E300"),
        (5e-324, "4.9E-324"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (12345678.9, "1.23456789E7"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        (float("nan"), "NaN"),
    ],
)
def test_a_double_is_written_as_double_to_string_does(number, text):
    """Double.toString of Java 25 gave the expected text."""
    assert java.format_double(number) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_double_comes_back(number):
    """Every form is the same number, with a digit on each side of the point."""
    text = java.format_double(number)
    assert struct.pack(">d", float(text)) == struct.pack(">d", number)
    assert all(part[-1:].isdigit() for part in text.partition("E")[0].split("."))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a\xed\xa0\x80b", "a\ufffdb"),
        (b"\xed\xa0", "\ufffd"),
        (b"\xed\xa0A", "\ufffdA"),
        (b"\xf0\x80\x90\x80", "\ufffd" * 4),
        (b"\xf4\x90\x80\x80", "\ufffd" * 4),
        (b"\xc0\xaf", "\ufffd" * 2),
        (b"\xe2\x82b", "\ufffdb"),
        (b"\xf0\x9f\x98", "\ufffd"),
        (b"\xffA", "\ufffdA"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        ("é𝄞".encode(), "é𝄞"),
    ],
)
def test_malformed_bytes_become_as_many_marks_as_in_java(data, text):
    """new String(bytes, UTF_8) on Java 17 gave the expected text."""
    assert java.decode_utf8(data) == text
