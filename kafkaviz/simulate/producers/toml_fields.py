"""Reads and writes dataclasses as TOML tables, by a list of fields for each class.

Errors name the key:

    FIELDS = (
        TomlField("records", whole_number(1)),
        TomlField("duration", duration(), "duration_ms"),
    )
    where = verbatim("orders.toml: phase 1")
    read_table(Phase, FIELDS, {"records": 0}, where, "toml.key_of_phase")
        KafkavizError: orders.toml: phase 1, records: 0 is below 1
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
from kafkaviz.messages import Message, message
from kafkaviz.units import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")
Number = TypeVar("Number", int, float)
UNITS_MS = {"d": DAY_MS, "h": HOUR_MS, "min": MINUTE_MS, "s": SECOND_MS, "ms": 1}
LONGEST_MS = 100 * 365 * UNITS_MS["d"]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LATEST_MS = int(datetime(2200, 1, 1, tzinfo=UTC).timestamp()) * 1000
_DURATION = re.compile(r"(-?[0-9]{1,15}(?:\.[0-9]{1,9})?) ?(d|h|min|s|ms)")


class ValueCodec(NamedTuple):
    """Two functions that read and write a kind of value."""

    read: Callable[[object, Message], Any]  # takes a TOML value and its location, for errors
    write: Callable[[Any], str]  # returns TOML text


@dataclass(frozen=True)
class TomlField:
    """A key of a table. `attribute` is the dataclass's attribute, if it differs from the key."""

    key: str
    kind: ValueCodec
    attribute: str = ""

    @property
    def name(self) -> str:
        return self.attribute or self.key


def toml_error(where: Message, what: Message) -> KafkavizError:
    """Returns a one-line error. `where` is the file and the key."""
    return KafkavizError(message("common.labelled", where=where, text=what))


def read_table(
    table_class: type[T],
    known_fields: Sequence[TomlField],
    table: object,
    where: Message,
    key_of: str,
    **values: object,
) -> T:
    """Reads a TOML table into an object of `table_class`.

    Raises KafkavizError for an unknown key, a missing key, or a value of the wrong kind.

    Args:
        where: the file and the table, for errors.
        key_of: the name of a message with the parameters `where` and `key`. Errors about a key
            begin with this message.
        values: attributes of the object that the table need not contain.
    """
    if not isinstance(table, dict):
        raise toml_error(where, message("toml.is_no_table", value=value_text(table)))
    by_key = {field.key: field for field in known_fields}
    for key in table:
        if key not in by_key:
            problem = message("toml.no_such_key", keys=tuple(by_key))
            raise toml_error(message(key_of, where=where, key=_key(key)), problem)
    values |= {
        by_key[key].name: by_key[key].kind.read(value, message(key_of, where=where, key=key))
        for key, value in table.items()
    }
    needed = {
        attribute.name
        for attribute in fields(table_class)
        if attribute.default is MISSING and attribute.default_factory is MISSING
    }
    for field in known_fields:
        if field.name in needed and field.name not in values:
            key = message(key_of, where=where, key=field.key)
            raise toml_error(key, message("toml.is_missing"))
    return table_class(**values)


def lines(value: "DataclassInstance", known_fields: Sequence[TomlField]) -> list[str]:
    """Returns a KEY = VALUE line for each field that differs from its default."""
    defaults = {attribute.name: attribute.default for attribute in fields(value)}
    return [
        f"{field.key} = {field.kind.write(getattr(value, field.name))}"
        for field in known_fields
        if getattr(value, field.name) != defaults[field.name]
    ]


def value_text(value: object) -> str:
    """Returns a value for an error, as in TOML, cut at 60 characters."""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = json.dumps(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def quote(text: str) -> str:
    """Returns a text as a basic string of TOML, on one line, with JSON's escapes."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(key: str) -> str:
    return key if re.fullmatch("[A-Za-z0-9_.-]{1,60}", key) else value_text(key)


# ---- the kinds of values


def text(longest: int = 2000) -> ValueCodec:
    def read_text(value: object, where: Message) -> str:
        if not isinstance(value, str):
            raise toml_error(where, message("toml.is_no_text", value=value_text(value)))
        if len(value) > longest:
            problem = message("toml.too_many_characters", count=len(value), most=longest)
            raise toml_error(where, problem)
        return value

    return ValueCodec(read_text, quote)


def choice(options: Sequence[str]) -> ValueCodec:
    def read_choice(value: Any, where: Message) -> str:
        if value not in options:
            problem = message("toml.is_none_of", value=value_text(value), options=tuple(options))
            raise toml_error(where, problem)
        return value

    return ValueCodec(read_choice, quote)


def flag() -> ValueCodec:
    def read_flag(value: object, where: Message) -> bool:
        if not isinstance(value, bool):
            raise toml_error(where, message("toml.is_no_flag", value=value_text(value)))
        return value

    return ValueCodec(read_flag, value_text)


def whole_number(least: int, most: int = 2**31 - 1) -> ValueCodec:
    def read_whole(value: object, where: Message) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise toml_error(where, message("toml.is_no_whole_number", value=value_text(value)))
        return _within(value, least, most, where)

    return ValueCodec(read_whole, str)


def number(least: float, most: float) -> ValueCodec:
    def read_number(value: Any, where: Message) -> float:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value):
            raise toml_error(where, message("toml.is_no_number", value=value_text(value)))
        return _within(value, least, most, where)

    return ValueCodec(read_number, repr)


def _within(value: Number, least: float, most: float, where: Message) -> Number:
    if value < least:
        raise toml_error(where, message("toml.is_below", value=value_text(value), least=least))
    if value > most:
        raise toml_error(where, message("toml.is_above", value=value_text(value), most=most))
    return value


def duration(least_ms: int = 0) -> ValueCodec:
    """Returns the ValueCodec of a duration such as "250ms", "5min" or "7d"; the value is in ms."""

    def read_duration(value: object, where: Message) -> int:
        match = _DURATION.fullmatch(value) if isinstance(value, str) else None
        if not match:
            raise toml_error(where, message("toml.is_no_duration", value=value_text(value)))
        ms = Decimal(match[1]) * UNITS_MS[match[2]]
        if ms != int(ms):
            raise toml_error(where, message("toml.is_no_whole_ms", value=value_text(value)))
        if not least_ms <= ms <= LONGEST_MS:
            problem = message(
                "toml.is_not_between",
                value=value_text(value),
                least=duration_text(least_ms),
                most=duration_text(LONGEST_MS),
            )
            raise toml_error(where, problem)
        return int(ms)

    return ValueCodec(read_duration, lambda ms: quote(duration_text(ms)))


def duration_text(ms: int) -> str:
    units = [unit for unit, length in UNITS_MS.items() if ms and ms % length == 0]
    unit = units[0] if units else "ms"
    return f"{ms // UNITS_MS[unit]}{unit}"


def moment() -> ValueCodec:
    """Returns the ValueCodec of a TOML time (UTC if without zone); the value is ms since 1970."""

    def read_moment(value: object, where: Message) -> int:
        if not isinstance(value, datetime):
            raise toml_error(where, message("toml.is_no_time", value=value_text(value)))
        aware = value if value.tzinfo else value.replace(tzinfo=UTC)
        ms = (aware - EPOCH) // timedelta(milliseconds=1)
        if not 0 <= ms <= LATEST_MS:
            raise toml_error(where, message("toml.is_not_since_1970", value=value.isoformat()))
        return ms

    return ValueCodec(read_moment, moment_text)


def moment_text(ms: int) -> str:
    time = EPOCH + timedelta(milliseconds=ms)
    time_text = time.isoformat(timespec="milliseconds" if ms % 1000 else "seconds")
    return time_text.replace("+00:00", "Z")


def table_of(
    table_class: type["DataclassInstance"], known_fields: Sequence[TomlField]
) -> ValueCodec:
    def read(value: object, where: Message) -> "DataclassInstance":
        return read_table(table_class, known_fields, value, where, "toml.key_of_table")

    def write(value: "DataclassInstance") -> str:
        return f"{{ {', '.join(lines(value, known_fields))} }}"

    return ValueCodec(read, write)


def list_of(kind: ValueCodec, most: int) -> ValueCodec:
    def read_several(value: object, where: Message) -> tuple[Any, ...]:
        if not isinstance(value, list) or len(value) > most:
            raise toml_error(where, message("toml.is_no_list", value=value_text(value), most=most))
        return tuple(
            kind.read(item, message("toml.item", where=where, place=place))
            for place, item in enumerate(value)
        )

    return ValueCodec(read_several, lambda values: f"[{', '.join(map(kind.write, values))}]")
