"""What leads a lookup from segment to segment, and what comes of it: one plain sentence each."""

from typing import cast

from kafkaviz import units
from kafkaviz.figures.lookup_context import LookupContext
from kafkaviz.search.batches import Batch
from kafkaviz.search.by_time import EARLIEST, LATEST
from kafkaviz.search.scan import ForwardScan
from kafkaviz.units import group
from kafkaviz.words import say, say_count


def describe_segment(context: LookupContext) -> str:
    """Which segment is chosen, and why."""
    result, target = context.result, context.target
    if result.error and not result.scans:
        return say("lookup_chain.refused", error=result.error)
    if context.special_timestamp:
        return _named_target_text(context)
    return _time_text(context) if context.is_by_time else _offset_text(context, target)


def _named_target_text(context: LookupContext) -> str:
    """Of the log's start, its end, or its largest timestamp."""
    result, bounds = context.result, context.result.bounds
    end_text, stable_text = group(bounds.end_offset), group(bounds.limit_offset)
    if context.special_timestamp == EARLIEST:
        return say("lookup_chain.earliest", offset=group(bounds.start_offset))
    if context.special_timestamp == LATEST and bounds.limit_offset < bounds.end_offset:
        return say("lookup_chain.latest_stable", end=end_text, stable=stable_text)
    if context.special_timestamp == LATEST:
        return say("lookup_chain.latest", offset=end_text)
    chosen_segment = next(
        (context.find_segment(choice.base_offset) for choice in result.choices if choice.chosen),
        None,
    )
    if chosen_segment is None or chosen_segment.max_timestamp[0] < 0:
        return say("lookup_chain.largest_none")
    largest_ms, offset = chosen_segment.max_timestamp
    key = (
        "lookup_chain.largest_only" if len(context.log.segments) == 1 else "lookup_chain.largest_of"
    )
    segment_name, values = (
        units.file_stem(chosen_segment.base_offset),
        {"moment": units.moment(largest_ms), "offset": group(offset)},
    )
    return say(
        key,
        count=group(len(context.log.segments)),
        segment=segment_name,
        then=_largest_outcome(context),
        **values,
    )


def _largest_outcome(context: LookupContext) -> str:
    """What a release makes of the offset that is remembered."""
    if context.result.scans:
        return say("lookup_chain.largest_scanned")
    return say(
        "lookup_chain.largest_answered" if context.result.answer else "lookup_chain.largest_hidden"
    )


def _offset_text(context: LookupContext, target: int) -> str:
    limit = context.result.bounds.limit_offset
    if limit <= target < context.result.bounds.end_offset:
        return say("lookup_chain.beyond_stable", offset=group(target), stable=group(limit))
    if target >= limit:
        return say("lookup_chain.beyond_end", offset=group(target))
    base_offset = next(
        (scan.segment for scan in context.result.scans), context.log.segments[0].base_offset
    )
    if len(context.log.segments) == 1:
        return say("lookup_chain.offset_only", base=group(base_offset), offset=group(target))
    segment_name = units.file_stem(base_offset)
    return say(
        "lookup_chain.offset_of",
        count=group(len(context.log.segments)),
        offset=group(target),
        segment=segment_name,
    )


def _time_text(context: LookupContext) -> str:
    chosen_segment = next((choice for choice in context.result.choices if choice.chosen), None)
    if chosen_segment is None:
        latest = max(log_segment.largest_timestamp_ms for log_segment in context.log.segments)
        return say("lookup_chain.time_none", moment=units.moment(latest))
    newest_text, segment_name = (
        units.moment(context.find_segment(chosen_segment.base_offset).largest_timestamp_ms),
        units.file_stem(chosen_segment.base_offset),
    )
    if len(context.log.segments) == 1:
        return say("lookup_chain.time_only", moment=newest_text)
    return say(
        "lookup_chain.time_of",
        count=group(len(context.log.segments)),
        segment=segment_name,
        moment=newest_text,
    )


def describe_next_segment(context: LookupContext, index: int) -> str:
    """Where nothing in the segment before answers."""
    previous_name, next_name = (
        units.file_stem(scan.segment) for scan in context.result.scans[index - 1 : index + 1]
    )
    return say(
        "lookup_chain.next_segment",
        before=previous_name,
        after=next_name,
        offset=group(context.target),
    )


def describe_result(context: LookupContext) -> str:
    """What comes of it; "" where the first step said so already."""
    result = context.result
    if not result.scans:
        return ""
    scan = cast(ForwardScan, result.scan)
    if not context.is_by_time:
        return say("lookup_chain.no_batch") if scan.batch is None else _consumer_text(context)
    if result.record is None and scan.offset is not None:
        return say(
            "lookup_chain.hidden",
            offset=group(scan.offset),
            stable=group(result.bounds.limit_offset),
        )
    if result.record is None:
        return say("lookup_chain.too_early")
    return say(
        f"lookup_chain.record_{'largest' if context.special_timestamp else 'time'}",
        offset=group(result.record.offset),
    )


def _consumer_text(context: LookupContext) -> str:
    """What the consumer makes of the bytes it is sent."""
    scan = cast(ForwardScan, context.result.scan)
    batch, record, target = cast(Batch, scan.batch), context.result.record, context.target
    position = group(batch.position)
    if context.result.error:
        return say("lookup_chain.corrupt", position=position, error=context.result.error)
    if record is None:
        return say("lookup_chain.no_record", position=position)
    offset = group(record.offset)
    if (record.segment, record.batch_position) != (scan.segment, batch.position):
        key = (
            f"lookup_chain.{'marker' if batch.is_control else 'empty'}"
            f"{'' if record.segment == scan.segment else '_segment'}"
        )
        segment_name = units.file_stem(record.segment)
        return say(
            key,
            position=position,
            offset=offset,
            next=group(record.batch_position),
            segment=segment_name,
        )
    if record.offset != target:
        return say("lookup_chain.gone", position=position, target=group(target), offset=offset)
    skipped_records = target - batch.base_offset
    if not skipped_records:
        return say("lookup_chain.first", position=position, target=group(target))
    return say_count(
        "lookup_chain.skips",
        skipped_records,
        n=group(skipped_records),
        position=position,
        target=group(target),
    )
