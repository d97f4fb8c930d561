import numpy as np
import pytest

from kafkaviz.binary.layouts import (
    OFFSET,
    PAYLOAD,
    POSITION,
    SIZE,
    TORN,
    FieldDisplay,
    Span,
    field_spans,
    find_overlapping,
    text,
)
from kafkaviz.messages import message
from tests.support.spans import check

LAYOUT = np.dtype([("relative", ">i4"), ("position", ">i4")])
NAMES = {
    "relative": FieldDisplay(
        "relativeOffset", OFFSET, note=lambda row: f"at byte {row['position']}"
    ),
    "position": FieldDisplay("position", POSITION, value=lambda row: f"{row['position']:,}"),
}


def test_fields_have_names_values_and_places():
    """Eight bytes at byte 40 of a file are two spans; the first has the row's name, and one field
    is explained by the other.
    """
    name = message("span.row_field", row="slot 5", field="relativeOffset")
    assert field_spans(LAYOUT, NAMES, bytes.fromhex("000000ab0000533e99"), 40, "slot 5") == [
        Span(40, 44, name, "171", OFFSET, "at byte 21310"),
        Span(44, 48, "position", "21,310", POSITION, ""),
    ]


@pytest.mark.parametrize(
    ("cut", "names", "last"),
    [
        (0, [], None),
        (3, ["relativeOffset"], TORN),
        (4, ["relativeOffset"], OFFSET),
        (7, ["relativeOffset", "position"], TORN),
    ],
)
def test_a_cut_field_is_torn(cut, names, last):
    """Only whole fields have a value; a note about an incomplete row is left out."""
    spans = field_spans(LAYOUT, NAMES, bytes.fromhex("000000ab0000533e")[:cut], 0)
    assert [span.name for span in spans] == names and (not spans or spans[-1].kind == last)
    assert all("at byte" not in str(span.note) for span in spans)
    check(spans, 0, cut)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"acct-134", "acct-134"),
        (b"a\x00 line\n<b>", "a· line·<b>"),
        (b"\x00\x00\x00\x01", "0x00000001"),
        (b"\xff\xfe", "0xfffe"),
        ("Größe".encode(), "Größe"),
        (b"x" * 161, "x" * 160 + "…"),
        ("é".encode() * 400, "é" * 160 + "…"),
        (b"", ""),
    ],
)
def test_values_as_text(data, expected):
    """UTF-8 is shown as text, other bytes as digits; long text is cut, also inside a character."""
    assert text(data) == expected


@pytest.mark.parametrize(
    ("places", "fault"),
    [
        ([(0, 4), (5, 8)], "a gap"),
        ([(0, 4), (3, 8)], "two spans"),
        ([(0, 4), (4, 4), (4, 8)], "empty"),
        ([(0, 4), (4, 7)], "ends"),
        ([], "ends"),
    ],
)
def test_what_does_not_tile_is_reported(places, fault):
    with pytest.raises(AssertionError, match=fault):
        check([Span(start, end, "x", "", SIZE) for start, end in places], 0, 8)


def test_spans_of_a_stretch_are_complete():
    """A span with one byte in the stretch is returned from its start to its end."""
    tiles = [Span(at, at + 4, "x", "", PAYLOAD) for at in range(0, 16, 4)]
    assert find_overlapping(tiles, 7, 9) == tiles[1:3]
    assert find_overlapping(tiles, 4, 8) == tiles[1:2]
