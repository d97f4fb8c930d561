"""Converts values to plain JSON and back.

A dataclass becomes the list of its fields: `Gap(first=5, last=9, position=4096)` is `[5, 9, 4096]`.
Reading checks the type of each field.

The format is JSON, not pickle, because stored values may come from an untrusted source.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from kafkaviz.messages import Message

SCALARS = (int, str, bool, NoneType)
Plain = int | str | bool | None | list | dict


def to_plain(value: Any) -> Plain:
    """Returns a value as plain JSON.

    Accepts ints, strings, booleans, None and messages; and lists, tuples, dictionaries with string
    keys, and dataclasses of these.
    """
    if isinstance(value, Message):
        return value.to_json()
    if is_dataclass(value):
        return [to_plain(getattr(value, name)) for name, _ in _fields(type(value))]
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: to_plain(item) for key, item in value.items()}
    return value.item() if isinstance(value, np.generic) else value


def encode(value: Any) -> str:
    return json.dumps(to_plain(value), separators=(",", ":"))


def from_plain(value_type: Any, plain: Any) -> Any:
    """Returns the value that `to_plain` converted to `plain`.

    Args:
        value_type: a type as in an annotation, such as `tuple[int, ...]`.

    Raises:
        ValueError: `plain` is not of that type.
    """
    return _reader(value_type)(plain)


@cache
def _reader(value_type: Any) -> Callable[[Any], Any]:
    """Returns a function that converts plain JSON to a value of `value_type`.

    Cached per type, because a catalog has millions of values.
    """
    origin = get_origin(value_type)
    arguments = get_args(value_type)
    if value_type in SCALARS:
        return _union_reader((value_type,), ())
    if origin is UnionType:
        return _union_reader(
            tuple(item for item in arguments if item in SCALARS),
            tuple(_reader(item) for item in arguments if item not in SCALARS),
        )
    if value_type is Message:
        return Message.from_json
    if is_dataclass(value_type):
        field_readers = tuple(
            (name, _reader(field_type)) for name, field_type in _fields(value_type)
        )
        return lambda plain: value_type(
            **{
                name: read_field(item)
                for (name, read_field), item in zip(
                    field_readers, _require_type(list, plain), strict=True
                )
            }
        )
    if origin is dict:
        read_key, read_value = map(_reader, arguments)
        return lambda plain: {
            read_key(key): read_value(item) for key, item in _require_type(dict, plain).items()
        }
    read_item = _reader(arguments[0])
    if origin is list:
        return lambda plain: [read_item(item) for item in _require_type(list, plain)]
    if arguments[1:] == (...,):
        return lambda plain: tuple(read_item(item) for item in _require_type(list, plain))
    readers = tuple(map(_reader, arguments))
    return lambda plain: tuple(
        read_element(item)
        for read_element, item in zip(readers, _require_type(list, plain), strict=True)
    )


def _union_reader(
    scalars: tuple, readers: tuple[Callable[[Any], Any], ...]
) -> Callable[[Any], Any]:
    def read_union(plain: Any) -> Any:
        if type(plain) in scalars:
            return plain
        for reader in readers:
            with suppress(ValueError):
                return reader(plain)
        raise ValueError(f"{str(plain)[:80]!r} is none of what may stand here")

    return read_union


def _require_type(value_type: type, plain: Any) -> Any:
    if type(plain) is not value_type:
        raise ValueError(f"{str(plain)[:80]!r} is no {value_type.__name__}")
    return plain


@cache
def _fields(value_type: type[Any]) -> tuple[tuple[str, Any], ...]:
    hints = get_type_hints(value_type)
    return tuple((field.name, hints[field.name]) for field in fields(value_type))
