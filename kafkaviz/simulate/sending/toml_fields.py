"""Dataclasses as TOML: one list of fields a class, by which a table is read and written; what is
wrong is told with its key.

    FIELDS = (Field("records", whole(1)), Field("duration", duration(), "duration_ms"))
    read(Phase, FIELDS, {"records": 0}, "orders.toml: phase 1, ")    KafkavizError: orders.toml:
    phase 1, records: 0 is below 1
"""

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from kafkaviz.errors import KafkavizError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")
Number = TypeVar("Number", int, float)
UNITS_MS = {"d": 86_400_000, "h": 3_600_000, "min": 60_000, "s": 1000, "ms": 1}
LONGEST_MS = 100 * 365 * UNITS_MS["d"]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LATEST_MS = int(datetime(2200, 1, 1, tzinfo=UTC).timestamp()) * 1000
_DURATION = re.compile(r"(-?[0-9]{1,15}(?:\.[0-9]{1,9})?) ?(d|h|min|s|ms)")


class Kind(NamedTuple):
    """How a value is read, with where it stands for the error, and how it is written."""

    read: Callable[[object, str], Any]
    write: Callable[[Any], str]


@dataclass(frozen=True)
class Field:
    """A key of a table: of the attribute of its own name, unless another is given."""

    key: str
    kind: Kind
    attribute: str = ""

    @property
    def name(self) -> str:
        """The attribute of the dataclass."""
        return self.attribute or self.key


def wrong(where: str, what: str) -> KafkavizError:
    """The one line: where has the file and the key."""
    return KafkavizError(f"{where}: {what}")


def read(of: type[T], known: Sequence[Field], table: object, where: str, **given: object) -> T:
    """The dataclass of a table; KafkavizError for a key that is not known or missing, or a value
    that is no such thing.

    where: what stands in front of a key in the error; given: what the class has from elsewhere.
    """
    if not isinstance(table, dict):
        raise wrong(where.rstrip(" .,"), f"{shown(table)} is no table")
    by_key = {field.key: field for field in known}
    for key in table:
        if key not in by_key:
            raise wrong(f"{where}{_key(key)}", f"no such key; there are {', '.join(by_key)}")
    given |= {
        by_key[key].name: by_key[key].kind.read(value, f"{where}{key}")
        for key, value in table.items()
    }
    needed = {
        one.name for one in fields(of) if one.default is MISSING and one.default_factory is MISSING
    }
    for field in known:
        if field.name in needed and field.name not in given:
            raise wrong(f"{where}{field.key}", "is missing")
    return of(**given)


def lines(value: "DataclassInstance", known: Sequence[Field]) -> list[str]:
    """KEY = VALUE of each field that does not have its default."""
    defaults = {one.name: one.default for one in fields(value)}
    return [
        f"{field.key} = {field.kind.write(getattr(value, field.name))}"
        for field in known
        if getattr(value, field.name) != defaults[field.name]
    ]


def shown(value: object) -> str:
    """A value in an error: as TOML has it, and not too long."""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = json.dumps(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def quoted(text: str) -> str:
    """A text as a basic string of TOML: on one line, with the escapes that JSON has too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(key: str) -> str:
    return key if re.fullmatch("[A-Za-z0-9_.-]{1,60}", key) else shown(key)


# ---- the kinds


def text(longest: int = 2000) -> Kind:
    """A string."""

    def read_text(value: object, where: str) -> str:
        if not isinstance(value, str):
            raise wrong(where, f"{shown(value)} is no text in quotes")
        if len(value) > longest:
            raise wrong(where, f"{len(value)} characters, of {longest} at most")
        return value

    return Kind(read_text, quoted)


def choice(options: Sequence[str]) -> Kind:
    """One of some words."""

    def read_choice(value: Any, where: str) -> str:
        if value not in options:
            raise wrong(where, f"{shown(value)} is none of {', '.join(options)}")
        return value

    return Kind(read_choice, quoted)


def flag() -> Kind:
    """true or false."""

    def read_flag(value: object, where: str) -> bool:
        if not isinstance(value, bool):
            raise wrong(where, f"{shown(value)} is neither true nor false")
        return value

    return Kind(read_flag, shown)


def whole(least: int, most: int = 2**31 - 1) -> Kind:
    """A whole number within limits."""

    def read_whole(value: object, where: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise wrong(where, f"{shown(value)} is no whole number")
        return _within(value, least, most, where)

    return Kind(read_whole, str)


def number(least: float, most: float) -> Kind:
    """A number within limits."""

    def read_number(value: object, where: str) -> float:
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float))
            or not math.isfinite(value)
        ):
            raise wrong(where, f"{shown(value)} is no number")
        return _within(value, least, most, where)

    return Kind(read_number, lambda value: repr(value))


def _within(value: Number, least: float, most: float, where: str) -> Number:
    if value < least:
        raise wrong(where, f"{shown(value)} is below {least}")
    if value > most:
        raise wrong(where, f"{shown(value)} is above {most}")
    return value


def duration(least_ms: int = 0) -> Kind:
    """A time in words, in milliseconds: "250ms", "10s", "5min", "2h", "7d"."""

    def read_duration(value: object, where: str) -> int:
        found = _DURATION.fullmatch(value) if isinstance(value, str) else None
        if not found:
            raise wrong(
                where,
                (
                    f'{shown(value)} is no duration; give one such as "250ms", "10s", "5min", "2h" '
                    'or "7d"'
                ),
            )
        ms = Decimal(found[1]) * UNITS_MS[found[2]]
        if ms != int(ms):
            raise wrong(where, f"{shown(value)} is no whole number of milliseconds")
        if not least_ms <= ms <= LONGEST_MS:
            raise wrong(
                where,
                (
                    f"{shown(value)} is not between {duration_text(least_ms)} and "
                    f"{duration_text(LONGEST_MS)}"
                ),
            )
        return int(ms)

    return Kind(read_duration, lambda ms: quoted(duration_text(ms)))


def duration_text(ms: int) -> str:
    """A time in the largest unit that leaves a whole number: 90min, 7d."""
    unit = next(
        unit for unit, length in UNITS_MS.items() if ms % length == 0 and (ms or unit == "ms")
    )
    return f"{ms // UNITS_MS[unit]}{unit}"


def moment() -> Kind:
    """A time of TOML in milliseconds since 1970, in UTC where it names no zone."""

    def read_moment(value: object, where: str) -> int:
        if not isinstance(value, datetime):
            raise wrong(where, f"{shown(value)} is no time such as 2026-03-01T08:00:00Z")
        aware = value if value.tzinfo else value.replace(tzinfo=UTC)
        ms = (aware - EPOCH) // timedelta(milliseconds=1)
        if not 0 <= ms <= LATEST_MS:
            raise wrong(where, f"{value.isoformat()} is not between 1970 and 2200")
        return ms

    return Kind(read_moment, moment_text)


def moment_text(ms: int) -> str:
    """Milliseconds since 1970 as TOML has a time."""
    return (
        (EPOCH + timedelta(milliseconds=ms))
        .isoformat(timespec="milliseconds" if ms % 1000 else "seconds")
        .replace("+00:00", "Z")
    )


def inner(of: type["DataclassInstance"], known: Sequence[Field]) -> Kind:
    """A table in a table."""

    def write(value: "DataclassInstance") -> str:
        return f"{{ {', '.join(lines(value, known))} }}"

    return Kind(lambda value, where: read(of, known, value, f"{where}."), write)


def several(kind: Kind, most: int) -> Kind:
    """A list."""

    def read_several(value: object, where: str) -> tuple[Any, ...]:
        if not isinstance(value, list) or len(value) > most:
            raise wrong(where, f"{shown(value)} is no list of at most {most}")
        return tuple(kind.read(one, f"{where}[{place}]") for place, one in enumerate(value))

    return Kind(
        read_several, lambda values: "[" + ", ".join(kind.write(one) for one in values) + "]"
    )
