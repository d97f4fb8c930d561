"""What is told of a query's mistakes, from what Spark names of them; tests/pipeline/test_query.py asks Spark itself."""

import pytest

from kafkaviz.pipeline import sql


@pytest.mark.parametrize(
    ("proposal", "advice"),
    [
        ("`topic`, `state`", "Columns like it: topic, state"),
        ("`s`.`records`, `b`.`crc`", "Columns like it: s.records, b.crc"),
        ("`count(1)`, `b`.`a, b`", "Columns like it: count(1), b.a, b"),
        ("", ""),
    ],
)
def test_columns_that_are_like_one_that_is_not_there(proposal, advice):
    """Those of a join with the name of their table, as the query has to say them."""
    given = {"objectName": "`b`.`records`", "proposal": proposal}
    assert sql._told("UNRESOLVED_COLUMN.WITH_SUGGESTION", given, "") == ("There is no column b.records", advice)
