"""What leads a lookup from segment to segment, and what comes of it: one plain sentence each."""

from typing import TYPE_CHECKING

from kafkaviz import units
from kafkaviz.figures.lookup_words import count
from kafkaviz.search.by_time import EARLIEST, LATEST
from kafkaviz.units import group

if TYPE_CHECKING:
    from kafkaviz.figures.stepper import Made


def segment(made: "Made") -> str:
    """Which segment is chosen, and why."""
    found, target = made.found, made.target
    if found.error and not found.scans:
        return f"The broker looks at the log’s bounds first, and answers without a search: {found.error}"
    if made.special:
        return _by_name(made)
    return _by_time(made) if made.by_time else _by_offset(made, target)


def _by_name(made: "Made") -> str:
    """Of the log's start, its end, or its largest timestamp."""
    found, bounds = made.found, made.found.bounds
    if made.special == EARLIEST:
        return f"The log starts at offset {group(bounds.start_offset)}. That is the answer, without a timestamp; no index is searched."
    if made.special == LATEST and bounds.limit_offset < bounds.end_offset:
        ends = f"The log ends at offset {group(bounds.end_offset)}, but a transaction is open from {group(bounds.limit_offset)} on"
        return f"{ends}: that, the last stable offset, is the answer for this consumer. No index is searched."
    if made.special == LATEST:
        return f"The log ends at offset {group(bounds.end_offset)}. That is the answer, without a timestamp; no index is searched."
    chosen = next((made.segment(one.base_offset) for one in found.choices if one.chosen), None)
    if chosen is None or chosen.max_timestamp[0] < 0:
        return "No segment remembers a timestamp. The answer is: none."
    largest_ms, offset = chosen.max_timestamp
    count_of = group(len(made.log.segments))
    which = "The segment" if len(made.log.segments) == 1 else f"Of {count_of} segments {units.file_stem(chosen.base_offset)}"
    remembers = f"{which} remembers the largest timestamp, {units.moment(largest_ms)}, with offset {group(offset)}."
    return f"{remembers} {_largest_then(made)}"


def _largest_then(made: "Made") -> str:
    """What a release makes of the offset that is remembered."""
    if made.found.scans:
        return "That may be the last offset of its batch, so the batch is looked for."
    return "That is the answer; its batch is not read." if made.found.answer else "This consumer is not given it. The answer is: none."


def _by_offset(made: "Made", target: int) -> str:
    limit = made.found.bounds.limit_offset
    if limit <= target < made.found.bounds.end_offset:
        stable = f"Offset {group(target)} is not below the last stable offset, {group(limit)}, where a transaction is open."
        return f"{stable} The broker answers with no records and does not search."
    if target >= limit:
        return f"Offset {group(target)} is the log end: nothing is there yet. The broker answers with no records and does not search."
    base_offset = next((one.segment for one in made.found.scans), made.log.segments[0].base_offset)
    if len(made.log.segments) == 1:
        return f"There is one segment, and it starts at offset {group(base_offset)}, not above {group(target)}."
    name = units.file_stem(base_offset)
    return f"Of {group(len(made.log.segments))} segments, the last that starts at or below {group(target)} is {name}."


def _by_time(made: "Made") -> str:
    chosen = next((one for one in made.found.choices if one.chosen), None)
    if chosen is None:
        latest = max(one.largest_timestamp_ms for one in made.log.segments)
        return f"No segment holds a record that late: the largest timestamp of all is {units.moment(latest)}. The answer is: none."
    reaches = f"reaches {units.moment(made.segment(chosen.base_offset).largest_timestamp_ms)}"
    if len(made.log.segments) == 1:
        return f"The only segment {reaches}, late enough."
    first = f"Of {group(len(made.log.segments))} segments, the first whose largest timestamp is not older than the target"
    return f"{first} is {units.file_stem(chosen.base_offset)}: it {reaches}."


def next_segment(made: "Made", place: int) -> str:
    """Where nothing in the segment before answers."""
    before, after = (units.file_stem(one.segment) for one in made.found.scans[place - 1 : place + 1])
    return f"Nothing in {before} reaches offset {group(made.target)}. The broker goes on in the next segment, {after}."


def ending(made: "Made") -> str:
    """What comes of it; "" where the first step said so already."""
    found = made.found
    if not found.scans:
        return ""
    if made.by_time:
        if found.record is None and found.scan.offset is not None:
            hidden = f"Offset {group(found.scan.offset)} is not below the last stable offset, {group(found.bounds.limit_offset)}"
            return f"{hidden}: this consumer is not given it. The answer is: none."
        if found.record is None:
            return "No record in this segment is late enough, and later segments are not tried. The answer is: none."
        which = "Its first record with that time" if made.special else "Its first record not before the target"
        first = f"{which} is offset {group(found.record.offset)}"
        return f"The batch is read whole. {first}: that is the answer."
    if found.scan.batch is None:
        return "No segment holds a batch from there on. The broker answers with no records."
    return _consumed(made)


def _consumed(made: "Made") -> str:
    batch, record, target = made.found.scan.batch, made.found.record, made.target
    begins = f"The broker answers with bytes from {group(batch.position)} on."
    if made.found.error:
        return f"{begins} The consumer looks at the checksum and throws an exception: {made.found.error}."
    if record is None:
        return f"{begins} No record for a consumer follows in them."
    if (record.segment, record.batch_position) != (made.found.scan.segment, batch.position):
        why = "is a transaction marker" if batch.is_control else "has no record for the consumer"
        onward = f"The next one is offset {group(record.offset)}, in the batch at byte {group(record.batch_position)}"
        where = "" if record.segment == made.found.scan.segment else f" of {units.file_stem(record.segment)}"
        return f"{begins} This batch {why}. {onward}{where}."
    if record.offset != target:
        return f"{begins} Offset {group(target)} is not there any more; the first record behind it is {group(record.offset)}."
    skipped = target - batch.base_offset
    if not skipped:
        return f"{begins} Offset {group(target)} is the first record in them."
    return f"{begins} The consumer skips {count(skipped, 'record')} to reach offset {group(target)}."
