import pytest

from kafkaviz.format import message
from kafkaviz.format.message import KafkaParseError

LINE = (
    "name str, count i32 v1+, old i8 v0, tags [str]?, #0 epochs [i32]? =empty, #1 level i16 v1+ =-1"
)


def test_plain_and_flexible_forms_hold_the_same():
    plain, _ = message.read(
        message.schema(LINE), bytes.fromhex("000161 00000007 00000001 000162"), 1, flexible=False
    )
    flexible, end = message.read(message.schema(LINE), bytes.fromhex("0261 00000007 02 0262 00"), 1)
    assert plain == flexible == {"name": "a", "count": 7, "tags": ["b"], "epochs": [], "level": -1}
    assert end == 10


def test_fields_come_and_go_with_the_version():
    schema = message.schema(LINE)
    values, _ = message.read(schema, bytes.fromhex("01 05 00 00"), 0)
    assert values == {"name": "", "old": 5, "tags": None, "epochs": []}
    assert schema.text(values, 0) == '{"name":"","old":5,"tags":null}'


def test_tags_come_in_any_order_and_unknown_ones_are_skipped():
    """A tagged null is not the default of an empty array, so it is printed."""
    schema = message.schema(LINE)
    values, _ = message.read(
        schema, bytes.fromhex("01 00000000 01 03 01 02 0007 63 02 ffff 00 01 00"), 1
    )
    assert schema.text(values, 1) == '{"name":"","count":0,"tags":[],"epochs":null,"level":7}'


@pytest.mark.parametrize(
    ("line", "data", "words"),
    [
        ("x str", "00", "non-nullable field x was serialized as null"),
        ("x [str]", "02 00", "non-nullable field x element was serialized as null"),
        ("x str", "818002", "string field x had invalid length 32768"),
        ("x bytes", "05 00", "Error reading byte array of 4 byte(s): only 1 byte(s) available"),
        (
            "x [i64]",
            "ffffffff07",
            (
                "Tried to allocate a collection of size 2147483646, but there are only 0 bytes "
                "remaining."
            ),
        ),
        (
            "x [i8]",
            "02",
            "Tried to allocate a collection of size 1, but there are only 0 bytes remaining.",
        ),
        ("#0 x i8 v1+ =0", "01 00 01 00", "Tag 0 is not valid for version 0"),
        ("x i32", "0000", None),
        ("x str", "ff", None),
        (
            "x str",
            "ffffffffffff",
            (
                "Varint is too long, the most significant bit in the 5th byte is set, converted "
                "value: ffffffff"
            ),
        ),
    ],
)
def test_broken_bytes_raise_kafkas_words(line, data, words):
    """Counts and sizes are checked before anything is allocated for them."""
    with pytest.raises(KafkaParseError) as broken:
        message.read(message.schema(line), bytes.fromhex(data))
    assert broken.value.java_message == words


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ('a"\\\b\f\n\r\t\x01\x7f/é\u2028', '"a\\"\\\\\\b\\f\\n\\r\\t\\u0001\x7f/é\u2028"'),
        ("\x1f", '"\\u001F"'),
    ],
)
def test_strings_are_escaped_as_jackson_does(text, quoted):
    assert message.json_string(text) == quoted
