"""The small text files of a broker directory: checkpoints, properties, topic id, quorum state.

A checkpoint consists of a version, a count and that many lines. For example,
recovery-point-offset-checkpoint may have these four lines: 0, 2, "orders 0 38736", "orders 1 4795".
"""

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar, cast

from kafkaviz.errors import CannotOpen, CorruptBytes
from kafkaviz.format.java import ILLEGAL_ARGUMENT, OUT_OF_MEMORY, parse_int, parse_long
from kafkaviz.messages import Message, message, verbatim
from kafkaviz.units import excerpt

VERSION = 0
MAX_PARTITIONS = 500_000  # limit for a checkpoint of offsets
MAX_EPOCHS = 100_000  # limit for leader-epoch-checkpoint
MAX_ARRAY_LENGTH = 2**31 - 3  # CheckpointFile allocates an array for this many entries at most
_SPACE = re.compile("[ \t\n\x0b\f\r]+")  # Java's \s; Python's would also match Unicode spaces
_PLAIN_FIELDS = re.compile("[!-~]+(?: [0-9]+){1,2}")
_COLON = re.compile(":[ \t\n\x0b\f\r]+")
_LINE = re.compile(rb"([^\r\n]*)(?:\r\n|\n|\r|\Z)")
_KEY = re.compile(r"(?:\\.|[^\\=: \t\f])*")
_SEPARATOR = re.compile(r"[ \t\f]*[=:]?[ \t\f]*")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.|$)")
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_QUORUM_FIELDS = {  # required fields of quorum-state, by data version; others are ignored
    0: {
        "clusterId": str,
        "leaderId": int,
        "leaderEpoch": int,
        "votedId": int,
        "appliedOffset": int,
        "currentVoters": list,
    },
    1: {"leaderId": int, "leaderEpoch": int, "votedId": int, "votedDirectoryId": str},
}
EntryT = TypeVar("EntryT")


class UncaughtRefusal(CorruptBytes):
    """The error for a checkpoint that keeps the broker from starting.

    Kafka throws an exception while it reads the checkpoint, and no Kafka code catches it.

    Attributes:
        exception: (class, message) of the exception that Kafka 4.3 throws.
    """

    def __init__(self, position: int, what: Message, exception: tuple[str, str]) -> None:
        super().__init__(position, what)
        self.exception = exception


@dataclass(frozen=True)
class PartitionMetadata:
    """The content of partition.metadata (since Kafka 2.8)."""

    version: int
    topic_id: str  # 16 bytes as 22 characters of URL-safe base64


def parse_offsets(text: str | bytes) -> dict[tuple[str, int], int]:
    """Parses a *-offset-checkpoint file into one offset per (topic, partition).

    Raises:
        CorruptBytes: a version, line or count is wrong. Kafka (CheckpointFile, 4.3.1 and 4.4.0)
            throws an IOException.
        UncaughtRefusal: a field is not a number, or the count is not a valid array size. The broker
            does not start.
        CannotOpen: the file has more than MAX_PARTITIONS lines.
    """

    def entry(topic: str, partition: str, offset: str) -> tuple[tuple[str, int], int]:
        return (topic, parse_int(partition)), parse_long(offset)

    return dict(pair for _, pair in _entries(text, 3, MAX_PARTITIONS, entry))


def parse_leader_epochs(text: str | bytes) -> list[tuple[int, int]]:
    """Parses leader-epoch-checkpoint; an empty file gives an empty list.

    Returns:
        The (epoch, start offset) of each line, in the order of the file.

    Raises:
        CorruptBytes: a version, line or count is wrong. Kafka 4.3 (CheckpointFile) throws an
            IOException.
        UncaughtRefusal: a field is not a number or is negative. The broker does not start.
        CannotOpen: the file has more than MAX_EPOCHS lines.
    """
    epochs = []
    refusal = None  # LeaderEpochFileCache checks the numbers after the whole file was parsed
    lines = _entries(
        text, 2, MAX_EPOCHS, lambda epoch, start: (parse_int(epoch), parse_long(start))
    )
    for position, (epoch, start_offset) in lines:
        epochs.append((epoch, start_offset))
        if min(epoch, start_offset) < 0 and refusal is None:
            words = (
                "Received invalid partition leader epoch entry "
                f"EpochEntry[epoch={epoch}, startOffset={start_offset}]"
            )
            refusal = UncaughtRefusal(position, verbatim(words), (ILLEGAL_ARGUMENT, words))
    if refusal:
        raise refusal
    return epochs


def parse_properties(text: str | bytes) -> dict[str, str]:
    r"""Parses Java properties such as meta.properties: key=value lines in Latin-1.

    Follows java.util.Properties.load. "=", ":" or a space ends a key. A backslash escapes the next
    character. At a line's end, it joins the next line. The last value of a repeated key counts.

    Raises:
        CorruptBytes: a \u is not followed by four hexadecimal digits.
    """
    properties = {}
    for position, line in _join_continuations(_lines(_bytes(text, "latin-1"), "latin-1")):
        key = _match(_KEY, line)[0]
        value = line[_match(_SEPARATOR, line, len(key)).end() :]
        properties[_unescape(key, position)] = _unescape(value, position)
    return properties


def _match(pattern: re.Pattern[str], line: str, start: int = 0) -> re.Match[str]:
    """Returns the match of `pattern` at `start`. `pattern` must match even an empty text."""
    return cast("re.Match[str]", pattern.match(line, start))


def parse_partition_metadata(text: str | bytes) -> PartitionMetadata:
    """Parses partition.metadata, which holds the topic id. Raises CorruptBytes if Kafka refuses it.

    Like Kafka 4.3.1 and 4.4.0, ignores the names before the colons and accepts any version from 0
    on (PartitionMetadataReadBuffer).
    """
    data = _bytes(text)
    lines = [*islice(_lines(data), 2), (len(data), ""), (len(data), "")]
    try:
        version = parse_int(_parse_named_line(lines[0]))
    except ValueError:
        raise _malformed(lines[0], "partition metadata file") from None
    if version < VERSION:
        words = f"Unrecognized version of partition metadata file: {version}"
        raise CorruptBytes(lines[0][0], verbatim(words))
    topic_id = _parse_named_line(lines[1])
    uuid_bytes = _uuid(topic_id, lines[1][0])
    if not any(uuid_bytes):
        words = f"Invalid topic ID in partition metadata file ({excerpt(topic_id)})"
        raise CorruptBytes(lines[1][0], verbatim(words))
    # Kafka decodes the id and ignores the lowest four bits of its last character
    canonical_id = base64.urlsafe_b64encode(uuid_bytes).decode().rstrip("=")
    return PartitionMetadata(version, canonical_id)


def parse_clean_shutdown(text: str | bytes) -> dict | None:
    """Parses .kafka_cleanshutdown, such as {"version": 0, "brokerEpoch": 13} (since Kafka 3.7).

    Returns:
        The JSON object; None for the empty file of earlier releases.

    Raises:
        CorruptBytes: the file is not a JSON object. The broker still counts as cleanly stopped, but
            does not know its last epoch.
    """
    data = _bytes(text)
    return _json_object(data) if data.strip() else None


def parse_quorum_state(text: str | bytes) -> tuple[int, ...]:
    """Returns the voters' ids in the first line of quorum-state. Data version 1 has no voters: ().

    Raises CorruptBytes if Kafka 4.3 refuses the file (FileQuorumStateStore).
    """
    _, line = next(_lines(_bytes(text)), (0, ""))
    if not line:
        raise CorruptBytes(0, verbatim("File ended prematurely."))
    body = _json_object(line.encode())
    if "data_version" not in body:
        raise CorruptBytes(0, message("quorum_state.no_version"))
    # Jackson's shortValue gives 0 for any other type
    version = body["data_version"] if type(body["data_version"]) is int else 0
    if version not in _QUORUM_FIELDS:
        most = max(_QUORUM_FIELDS)
        raise CorruptBytes(0, message("quorum_state.unknown_version", version=version, most=most))
    for name, kind in _QUORUM_FIELDS[version].items():
        if name not in body:
            raise CorruptBytes(0, message("quorum_state.field_missing", name=name, version=version))
        if type(body[name]) is not kind:
            raise CorruptBytes(0, message("quorum_state.field_type", name=name, kind=kind.__name__))
    entries = body["currentVoters"] if version == 0 else []
    if not all(isinstance(entry, dict) and type(entry.get("voterId")) is int for entry in entries):
        raise CorruptBytes(0, message("quorum_state.voter_without_id"))
    return tuple(entry["voterId"] for entry in entries)


def build_offsets(offsets: Mapping[tuple[str, int], int]) -> bytes:
    lines = [f"{topic} {partition} {offset}" for (topic, partition), offset in offsets.items()]
    return "".join(f"{line}\n" for line in (VERSION, len(lines), *lines)).encode()


def build_properties(properties: Mapping[str, str], comments: Iterable[str] = ()) -> bytes:
    """Returns a Java properties file, with the keys in the given order and without escapes."""
    lines = [f"#{comment}" for comment in comments]
    lines += ["=".join(pair) for pair in properties.items()]
    return "".join(f"{line}\n" for line in lines).encode("latin-1")


def build_partition_metadata(topic_id: str) -> bytes:
    """Returns the bytes of partition.metadata; its second line has no newline."""
    return f"version: {VERSION}\ntopic_id: {topic_id}".encode()


def _json_object(data: bytes) -> dict:
    try:
        body = json.loads(data)
    except (ValueError, RecursionError) as fault:
        raise CorruptBytes(0, message("corrupt.not_json", problem=str(fault))) from fault
    if not isinstance(body, dict):
        raise CorruptBytes(0, message("corrupt.not_a_json_object"))
    return body


def _entries(
    text: str | bytes, fields: int, limit: int, entry: Callable[..., EntryT]
) -> Iterator[tuple[int, EntryT]]:
    """Yields the position of each line, and entry(*fields) for its fields (CheckpointFile).

    Yields nothing for a file that is empty or ends after its version.

    Raises:
        CorruptBytes: a line, the version or the count is wrong, or the bytes are not UTF-8.
        UncaughtRefusal: a field is not a number, or the count is not a valid array size.
        CannotOpen: there are more than `limit` lines. Kafka may read such a file.
    """
    data = _bytes(text)
    try:
        data.decode()
    except UnicodeDecodeError as fault:
        raise CorruptBytes(fault.start, verbatim("Malformed UTF-8 in checkpoint file")) from fault
    lines = _lines(data)
    first_line = next(lines, None)
    if first_line is None:
        return
    version = _heading(first_line)
    if version != VERSION:
        raise CorruptBytes(0, verbatim(f"Unrecognized version of the checkpoint file: {version}"))
    second_line = next(lines, None)
    if second_line is None:
        return
    count = _heading(second_line)
    if count < 0:
        refusal = f"Illegal Capacity: {count}"
        raise UncaughtRefusal(second_line[0], verbatim(refusal), (ILLEGAL_ARGUMENT, refusal))
    if count > MAX_ARRAY_LENGTH:
        refusal = "Requested array size exceeds VM limit"
        raise UncaughtRefusal(second_line[0], verbatim(refusal), (OUT_OF_MEMORY, refusal))
    # if the file is too long, read only the first entry, which usually shows whether it is damaged
    most = limit if data.count(b"\n") <= limit + 2 else 1
    entry_count = 0
    for line in lines:
        entry_count += 1
        if entry_count > most:
            what = message("errors.too_many_lines", limit=limit)
            raise CannotOpen("checkpoint", what, kind="large")
        yield line[0], _entry(line, fields, entry)
    if entry_count != count:
        words = f"Expected {count} entries in checkpoint file, but found {entry_count}"
        raise CorruptBytes(second_line[0], verbatim(words))


def _heading(line: tuple[int, str]) -> int:
    with suppress(ValueError):
        return parse_int(line[1])
    raise _malformed(line)


def _entry(line: tuple[int, str], fields: int, entry: Callable[..., EntryT]) -> EntryT:
    position, content = line
    # a line as Kafka writes it; this shortcut saves two thirds of the time
    plain = _PLAIN_FIELDS.fullmatch(content)
    parts = content.split(" ") if plain else _SPACE.split(content.rstrip(" \t\n\x0b\f\r"))
    if len(parts) != fields:
        raise _malformed(line)
    try:
        return entry(*parts)
    except ValueError as fault:
        digits = excerpt(str(fault))
        exception = ("java.lang.NumberFormatException", f'For input string: "{digits}"')
        raise UncaughtRefusal(position, _malformed(line).what, exception) from fault


def _malformed(line: tuple[int, str], file: str = "checkpoint file") -> CorruptBytes:
    position, content = line
    return CorruptBytes(position, verbatim(f"Malformed line in {file}: {excerpt(content)!r}"))


def named_value(line: str) -> str | None:
    """Returns the text after ": " in a line: "0" for "version: 0".

    Returns None unless the line has one ": ". Like Java's split, ignores empty parts at the end.
    """
    parts = _COLON.split(line)
    while parts and not parts[-1]:
        parts.pop()
    return parts[1] if len(parts) == 2 else None


def _parse_named_line(line: tuple[int, str]) -> str:
    value = named_value(line[1])
    if value is None:
        raise _malformed(line, "partition metadata file")
    return value


def _uuid(name: str, position: int) -> bytes:
    with suppress(ValueError):
        uuid_bytes = base64.b64decode(name + "=" * (-len(name) % 4), altchars=b"-_", validate=True)
        if len(uuid_bytes) == 16:
            return uuid_bytes
    raise CorruptBytes(position, message("corrupt.topic_id", id=repr(excerpt(name))))


def _join_continuations(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yields the position and content of each property; joins a line that ends in a backslash."""
    parts = []
    is_begun = False
    start = 0
    for position, content in lines:
        content = content.lstrip(" \t\f")
        if not is_begun and (not content or content[0] in "#!"):
            continue
        start = start if is_begun else position
        # an odd number of backslashes at the end continues the line; pairs are escaped backslashes
        is_continued = (len(content) - len(content.rstrip("\\"))) % 2
        parts.append(content[:-1] if is_continued else content)
        is_begun = is_begun or bool(parts[-1])
        if not is_continued:
            yield start, "".join(parts)
            parts = []
            is_begun = False
    if is_begun:
        yield start, "".join(parts)


def _unescape(text: str, position: int) -> str:
    r"""Replaces the escapes \t, \n, \r, \f and \uXXXX in a text, and drops any other backslash."""

    def character(match: re.Match) -> str:
        code = match[1]
        if code == "u":
            raise CorruptBytes(position, verbatim("Malformed \\uxxxx encoding."))
        return chr(int(code[1:], 16)) if len(code) > 1 else _CONTROLS.get(code, code)

    return _ESCAPE.sub(character, text)


def _lines(data: bytes, encoding: str = "utf-8") -> Iterator[tuple[int, str]]:
    """Yields the position and content of each line, split as Java's BufferedReader does."""
    for line in _LINE.finditer(data):
        if line.start() < len(data):
            yield line.start(), line[1].decode(encoding, "replace")


def _bytes(text: str | bytes, encoding: str = "utf-8") -> bytes:
    return text.encode(encoding, "replace") if isinstance(text, str) else bytes(text)
