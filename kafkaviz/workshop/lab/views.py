"""The views of the lab: the damage in a copy, and the result of broker start-up.

00000000000000002400.log: bit 4 of byte 17 129 flipped, in CRC
before  017120  00 00 00 00 00 1e 93 00 00 00 00 02 4b 8c 0a 11
after   017120  00 00 00 00 00 1e 93 00 00 10 00 02 4b 8c 0a 11

The broker truncates the log at byte 18 517 · 2 600 of 5 000 records
undamaged        ████████████████████████
after the start  ████████████░░░░░░░░░░░░
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from operator import itemgetter

from kafkaviz.analysis.findings import Finding
from kafkaviz.format import spans_batch
from kafkaviz.messages import render, say, say_count
from kafkaviz.render.sentences import capitalize, join_comma, join_semicolon
from kafkaviz.simulate.steps import StartupStep
from kafkaviz.units import format_bytes, format_count, moment
from kafkaviz.workshop.lab import INDEXES, POSITION_SLOTS, Client, Damage, LogCopy
from kafkaviz.workshop.lab.start_trial import DeliveredRange, ReadOutcome, StartTrial

ROW_BYTES = 16
MAX_ROWS = 2
# faults that use the texts of another fault
SAME_WORDS = {
    "bit-killed": "bit",
    "cut-killed": "cut",
    "index-cut": "cut",
    "index-zeroed-killed": "index-zeroed",
    "times-zeroed": "index-zeroed",
    "timeindex-removed": "index-removed",
}
SLOT_PLACES = ("position-moved", "time-late")
# faults whose place is a number of days, records or bytes
COUNTED_PLACES = ("clock", "file-time", "key-lowered", "index-padded")


@dataclass(frozen=True)
class HexRow:
    """Sixteen bytes of a file, each as (two hexadecimal digits, whether the damage changed it).

    The digits are "" after the end of the file.
    """

    position: int
    cells: tuple[tuple[str, bool], ...]


@dataclass(frozen=True, kw_only=True)
class DamageView:
    """A description of the damage, and the bytes around it."""

    title: str
    stop: str  # how the broker was shut down
    before: tuple[HexRow, ...]  # rows of bytes; empty if no byte changed
    after: tuple[HexRow, ...]
    note_before: str  # a text next to the bytes, or instead of them
    note_after: str


def damage_view(copy: LogCopy, damage: Damage, fault: str, place: int) -> DamageView:
    """Describes the damage of a fault. `copy` is the undamaged copy.

    `place` is a byte, a slot or an amount, as in `Fault`.
    """
    has_change = damage.before != damage.after
    title = _describe(copy, damage, fault, place)
    note_before, note_after = _notes(copy, damage)
    return DamageView(
        title=say("break_it.broken_title", name=damage.file, title=title),
        stop=describe_stop(damage.copy),
        before=_rows(damage.before, damage) if has_change else (),
        after=_rows(damage.after, damage) if has_change else (),
        note_before=note_before,
        note_after=note_after,
    )


def place_label(fault: str) -> str:
    if fault in SLOT_PLACES:
        return say("segment.head_slot")
    return say(f"break_it.place_{SAME_WORDS.get(fault, fault)}")


def describe_stop(copy: LogCopy) -> str:
    if copy.is_clean:
        return say("broker.stopped_cleanly")
    return say("break_it.killed", offset=copy.log.recovery_point)


def _describe(copy: LogCopy, damage: Damage, fault: str, place: int) -> str:
    count = place if fault in COUNTED_PLACES else damage.stop - damage.start
    return say_count(
        f"break_it.does_{SAME_WORDS.get(fault, fault)}",
        count,
        count=format_count(count),
        byte=format_count(damage.start),
        field=_field_text(copy, damage),
        new_name=damage.new_name,
        place=format_count(place),
        next=format_count(place + 1),
        behind=format_count(place + POSITION_SLOTS),
        slot=format_count(_slot(damage)),
    )


def _slot(damage: Damage) -> int:
    kind = damage.file.rpartition(".")[2]
    return damage.start // INDEXES[kind].ENTRY.itemsize if kind in INDEXES else 0


def _field_text(copy: LogCopy, damage: Damage) -> str:
    if not damage.file.endswith(".log"):
        return ""
    for start, size_bytes in copy.batches()[["position", "size_bytes"]].tolist():
        if start <= damage.start < start + size_bytes and damage.before:
            data = damage.before[start : start + size_bytes]
            spans = spans_batch.batch(data, start, size_bytes, damage.start, damage.start + 1)
            return say("break_it.in_field", field=render(spans[0].name)) if spans else ""
    return ""


def _rows(data: bytes | None, damage: Damage) -> tuple[HexRow, ...]:
    """Returns the rows that hold the damage; only the first row if there are more than MAX_ROWS.

    If the damage starts at the end of the file, the file's last row is included.
    """
    if data is None:
        return ()
    first = damage.start // ROW_BYTES * ROW_BYTES
    is_at_end = damage.before is not None and damage.start >= len(damage.before)
    if is_at_end and first == damage.start:
        first = max(0, first - ROW_BYTES)
    last = first + MAX_ROWS * ROW_BYTES
    if not is_at_end:
        last = damage.stop if damage.stop <= last else first + 1
    positions = range(first, max(last, first + 1), ROW_BYTES)
    return tuple(HexRow(position, _cells(data, position, damage)) for position in positions)


def _cells(data: bytes, position: int, damage: Damage) -> tuple[tuple[str, bool], ...]:
    before = damage.before or b""
    after = damage.after or b""
    return tuple(
        (data[at : at + 1].hex(), before[at : at + 1] != after[at : at + 1])
        for at in range(position, position + ROW_BYTES)
    )


def _notes(copy: LogCopy, damage: Damage) -> tuple[str, str]:
    if damage.new_name:
        return damage.file, damage.new_name
    if not damage.is_of_file:
        before_bytes = format_count(copy.log.config.segment_index_bytes)
        after_bytes = format_count(damage.copy.log.config.segment_index_bytes)
        after_text = say("break_it.setting", bytes=after_bytes)
        return say("break_it.setting", bytes=before_bytes), after_text
    if damage.after is None:
        return "", say("evidence.no_file")
    kind = damage.file.rpartition(".")[2]
    before = damage.before or b""
    if kind not in INDEXES or damage.start >= len(before):
        return "", ""
    slot = _slot(damage)
    return _entry_text(copy, kind, before, slot), _entry_text(copy, kind, damage.after, slot)


def _entry_text(copy: LogCopy, kind: str, data: bytes, slot: int) -> str:
    entries = INDEXES[kind].parse(data)
    if slot >= len(entries):
        return ""
    entry = entries[slot]
    offset = format_count(copy.segment + int(entry["relative_offset"]))
    if kind == "index":
        position = format_count(int(entry["position"]))
        return say("break_it.entry_offset", slot=slot, offset=offset, position=position)
    time = moment(int(entry["timestamp_ms"]))
    return say("break_it.entry_time", slot=slot, time=time, offset=offset)


ACTION_ORDER = ("fail", "truncate", "delete", "rebuild", "create")
MAX_STEPS = 2
MAX_FINDINGS = 2


class PartKind(StrEnum):
    READ = "read"
    MISSING = "missing"
    UNREAD = "unread"  # not read, because the client only looks up a timestamp


@dataclass(frozen=True)
class OffsetPart:
    """A range of offsets. `start` and `stop` are its ends on a scale from 0 to 1."""

    kind: PartKind
    first: int
    last: int
    start: float
    stop: float


@dataclass(frozen=True)
class OffsetBar:
    """A bar for the offsets of a log. `mark` is a highlighted offset: (place from 0 to 1, text)."""

    parts: tuple[OffsetPart, ...]
    mark: tuple[float, str] | None = None


@dataclass(frozen=True)
class OffsetStrip:
    """Two bars of offsets: `before` for the undamaged log, `after` for the damaged log.

    A place on a bar is a number from 0 (left end) to 1 (right end).
    """

    before: OffsetBar
    after: OffsetBar
    segments: tuple[float, ...]  # where each segment starts, without the first segment
    # where the damaged segment starts and ends; None if no file was damaged
    broken: tuple[float, float] | None
    text: str  # a description for screen readers


@dataclass(frozen=True)
class TrialView:
    """Broker start-up on a damaged copy, and a client's reading."""

    title: str
    strip: OffsetStrip
    # (name, a line per action), for `kafkaviz check`, the broker and the client
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    note: str


def trial_view(trial: StartTrial, findings: Sequence[Finding], release: str) -> TrialView:
    """Returns what the lab shows about a broker start-up on a damaged log.

    `findings` are what the checks found in the damaged log before the start-up.
    """
    who = "client" if trial.client is Client.TIMESTAMP else "consumer"
    return TrialView(
        _title(trial),
        strip(trial),
        (
            (say("break_it.who_check"), tuple(_check_lines(findings))),
            (say("break_it.who_start"), tuple(_start_lines(trial))),
            (say(f"break_it.who_{who}"), (describe_reading(trial),)),
        ),
        say("break_it.model", release=release),
    )


def _title(trial: StartTrial) -> str:
    cuts = (step.from_position or 0 for step in trial.steps if step.action == "truncate")
    byte = next(map(format_count, cuts), "")
    start = say(f"break_it.did_{trial.start.value}", byte=byte)
    if trial.read is ReadOutcome.NOT_SERVED:
        return say("break_it.result_time", start=start, answer=say("break_it.no_broker"))
    if trial.client is Client.TIMESTAMP:
        answer = say("break_it.no_answer")
        if trial.reading.answer is not None:
            answer = say("common.offset", offset=format_count(trial.reading.answer))
        return say("break_it.result_time", start=start, answer=answer)
    if trial.read is ReadOutcome.ERROR:
        offset = format_count(trial.reading.error_offset or 0)
        return say("break_it.result_all_error", start=start, offset=offset)
    return say("break_it.result_all", start=start, **_counts(trial))


def _counts(trial: StartTrial) -> dict[str, str]:
    return {
        "received": format_count(trial.reading.record_count),
        "count": format_count(trial.expected_reading.record_count),
    }


def _check_lines(findings: Sequence[Finding]) -> Iterator[str]:
    if not findings:
        yield say("break_it.check_nothing")
    for finding in findings[:MAX_FINDINGS]:
        yield capitalize(render(finding.message))


def _start_lines(trial: StartTrial) -> Iterator[str]:
    steps = sorted(trial.steps, key=lambda step: ACTION_ORDER.index(step.action))
    if not steps:
        yield say("break_it.start_takes")
    for number, step in enumerate(steps[:MAX_STEPS]):
        yield _step_text(step, has_reason=number == 0 or step.why != steps[number - 1].why)
    if len(steps) > MAX_STEPS:
        rest = len(steps) - MAX_STEPS
        yield say_count("break_it.more_steps", rest, count=rest)


def _step_text(step: StartupStep, *, has_reason: bool) -> str:
    name = (step.file or "").rpartition("/")[2]
    size = "" if step.size_bytes is None else format_bytes(step.size_bytes)
    if step.action == "truncate":
        size = say("health.from_byte", size=size, byte=format_count(step.from_position or 0))
    elif step.action == "rebuild":
        size = say("health.to_size", size=size)
    elif step.action == "fail":
        size = ""
    does = say("break_it.step", does=say(f"health.does_{step.action}"), file=name, size=size)
    if not has_reason:
        return does.strip()
    return say("break_it.step_why", step=does.strip(), why=step.error or render(step.why))


def describe_reading(trial: StartTrial) -> str:
    if trial.read is ReadOutcome.NOT_SERVED:
        return say("break_it.not_served")
    return _answer_text(trial) if trial.client is Client.TIMESTAMP else _records_text(trial)


def _answer_text(trial: StartTrial) -> str:
    time = moment(trial.timestamp_ms or 0)
    expected = format_count(trial.expected_reading.answer or 0)
    if trial.reading.error is not None:
        return say("break_it.client_error", time=time, error=_error_text(trial))
    if trial.reading.answer is None:
        return say("break_it.client_none", time=time, expected=expected)
    kind = "same" if trial.read is ReadOutcome.SAME else "other"
    answer = format_count(trial.reading.answer)
    return say(f"break_it.client_{kind}", time=time, answer=answer, expected=expected)


def _records_text(trial: StartTrial) -> str:
    ranges = trial.reading.ranges
    counts = _counts(trial)
    if trial.read is ReadOutcome.ERROR:
        offset = format_count(trial.reading.error_offset or 0)
        return say("break_it.consumer_error", offset=offset, error=_error_text(trial), **counts)
    if not ranges:
        return say("break_it.consumer_empty")
    first = format_count(ranges[0].first)
    last = format_count(ranges[-1].last)
    if trial.read is ReadOutcome.SAME:
        return say("break_it.consumer_all", first=first, last=last)
    if trial.read is ReadOutcome.FEWER:
        return say("break_it.consumer_shorter", first=first, last=last)
    expected = {part: None for part in trial.expected_reading.ranges}
    if any(part not in expected and not _is_within(part, expected) for part in ranges):
        return say("break_it.consumer_shifted", **counts)
    missing = join_comma(
        _range_text("break_it.range", part)
        for part in _bars(trial)[1].parts
        if part.kind is PartKind.MISSING
    )
    return say("break_it.consumer_missing", ranges=missing, **counts)


def _range_text(key: str, part: OffsetPart) -> str:
    return say(key, first=format_count(part.first), last=format_count(part.last))


def _is_within(part: DeliveredRange, expected: Iterable[DeliveredRange]) -> bool:
    return any(
        other.position == part.position and other.first <= part.first and part.last <= other.last
        for other in expected
    )


def _error_text(trial: StartTrial) -> str:
    name = trial.reading.error_class.rpartition(".")[2]
    return name or render(trial.reading.error)


def strip(trial: StartTrial) -> OffsetStrip:
    """Returns a bar for the undamaged log, and one for the client's reads after start-up."""
    scale = _Scale(trial.expected_reading.start_offset, trial.expected_reading.end_offset)
    bases = [base for base in trial.copy.bases if scale.first < base < scale.stop]
    end = next((base for base in bases if base > trial.copy.segment), scale.stop)
    broken = (scale.share(trial.copy.segment), scale.share(end))
    before, after = _bars(trial)
    return OffsetStrip(
        before,
        after,
        tuple(map(scale.share, bases)),
        broken if trial.damage.is_of_file else None,
        _strip_text(after, scale),
    )


@dataclass(frozen=True)
class _Scale:
    first: int
    stop: int

    def share(self, offset: int) -> float:
        return (offset - self.first) / max(1, self.stop - self.first)

    def part(self, kind: PartKind, first: int, last: int) -> OffsetPart:
        return OffsetPart(kind, first, last, self.share(first), self.share(last + 1))


def _bars(trial: StartTrial) -> tuple[OffsetBar, OffsetBar]:
    expected = trial.expected_reading
    scale = _Scale(expected.start_offset, expected.end_offset)
    if trial.client is Client.TIMESTAMP:
        return _answer_bar(expected.answer, scale), _answer_bar(trial.reading.answer, scale)
    before = OffsetBar((scale.part(PartKind.READ, scale.first, scale.stop - 1),))
    mark = None
    error_offset = trial.reading.error_offset
    if error_offset is not None:
        text = say("break_it.mark_error", offset=format_count(error_offset))
        mark = scale.share(error_offset), text
    return before, OffsetBar(tuple(_parts(trial, scale)), mark)


def _answer_bar(answer: int | None, scale: _Scale) -> OffsetBar:
    everything = scale.part(PartKind.UNREAD, scale.first, scale.stop - 1)
    mark = None if answer is None else (scale.share(answer), format_count(answer))
    return OffsetBar((everything,), mark)


def _strip_text(after: OffsetBar, scale: _Scale) -> str:
    texts = [
        _range_text(f"break_it.part_{part.kind.value}", part)
        for part in after.parts
        if part.kind is not PartKind.UNREAD
    ]
    if after.mark is not None:
        texts.append(after.mark[1])
    return say(
        "break_it.strip_alt",
        first=scale.first,
        last=scale.stop - 1,
        parts=join_semicolon(texts) or say("break_it.no_answer"),
    )


def _parts(trial: StartTrial, scale: _Scale) -> Iterator[OffsetPart]:
    """Yields the ranges of records that were read, and the missing ranges, in order."""
    delivered_from = {
        (part.segment, part.position): part.first
        for part in trial.reading.ranges
        if _is_within(part, trial.expected_reading.ranges)
    }
    pieces: list[tuple[PartKind, int, int]] = []
    for part in trial.expected_reading.ranges:
        start = delivered_from.get((part.segment, part.position), part.last + 1)
        pieces += [(PartKind.MISSING, part.first, start - 1), (PartKind.READ, start, part.last)]
    occupied = (piece for piece in pieces if piece[1] <= piece[2])
    for kind, group in groupby(occupied, key=itemgetter(0)):
        ranges = list(group)
        yield scale.part(kind, ranges[0][1], ranges[-1][2])
