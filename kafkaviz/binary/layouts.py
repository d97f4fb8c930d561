"""Helpers for byte layouts: fields of a layout, files of equal rows, and named spans.

A span says which field some bytes belong to, and the field's value. Each span starts where the
previous span ends. No span is empty.

Eight bytes of an .index may be Span(40, 44, "slot 5 relativeOffset", "171", "offset") and Span(44,
48, "position", "21 310", "position").
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, cast

import numpy as np

from kafkaviz import units
from kafkaviz.messages import Message, Text, message


def field_names(layout: np.dtype) -> tuple[str, ...]:
    # numpy's own attribute is None for other dtypes
    return cast("tuple[str, ...]", layout.names)


def field_start(layout: np.dtype, name: str) -> int:
    return cast("Mapping[str, Any]", layout.fields)[name][1]


def parse_rows(layout: np.dtype, data: bytes | memoryview | np.ndarray) -> np.ndarray:
    """Returns the rows as an array of `layout`, without a copy. Leaves out a partial last row."""
    return np.frombuffer(data, layout, count=len(data) // layout.itemsize)


def build_rows(layout: np.dtype, rows: np.ndarray) -> bytes:
    """Returns the bytes of rows. `rows` is any array with the fields of `layout`."""
    stored_rows = np.empty(len(rows), layout)
    for name in field_names(layout):
        stored_rows[name] = rows[name]
    return stored_rows.tobytes()


# ---- spans


OFFSET = "offset"
SIZE = "size"
POSITION = "position"
CHECK = "check"
TIME = "time"
PRODUCER = "producer"
PAYLOAD = "payload"
UNWRITTEN = "unwritten"
TORN = "torn"
KINDS = (OFFSET, SIZE, POSITION, CHECK, TIME, PRODUCER, PAYLOAD, UNWRITTEN, TORN)
UNREADABLE_SHARE = 4  # bytes are not text if more than a quarter of them are control characters
VALUE_CHARACTERS = 160  # the most characters of a key or value that a span shows


class Span(NamedTuple):
    """The bytes from `start` to `end` (exclusive), with a name.

    `kind` is in KINDS. `note` is a sentence about the meaning of the value.
    """

    start: int
    end: int
    name: Text
    value: Text
    kind: str
    note: Text = ""


class FieldDisplay(NamedTuple):
    """How a field of a fixed layout is shown.

    Attributes:
        is_grouped: whether the number is shown with its digits grouped, such as 12 345.
        value: returns the field's text for a row of the layout. None: the number is shown.
        note: a message key, or a function that returns the note for a row of the layout.
    """

    name: str
    kind: str
    is_grouped: bool = False
    value: Callable[[np.void], str] | None = None
    note: str | Callable[[np.void], Message] = ""

    def value_text(self, row: np.void, field_name: str) -> str:
        if self.value:
            return self.value(row)
        if self.is_grouped:
            return units.format_count(int(row[field_name]))
        return str(row[field_name])

    def note_text(self, row: np.void) -> Text:
        if isinstance(self.note, str):
            return message(self.note) if self.note else ""
        return self.note(row)


def row_note(key: str, **fields: str) -> Callable[[np.void], Message]:
    """Returns a function that makes the message `key` from a row of a layout.

    Args:
        fields: the row's field for each value of the message, as value="field".
    """
    return lambda row: message(key, **{name: row[field] for name, field in fields.items()})


def field_spans(
    layout: np.dtype,
    displays: Mapping[str, FieldDisplay],
    data: bytes | memoryview,
    position: int,
    prefix: Message | None = None,
) -> list[Span]:
    """Returns one span for each field of `layout` at the start of `data`.

    If `data` ends within a field, the last span is torn. `position` is where `data` begins in the
    file, and `prefix` a text before the first field's name.
    """
    row = np.frombuffer(bytes(data[: layout.itemsize]).ljust(layout.itemsize, b"\0"), layout)[0]
    is_whole = len(data) >= layout.itemsize
    spans = []
    for number, name in enumerate(field_names(layout)):
        display = displays[name]
        size_bytes = layout[name].itemsize
        start = field_start(layout, name)
        end = start + size_bytes
        if start >= len(data):
            break
        title: Text = display.name
        if prefix and not number:
            title = message("span.row_field", row=prefix, field=display.name)
        if end > len(data):
            note = message("span.cut_field", n=len(data) - start, size=size_bytes)
            spans.append(torn_span(position + start, position + len(data), title, note))
            break
        value = display.value_text(row, name)
        shown_note = display.note_text(row) if is_whole else ""
        spans.append(Span(position + start, position + end, title, value, display.kind, shown_note))
    return spans


def torn_span(start: int, end: int, name: Text, note: Text) -> Span:
    """Returns a span for bytes that are not a complete field."""
    return Span(start, end, name, f"{end - start} B", TORN, note)


def text(data: bytes | memoryview) -> str:
    """Returns the start of a key or value: as text, or in hexadecimal digits if it is not text."""
    head = bytes(data[: 4 * VALUE_CHARACTERS])
    try:
        characters = head.decode()
    except UnicodeDecodeError as fault:
        if len(data) == len(head) or fault.start < len(head) - 3:
            return _truncate("0x" + head.hex(), 2 * len(data) + 2)
        characters = head[: fault.start].decode()
    printable = [letter if letter.isprintable() else "·" for letter in characters]
    if printable.count("·") * UNREADABLE_SHARE > len(printable):
        return _truncate("0x" + head.hex(), 2 * len(data) + 2)
    return _truncate("".join(printable), len(data))


def _truncate(value: str, size: int) -> str:
    if len(value) > VALUE_CHARACTERS or size > 4 * VALUE_CHARACTERS:
        return value[:VALUE_CHARACTERS] + "…"
    return value


def find_overlapping(spans: Iterable[Span], start: int, stop: int) -> list[Span]:
    """Returns the spans with a byte from `start` to `stop` (exclusive), without cutting them."""
    return [span for span in spans if span.start < stop and span.end > start]
