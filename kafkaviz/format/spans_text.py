"""The spans of the small text files of a broker directory: one a line, its line end included."""

import re

from kafkaviz.binary import spans
from kafkaviz.binary.spans import CHECK, OFFSET, PAYLOAD, SIZE, Span
from kafkaviz.messages import Text, message

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r|\Z)")
_NAME = re.compile(rb"\s*([A-Za-z_.]+)\s*[:=]")


def lines(data: bytes, name: str) -> list[Span]:
    """The lines of the file with this name; of a checkpoint the version, the count and the
    entries.
    """
    is_checkpoint = name.endswith("-checkpoint")
    cuts = [match.span() for match in _LINE.finditer(data) if match.end() > match.start()]
    return [
        _line(data, start, end, number, is_checkpoint=is_checkpoint)
        for number, (start, end) in enumerate(cuts)
    ]


def _line(data: bytes, start: int, end: int, number: int, *, is_checkpoint: bool) -> Span:
    title: Text
    value = spans.text(data[start:end].rstrip(b"\r\n"))
    if is_checkpoint and number < 2:
        title, kind = (("version", CHECK), (message("span.entry_count"), SIZE))[number]
    elif is_checkpoint:
        title, kind = message("span.entry", n=number - 2), OFFSET
    else:
        match = _NAME.match(data, start, end)
        title, kind = (match[1].decode() if match else message("span.line", n=number + 1)), PAYLOAD
    return Span(start, end, title, value, kind)
