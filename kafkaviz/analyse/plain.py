"""Values as plain JSON and back: a dataclass is the list of its fields, and what comes back is
looked at field by field.

    Gap(first=5, last=9, position=4096)     [5, 9, 4096]
    plain_of(value_of(Gap, [5, 9, 4096]))   the same again;  value_of(Gap, [5, "x", 4096])
    ValueError

JSON and no pickle, since a stored value may come from anywhere: the worst that a wrong one does is
to be refused.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

SCALARS = (int, str, bool, NoneType)
Plain = int | str | bool | None | list | dict


def plain_of(value: Any) -> Plain:
    """A value of ints, strings, booleans, None, lists, tuples, dictionaries with string keys, and
    dataclasses of these.
    """
    if is_dataclass(value):
        return [plain_of(getattr(value, name)) for name, _ in _fields(type(value))]
    if isinstance(value, list | tuple):
        return [plain_of(one) for one in value]
    if isinstance(value, dict):
        return {key: plain_of(one) for key, one in value.items()}
    return value.item() if isinstance(value, np.generic) else value


def value_of(kind: Any, plain: Any) -> Any:
    """The value of that type, as annotations name it; ValueError where the plain one is not of
    it.
    """
    return _reader(kind)(plain)


@cache
def _reader(kind: Any) -> Callable[[Any], Any]:
    """What makes a value of that type of a plain one; made once, since a catalog holds them by the
    million.
    """
    origin, inner = get_origin(kind), get_args(kind)
    if kind in SCALARS:
        return _one_of((kind,), ())
    if origin is UnionType:
        return _one_of(
            tuple(one for one in inner if one in SCALARS),
            tuple(_reader(one) for one in inner if one not in SCALARS),
        )
    if is_dataclass(kind):
        named = tuple((name, _reader(of)) for name, of in _fields(kind))
        return lambda plain: kind(
            **{name: read(one) for (name, read), one in zip(named, _a(list, plain), strict=True)}
        )
    if origin is dict:
        read_key, read_one = map(_reader, inner)
        return lambda plain: {read_key(key): read_one(one) for key, one in _a(dict, plain).items()}
    read_first = _reader(inner[0])
    if origin is list:
        return lambda plain: [read_first(one) for one in _a(list, plain)]
    if inner[1:] == (...,):
        return lambda plain: tuple(read_first(one) for one in _a(list, plain))
    readers = tuple(map(_reader, inner))
    return lambda plain: tuple(
        read(one) for read, one in zip(readers, _a(list, plain), strict=True)
    )


def _one_of(scalars: tuple, others: tuple[Callable[[Any], Any], ...]) -> Callable[[Any], Any]:
    """What takes a scalar of these types, or else what the first of the others takes."""

    def read(plain: Any) -> Any:
        if type(plain) in scalars:
            return plain
        for other in others:
            with suppress(ValueError):
                return other(plain)
        raise ValueError(f"{str(plain)[:80]!r} is none of what may stand here")

    return read


def _a(kind: type, plain: Any) -> Any:
    if type(plain) is not kind:
        raise ValueError(f"{str(plain)[:80]!r} is no {kind.__name__}")
    return plain


@cache
def _fields(kind: type[Any]) -> tuple[tuple[str, Any], ...]:
    """The fields of a dataclass and what each holds."""
    hints = get_type_hints(kind)
    return tuple((one.name, hints[one.name]) for one in fields(kind))
