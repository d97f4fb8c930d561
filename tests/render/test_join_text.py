"""Lists in a sentence: as each language joins them."""

import pytest

from kafkaviz import messages
from kafkaviz.render import sentences
from kafkaviz.render.sentences import count_phrase, join_with_others, number_word

JOINED = {  # function, parts: in English, in Chinese
    (sentences.join_comma, ("a", "b", "c")): ("a, b, c", "a、b、c"),
    (sentences.join_details, ("a", "b")): ("a, b", "a，b"),
    (sentences.join_each_and, ("4096", "8192")): ("4096 and 8192", "4096 和 8192"),
    (sentences.join_each_and, ("索引", "日志")): ("索引 and 日志", "索引和日志"),
    (sentences.join_each_and, ("2 次探测", "1 页")): ("2 次探测 and 1 页", "2 次探测和 1 页"),
    (sentences.join_and, ("a",)): ("a", "a"),
    (sentences.join_and, ("a", "b", "c")): ("a, b and c", "a、b 和 c"),
    (sentences.join_or, ("a", "b", "c")): ("a, b or c", "a、b 或 c"),
    (sentences.join_each_or, ("a", "b")): ("a or b", "a 或 b"),
    (sentences.join_semicolon, ("a", "b")): ("a; b", "a；b"),
    (sentences.join_sentences, ("A.", "", "B.")): ("A. B.", "A.B."),
    (sentences.join_sentences, ()): ("", ""),
}


@pytest.mark.parametrize("spoken", messages.LANGUAGES)
@pytest.mark.parametrize(("join", "parts"), JOINED)
def test_parts_are_joined(join, parts, spoken):
    """With the signs of the language; 和 is spaced only next to Latin letters."""
    with messages.speaking(spoken):
        assert join(parts) == JOINED[join, parts][spoken == "zh"]


def test_what_is_left_out_is_counted():
    assert join_with_others(["a", "b"], 3) == "a, b and 3 more"
    assert join_with_others(["a"], 0) == "a"


def test_a_small_number_is_a_word():
    """A large number is in digits; in Chinese all are."""
    assert [number_word(number) for number in (0, 1, 12, 13)] == ["no", "one", "twelve", "13"]
    assert count_phrase("common.n_segments", 1) == "one segment"
    assert count_phrase("common.n_segments", 3) == "three segments"
    assert messages.text_in("zh", "common.numbers").split() == [str(number) for number in range(13)]
