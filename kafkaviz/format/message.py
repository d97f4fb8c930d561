"""Reads messages of a schema from record bytes, and prints them as Kafka's JSON.

A schema is a tree of types. Its notation is a line of fields, "name type", in the order in which
Kafka prints them:

    group str, partition i32, rack str? v3+, members [{id str, hosts [str]}], #0 epochs [i32]?

- Types: i8 i16 i32 i64 u16 f64 bool uuid str bytes; [T] is an array, {...} a structure.
- `?` means that the value may be null.
- v3+ means since version 3; v1 means only in version 1.
- #n is a tagged field. Its default follows the type: =-1, =null, =false, =zero, =empty or =[].

A message has one of two forms:

- plain: sizes and counts have 2 or 4 bytes, and -1 means null.
- flexible: sizes and counts are unsigned varints of the number plus 1, and 0 means null. A tagged
  section follows every structure.

For example, the string "a" and the array [7], without tagged fields:

    plain     0001 61 | 00000001 00000007
    flexible  02 61   | 02 00000007        | 00

Follows the classes that Kafka 4.3.1 generates from its schemas. Values are int, bool, float, str,
bytes, None, lists and dicts; a uuid is a string of 22 characters.
"""

import base64
import re
import struct
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, cast

from kafkaviz.binary import varint
from kafkaviz.errors import CorruptBytes, NotRead
from kafkaviz.format import java
from kafkaviz.format.java import ILLEGAL_ARGUMENT
from kafkaviz.messages import Message, message, verbatim

Values = dict[str, Any]

LONGEST_STRING = 0x7FFF
# limit for the arrays and tagged sections of one message; brokers write some thousand values
MAX_VALUES = 500_000
# a field of all versions accepts any version, even a negative one, as in the generated classes
OLDEST = -(2**15)
ZERO_UUID = "A" * 22
UNPACK = {
    "i8": struct.Struct(">b"),
    "i16": struct.Struct(">h"),
    "i32": struct.Struct(">i"),
    "i64": struct.Struct(">q"),
    "u16": struct.Struct(">H"),
    "f64": struct.Struct(">d"),
    "bool": struct.Struct(">b"),
    "uuid": struct.Struct(">16s"),
}
_ESCAPES = {code: f"\\u{code:04X}" for code in range(0x20)}
_ESCAPES |= str.maketrans(
    {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\t": "\\t", "\r": "\\r", "\n": "\\n"}
)
_TOKEN = re.compile(r"\s*(#\d+|v\d+\+?|=(?:empty|null|zero|false|\[\]|-?\d+)|\w+|[\[\]{},?])")
UNDERFLOW = "java.nio.BufferUnderflowException"
RUNTIME = "java.lang.RuntimeException"


class KafkaParseError(CorruptBytes):
    """The error for bytes at which Kafka's reader throws an exception.

    Attributes:
        what: the message that kafkaviz shows.
        java_message: the Java exception's message; None if it has none.
    """

    def __init__(
        self, position: int, what: Message, java_class: str, java_message: str | None
    ) -> None:
        super().__init__(position, what)
        self.java_class = java_class
        self.java_message = java_message

    @property
    def java_text(self) -> str:
        """The exception as Java prints it, "class: message", or only the class."""
        if self.java_message is None:
            return self.java_class
        return f"{self.java_class}: {self.java_message}"


def kafka_error(position: int, java_message: str, java_class: str = RUNTIME) -> KafkaParseError:
    """Returns an error whose text for the user is the Java exception's message."""
    return KafkaParseError(position, verbatim(java_message), java_class, java_message)


@dataclass(kw_only=True, slots=True)
class Reader:
    """Reads the bytes of one message, in one version and form (plain or flexible).

    A nested structure refuses a version above `newest`. If `newest` is None, any version is read.
    """

    data: bytes
    at: int
    version: int
    flexible: bool
    newest: int | None
    values: int = 0

    def count_values(self, count: int) -> None:
        """Adds to the number of values read. Raises NotRead above MAX_VALUES."""
        self.values += count
        if self.values > MAX_VALUES:
            raise NotRead(self.at, message("corrupt.too_many_values", limit=MAX_VALUES))

    def read_number(self, kind: str) -> Any:
        """Reads a number of fixed size. `kind` is a key of UNPACK."""
        layout = UNPACK[kind]
        start = self.at
        self.at = self.at + layout.size
        if self.at > len(self.data):
            what = message("corrupt.number_cut", size=layout.size)
            raise KafkaParseError(start, what, UNDERFLOW, None)
        return layout.unpack_from(self.data, start)[0]

    def read_unsigned(self) -> int:
        """Reads an unsigned varint. As in Java, a number above 2^31 - 1 becomes negative."""
        try:
            number, self.at = varint.read_unsigned(self.data, self.at)
        except CorruptBytes as fault:
            if len(self.data) - self.at < varint.VARINT_BYTES:
                raise KafkaParseError(self.at, fault.what, UNDERFLOW, None) from None
            raise kafka_error(self.at, str(fault.what), ILLEGAL_ARGUMENT) from None
        return _signed32(number)

    def read_length(self, plain: str) -> int:
        """Reads the size of a string, bytes or array; a negative size means null."""
        return _signed32(self.read_unsigned() - 1) if self.flexible else self.read_number(plain)

    def read_bytes(self, size_bytes: int) -> bytes:
        available = len(self.data) - self.at
        if size_bytes > available:
            problem = (
                f"Error reading byte array of {size_bytes} byte(s): only {available} byte(s) "
                "available"
            )
            raise kafka_error(self.at, problem)
        if size_bytes < 0:
            raise kafka_error(self.at, str(size_bytes), "java.lang.NegativeArraySizeException")
        start = self.at
        self.at = self.at + size_bytes
        return self.data[start : self.at]


@dataclass(frozen=True)
class Scalar:
    kind: str

    @property
    def default(self) -> Any:
        """The value of a field that is missing from the bytes."""
        return {"uuid": ZERO_UUID, "bool": False, "f64": 0.0}.get(self.kind, 0)

    def read(self, reader: Reader, name: str, *, tagged: bool = False) -> Any:
        number = reader.read_number(self.kind)
        if self.kind == "uuid":
            return uuid_text(number)
        return number != 0 if self.kind == "bool" else number

    def text(self, value: Any, version: int) -> str:
        if self.kind == "f64":
            digits = java.format_double(value)
            return digits if digits[-1].isdigit() else f'"{digits}"'
        if self.kind == "bool":
            return "true" if value else "false"
        return f'"{value}"' if self.kind == "uuid" else str(value)


@dataclass(frozen=True)
class SizedValue:
    """The type of a string or byte array, whose size is written before it."""

    kind: str
    nullable: bool = False

    @property
    def default(self) -> Any:
        return "" if self.kind == "str" else b""

    def read(self, reader: Reader, name: str, *, tagged: bool = False) -> str | bytes | None:
        start = reader.at
        size = reader.read_length("i16" if self.kind == "str" else "i32")
        if size < 0:
            return _check_nullable(start, name, nullable=self.nullable)
        if self.kind == "bytes":
            return reader.read_bytes(size)
        if size > LONGEST_STRING:
            raise kafka_error(start, f"string field {name} had invalid length {size}")
        return java.decode_utf8(reader.read_bytes(size))

    def text(self, value: Any, version: int) -> str:
        if value is None:
            return "null"
        if self.kind == "bytes":
            return f'"{base64.b64encode(value).decode()}"'
        return json_string(value)


@dataclass(frozen=True)
class Array:
    item: "Type"
    nullable: bool = False

    @property
    def default(self) -> list:
        return []

    def read(self, reader: Reader, name: str, *, tagged: bool = False) -> list | None:
        """Reads the items. Refuses an array with more items than remaining bytes."""
        start = reader.at
        count = reader.read_length("i32")
        if count < 0:
            return _check_nullable(start, name, nullable=self.nullable)
        available = len(reader.data) - reader.at
        if count > available:
            problem = (
                f"Tried to allocate a collection of size {count}, but there are only {available} "
                "bytes remaining."
            )
            raise kafka_error(start, problem)
        fields = len(self.item.fields) if isinstance(self.item, Structure) else 1
        reader.count_values(count * fields)
        element = f"{name} element"
        return [self.item.read(reader, element) for _ in range(count)]

    def text(self, value: list | None, version: int) -> str:
        if value is None:
            return "null"
        return f"[{','.join(self.item.text(item, version) for item in value)}]"


@dataclass(frozen=True, kw_only=True)
class Field:
    """A field of a structure. Only versions `first_version` to `last_version` have it."""

    name: str
    type: "Type"
    first_version: int = OLDEST
    last_version: int | None = None
    tag: int | None = None
    default: Any = None  # only for a tagged field

    @property
    def missing_value(self) -> Any:
        """The field's value if a message does not contain the field."""
        return self.type.default if self.tag is None else self.default

    def applies_to(self, version: int) -> bool:
        return self.first_version <= version and (
            self.last_version is None or version <= self.last_version
        )


@dataclass(frozen=True)
class Structure:
    """A sequence of fields; in the flexible form, a tagged section follows them."""

    fields: tuple[Field, ...]
    nullable: bool = False
    is_nested: bool = field(default=False, compare=False)

    @cached_property
    def default(self) -> Values:
        return {child.name: child.missing_value for child in self.fields}

    @cached_property
    def fields_by_tag(self) -> dict[int, Field]:
        return {child.tag: child for child in self.fields if child.tag is not None}

    def read(self, reader: Reader, name: str, *, tagged: bool = False) -> Values | None:
        if self.nullable and (
            reader.read_unsigned() <= 0 if tagged else reader.read_number("i8") < 0
        ):
            return None
        if self.is_nested and reader.newest is not None and reader.version > reader.newest:
            problem = f"Can't read version {reader.version} of {name}"
            raise kafka_error(
                reader.at, problem, "org.apache.kafka.common.errors.UnsupportedVersionException"
            )
        values = {}
        for child in self.fields:
            if child.applies_to(reader.version):
                values[child.name] = (
                    child.default if child.tag is not None else child.type.read(reader, child.name)
                )
        if reader.flexible:
            self._read_tagged(reader, values)
        return values

    def _read_tagged(self, reader: Reader, values: Values) -> None:
        """Reads the tagged section. Like the generated classes, ignores the size of a known tag."""
        for _ in range(reader.read_unsigned()):
            reader.count_values(1)
            start = reader.at
            tag = reader.read_unsigned()
            size_bytes = reader.read_unsigned()
            tagged_field = self.fields_by_tag.get(tag)
            if tagged_field is None:
                reader.read_bytes(size_bytes)
            elif tagged_field.applies_to(reader.version):
                values[tagged_field.name] = tagged_field.type.read(
                    reader, tagged_field.name, tagged=True
                )
            else:
                raise kafka_error(start, f"Tag {tag} is not valid for version {reader.version}")

    def text(self, value: Values | None, version: int) -> str:
        """Returns Kafka's compact JSON of the fields. Omits tagged fields with default values."""
        if value is None:
            return "null"
        members = []
        for child in self.fields:
            if child.applies_to(version):
                member = value.get(child.name, child.missing_value)
                if child.tag is None or member != child.default:
                    members.append(f'"{child.name}":{child.type.text(member, version)}')
        return f"{{{','.join(members)}}}"


Type = Scalar | SizedValue | Array | Structure


def read(
    schema_: Structure,
    data: bytes | memoryview,
    version: int = 0,
    *,
    flexible: bool = True,
    position: int = 0,
    newest_version: int | None = None,
) -> tuple[Values, int]:
    """Reads a message of a schema. Returns the values, and the position after the message.

    Raises KafkaParseError where Kafka's generated class throws; NotRead above MAX_VALUES values.
    """
    reader = Reader(
        data=bytes(data), at=position, version=version, flexible=flexible, newest=newest_version
    )
    return cast("Values", schema_.read(reader, "")), reader.at  # the message itself is not null


def json_string(value: str) -> str:
    """Quotes a string as Jackson does: escapes only the characters that need it."""
    return f'"{value.translate(_ESCAPES)}"'


def uuid_text(data: bytes) -> str:
    """Returns 16 bytes as 22 characters of URL-safe base64 (Kafka's Uuid.toString)."""
    return base64.urlsafe_b64encode(data)[:22].decode()


def _check_nullable(position: int, name: str, *, nullable: bool) -> None:
    if not nullable:
        raise kafka_error(position, f"non-nullable field {name} was serialized as null")


def _signed32(number: int) -> int:
    return (number + 2**31) % 2**32 - 2**31


@cache
def schema(line: str, parts: tuple[tuple[str, str], ...] = ()) -> Structure:
    """Parses a line such as "group str". `parts` are the (name, type) pairs it may use."""
    tokens = [*_tokens(line), "}"]
    fields = _fields(tokens, dict(parts))
    if tokens:
        raise ValueError(f"left over in the schema {line!r}: {tokens}")
    return Structure(fields)


def _tokens(line: str) -> list[str]:
    """Splits the line into words and punctuation. Raises ValueError at anything else."""
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
    """Parses the fields up to the closing brace. Removes them and the brace from `tokens`."""
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
    if word in ("null", "zero", "empty", "[]", "false"):
        return None if word == "null" else type_.default
    return int(word)
