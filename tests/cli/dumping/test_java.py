"""Java's behaviour where the output shows it: order of a hash map, paths, numbers, text."""

import pytest

from kafkaviz.cli.dumping import java
from kafkaviz.cli.dumping.java import JavaException
from kafkaviz.format import java as format_java


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("", 0),
        ("a", 97),
        ("hello", 99162322),
        ("é", 233),
        ("\U0001f600", 1772899),
        ("x" * 40, 847293440),
    ],
)
def test_a_string_has_javas_hash(text, number):
    """Values of String.hashCode, unsigned; a character beyond 16 bits counts as its two halves."""
    assert java.string_hash(text) == number


def test_the_order_is_that_of_a_hash_map(data):
    """Lists of 5 to 40 files as Kafka's tool was given them, and the order of its report."""
    cases = [line.split("|") for line in (data / "hash_orders.txt").read_text().splitlines()]
    assert [len(names.split(",")) for names, _ in cases] == [5, 12, 13, 14, 20, 30, 40]
    for names, ordered_names in cases:
        assert java.hash_order([f"/logs/{name}" for name in names.split(",")]) == [
            f"/logs/{name}" for name in ordered_names.split(",")
        ]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("a//b.log", "a/b.log"),
        ("a/", "a"),
        ("//a///", "/a"),
        ("/", "/"),
        ("", ""),
        ("./a", "./a"),
        ("a/../b", "a/../b"),
    ],
)
def test_a_path_loses_slashes_and_nothing_else(typed, expected):
    assert java.path(typed) == expected


def test_an_absolute_path_is_not_resolved(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert java.absolute("./a/../b.log") == f"{tmp_path}/./a/../b.log"
    assert java.absolute("/b.log") == "/b.log"


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("a,b", ["a", "b"]),
        ("a,,b,,", ["a", "", "b"]),
        (",a", ["", "a"]),
        (",", []),
        ("", [""]),
        ("a", ["a"]),
    ],
)
def test_a_list_is_split_as_java_splits(text, pieces):
    assert java.split_list(text) == pieces


@pytest.mark.parametrize(
    ("text", "number"),
    [("00000000000000000017", 17), ("+7", 7), ("-7", -7), ("9223372036854775807", 2**63 - 1)],
)
def test_a_long_is_read(text, number):
    assert java.parse_long(text) == number


@pytest.mark.parametrize("text", ["", "x", "1_0", " 7", "9223372036854775808", "+", "٣x"])
def test_what_is_no_long_ends_the_run(text):
    with pytest.raises(JavaException) as death:
        java.parse_long(text)
    exception = f'java.lang.NumberFormatException: For input string: "{text}"'
    assert death.value.text() == f'Exception in thread "main" {exception}\n'


@pytest.mark.parametrize("data", [b"plain", "é😀".encode(), b"a\xed\xa0\x80b"])
def test_text_is_decoded_as_java_decodes(data):
    assert java.decode_utf8(data) == format_java.decode_utf8(data).encode()
