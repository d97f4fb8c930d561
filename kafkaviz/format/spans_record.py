"""The spans of the records of a batch of magic 2, decompressed: each varint, key, value and header
by itself.

A record of 11 bytes in which all goes well: length, attributes, timestampDelta, offsetDelta,
keyLength, key, valueLength, value, headerCount. What a reader cannot make sense of is a torn span
up to the end of that record, and the next record is read again.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from kafkaviz import units
from kafkaviz.binary import spans, varint
from kafkaviz.binary.spans import OFFSET, PAYLOAD, SIZE, TIME, TORN, Span, torn
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import control

NOTE_CHARACTERS = 400  # of what a control record holds: a list of voters may be long


@dataclass(frozen=True)
class Batch:
    """What the records are counted from; append_time_ms: the time of all of them where the broker's
    clock gave it, else None.
    """

    base_offset: int
    base_timestamp_ms: int
    append_time_ms: int | None = None
    is_control: bool = False


def records(
    data: bytes | memoryview,
    count: int,
    batch: Batch,
    position: int = 0,
    start: int = 0,
    stop: int | None = None,
) -> list[Span]:
    """The spans of the records that have a byte in [start, stop) (all by default); data lies at
    this position.

    The spans tile data from the first such record to the last; with the whole of it asked for, they
    tile it all.
    """
    data, made, at = memoryview(data), [], 0
    lo, hi = start - position, len(data) if stop is None else stop - position
    for number in range(max(count, 0)):
        if at >= min(hi, len(data)):
            return made
        try:
            size_bytes, body = varint.read_varint(data, at)
            end = _end(data, body, size_bytes)
        except CorruptBytes as fault:
            return [
                *made,
                torn(
                    position + at,
                    position + len(data),
                    f"record {number}, unreadable",
                    f"{fault.what}.",
                ),
            ]
        if end > lo:
            made += _Reader(data, at, end, position, number, batch).record(size_bytes, body)
        at = end
    if at < min(hi, len(data)):
        made.append(
            torn(
                position + at,
                position + len(data),
                "behind the last record",
                f"The batch says that it holds {count} records.",
            )
        )
    return made


def _end(data: memoryview, body: int, size_bytes: int) -> int:
    """The byte behind a record; CorruptBytes if it says that it ends before its body begins, or
    behind the data.
    """
    if size_bytes < 0 or body + size_bytes > len(data):
        raise CorruptBytes(
            body, f"The record says that it takes {size_bytes} bytes, {len(data) - body} are there"
        )
    return body + size_bytes


@dataclass
class _Reader:
    """Goes through one record, span by span."""

    data: memoryview
    at: int
    end: int  # of the record
    position: int  # of the data
    number: int
    batch: Batch
    made: list[Span] = field(default_factory=list)
    control_key: bytes | None = None

    def record(self, size_bytes: int, body: int) -> list[Span]:
        """The spans of the record, up to its end whatever is in it."""
        says = f"Record {self.number}: {units.group(size_bytes)} bytes after this number."
        self._take(body, f"record {self.number} length", str(size_bytes), SIZE, says)
        try:
            self._fields()
        except CorruptBytes as fault:
            self._rest(f"{fault.what}.")
        if self.at < self.end:
            self._rest("The fields of the record end before it.")
        return self.made

    def _fields(self) -> None:
        if self.at < self.end:
            self._take(
                self.at + 1,
                "attributes",
                str(self.data[self.at]),
                PAYLOAD,
                "No bit of it means anything up to Kafka 4.3.",
            )
        self._number("timestampDelta", TIME, self._time, varint.read_varlong)
        self._number(
            "offsetDelta",
            OFFSET,
            lambda delta: f"Offset {units.group(self.batch.base_offset + delta)}.",
        )
        self._sized("key")
        self._sized("value")
        count = self._number(
            "headerCount", SIZE, lambda count: "No headers." if count == 0 else f"{count} headers."
        )
        if count > self.end - self.at:
            raise CorruptBytes(
                self.at, f"{count} headers do not fit into {self.end - self.at} bytes"
            )
        for number in range(count):
            self._sized(f"header {number} key", null=False)
            self._sized(f"header {number} value")

    def _time(self, delta: int) -> str:
        if self.batch.append_time_ms is not None:
            return (
                "Not used: the batch has the broker’s time, "
                f"{units.moment(self.batch.append_time_ms)} UTC."
            )
        at_ms = self.batch.base_timestamp_ms + delta
        return f"{units.moment(at_ms)} UTC." if at_ms != -1 else "−1: no time."

    def _number(
        self, name: str, kind: str, note: Callable[[int], str], read: Callable = varint.read_varint
    ) -> int:
        """A number of variable length, which must end within the record."""
        found, behind = read(self.data[: self.end], self.at)
        self._take(behind, name, str(found), kind, note(found))
        return found

    def _sized(self, name: str, null: bool = True) -> None:
        """A length and as many bytes; a negative length is null, where that is allowed."""
        nothing = f"The {name} is null." if null else f"A {name} cannot be null."
        size = self._number(
            f"{name}Length",
            SIZE,
            lambda size: f"{units.group(size)} bytes of {name}." if size >= 0 else nothing,
        )
        if size < 0 and not null:
            raise CorruptBytes(self.at, f"Invalid negative header key size {size}")
        if size > self.end - self.at:
            raise CorruptBytes(
                self.at,
                f"{size} bytes of {name} are said to follow, {self.end - self.at} are there",
            )
        if size > 0:
            part = self.data[self.at : self.at + size]
            self._take(self.at + size, name, spans.text(part), PAYLOAD, self._control(name, part))

    def _control(self, name: str, part: memoryview) -> str:
        """What the value of a control record says, or which it is that a key begins; nothing of any
        other part.
        """
        if not self.batch.is_control or name not in ("key", "value"):
            return ""
        if name == "key":
            self.control_key = bytes(part)
            return f"Which control record this is: {_control_type(self.control_key)}."
        try:
            return f"{control.printed(self.control_key, bytes(part))[:NOTE_CHARACTERS]}."
        except CorruptBytes as fault:
            return f"{fault.what}."

    def _take(self, end: int, name: str, value: str, kind: str, note: str = "") -> None:
        self.made.append(
            Span(self.position + self.at, self.position + end, name, value, kind, note)
        )
        self.at = end

    def _rest(self, note: str) -> None:
        """What is left of the record, unread; where nothing is, its last field is what ends too
        early.
        """
        if self.at == self.end:
            self.made[-1] = self.made[-1]._replace(kind=TORN, note=note)
            return
        self.made.append(
            torn(
                self.position + self.at,
                self.position + self.end,
                f"rest of record {self.number}",
                note,
            )
        )
        self.at = self.end


def _control_type(key: bytes) -> str:
    """The name of the type in the key of a control record, where it has one."""
    number = int.from_bytes(key[2 : control.KEY_BYTES], "big", signed=True)
    return (
        control.ControlType(number).name
        if number in control.RECORD_TYPES and len(key) >= control.KEY_BYTES
        else "unknown"
    )
