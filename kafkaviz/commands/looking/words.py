"""A lookup in words: one line a step, in the order in which Kafka takes them."""

from collections.abc import Iterator, Sequence

from kafkaviz import units
from kafkaviz.search import by_time
from kafkaviz.search.bounds import Bounds
from kafkaviz.search.choice import Choice
from kafkaviz.search.index import OFFSET, IndexSearch
from kafkaviz.search.lookup import Lookup
from kafkaviz.search.profile import SearchProfile
from kafkaviz.search.scan import Scan
from kafkaviz.search.slots import Probe

NEAR = 3  # segments shown on each side of a chosen one
STEPS = 200  # reads shown of one scan; --json has all
NAMES = {value: name for name, value in by_time.NAMES.items()}


def words(found: Lookup) -> Iterator[str]:
    """Of a lookup in a partition or a segment."""
    yield f"{found.partition}: {_target(found)}, as Kafka {found.profile.version} finds it"
    yield f"log start {found.bounds.start_offset}, log end {found.bounds.end_offset}{_limit(found)}"
    yield ""
    yield from _segments(found.choices, found.bounds)
    for search, scan in _paired(found):
        if search:
            yield ""
            yield from search_words(search)
        if scan:
            yield ""
            yield from _scan(scan)
    yield ""
    yield from _result(found)


def index_words(found: IndexSearch, answer: tuple[int, int], of: SearchProfile) -> Iterator[str]:
    """Of a search in an index by itself."""
    noun = "offset" if found.kind == OFFSET else "timestamp"
    yield f"{noun} {found.found.target}, as Kafka {of.version} searches the index"
    yield ""
    yield from search_words(found)
    yield ""
    yield f"answer    {_entry(found.kind, answer)}"


def search_words(search: IndexSearch) -> Iterator[str]:
    """Every probe of a search, and the entry."""
    found = search.found
    warm = (
        "" if found.warm_from_slot is None else f", warm section from slot {found.warm_from_slot}"
    )
    yield f"{search.file}: {units.many(found.entries, 'entry', 'entries')}{warm}"
    wide = max((len(str(probe.key)) for probe in found.probes), default=0)
    for probe in found.probes:
        yield (
            f"  slot {probe.slot:<8} {probe.key:>{wide}} {probe.compare} {found.target}   "
            f"{_range(probe)}   page {probe.page}"
        )
    pages = ", ".join(map(str, found.pages))
    if found.probes:
        yield (
            f"  {units.many(len(found.probes), 'probe')} on page"
            f"{'' if len(found.pages) == 1 else 's'} "
            f"{pages}"
        )
    yield (
        f"  slot {found.slot}: {_entry(search.kind, search.entry)}"
        if search.entry
        else f"  no entry is at or below {found.target}"
    )


def _target(found: Lookup) -> str:
    if found.offset is not None:
        return f"offset {found.offset}"
    if found.timestamp_ms in NAMES:
        return NAMES[found.timestamp_ms]
    return f"timestamp {found.timestamp_ms} ({units.moment(found.timestamp_ms)})"


def _limit(found: Lookup) -> str:
    bounds = found.bounds
    return (
        ""
        if bounds.limit_offset == bounds.end_offset
        else f", last stable offset {bounds.limit_offset}"
    )


def _segments(choices: Sequence[Choice], bounds: Bounds) -> Iterator[str]:
    """The chosen ones and their neighbours; of the rest how many there are.

    Where none is searched, once why, and what they hold.
    """
    whys = {one.why for one in choices}
    if len(whys) == 1 and not any(one.chosen for one in choices):
        held = (
            f"offsets {bounds.start_offset} to {bounds.end_offset - 1}"
            if bounds.start_offset < bounds.end_offset
            else "no offset"
        )
        yield f"{units.many(len(choices), 'segment')}, {held}: {whys.pop()}"
        return
    chosen = [place for place, one in enumerate(choices) if one.chosen] or [len(choices) - 1]
    shown = [
        place for place in range(len(choices)) if any(abs(place - one) <= NEAR for one in chosen)
    ]
    yield (
        f"{units.many(len(choices), 'segment')}"
        f"{'' if len(shown) == len(choices) else f', {len(shown)} of them shown'}"
    )
    wide = max(len(str(choices[place].base_offset)) for place in shown)
    for place in shown:
        one = choices[place]
        yield f"  {'>' if one.chosen else ' '} {one.base_offset:>{wide}}  {one.why}"


def _paired(found: Lookup) -> Iterator[tuple[IndexSearch | None, Scan | None]]:
    """Searches and scans in the order in which they were made: of an offset in turns, of a
    timestamp the searches first.
    """
    if len(found.searches) == len(found.scans):
        yield from zip(found.searches, found.scans, strict=True)
        return
    yield from ((search, None) for search in found.searches)
    yield from ((None, scan) for scan in found.scans)


def _scan(scan: Scan) -> Iterator[str]:
    yield f"{units.file_stem(scan.segment)}.log from byte {scan.from_position}"
    for read in scan.reads[:STEPS]:
        yield f"  byte {read.position:<12} {read.size} bytes"
    if len(scan.reads) > STEPS:
        yield f"  and {units.many(len(scan.reads) - STEPS, 'read')} more"
    batch = scan.batch
    total = (
        f"{units.many(len(scan.reads), 'read')}, "
        f"{units.size(sum(read.size for read in scan.reads))}"
    )
    what = (
        f"offsets {batch.base_offset} to {batch.last_offset} in the batch at byte {batch.position}"
        if batch
        else "nothing is found"
    )
    yield f"  {total}: {what}"


def _result(found: Lookup) -> Iterator[str]:
    for fetch in found.fetches[1:]:
        at = (
            f"the batch at byte {fetch.batch.position} of {units.file_stem(fetch.segment)}.log"
            if fetch.batch
            else "nothing is there"
        )
        yield f"fetch     from offset {fetch.offset} on, past what a consumer is not given: {at}"
    if found.error:
        yield f"error     {found.error.class_name.rpartition('.')[2]}: {found.error}"
    elif found.answer is None:
        yield f"answer    none{_why_none(found)}"
    else:
        record, answer = found.record, found.answer
        where = (
            (
                f", in the batch at byte {record.batch_position} of "
                f"{units.file_stem(record.segment)}.log"
            )
            if record
            else ""
        )
        at = (
            ""
            if answer.timestamp_ms < 0
            else f" of {answer.timestamp_ms} ({units.moment(answer.timestamp_ms)})"
        )
        yield f"answer    offset {answer.offset}{at}{where}"


def _why_none(found: Lookup) -> str:
    bounds = found.bounds
    if found.offset is None:
        return ""
    if bounds.limit_offset < bounds.end_offset:
        return (
            f": nothing from there to the last stable offset {bounds.limit_offset} is for this "
            "consumer"
        )
    return (
        ": the log ends there"
        if found.offset == bounds.end_offset
        else f": no record from there to the log end {bounds.end_offset}"
    )


def _range(probe: Probe) -> str:
    return f"of {probe.lo} to {probe.hi}"


def _entry(kind: str, entry: tuple[int, int]) -> str:
    if kind == OFFSET:
        return (
            f"offset {entry[0]} is in the batch at byte {entry[1]}"
            if entry[1]
            else f"offset {entry[0]}, byte 0"
        )
    return f"up to timestamp {entry[0]}, by offset {entry[1]}"
