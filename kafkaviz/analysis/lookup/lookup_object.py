"""The JSON object of a lookup, as `kafkaviz lookup --json` prints it."""

from kafkaviz.analysis.json_objects import to_json_object
from kafkaviz.errors import KafkavizError
from kafkaviz.messages import Message, message
from kafkaviz.search import by_time
from kafkaviz.search.fetch import SegmentChoice, SegmentMiss, SegmentReason
from kafkaviz.search.index import OFFSET, IndexSearch
from kafkaviz.search.lookup import Lookup

ENTRY_FIELDS = {"offset": ("offset", "position"), "time": ("timestamp_ms", "offset")}


_REASONS = {
    SegmentReason.GREATEST_BASE: "segment_choice.greatest_base",
    SegmentReason.NEXT: "segment_choice.next_segment",
    SegmentReason.BASE_ABOVE: "segment_choice.base_above",
    SegmentReason.LATER_BASE: "segment_choice.later_base",
    SegmentReason.FIRST_REACHING: "segment_choice.first_reaching",
    SegmentReason.TOO_OLD: "segment_choice.too_old",
    SegmentReason.EARLIER_SEARCHED: "segment_choice.earlier_searched",
    SegmentReason.LARGEST: "segment_choice.largest",
    SegmentReason.NOT_LARGEST: "segment_choice.not_largest",
    SegmentReason.OUT_OF_RANGE: "segment_choice.not_for_offset",
    SegmentReason.BEYOND_STABLE: "segment_choice.not_for_offset",
    SegmentReason.BEYOND_END: "segment_choice.not_for_offset",
    SegmentReason.BOUNDS_UNKNOWN: "segment_choice.bounds_unknown",
    SegmentReason.LOG_START: "segment_choice.log_start_known",
    SegmentReason.LOG_END: "segment_choice.log_end_known",
    SegmentReason.STABLE_END: "segment_choice.log_end_known",
    SegmentReason.NOTHING_TIERED: "segment_choice.nothing_tiered",
    SegmentReason.TIERED_OFFSETS: "segment_choice.tiered_offsets",
}
_MISSES = {
    SegmentMiss.NOTHING_REACHES: "segment_choice.but_nothing_reaches",
    SegmentMiss.NO_RECORD: "segment_choice.but_no_record",
    SegmentMiss.HIDDEN: "segment_choice.but_hidden",
}


def lookup_object(lookup: Lookup, start_error: str | None = None) -> dict:
    """Returns a lookup in a partition or segment as a JSON object.

    Some keys are optional. `error`: Kafka answers with an exception. `start_error`: the next broker
    start-up fails. `wrong_entries`: an .index entry points beyond its own batch.
    """
    answer = lookup.answer
    fields = {
        "target": _target(lookup.offset, lookup.timestamp_ms),
        "kafka_version": lookup.profile.version,
        "partition": lookup.partition,
        "segments": [
            {
                "base_offset": choice.base_offset,
                "chosen": choice.chosen,
                "why": str(describe_choice(choice)),
            }
            for choice in lookup.choices
        ],
        "searches": list(map(search_object, lookup.searches)),
        "scan": to_json_object(lookup.scan),
        "record": to_json_object(lookup.record),
        "answer": answer and {"offset": answer.offset, "timestamp_ms": answer.timestamp_ms},
    }
    fields |= {"error": f"{lookup.error.class_name}: {lookup.error}"} if lookup.error else {}
    if lookup.wrong_entries:
        fields["wrong_entries"] = to_json_object(lookup.wrong_entries)
    return fields | _start_error(start_error)


def refusal_object(
    partition: str,
    version: str,
    offset: int | None,
    timestamp_ms: int | str | None,
    fault: KafkavizError,
) -> dict:
    """Returns a lookup that kafkaviz refuses, but Kafka would do, as a JSON object."""
    if isinstance(timestamp_ms, str):
        timestamp_ms = by_time.NAMES[timestamp_ms]
    return {
        "target": _target(offset, timestamp_ms),
        "kafka_version": version,
        "partition": partition,
        "refused": str(fault),
    }


def index_object(
    search: IndexSearch,
    answer: tuple[int, int],
    version: str,
    partition: str,
    start_error: str | None = None,
) -> dict:
    """Returns a search in a single index file as a JSON object.

    `answer` is the entry found, or else the base of the index.
    """
    target = (
        {"offset": search.slot_search.target}
        if search.kind == OFFSET
        else {"timestamp_ms": search.slot_search.target}
    )
    fields = {
        "target": target,
        "kafka_version": version,
        "partition": partition,
        "searches": [search_object(search)],
    }
    return fields | {"answer": _entry(search.kind, answer)} | _start_error(start_error)


def describe_choice(choice: SegmentChoice) -> Message:
    reason = message(
        _REASONS[choice.reason], target=choice.target, largest=_describe_largest(choice)
    )
    if choice.miss is None:
        return reason
    return message(_MISSES[choice.miss], reason=reason, target=choice.target)


def _describe_largest(choice: SegmentChoice) -> Message:
    if choice.is_file_time:
        return message("segment_choice.file_time", ms=choice.largest_ms)
    if choice.largest_ms < 0:
        return message("segment_choice.no_timestamp")
    return message("segment_choice.entry_time", ms=choice.largest_ms)


def _start_error(error: str | None) -> dict:
    return {"start_error": error} if error else {}


def search_object(search: IndexSearch) -> dict:
    return to_json_object(search) | {"entry": search.entry and _entry(search.kind, search.entry)}


def _target(offset: int | None, timestamp_ms: int | None) -> dict:
    if offset is not None:
        return {"offset": offset}
    time_name = by_time.name_of(timestamp_ms)
    return {"timestamp": time_name} if time_name else {"timestamp_ms": timestamp_ms}


def _entry(kind: str, entry: tuple[int, int]) -> dict:
    return dict(zip(ENTRY_FIELDS[kind], entry, strict=True))
