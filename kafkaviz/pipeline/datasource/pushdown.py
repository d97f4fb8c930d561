"""What a query asks of the data source.

Our own options and Spark's pushed filters, as limits that files and bytes are skipped by.

    topics=orders, offsets=5000-5999                                 patterns (orders,), offset from
    5000 to 5999
    WHERE topic = 'orders' AND offset >= 5000 AND offset < 6000      topics {orders}, offset from
    5000 to 5999

All of it is ANDed. Where a filter is not one of those that leave out rows one by one (is_exact),
Spark looks at every row again, so a filter that is not understood costs time and no rows; what an
option leaves out nobody looks at again, so no row outside of it is given.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from math import inf
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter


@dataclass(frozen=True)
class NumberRange:
    """Numbers from least to most, both included."""

    least: float = -inf
    most: float = inf

    def __and__(self, other: "NumberRange") -> "NumberRange":
        return NumberRange(max(self.least, other.least), min(self.most, other.most))

    def has(self, number: float) -> bool:
        """Whether the number lies within."""
        return self.least <= number <= self.most

    def has_any(self, low: float, high: float) -> bool:
        """Whether any number from low to high does."""
        return self.least <= high and low <= self.most

    def rows(self, numbers: np.ndarray) -> np.ndarray:
        """Which of the numbers do."""
        return (numbers >= self.least) & (numbers <= self.most)

    @property
    def is_limited(self) -> bool:
        """Whether there is a limit at all."""
        return self != ALL


ALL = NumberRange()


@dataclass(frozen=True)
class PushedFilters:
    """The limits of a query.

    Attributes:
        patterns: of topics, as the option gives them, none for all.
        partitions: the same of their numbers.
        topics: the sets of names that filters allow, each of them.
        numbers: limits by the column's name.
    """

    patterns: tuple[str, ...] = ()
    partitions: tuple[NumberRange, ...] = ()
    topics: tuple[frozenset[str], ...] = ()
    numbers: Mapping[str, NumberRange] = field(default_factory=dict)

    def limits(self, column: str) -> NumberRange:
        """Those of a column of whole numbers."""
        return self.numbers.get(column, ALL)

    def has_topic(self, topic: str) -> bool:
        """Whether rows of the topic are asked for."""
        matches = not self.patterns or any(fnmatchcase(topic, pattern) for pattern in self.patterns)
        return matches and all(topic in names for names in self.topics)

    def has_partition(self, number: int) -> bool:
        """Whether rows of partitions of this number are."""
        matches = not self.partitions or any(limits.has(number) for limits in self.partitions)
        return matches and self.limits("partition").has(number)


def add_filters(
    filters: Iterable["Filter"], options: PushedFilters = PushedFilters()
) -> PushedFilters:
    """What these filters and the options ask for together.

    Filters on texts other than the topic's, or with a negation, limit nothing.
    """
    result = options
    for predicate in filters:
        result = _add_filter(result, predicate)
    return result


def is_exact(predicate: "Filter", columns: Container[str]) -> bool:
    """Whether a filter leaves exactly the rows that the limits made of it do.

    Spark need not look at these again, and shows such a filter as pushed.

    Args:
        columns: by whose limits rows are left out one by one.
    """
    attribute, value = getattr(predicate, "attribute", ()), getattr(predicate, "value", None)
    kind = type(predicate).__name__
    if len(attribute) != 1 or attribute[0] not in columns or value is None:
        return False
    if attribute[0] == "topic":
        return kind in ("EqualTo", "EqualNullSafe", "In")
    return kind != "In" and _parse_limits(kind, value) is not None


def _add_filter(pushed_filters: PushedFilters, predicate: "Filter") -> PushedFilters:
    (column, *deeper), value = (
        getattr(predicate, "attribute", ("", "")),
        getattr(predicate, "value", None),
    )
    kind = type(predicate).__name__
    if deeper or value is None:
        return pushed_filters
    if column == "topic" and kind in ("EqualTo", "EqualNullSafe", "In"):
        names = frozenset(value if kind == "In" else [value])
        return replace(pushed_filters, topics=(*pushed_filters.topics, names))
    limits = _parse_limits(kind, value)
    return (
        pushed_filters
        if limits is None
        else replace(
            pushed_filters,
            numbers={**pushed_filters.numbers, column: pushed_filters.limits(column) & limits},
        )
    )


def _parse_limits(kind: str, value: object) -> NumberRange | None:
    values = value if kind == "In" else [value]
    if not isinstance(values, list | tuple) or any(
        isinstance(number, bool) or not isinstance(number, int) for number in values
    ):
        return None
    if kind == "In":
        return NumberRange(min(values), max(values)) if values else None
    return {
        "EqualTo": NumberRange(*2 * values),
        "EqualNullSafe": NumberRange(*2 * values),
        "GreaterThan": NumberRange(least=values[0] + 1),
        "GreaterThanOrEqual": NumberRange(least=values[0]),
        "LessThan": NumberRange(most=values[0] - 1),
        "LessThanOrEqual": NumberRange(most=values[0]),
    }.get(kind)


def describe_filters(filters: PushedFilters) -> str:
    """The limits in one line, as options write them: topics=orders, offset=5000-5999."""
    limits = [f"{name}={describe_range(numbers)}" for name, numbers in filters.numbers.items()]
    topics = [
        f"topics={','.join(sorted(names))}"
        for names in (*filters.topics, filters.patterns)
        if names
    ]
    partitions = ",".join(map(describe_range, filters.partitions))
    return ", ".join([*topics, *([f"partitions={partitions}"] if partitions else []), *limits]) or (
        "no limits"
    )


def describe_range(limits: NumberRange) -> str:
    """As options write it: 5000-5999, 5000-, -5999."""
    least, most = ("" if abs(end) == inf else f"{end:.0f}" for end in (limits.least, limits.most))
    return least if least == most != "" else f"{least}-{most}"
