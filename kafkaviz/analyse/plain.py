"""Values as plain JSON and back: a dataclass is the list of its fields, and what comes back is looked at field by field.

    Gap(first=5, last=9, position=4096)     [5, 9, 4096]
    plain_of(value_of(Gap, [5, 9, 4096]))   the same again;  value_of(Gap, [5, "x", 4096])  ValueError

JSON and no pickle, since a stored value may come from anywhere: the worst that a wrong one does is to be refused.
"""

from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

Plain = int | str | bool | None | list | dict


def plain_of(value: Any) -> Plain:
    """A value of ints, strings, booleans, None, lists, tuples, dictionaries with string keys, and dataclasses of these."""
    if is_dataclass(value):
        return [plain_of(getattr(value, name)) for name, _ in _fields(type(value))]
    if isinstance(value, list | tuple):
        return [plain_of(one) for one in value]
    if isinstance(value, dict):
        return {key: plain_of(one) for key, one in value.items()}
    return value.item() if isinstance(value, np.generic) else value


def value_of(kind: Any, plain: Any) -> Any:
    """The value of that type, as annotations name it; ValueError where the plain one is not of it."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind in (int, str, bool) and type(plain) is kind:
        return plain
    if kind is type(None) and plain is None:
        return None
    if origin is UnionType:
        return _one_of(inner, plain)
    if is_dataclass(kind) and isinstance(plain, list):
        named = _fields(kind)
        return kind(**{name: value_of(of, one) for (name, of), one in zip(named, plain, strict=True)})
    if origin is dict and isinstance(plain, dict):
        return {value_of(inner[0], key): value_of(inner[1], one) for key, one in plain.items()}
    if origin is list and isinstance(plain, list):
        return [value_of(inner[0], one) for one in plain]
    if origin is tuple and isinstance(plain, list):
        of = [inner[0]] * len(plain) if inner[1:] == (...,) else inner
        return tuple(value_of(one_of, one) for one_of, one in zip(of, plain, strict=True))
    raise ValueError(f"{str(plain)[:80]!r} is no {kind}")


def _one_of(kinds: tuple, plain: Any) -> Any:
    for kind in kinds:
        try:
            return value_of(kind, plain)
        except ValueError:
            continue
    raise ValueError(f"{str(plain)[:80]!r} is none of {kinds}")


@cache
def _fields(kind: type) -> tuple[tuple[str, Any], ...]:
    """The fields of a dataclass and what each holds."""
    hints = get_type_hints(kind)
    return tuple((one.name, hints[one.name]) for one in fields(kind))
