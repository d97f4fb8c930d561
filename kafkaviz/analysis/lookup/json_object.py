"""The result of a lookup as one plain object, which `kafkaviz lookup --json` prints."""

from kafkaviz.analysis.json_objects import to_json_object
from kafkaviz.errors import KafkavizError
from kafkaviz.search import by_time
from kafkaviz.search.index_search import OFFSET, IndexSearch
from kafkaviz.search.lookup import Lookup
from kafkaviz.search.segment_reasons import describe_choice

ENTRY_FIELDS = {"offset": ("offset", "position"), "time": ("timestamp_ms", "offset")}


def lookup_object(lookup: Lookup, start_error: str | None = None) -> dict:
    """Returns a lookup in a partition or segment as a JSON object.

    Optional keys: `error` if Kafka answers with an exception, `start_error` if the next broker
    start-up fails, and `wrong_entries` if an .index entry points beyond its own batch.
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
    """Returns a JSON object for a lookup that Kafka would do but kafkaviz refuses."""
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

    `answer` is the found entry: (offset, position) in an .index, (timestamp, offset) in a
    .timeindex. If no .index entry is found, `answer` is (segment base offset, 0).
    """
    target_name = "offset" if search.kind == OFFSET else "timestamp_ms"
    fields = {
        "target": {target_name: search.slot_search.target},
        "kafka_version": version,
        "partition": partition,
        "searches": [search_object(search)],
        "answer": _entry(search.kind, answer),
    }
    return fields | _start_error(start_error)


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
