"""Splits the decompressed records of a batch of magic 2 into spans: named ranges of bytes.

A sound record has the spans length, attributes, timestampDelta, offsetDelta, keyLength, key,
valueLength, value, headerCount and headers. In a damaged record, the bytes from the damage to the
record's end are one span of kind "torn".
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from kafkaviz import units
from kafkaviz.binary import layouts, varint
from kafkaviz.binary.layouts import OFFSET, PAYLOAD, SIZE, TIME, TORN, Span, torn_span
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import control
from kafkaviz.format.batch_records import content_range
from kafkaviz.messages import Message, Text, message, verbatim

SHOWN_HEADERS = 1000  # further headers of a record are one span
NOTE_CHARACTERS = 400  # a control record may hold a long list of voters


@dataclass(frozen=True)
class RecordBase:
    """The base values of a batch. The deltas of its records are added to them."""

    base_offset: int
    base_timestamp_ms: int
    append_time_ms: int | None = None  # the time of all records in a batch with LogAppendTime
    is_control: bool = False


def records(
    data: bytes | memoryview,
    count: int,
    batch: RecordBase,
    position: int = 0,
    *,
    start: int = 0,
    stop: int | None = None,
) -> list[Span]:
    """Returns the spans of the records that overlap [start, stop), by default of all records.

    `position` is where `data` begins in the file. `start` and `stop` are positions in the file too.
    """
    data = memoryview(data)
    result = []
    cursor = 0
    lo = start - position
    hi = len(data) if stop is None else stop - position
    for number in range(max(count, 0)):
        if cursor >= min(hi, len(data)):
            return result
        try:
            body, end = content_range(data, cursor)
        except CorruptBytes as fault:
            name = message("span.unreadable_record", n=number)
            note = message("common.stop", text=fault.what)
            return [*result, torn_span(position + cursor, position + len(data), name, note)]
        if end > lo:
            result += _RecordReader(
                data=data, cursor=cursor, end=end, position=position, number=number, batch=batch
            ).record(body)
        cursor = end
    if cursor < min(hi, len(data)):
        name = message("span.behind_last_record")
        note = message("span.behind_last_record_note", n=count)
        result.append(torn_span(position + cursor, position + len(data), name, note))
    return result


@dataclass(kw_only=True)
class _RecordReader:
    data: memoryview
    cursor: int
    end: int  # of the record, in data
    position: int  # of data in the file
    number: int
    batch: RecordBase
    result: list[Span] = field(default_factory=list)
    control_key: bytes | None = None

    def record(self, body: int) -> list[Span]:
        size_bytes = self.end - body
        name = message("span.record_field", n=self.number, field="length")
        note = message("span.record_length", record=self.number, n=size_bytes)
        self._append_span(body, name, str(size_bytes), SIZE, note)
        try:
            self._read_fields()
        except CorruptBytes as fault:
            self._append_rest(message("common.stop", text=fault.what))
        if self.cursor < self.end:
            self._append_rest(message("span.rest_of_record_note"))
        return self.result

    def _read_fields(self) -> None:
        if self.cursor < self.end:
            value = str(self.data[self.cursor])
            note = message("span.record_attributes")
            self._append_span(self.cursor + 1, "attributes", value, PAYLOAD, note)
        self._read_number("timestampDelta", TIME, self._time_note, varint.read_varlong)
        self._read_number(
            "offsetDelta",
            OFFSET,
            lambda delta: message("span.offset", offset=self.batch.base_offset + delta),
        )
        self._read_sized("key")
        self._read_sized("value")
        count = self._read_number(
            "headerCount",
            SIZE,
            lambda count: message("span.headers", n=count) if count else message("span.no_headers"),
        )
        available = self.end - self.cursor
        if count > available:
            what = message("corrupt.headers_do_not_fit", count=count, available=available)
            raise CorruptBytes(self.cursor, what)
        for number in range(min(count, SHOWN_HEADERS)):
            self._read_sized(f"header {number} key", is_nullable=False)
            self._read_sized(f"header {number} value")
        if count > SHOWN_HEADERS and self.cursor < self.end:
            more = message("span.more_headers", n=count - SHOWN_HEADERS)
            rest_bytes = self.end - self.cursor
            self._append_span(self.end, more, units.format_bytes(rest_bytes), PAYLOAD)

    def _time_note(self, delta: int) -> Message:
        if self.batch.append_time_ms is not None:
            return message("span.unused_time", time=self.batch.append_time_ms)
        time_ms = self.batch.base_timestamp_ms + delta
        return message("span.time", time=time_ms) if time_ms != -1 else message("span.no_time")

    def _read_number(
        self,
        name: str,
        kind: str,
        note: Callable[[int], Message],
        read: Callable = varint.read_varint,
    ) -> int:
        number, end = read(self.data[: self.end], self.cursor)
        self._append_span(end, name, str(number), kind, note(number))
        return number

    def _read_sized(self, name: str, *, is_nullable: bool = True) -> None:
        """Reads a length and that many bytes. If `is_nullable`, a negative length means null."""
        null_key = "span.null_part" if is_nullable else "span.part_not_nullable"

        def note(size: int) -> Message:
            if size < 0:
                return message(null_key, part=name)
            return message("span.bytes_of_part", n=size, part=name)

        size = self._read_number(f"{name}Length", SIZE, note)
        if size < 0 and not is_nullable:
            raise CorruptBytes(self.cursor, verbatim(f"Invalid negative header key size {size}"))
        available = self.end - self.cursor
        if size > available:
            what = message("corrupt.part_cut", size=size, part=name, available=available)
            raise CorruptBytes(self.cursor, what)
        if size > 0:
            part = self.data[self.cursor : self.cursor + size]
            part_note = self._control_note(name, part)
            self._append_span(self.cursor + size, name, layouts.text(part), PAYLOAD, part_note)

    def _control_note(self, name: str, part: memoryview) -> Text:
        """Describes the type or value of a control record; "" for any other part."""
        if not self.batch.is_control or name not in ("key", "value"):
            return ""
        if name == "key":
            self.control_key = bytes(part)
            return message("span.control_type", type=_control_type(self.control_key))
        try:
            text = control.dump_text(self.control_key, bytes(part))
        except CorruptBytes as fault:
            return message("common.stop", text=fault.what)
        return message("span.control_record", text=text[:NOTE_CHARACTERS])

    def _append_span(self, end: int, name: Text, value: str, kind: str, note: Text = "") -> None:
        edges = (self.position + self.cursor, self.position + end)
        self.result.append(Span(*edges, name, value, kind, note))
        self.cursor = end

    def _append_rest(self, note: Message) -> None:
        """Adds a torn span for the rest of the record. If it is empty, makes the last span torn."""
        if self.cursor == self.end:
            self.result[-1] = self.result[-1]._replace(kind=TORN, note=note)
            return
        name = message("span.rest_of_record", n=self.number)
        edges = (self.position + self.cursor, self.position + self.end)
        self.result.append(torn_span(*edges, name, note))
        self.cursor = self.end


def _control_type(key: bytes) -> Text:
    number = int.from_bytes(key[2 : control.KEY_BYTES], "big", signed=True)
    if number in control.RECORD_TYPES and len(key) >= control.KEY_BYTES:
        return control.ControlType(number).name
    return message("common.unknown")
