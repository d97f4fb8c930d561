"""The limits of a query, from its options and from the filters that Spark pushes down.

    topics=orders, offsets=5000-5999
        patterns (orders,), offset from 5000 to 5999
    WHERE topic = 'orders' AND offset >= 5000 AND offset < 6000
        topics {orders}, offset from 5000 to 5999

All limits are combined with AND. Files and bytes outside of them are skipped. Spark applies each
filter again to every row, except filters that the source applies exactly (`is_exact`). So a filter
that is not understood here costs time, but the result is right. Spark does not apply options, so
the source must not return rows outside of them.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import reduce
from math import inf
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter


@dataclass(frozen=True)
class NumberRange:
    """Numbers from `least` to `most`, both included."""

    least: float = -inf
    most: float = inf

    def __and__(self, other: "NumberRange") -> "NumberRange":
        return NumberRange(max(self.least, other.least), min(self.most, other.most))

    def has(self, number: float) -> bool:
        return self.least <= number <= self.most

    def has_any(self, low: float, high: float) -> bool:
        return self.least <= high and low <= self.most

    def rows(self, numbers: np.ndarray) -> np.ndarray:
        return (numbers >= self.least) & (numbers <= self.most)

    @property
    def is_limited(self) -> bool:
        return self != ALL


ALL = NumberRange()


@dataclass(frozen=True)
class PushedFilters:
    """The limits of a query."""

    patterns: tuple[str, ...] = ()  # the topic patterns in option topics; empty: all topics
    partitions: tuple[NumberRange, ...] = ()  # the numbers in option partitions; empty: all
    topics: tuple[frozenset[str], ...] = ()  # the topics that each filter allows; all filters apply
    numbers: Mapping[str, NumberRange] = field(default_factory=dict)  # by column name

    def limits(self, column: str) -> NumberRange:
        return self.numbers.get(column, ALL)

    def has_topic(self, topic: str) -> bool:
        matches = not self.patterns or any(fnmatchcase(topic, pattern) for pattern in self.patterns)
        return matches and all(topic in names for names in self.topics)

    def has_partition(self, number: int) -> bool:
        matches = not self.partitions or any(limits.has(number) for limits in self.partitions)
        return matches and self.limits("partition").has(number)


def add_filters(
    filters: Iterable["Filter"], options: PushedFilters = PushedFilters()
) -> PushedFilters:
    """Returns the limits of the options together with the limits of pushed filters.

    Only comparisons of a column with integers, and =, <=> or IN on the topic, add limits. Negated
    filters add none.
    """
    return reduce(_add_filter, filters, options)


def is_exact(predicate: "Filter", columns: Container[str]) -> bool:
    """Returns whether the source itself selects exactly the rows that match a filter.

    If so, Spark need not apply the filter again, and shows the filter as pushed.

    `columns`: the source compares these columns of every row with the limits of the query.
    """
    attribute = getattr(predicate, "attribute", ())
    value = getattr(predicate, "value", None)
    kind = type(predicate).__name__
    if len(attribute) != 1 or attribute[0] not in columns or value is None:
        return False
    if attribute[0] == "topic":
        return kind in ("EqualTo", "EqualNullSafe", "In")
    return kind != "In" and _parse_limits(kind, value) is not None


def _add_filter(pushed_filters: PushedFilters, predicate: "Filter") -> PushedFilters:
    column, *deeper = getattr(predicate, "attribute", ("", ""))
    value = getattr(predicate, "value", None)
    kind = type(predicate).__name__
    if deeper or value is None:
        return pushed_filters
    if column == "topic" and kind in ("EqualTo", "EqualNullSafe", "In"):
        names = frozenset(value if kind == "In" else [value])
        return replace(pushed_filters, topics=(*pushed_filters.topics, names))
    limits = _parse_limits(kind, value)
    if limits is None:
        return pushed_filters
    limits &= pushed_filters.limits(column)
    return replace(pushed_filters, numbers={**pushed_filters.numbers, column: limits})


def _parse_limits(kind: str, value: object) -> NumberRange | None:
    values = value if kind == "In" else [value]
    if not isinstance(values, list | tuple) or any(
        isinstance(number, bool) or not isinstance(number, int) for number in values
    ):
        return None
    if kind == "In":
        return NumberRange(min(values), max(values)) if values else None
    number = values[0]
    return {
        "EqualTo": NumberRange(number, number),
        "EqualNullSafe": NumberRange(number, number),
        "GreaterThan": NumberRange(least=number + 1),
        "GreaterThanOrEqual": NumberRange(least=number),
        "LessThan": NumberRange(most=number - 1),
        "LessThanOrEqual": NumberRange(most=number),
    }.get(kind)


def describe_filters(filters: PushedFilters) -> str:
    """Returns the limits in one line, such as "topics=orders, offset=5000-5999"."""
    limits = [
        f"topics={','.join(sorted(names))}"
        for names in (*filters.topics, filters.patterns)
        if names
    ]
    if filters.partitions:
        limits.append(f"partitions={','.join(map(describe_range, filters.partitions))}")
    limits += (f"{name}={describe_range(numbers)}" for name, numbers in filters.numbers.items())
    return ", ".join(limits) or "no limits"


def describe_range(limits: NumberRange) -> str:
    """Returns a range in the form of options: "5000-5999", "5000-" or "-5999"."""
    least, most = ("" if abs(end) == inf else f"{end:.0f}" for end in (limits.least, limits.most))
    return least if least == most != "" else f"{least}-{most}"
