"""Lists in a sentence: as each language joins them."""

import pytest

from kafkaviz import messages
from kafkaviz.figures.text.sentences import (
    count_phrase,
    join_and,
    join_comma,
    join_details,
    join_each_and,
    join_each_or,
    join_or,
    join_semicolon,
    join_sentences,
    join_with_others,
    number_word,
)

JOINED = {  # function, parts: in English, in Chinese
    (join_comma, ("a", "b", "c")): ("a, b, c", "a、b、c"),
    (join_details, ("a", "b")): ("a, b", "a，b"),
    (join_each_and, ("4096", "8192")): ("4096 and 8192", "4096 和 8192"),
    (join_each_and, ("索引", "日志")): ("索引 and 日志", "索引和日志"),
    (join_each_and, ("2 次探测", "1 页")): ("2 次探测 and 1 页", "2 次探测和 1 页"),
    (join_and, ("a",)): ("a", "a"),
    (join_and, ("a", "b", "c")): ("a, b and c", "a、b 和 c"),
    (join_or, ("a", "b", "c")): ("a, b or c", "a、b 或 c"),
    (join_each_or, ("a", "b")): ("a or b", "a 或 b"),
    (join_semicolon, ("a", "b")): ("a; b", "a；b"),
    (join_sentences, ("A.", "", "B.")): ("A. B.", "A.B."),
    (join_sentences, ()): ("", ""),
}


@pytest.mark.parametrize("spoken", messages.LANGUAGES)
@pytest.mark.parametrize(("join", "parts"), JOINED)
def test_parts_are_joined(join, parts, spoken, monkeypatch):
    """With the signs of the language; 和 is spaced only next to Latin letters."""
    monkeypatch.setattr(messages, "_language_sources", [lambda: spoken])
    assert join(parts) == JOINED[join, parts][spoken == "zh"]


def test_what_is_left_out_is_counted():
    assert (
        join_with_others(["a", "b"], 3) == "a, b and 3 more" and join_with_others(["a"], 0) == "a"
    )


def test_a_small_number_is_a_word():
    """A large number is in digits; in Chinese all are."""
    assert [number_word(number) for number in (0, 1, 12, 13)] == ["no", "one", "twelve", "13"]
    assert (
        count_phrase("common.n_segments", 1) == "one segment"
        and count_phrase("common.n_segments", 3) == "three segments"
    )
    assert messages.text_in("zh", "common.numbers").split() == [str(number) for number in range(13)]
