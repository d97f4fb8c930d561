from math import inf

import numpy as np
import pytest
from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    IsNull,
    LessThan,
    LessThanOrEqual,
    Not,
    StringStartsWith,
)

from kafkaviz.pipeline.datasource.pushdown import ALL, NumberRange, PushedFilters, add_filters

OFFSET = ("offset",)


@pytest.mark.parametrize(
    ("filters", "least", "most"),
    [
        ([], -inf, inf),
        ([EqualTo(OFFSET, 5)], 5, 5),
        ([EqualNullSafe(OFFSET, 5)], 5, 5),
        ([GreaterThan(OFFSET, 5), LessThan(OFFSET, 9)], 6, 8),
        ([GreaterThanOrEqual(OFFSET, 5), LessThanOrEqual(OFFSET, 9), GreaterThan(OFFSET, 6)], 7, 9),
        ([In(OFFSET, (9, 3, 4))], 3, 9),
        (
            [
                Not(EqualTo(OFFSET, 5)),
                IsNull(OFFSET),
                IsNotNull(OFFSET),
                EqualNullSafe(OFFSET, None),
            ],
            -inf,
            inf,
        ),
        (
            [
                GreaterThan(OFFSET, 5.5),
                EqualTo(OFFSET, True),
                In(OFFSET, (1, None)),
                In(OFFSET, ()),
            ],
            -inf,
            inf,
        ),
        ([GreaterThan(("offset", "deeper"), 5), GreaterThan(("position",), 7)], -inf, inf),
    ],
)
def test_limits_of_a_column(filters, least, most):
    assert add_filters(filters).limits("offset") == NumberRange(least, most)


def test_topics_of_filters_and_of_the_option():
    filters = add_filters(
        [In(("topic",), ("orders", "clicks", "other")), EqualTo(("topic",), "clicks")],
        PushedFilters(("cl*", "orders")),
    )
    topics = ("orders", "clicks", "other", "click")
    assert [topic for topic in topics if filters.has_topic(topic)] == ["clicks"]
    assert add_filters([StringStartsWith(("topic",), "x")]).has_topic("orders")
    assert PushedFilters().has_topic("")


def test_partitions_of_filters_and_of_the_option():
    """Ranges of the option, one of which must have the number, and a filter in addition."""
    filters = add_filters(
        [GreaterThan(("partition",), 1)],
        PushedFilters(partitions=(NumberRange(0, 2), NumberRange(7, 7))),
    )
    assert [number for number in range(9) if filters.has_partition(number)] == [2, 7]


def test_numbers_within_limits():
    limits = NumberRange(5, 9)
    assert [number for number in range(20) if limits.has(number)] == [5, 6, 7, 8, 9]
    assert limits.rows(np.arange(20)).tolist() == [limits.has(number) for number in range(20)]
    assert limits.has_any(0, 5) and limits.has_any(9, inf) and limits.has_any(6, 7)
    assert not limits.has_any(0, 4) and not limits.has_any(10, inf)
    assert not NumberRange(9, 5).has_any(0, 4)
    assert ALL.rows(np.arange(3)).all() and not ALL.is_limited and limits.is_limited
