"""Several things as one text, as each language joins them, and a small number as a word.

join_comma(["a", "b", "c"])     a, b, c         join_semicolon(["a", "b"])          a; b
join_and(["a", "b", "c"])       a, b and c      join_sentences(["A.", "", "B."])    A. B.
"""

import re
from collections.abc import Callable, Iterable
from functools import reduce

from kafkaviz import units
from kafkaviz.messages import say, say_count

# a blank stands between it and a Latin letter alone
HAN = re.compile(r"[\u3000-\u9fff\uff00-\uffef]")


def join_comma(parts: Iterable[str]) -> str:
    """Things of one kind: a, b, c. Nothing of nothing, here and below."""
    return _join("common.list", parts)


def join_details(parts: Iterable[str]) -> str:
    """What is said of one thing, with commas."""
    return _join("common.comma", parts)


def join_each_and(parts: Iterable[str]) -> str:
    """With an and between any two."""
    return _join("common.and", parts)


def join_and(parts: Iterable[str]) -> str:
    """A; A and B; A, B and C."""
    return _join_last(join_each_and, parts)


def join_or(parts: Iterable[str]) -> str:
    """A; A or B; A, B or C."""
    return _join_last(join_each_or, parts)


def join_each_or(parts: Iterable[str]) -> str:
    """With an or between any two."""
    return _join("common.or", parts)


def join_semicolon(parts: Iterable[str]) -> str:
    """With semicolons."""
    return _join("common.semicolon", parts)


def join_sentences(parts: Iterable[str]) -> str:
    """One after the other, those that are empty left out."""
    return _join("common.then", filter(None, parts))


def sentence_gap() -> str:
    """What stands between two sentences, for a figure that speaks in the browser."""
    return say("common.then", first="", next="")


def join_with_others(parts: Iterable[str], left_out_count: int) -> str:
    """The same as listed, and how many are left out."""
    return (
        say_count("common.and_others", left_out_count, names=join_comma(parts))
        if left_out_count
        else join_comma(parts)
    )


def count_phrase(key: str, count: int) -> str:
    """A text of a number of things, a small number as a word: one log, three logs, 24 logs."""
    return say_count(key, count, n=number_word(count))


def number_word(count: int) -> str:
    """A small number as a word."""
    small_words = say("common.numbers").split()
    return small_words[count] if count < len(small_words) else units.group(count)


def _join_last(join_last: Callable[[Iterable[str]], str], parts: Iterable[str]) -> str:
    *head, last = list(parts) or [""]
    return join_last(filter(None, (join_comma(head), last)))


def _join(key: str, parts: Iterable[str]) -> str:
    return (
        reduce(lambda before, after: before + _separator(key, before, after) + after, texts)
        if (texts := list(parts))
        else ""
    )


def _separator(key: str, before: str, after: str) -> str:
    """What stands between two.

    和 has a blank beside a Latin letter and none beside another Han character.
    """
    separator = say(key, first="", next="")
    if not HAN.search(separator):
        return separator
    separator_left = separator.lstrip() if HAN.match(before[-1:]) else separator
    return separator_left.rstrip() if HAN.match(after[:1]) else separator_left
