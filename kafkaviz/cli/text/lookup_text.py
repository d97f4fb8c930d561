"""The text of a lookup: the answer, then a line per step in Kafka's order."""

from collections.abc import Container, Iterator, Sequence

from kafkaviz import units
from kafkaviz.analysis.cost.remote_reads import RemoteCost
from kafkaviz.cli.common import output
from kafkaviz.messages import Message, language, message, say
from kafkaviz.search import by_time
from kafkaviz.search.fetch import Bounds, FailedBounds
from kafkaviz.search.index_search import OFFSET, IndexSearch
from kafkaviz.search.lookup import Lookup
from kafkaviz.search.scan import ForwardScan
from kafkaviz.search.segment_reasons import (
    SegmentChoice,
    SegmentMiss,
    SegmentReason,
    describe_choice,
)
from kafkaviz.versions import SearchProfile

MAX_NEIGHBOURS = 3  # most segments that are shown on each side of the chosen one
MAX_READS = 200  # most reads that are shown per scan; --json has all


def render(lookup: Lookup, remote_files: Container[int], cost: RemoteCost) -> Iterator[str]:
    """Yields the lines of a lookup.

    Args:
        remote_files: the base offsets of segments that are only in tiered storage.
        cost: the cost of reads from tiered storage.
    """
    yield say(
        "cli_lookup.found_as",
        partition=lookup.partition,
        target=_describe_target(lookup),
        version=lookup.profile.version,
    )
    yield _describe_answer(lookup)
    for wrong_entry in lookup.wrong_entries:
        yield say("cli_lookup.label_wrong", text=wrong_entry.description)
    yield ""
    if isinstance(lookup.error, FailedBounds):
        yield output.to_one_line(describe_choice(lookup.start_choice))
    else:
        bounds = lookup.bounds
        yield say(
            f"cli_lookup.bounds{'_stable' if bounds.limit_offset != bounds.end_offset else ''}",
            start=bounds.start_offset,
            end=bounds.end_offset,
            stable=bounds.limit_offset,
        )
        yield ""
        yield from _render_segments(lookup.choices, bounds, remote_files)
    for step in lookup.path:
        yield ""
        yield from _render_remote_step(step, cost, remote_files)
        yield from render_search(step) if isinstance(step, IndexSearch) else _render_scan(step)
    if len(lookup.fetches) > 1:
        yield ""
        yield from _render_next_fetches(lookup)
    if cost.reads:
        yield ""
        yield from _render_remote(cost)


def render_index_search(
    search: IndexSearch, answer: tuple[int, int], profile: SearchProfile
) -> Iterator[str]:
    key = "index_offset" if search.kind == OFFSET else "index_timestamp"
    yield say(f"cli_lookup.{key}", target=search.slot_search.target, version=profile.version)
    yield say("cli_lookup.answer", answer=_describe_entry(search.kind, answer))
    yield ""
    yield from render_search(search)


def render_search(search: IndexSearch) -> Iterator[str]:
    result = search.slot_search
    warm = "searched" if result.warm_from_slot is None else "searched_warm"
    yield say(
        f"cli_lookup.{warm}",
        file=search.file,
        entries=message("common.n_entries", n=result.entries),
        slot=result.warm_from_slot,
    )
    wide = max((len(str(probe.key)) for probe in result.probes), default=0)
    for probe in result.probes:
        yield "  " + say(
            "cli_lookup.probe",
            slot=f"{probe.slot:<8}",
            key=f"{probe.key:>{wide}}",
            compare=probe.compare,
            target=result.target,
            low=probe.lo,
            high=probe.hi,
            page=probe.page,
        )
    if result.probes:
        key = "probes_on_page" if len(result.pages) == 1 else "probes_on_pages"
        probes = message("common.n_probes", n=len(result.probes))
        yield "  " + say(f"cli_lookup.{key}", probes=probes, pages=tuple(result.pages))
    if search.entry:
        decision = _describe_entry(search.kind, search.entry)
        yield "  " + say("cli_lookup.slot", slot=result.slot, decision=decision)
    else:
        yield "  " + say("cli_lookup.no_entry", target=result.target)


def _describe_target(lookup: Lookup) -> str:
    if lookup.offset is not None:
        return say("common.offset", offset=lookup.offset)
    return by_time.name_of(lookup.timestamp_ms) or say(
        "cli_lookup.target_timestamp", ms=lookup.timestamp_ms
    )


def _render_segments(
    choices: Sequence[SegmentChoice], bounds: Bounds, remote_files: Container[int]
) -> Iterator[str]:
    """Yields lines about the searched segments, their neighbours, and the number of segments.

    If no segment is searched, yields one line with the reason.
    """
    reasons = {output.to_one_line(describe_choice(item)) for item in choices}
    if len(reasons) == 1 and not any(item.chosen for item in choices):
        content = message("cli_lookup.no_offsets")
        if bounds.start_offset < bounds.end_offset:
            last = bounds.end_offset - 1
            content = message("cli_lookup.offsets", first=bounds.start_offset, last=last)
        segments = message("common.n_segments", n=len(choices))
        yield say("cli_lookup.unsearched", segments=segments, content=content, why=reasons.pop())
        return
    indices = [place for place, item in enumerate(choices) if item.chosen] or [len(choices) - 1]
    visible = [
        place
        for place in range(len(choices))
        if any(abs(place - index) <= MAX_NEIGHBOURS for index in indices)
    ]
    key = "segments" if len(visible) == len(choices) else "segments_shown"
    segments = message("common.n_segments", n=len(choices))
    yield say(f"cli_lookup.{key}", segments=segments, shown_count=len(visible))
    wide = max(len(str(choices[place].base_offset)) for place in visible)
    for place in visible:
        choice = choices[place]
        mark = ">" if choice.chosen else " "
        reason = output.to_one_line(describe_choice(choice))
        if choice.base_offset in remote_files:
            reason = say("cli_lookup.remote_segment", why=reason)
        yield f"  {mark} {choice.base_offset:>{wide}}  {reason}"


def _render_scan(scan: ForwardScan) -> Iterator[str]:
    file = f"{units.file_stem(scan.base_offset)}.log"
    yield say("cli_lookup.scan_from", file=file, byte=scan.from_position)
    for header_read in scan.reads[:MAX_READS]:
        byte = f"{header_read.position:<12}"
        yield "  " + say("cli_lookup.header_read", byte=byte, size=header_read.size)
    if len(scan.reads) > MAX_READS:
        yield "  " + say("cli_lookup.more_reads", n=len(scan.reads) - MAX_READS)
    what = message("cli_lookup.nothing_found")
    if batch := scan.batch:
        what = message(
            "cli_lookup.batch_found",
            first=batch.base_offset,
            last=batch.last_offset,
            byte=batch.position,
        )
    yield "  " + say(
        "cli_lookup.scanned",
        reads=message("log_scan.n_reads", n=len(scan.reads)),
        size=sum(item.size for item in scan.reads),
        outcome=what,
    )


def _render_remote_step(
    step: IndexSearch | ForwardScan, cost: RemoteCost, remote_files: Container[int]
) -> Iterator[str]:
    file = f"{units.file_stem(step.base_offset)}.log"
    if isinstance(step, IndexSearch):
        file = step.file
    reads = cost.reads_of(file)
    if step.base_offset in remote_files:
        yield say("cli_lookup.remote_step")
    elif reads:
        yield say("cli_lookup.remote_object_step")
    for read in reads:
        is_measured = read.measured_ms is not None
        yield "  " + say(
            f"cli_lookup.remote_price_{'measured' if is_measured else 'modelled'}",
            requests=message("lookup.n_requests", n=read.requests),
            size=read.size_bytes,
            ms=round(cost.read_ms(read), 1),
        )


def _render_remote(cost: RemoteCost) -> Iterator[str]:
    yield say("cli_lookup.remote_reads" if cost.is_tiered else "cli_lookup.remote_object_reads")
    wide = max(len(read.file) for read in cost.reads)
    for read in cost.reads:
        yield "  " + say(
            "cli_lookup.remote_read",
            file=f"{read.file:<{wide}}",
            requests=message("lookup.n_requests", n=read.requests),
            size=read.size_bytes,
        )
    requests = message("lookup.n_requests", n=cost.requests)
    if cost.measured_ms is not None:
        yield "  " + say(
            "cli_lookup.remote_price_measured",
            requests=requests,
            size=cost.size_bytes,
            ms=round(cost.measured_ms, 1),
        )
        return
    yield "  " + say(
        "cli_lookup.remote_total_mean" if cost.measured_requests else "cli_lookup.remote_total",
        requests=requests,
        size=cost.size_bytes,
        each=round(cost.request_ms, 1),
        n=cost.measured_requests,
        total=round(cost.modelled_ms, 1),
    )


def _render_next_fetches(lookup: Lookup) -> Iterator[str]:
    for fetch in lookup.fetches[1:]:
        location = message("cli_lookup.nothing_there")
        if batch := fetch.batch:
            file = f"{units.file_stem(fetch.segment_base_offset)}.log"
            location = message("cli_lookup.batch_at", byte=batch.position, file=file)
        yield say("cli_lookup.next_fetch", offset=fetch.offset, where=location)


def _describe_answer(lookup: Lookup) -> str:
    if lookup.error:
        name = lookup.error.class_name.rpartition(".")[2]
        return say("cli_lookup.error", name=name, problem=str(lookup.error))
    answer = lookup.answer
    if answer is None:
        return _describe_absence(lookup)
    text = message("cli_lookup.answer_offset", offset=answer.offset)
    if answer.timestamp_ms >= 0:
        text = message("cli_lookup.answer_timed", offset=answer.offset, ms=answer.timestamp_ms)
    if record := lookup.record:
        file = f"{units.file_stem(record.segment_base_offset)}.log"
        byte = record.batch_position
        text = message("cli_lookup.answer_in_batch", answer=text, byte=byte, file=file)
    return text.render(language())


def _describe_absence(lookup: Lookup) -> str:
    bounds = lookup.bounds
    if lookup.offset is None:
        return _describe_late_timestamp(lookup)
    if bounds.limit_offset < bounds.end_offset:
        return say("cli_lookup.none_to_stable", stable=bounds.limit_offset)
    if lookup.start_choice.reason is SegmentReason.BEYOND_END:
        return say("cli_lookup.none_at_end")
    return say("cli_lookup.none_to_end", end=bounds.end_offset)


def _describe_late_timestamp(lookup: Lookup) -> str:
    """Returns the answer "none" with its reason. For earliest, latest and max, it has no reason."""
    if all(choice.reason is SegmentReason.TOO_OLD for choice in lookup.choices) and lookup.choices:
        largest_ms = max(choice.largest_ms for choice in lookup.choices)
        return say("cli_lookup.none_so_late", ms=largest_ms)
    misses = {choice.miss for choice in lookup.choices}
    if SegmentMiss.HIDDEN in misses:
        return say("cli_lookup.none_below_stable", stable=lookup.bounds.limit_offset)
    if SegmentMiss.NO_RECORD in misses:
        return say("cli_lookup.none_in_segment")
    return say("cli_lookup.answer_none")


def _describe_entry(kind: str, entry: tuple[int, int]) -> Message:
    if kind == OFFSET:
        return message("cli_lookup.entry_offset", offset=entry[0], byte=entry[1])
    return message("cli_lookup.entry_time", ms=entry[0], offset=entry[1])
