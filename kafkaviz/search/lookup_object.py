"""A lookup as the object that `kafkaviz lookup --json` prints."""

from kafkaviz.search import by_time
from kafkaviz.search.consumer import ConsumerRecord
from kafkaviz.search.index import OFFSET, IndexSearch
from kafkaviz.search.lookup import Lookup
from kafkaviz.search.scan import ForwardScan
from kafkaviz.search.segment_selection import SegmentChoice, SegmentMiss, SegmentReason

ENTRY_FIELDS = {"offset": ("offset", "position"), "time": ("timestamp_ms", "offset")}
PROBE_FIELDS = ("slot", "key", "lo", "hi", "compare", "page")
_NOT_FOR_OFFSET = "no segment is searched for offset {target}"
_LOG_END = "no segment is searched: the log's end is known"
_REASONS = {
    SegmentReason.GREATEST_BASE: "greatest base offset not above {target}",
    SegmentReason.NEXT: "the next segment",
    SegmentReason.BASE_ABOVE: "base offset above {target}",
    SegmentReason.LATER_BASE: "a later base offset is not above {target} either",
    SegmentReason.FIRST_REACHING: "the first whose largest timestamp is not below {target}: "
    "{largest}",
    SegmentReason.TOO_OLD: "{largest} is below {target}",
    SegmentReason.EARLIER_SEARCHED: "an earlier segment is searched",
    SegmentReason.LARGEST: "the largest of all: {largest}",
    SegmentReason.NOT_LARGEST: "{largest}",
    SegmentReason.OUT_OF_RANGE: _NOT_FOR_OFFSET,
    SegmentReason.BEYOND_STABLE: _NOT_FOR_OFFSET,
    SegmentReason.BEYOND_END: _NOT_FOR_OFFSET,
    SegmentReason.LOG_START: "no segment is searched: the log's start is known",
    SegmentReason.LOG_END: _LOG_END,
    SegmentReason.STABLE_END: _LOG_END,
    SegmentReason.NOTHING_TIERED: "no segment is searched: nothing is in tiered storage",
}
_MISSES = {
    None: "",
    SegmentMiss.NOTHING_REACHES: ", but nothing in it reaches {target}",
    SegmentMiss.NO_RECORD: "; yet no record in it answers, and later segments are not tried",
    SegmentMiss.HIDDEN: "; yet the record found lies behind the last stable offset",
}


def as_object(lookup: Lookup, start_error: str | None = None) -> dict:
    """Of a partition or a segment; error is there only where Kafka answers with an exception,
    start_error where no start gets there.
    """
    record, answer = lookup.record, lookup.answer
    fields = {
        "target": _target(lookup.offset, lookup.timestamp_ms),
        "kafka_version": lookup.profile.version,
        "partition": lookup.partition,
        "segments": [
            {
                "base_offset": choice.base_offset,
                "chosen": choice.chosen,
                "why": describe_choice(choice),
            }
            for choice in lookup.choices
        ],
        "searches": list(map(search_object, lookup.searches)),
        "scan": _scan(lookup.scan),
        "record": record and _record(record),
        "answer": answer and {"offset": answer.offset, "timestamp_ms": answer.timestamp_ms},
    }
    fields |= {"error": f"{lookup.error.class_name}: {lookup.error}"} if lookup.error else {}
    return fields | _start_error(start_error)


def index_object(
    search: IndexSearch,
    answer: tuple[int, int],
    version: str,
    partition: str,
    start_error: str | None = None,
) -> dict:
    """Of an index file alone; answer: what the index gives, its base where no entry was found."""
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


def describe_choice(choice: SegmentChoice) -> str:
    """Why a segment is searched, or is not."""
    text = _REASONS[choice.reason] + _MISSES[choice.miss]
    return text.format(target=choice.target, largest=_describe_largest(choice))


def _describe_largest(choice: SegmentChoice) -> str:
    """The largest timestamp, and where Kafka has it from."""
    if choice.is_file_time:
        return (
            f"largest timestamp {choice.largest_ms}, the time of the .log, since the time index "
            "tells none"
        )
    if choice.largest_ms < 0:
        return "no timestamp is known"
    return f"largest timestamp {choice.largest_ms}, by the last time index entry"


def _start_error(error: str | None) -> dict:
    return {"start_error": error} if error else {}


def search_object(search: IndexSearch) -> dict:
    """A search in one index; slot is -1 and entry null where nothing was found."""
    slot_search = search.slot_search
    return {
        "file": search.file,
        "entries": slot_search.entries,
        "warm_from_slot": slot_search.warm_from_slot,
        "section": slot_search.section,
        "probes": [
            {name: getattr(probe, name) for name in PROBE_FIELDS} for probe in slot_search.probes
        ],
        "slot": slot_search.slot,
        "entry": search.entry and _entry(search.kind, search.entry),
        "pages": list(slot_search.pages),
    }


def _target(offset: int | None, timestamp_ms: int | None) -> dict:
    if offset is not None:
        return {"offset": offset}
    names = {value: name for name, value in by_time.NAMES.items()}
    return (
        {"timestamp": names[timestamp_ms]}
        if timestamp_ms in names
        else {"timestamp_ms": timestamp_ms}
    )


def _record(record: ConsumerRecord) -> dict:
    """segment: the base offset of the .log that batch_position is a byte of; behind an empty batch
    it may be a later one than searched.
    """
    return {
        "offset": record.offset,
        "timestamp_ms": record.timestamp_ms,
        "segment": record.segment,
        "batch_position": record.batch_position,
    }


def _entry(kind: str, entry: tuple[int, int]) -> dict:
    return dict(zip(ENTRY_FIELDS[kind], entry, strict=True))


def _scan(scan: ForwardScan | None) -> dict | None:
    if scan is None:
        return None
    batch = scan.batch
    return {
        "from_position": scan.from_position,
        "reads": [{"position": read.position, "size": read.size} for read in scan.reads],
        "batch": batch
        and {
            "base_offset": batch.base_offset,
            "last_offset": batch.last_offset,
            "position": batch.position,
        },
    }
