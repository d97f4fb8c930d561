"""A lookup in words: one line a step, in the order in which Kafka takes them."""

from collections.abc import Iterator, Sequence

from kafkaviz import units
from kafkaviz.search import by_time
from kafkaviz.search.bounds import Bounds
from kafkaviz.search.index import OFFSET, IndexSearch
from kafkaviz.search.lookup import Lookup
from kafkaviz.search.lookup_object import describe_choice
from kafkaviz.search.profile import SearchProfile
from kafkaviz.search.scan import ForwardScan
from kafkaviz.search.segment_selection import SegmentChoice, SegmentReason
from kafkaviz.search.slots import Probe

MAX_NEIGHBOURS = 3  # segments shown on each side of a chosen one
MAX_READS = 200  # reads shown of one scan; --json has all
NAMES = {value: name for name, value in by_time.NAMES.items()}


def render(lookup: Lookup) -> Iterator[str]:
    """Of a lookup in a partition or a segment."""
    yield (
        f"{lookup.partition}: {_describe_target(lookup)}, as Kafka {lookup.profile.version} finds "
        "it"
    )
    yield (
        f"log start {lookup.bounds.start_offset}, log end {lookup.bounds.end_offset}"
        f"{_describe_limit(lookup)}"
    )
    yield ""
    yield from _render_segments(lookup.choices, lookup.bounds)
    for step in lookup.path:
        yield ""
        yield from render_search(step) if isinstance(step, IndexSearch) else _render_scan(step)
    yield ""
    yield from _render_answer(lookup)


def render_index_search(
    search: IndexSearch, answer: tuple[int, int], profile: SearchProfile
) -> Iterator[str]:
    """Of a search in an index by itself."""
    noun = "offset" if search.kind == OFFSET else "timestamp"
    yield f"{noun} {search.slot_search.target}, as Kafka {profile.version} searches the index"
    yield ""
    yield from render_search(search)
    yield ""
    yield f"answer    {_describe_entry(search.kind, answer)}"


def render_search(search: IndexSearch) -> Iterator[str]:
    """Every probe of a search, and the entry."""
    result = search.slot_search
    warm = (
        "" if result.warm_from_slot is None else f", warm section from slot {result.warm_from_slot}"
    )
    yield f"{search.file}: {units.pluralize(result.entries, 'entry', 'entries')}{warm}"
    wide = max((len(str(probe.key)) for probe in result.probes), default=0)
    for probe in result.probes:
        yield (
            f"  slot {probe.slot:<8} {probe.key:>{wide}} {probe.compare} {result.target}   "
            f"{_describe_range(probe)}   page {probe.page}"
        )
    pages = ", ".join(map(str, result.pages))
    if result.probes:
        yield (
            f"  {units.pluralize(len(result.probes), 'probe')} on page"
            f"{'' if len(result.pages) == 1 else 's'} "
            f"{pages}"
        )
    yield (
        f"  slot {result.slot}: {_describe_entry(search.kind, search.entry)}"
        if search.entry
        else f"  no entry is at or below {result.target}"
    )


def _describe_target(lookup: Lookup) -> str:
    if lookup.offset is not None:
        return f"offset {lookup.offset}"
    if lookup.timestamp_ms in NAMES:
        return NAMES[lookup.timestamp_ms]
    return f"timestamp {lookup.timestamp_ms} ({units.moment(lookup.timestamp_ms)})"


def _describe_limit(lookup: Lookup) -> str:
    bounds = lookup.bounds
    return (
        ""
        if bounds.limit_offset == bounds.end_offset
        else f", last stable offset {bounds.limit_offset}"
    )


def _render_segments(choices: Sequence[SegmentChoice], bounds: Bounds) -> Iterator[str]:
    """The chosen ones and their neighbours; of the rest how many there are.

    Where none is searched, once why, and what they hold.
    """
    reasons = {describe_choice(item) for item in choices}
    if len(reasons) == 1 and not any(item.chosen for item in choices):
        content = (
            f"offsets {bounds.start_offset} to {bounds.end_offset - 1}"
            if bounds.start_offset < bounds.end_offset
            else "no offset"
        )
        yield f"{units.pluralize(len(choices), 'segment')}, {content}: {reasons.pop()}"
        return
    indices = [place for place, item in enumerate(choices) if item.chosen] or [len(choices) - 1]
    visible = [
        place
        for place in range(len(choices))
        if any(abs(place - index) <= MAX_NEIGHBOURS for index in indices)
    ]
    yield (
        f"{units.pluralize(len(choices), 'segment')}"
        f"{'' if len(visible) == len(choices) else f', {len(visible)} of them shown'}"
    )
    wide = max(len(str(choices[place].base_offset)) for place in visible)
    for place in visible:
        choice = choices[place]
        mark = ">" if choice.chosen else " "
        yield f"  {mark} {choice.base_offset:>{wide}}  {describe_choice(choice)}"


def _render_scan(scan: ForwardScan) -> Iterator[str]:
    yield f"{units.file_stem(scan.segment)}.log from byte {scan.from_position}"
    for header_read in scan.reads[:MAX_READS]:
        yield f"  byte {header_read.position:<12} {header_read.size} bytes"
    if len(scan.reads) > MAX_READS:
        yield f"  and {units.pluralize(len(scan.reads) - MAX_READS, 'read')} more"
    batch = scan.batch
    total = (
        f"{units.pluralize(len(scan.reads), 'read')}, "
        f"{units.size(sum(item.size for item in scan.reads))}"
    )
    what = (
        f"offsets {batch.base_offset} to {batch.last_offset} in the batch at byte {batch.position}"
        if batch
        else "nothing is found"
    )
    yield f"  {total}: {what}"


def _render_answer(lookup: Lookup) -> Iterator[str]:
    for fetch in lookup.fetches[1:]:
        location = (
            f"the batch at byte {fetch.batch.position} of {units.file_stem(fetch.segment)}.log"
            if fetch.batch
            else "nothing is there"
        )
        yield (
            f"fetch     from offset {fetch.offset} on, past what a consumer is not given: "
            f"{location}"
        )
    if lookup.error:
        yield f"error     {lookup.error.class_name.rpartition('.')[2]}: {lookup.error}"
    elif lookup.answer is None:
        yield f"answer    none{_describe_absence(lookup)}"
    else:
        record, answer = lookup.record, lookup.answer
        where = (
            (
                f", in the batch at byte {record.batch_position} of "
                f"{units.file_stem(record.segment)}.log"
            )
            if record
            else ""
        )
        location = (
            ""
            if answer.timestamp_ms < 0
            else f" of {answer.timestamp_ms} ({units.moment(answer.timestamp_ms)})"
        )
        yield f"answer    offset {answer.offset}{location}{where}"


def _describe_absence(lookup: Lookup) -> str:
    bounds = lookup.bounds
    if lookup.offset is None:
        return ""
    if bounds.limit_offset < bounds.end_offset:
        return (
            f": nothing from there to the last stable offset {bounds.limit_offset} is for this "
            "consumer"
        )
    return (
        ": the log ends there"
        if lookup.beginning.reason is SegmentReason.BEYOND_END
        else f": no record from there to the log end {bounds.end_offset}"
    )


def _describe_range(probe: Probe) -> str:
    return f"of {probe.lo} to {probe.hi}"


def _describe_entry(kind: str, entry: tuple[int, int]) -> str:
    if kind == OFFSET:
        return (
            f"offset {entry[0]} is in the batch at byte {entry[1]}"
            if entry[1]
            else f"offset {entry[0]}, byte 0"
        )
    return f"up to timestamp {entry[0]}, by offset {entry[1]}"
