"""Lists in a sentence: as each language joins them."""

import pytest

from kafkaviz import words
from kafkaviz.figures import listed
from kafkaviz.figures.listed import (
    and_more,
    beside,
    both,
    clauses,
    either,
    many,
    named,
    number,
    one_of,
    sentences,
)

JOINED = {  # function, parts: in English, in Chinese
    (listed.listed, ("a", "b", "c")): ("a, b, c", "a、b、c"),
    (beside, ("a", "b")): ("a, b", "a，b"),
    (both, ("4096", "8192")): ("4096 and 8192", "4096 和 8192"),
    (both, ("索引", "日志")): ("索引 and 日志", "索引和日志"),
    (both, ("2 次探测", "1 页")): ("2 次探测 and 1 页", "2 次探测和 1 页"),
    (named, ("a",)): ("a", "a"),
    (named, ("a", "b", "c")): ("a, b and c", "a、b 和 c"),
    (one_of, ("a", "b", "c")): ("a, b or c", "a、b 或 c"),
    (either, ("a", "b")): ("a or b", "a 或 b"),
    (clauses, ("a", "b")): ("a; b", "a；b"),
    (sentences, ("A.", "", "B.")): ("A. B.", "A.B."),
    (sentences, ()): ("", ""),
}


@pytest.mark.parametrize("spoken", words.LANGUAGES)
@pytest.mark.parametrize(("join", "parts"), JOINED)
def test_parts_are_joined(join, parts, spoken, monkeypatch):
    """With the signs of the language; 和 stands apart from Latin letters alone."""
    monkeypatch.setattr(words, "_asked", [lambda: spoken])
    assert join(parts) == JOINED[join, parts][spoken == "zh"]


def test_what_is_left_out_is_counted():
    """Nothing is said of nothing more."""
    assert and_more(["a", "b"], 3) == "a, b and 3 more" and and_more(["a"], 0) == "a"


def test_a_small_number_is_a_word():
    """A large one is not; in Chinese none is."""
    assert [number(one) for one in (0, 1, 12, 13)] == ["no", "one", "twelve", "13"]
    assert (
        many("common.n_segments", 1) == "one segment"
        and many("common.n_segments", 3) == "three segments"
    )
    assert words.text_in("zh", "common.numbers").split() == [str(one) for one in range(13)]
