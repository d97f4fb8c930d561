"""The notation of schemas."""

import pytest

from kafkaviz.format import notation
from kafkaviz.format.message import OLDEST, Array, Field, Scalar, SizedValue, Structure


def test_a_line_becomes_a_tree():
    """Types, versions, tags and defaults, and types that are called by a name."""
    schema = notation.schema(
        "a str?, b [Part]? v1+, c i8 v2, #3 d [i32]? =empty, #4 e i64 v5+ =-1",
        (("Part", "{x uuid}"),),
    )
    part = Structure((Field("x", Scalar("uuid")),), is_nested=True)
    assert schema.fields == (
        Field("a", SizedValue("str", True)),
        Field("b", Array(part, True), 1),
        Field("c", Scalar("i8"), 2, 2),
        Field("d", Array(Scalar("i32"), True), OLDEST, None, 3, []),
        Field("e", Scalar("i64"), 5, None, 4, -1),
    )


@pytest.mark.parametrize(
    "line", ["x", "x i33", "x [str", "x {a i8", "x i8 }", "x i8?", "x i8 =", "?"]
)
def test_a_line_that_is_no_schema_is_refused(line):
    """At once, not when bytes are read."""
    with pytest.raises((ValueError, IndexError)):
        notation.schema(line)
