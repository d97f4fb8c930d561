"""A lookup as the object that `kafkaviz lookup --json` prints."""

from kafkaviz.search import by_time
from kafkaviz.search.consumer import ConsumerRecord
from kafkaviz.search.index import OFFSET, IndexSearch
from kafkaviz.search.lookup import Lookup
from kafkaviz.search.scan import ForwardScan

ENTRY_FIELDS = {"offset": ("offset", "position"), "time": ("timestamp_ms", "offset")}
PROBE_FIELDS = ("slot", "key", "lo", "hi", "compare", "page")


def as_object(lookup: Lookup, start_error: str | None = None) -> dict:
    """Of a partition or a segment; error is there only where Kafka answers with an exception,
    start_error where no start gets there.
    """
    record, answer = lookup.record, lookup.answer
    fields = {
        "target": _target(lookup.offset, lookup.timestamp_ms),
        "kafka_version": lookup.profile.version,
        "partition": lookup.partition,
        "segments": [choice._asdict() for choice in lookup.choices],
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
