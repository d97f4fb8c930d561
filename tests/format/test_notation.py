import pytest

from kafkaviz.format import message
from kafkaviz.format.message import OLDEST, Array, Field, Scalar, SizedValue, Structure


def test_a_line_becomes_a_tree():
    schema = message.schema(
        "a str?, b [Part]? v1+, c i8 v2, #3 d [i32]? =empty, #4 e i64 v5+ =-1",
        (("Part", "{x uuid}"),),
    )
    part = Structure((Field(name="x", type=Scalar("uuid")),), is_nested=True)
    assert schema.fields == (
        Field(name="a", type=SizedValue("str", True)),
        Field(name="b", type=Array(part, True), first_version=1),
        Field(name="c", type=Scalar("i8"), first_version=2, last_version=2),
        Field(
            name="d",
            type=Array(Scalar("i32"), True),
            first_version=OLDEST,
            last_version=None,
            tag=3,
            default=[],
        ),
        Field(name="e", type=Scalar("i64"), first_version=5, last_version=None, tag=4, default=-1),
    )


@pytest.mark.parametrize(
    "line", ["x", "x i33", "x [str", "x {a i8", "x i8 }", "x i8?", "x i8 =", "?"]
)
def test_a_line_that_is_no_schema_is_refused(line):
    with pytest.raises((ValueError, IndexError)):
        message.schema(line)
