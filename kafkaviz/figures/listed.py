"""Several things in one sentence, as each language joins them: a, b, c; or two by and."""

from collections.abc import Iterable
from functools import reduce

from kafkaviz.words import say


def listed(parts: Iterable[str]) -> str:
    """With commas; nothing of nothing."""
    return _joined("common.comma", parts)


def both(parts: Iterable[str]) -> str:
    """With an and between any two."""
    return _joined("common.and", parts)


def sentences(parts: Iterable[str]) -> str:
    """One after the other, those that are empty left out."""
    return _joined("common.then", filter(None, parts))


def _joined(key: str, parts: Iterable[str]) -> str:
    found = list(parts)
    return reduce(lambda first, next: say(key, first=first, next=next), found[1:], found[0]) if found else ""
