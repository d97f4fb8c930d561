"""Parses schemas of messages from text into the types of format/message.py.

A schema is a line of fields, "name type", in the order in which Kafka prints them:

    group str, partition i32, rack str? v3+, members [{id str, hosts [str]}], #0 epochs [i32]?

- Types: i8 i16 i32 i64 u16 f64 bool uuid str bytes; [T] is an array, {...} a structure.
- `?` means that the value may be null.
- v3+ means since version 3; v1 means only in version 1.
- #n is a tagged field. Its default follows the type: =-1, =null, =false, =zero, =empty or =[].
"""

import re
from functools import cache
from typing import Any, cast

from kafkaviz.format.message import (
    OLDEST,
    UNPACK,
    Array,
    Field,
    Scalar,
    SizedValue,
    Structure,
    Type,
)

_TOKEN = re.compile(r"\s*(#\d+|v\d+\+?|=(?:empty|null|zero|false|\[\]|-?\d+)|\w+|[\[\]{},?])")


@cache
def schema(line: str, parts: tuple[tuple[str, str], ...] = ()) -> Structure:
    """Returns the structure that a line of fields describes.

    Args:
        parts: (name, type) of each type that the line refers to by name.
    """
    tokens = [*_tokens(line), "}"]
    fields = _fields(tokens, dict(parts))
    if tokens:
        raise ValueError(f"left over in the schema {line!r}: {tokens}")
    return Structure(fields)


def _tokens(line: str) -> list[str]:
    """Splits the line into words and punctuation.

    Raises:
        ValueError: the line contains anything else.
    """
    tokens = []
    position = 0
    text = line.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if not match:
            raise ValueError(f"no schema: {text[position:]!r}")
        tokens.append(match[1])
        position = match.end()
    return tokens


def _fields(tokens: list[str], parts: dict[str, str]) -> tuple[Field, ...]:
    """Parses the fields up to the closing brace, and consumes the brace."""
    fields = []
    while tokens and tokens[0] != "}":
        fields.append(_field(tokens, parts))
        if tokens[0] == ",":
            tokens.pop(0)
    tokens.pop(0)
    return tuple(fields)


def _field(tokens: list[str], parts: dict[str, str]) -> Field:
    tag = int(tokens.pop(0)[1:]) if tokens[0][0] == "#" else None
    name = tokens.pop(0)
    type_ = _type(tokens, parts)
    first = OLDEST
    last = None
    default = None
    while tokens[0] not in (",", "}"):
        word = tokens.pop(0)
        if word[0] == "v":
            first = int(word[1:].rstrip("+"))
            last = None if word.endswith("+") else first
        else:
            default = _default(word[1:], type_)
    return Field(
        name=name, type=type_, first_version=first, last_version=last, tag=tag, default=default
    )


def _type(tokens: list[str], parts: dict[str, str]) -> Type:
    word = tokens.pop(0)
    if word in parts:
        tokens[:0] = _tokens(parts[word])
        return _type(tokens, parts)
    item = _type(tokens, parts) if word == "[" else None
    if word == "[" and tokens.pop(0) != "]":
        raise ValueError("an array's type is not closed")
    fields = _fields(tokens, parts) if word == "{" else ()
    is_nullable = tokens[0] == "?"
    if is_nullable:
        tokens.pop(0)
    if word == "[":
        return Array(cast("Type", item), is_nullable)
    if word == "{":
        return Structure(fields, is_nullable, is_nested=True)
    if word in ("str", "bytes"):
        return SizedValue(word, is_nullable)
    if word not in UNPACK or is_nullable:
        raise ValueError(f"no type: {word}")
    return Scalar(word)


def _default(word: str, type_: Type) -> Any:
    """Returns the value of a default: -1, null, false, zero, empty or []."""
    if word in ("null", "zero", "empty", "[]", "false"):
        return None if word == "null" else type_.default
    return int(word)
