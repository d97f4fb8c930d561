"""What leads a lookup from segment to segment, and what comes of it: one plain sentence each."""

from typing import cast

from kafkaviz import units
from kafkaviz.figures.lookup_made import Made
from kafkaviz.search.batches import Batch
from kafkaviz.search.by_time import EARLIEST, LATEST
from kafkaviz.search.scan import Scan
from kafkaviz.units import group
from kafkaviz.words import counted, say


def segment(made: Made) -> str:
    """Which segment is chosen, and why."""
    found, target = made.found, made.target
    if found.error and not found.scans:
        return say("lookup_chain.refused", error=found.error)
    if made.special:
        return _by_name(made)
    return _by_time(made) if made.by_time else _by_offset(made, target)


def _by_name(made: Made) -> str:
    """Of the log's start, its end, or its largest timestamp."""
    found, bounds = made.found, made.found.bounds
    end, stable = group(bounds.end_offset), group(bounds.limit_offset)
    if made.special == EARLIEST:
        return say("lookup_chain.earliest", offset=group(bounds.start_offset))
    if made.special == LATEST and bounds.limit_offset < bounds.end_offset:
        return say("lookup_chain.latest_stable", end=end, stable=stable)
    if made.special == LATEST:
        return say("lookup_chain.latest", offset=end)
    chosen = next((made.segment(one.base_offset) for one in found.choices if one.chosen), None)
    if chosen is None or chosen.max_timestamp[0] < 0:
        return say("lookup_chain.largest_none")
    largest_ms, offset = chosen.max_timestamp
    key = "lookup_chain.largest_only" if len(made.log.segments) == 1 else "lookup_chain.largest_of"
    name, told = (
        units.file_stem(chosen.base_offset),
        {"moment": units.moment(largest_ms), "offset": group(offset)},
    )
    return say(
        key, count=group(len(made.log.segments)), segment=name, then=_largest_then(made), **told
    )


def _largest_then(made: Made) -> str:
    """What a release makes of the offset that is remembered."""
    if made.found.scans:
        return say("lookup_chain.largest_scanned")
    return say(
        "lookup_chain.largest_answered" if made.found.answer else "lookup_chain.largest_hidden"
    )


def _by_offset(made: Made, target: int) -> str:
    limit = made.found.bounds.limit_offset
    if limit <= target < made.found.bounds.end_offset:
        return say("lookup_chain.beyond_stable", offset=group(target), stable=group(limit))
    if target >= limit:
        return say("lookup_chain.beyond_end", offset=group(target))
    base_offset = next((one.segment for one in made.found.scans), made.log.segments[0].base_offset)
    if len(made.log.segments) == 1:
        return say("lookup_chain.offset_only", base=group(base_offset), offset=group(target))
    name = units.file_stem(base_offset)
    return say(
        "lookup_chain.offset_of",
        count=group(len(made.log.segments)),
        offset=group(target),
        segment=name,
    )


def _by_time(made: Made) -> str:
    chosen = next((one for one in made.found.choices if one.chosen), None)
    if chosen is None:
        latest = max(one.largest_timestamp_ms for one in made.log.segments)
        return say("lookup_chain.time_none", moment=units.moment(latest))
    reaches, name = (
        units.moment(made.segment(chosen.base_offset).largest_timestamp_ms),
        units.file_stem(chosen.base_offset),
    )
    if len(made.log.segments) == 1:
        return say("lookup_chain.time_only", moment=reaches)
    return say(
        "lookup_chain.time_of", count=group(len(made.log.segments)), segment=name, moment=reaches
    )


def next_segment(made: Made, place: int) -> str:
    """Where nothing in the segment before answers."""
    before, after = (
        units.file_stem(one.segment) for one in made.found.scans[place - 1 : place + 1]
    )
    return say("lookup_chain.next_segment", before=before, after=after, offset=group(made.target))


def ending(made: Made) -> str:
    """What comes of it; "" where the first step said so already."""
    found = made.found
    if not found.scans:
        return ""
    scan = cast(Scan, found.scan)
    if not made.by_time:
        return say("lookup_chain.no_batch") if scan.batch is None else _consumed(made)
    if found.record is None and scan.offset is not None:
        return say(
            "lookup_chain.hidden",
            offset=group(scan.offset),
            stable=group(found.bounds.limit_offset),
        )
    if found.record is None:
        return say("lookup_chain.too_early")
    return say(
        f"lookup_chain.record_{'largest' if made.special else 'time'}",
        offset=group(found.record.offset),
    )


def _consumed(made: Made) -> str:
    """What the consumer makes of the bytes it is sent."""
    scan = cast(Scan, made.found.scan)
    batch, record, target = cast(Batch, scan.batch), made.found.record, made.target
    position = group(batch.position)
    if made.found.error:
        return say("lookup_chain.corrupt", position=position, error=made.found.error)
    if record is None:
        return say("lookup_chain.no_record", position=position)
    offset = group(record.offset)
    if (record.segment, record.batch_position) != (scan.segment, batch.position):
        key = (
            f"lookup_chain.{'marker' if batch.is_control else 'empty'}"
            f"{'' if record.segment == scan.segment else '_segment'}"
        )
        name = units.file_stem(record.segment)
        return say(
            key, position=position, offset=offset, next=group(record.batch_position), segment=name
        )
    if record.offset != target:
        return say("lookup_chain.gone", position=position, target=group(target), offset=offset)
    skipped = target - batch.base_offset
    if not skipped:
        return say("lookup_chain.first", position=position, target=group(target))
    return counted(
        "lookup_chain.skips", skipped, n=group(skipped), position=position, target=group(target)
    )
