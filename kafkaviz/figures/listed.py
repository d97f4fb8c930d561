"""Several things as one text, as each language joins them, and a small number as a word.

listed(["a", "b", "c"])     a, b, c         clauses(["a", "b"])     a; b
named(["a", "b", "c"])      a, b and c      sentences(["A.", "", "B."])     A. B.
"""

import re
from collections.abc import Callable, Iterable
from functools import reduce

from kafkaviz import units
from kafkaviz.words import counted, say

# a blank stands between it and a Latin letter alone
HAN = re.compile(r"[\u3000-\u9fff\uff00-\uffef]")


def listed(parts: Iterable[str]) -> str:
    """Things of one kind: a, b, c. Nothing of nothing, here and below."""
    return _joined("common.list", parts)


def beside(parts: Iterable[str]) -> str:
    """What is said of one thing, with commas."""
    return _joined("common.comma", parts)


def both(parts: Iterable[str]) -> str:
    """With an and between any two."""
    return _joined("common.and", parts)


def named(parts: Iterable[str]) -> str:
    """A; A and B; A, B and C."""
    return _last_by(both, parts)


def one_of(parts: Iterable[str]) -> str:
    """A; A or B; A, B or C."""
    return _last_by(either, parts)


def either(parts: Iterable[str]) -> str:
    """With an or between any two."""
    return _joined("common.or", parts)


def clauses(parts: Iterable[str]) -> str:
    """With semicolons."""
    return _joined("common.semicolon", parts)


def sentences(parts: Iterable[str]) -> str:
    """One after the other, those that are empty left out."""
    return _joined("common.then", filter(None, parts))


def gap() -> str:
    """What stands between two sentences, for a figure that speaks in the browser."""
    return say("common.then", first="", next="")


def and_more(parts: Iterable[str], more: int) -> str:
    """The same as listed, and how many are left out."""
    return (
        say("common.and_others", names=listed(parts), n=units.group(more))
        if more
        else listed(parts)
    )


def many(key: str, count: int) -> str:
    """A text of a number of things, a small number as a word: one log, three logs, 24 logs."""
    return counted(key, count, n=number(count))


def number(count: int) -> str:
    """A small number as a word."""
    small = say("common.numbers").split()
    return small[count] if count < len(small) else units.group(count)


def _last_by(join: Callable[[Iterable[str]], str], parts: Iterable[str]) -> str:
    *first, last = list(parts) or [""]
    return join(filter(None, (listed(first), last)))


def _joined(key: str, parts: Iterable[str]) -> str:
    return (
        reduce(lambda first, next: first + _between(key, first, next) + next, found)
        if (found := list(parts))
        else ""
    )


def _between(key: str, first: str, next: str) -> str:
    """What stands between two; 和 has a blank beside a Latin letter and none beside another Han
    character.
    """
    between = say(key, first="", next="")
    if not HAN.search(between):
        return between
    left = between.lstrip() if HAN.match(first[-1:]) else between
    return left.rstrip() if HAN.match(next[:1]) else left
