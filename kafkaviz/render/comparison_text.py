"""A comparison in words, for the command line and the Compare page."""

from collections import Counter
from collections.abc import Callable, Iterator

from kafkaviz.analysis.comparison.byte_differences import ByteDifference, FileLocation
from kafkaviz.analysis.comparison.comparison import (
    SIDES,
    OffsetRange,
    PartitionComparison,
    RecordSet,
    Relation,
    Replica,
)
from kafkaviz.analysis.comparison.index_differences import IndexComparison
from kafkaviz.analysis.comparison.leader_epochs import FollowerTruncation, TruncationStep
from kafkaviz.analysis.comparison.start_changes import FileChange, StartComparison, StepOutcome
from kafkaviz.messages import Message, Text, message, say
from kafkaviz.render.sentences import join_comma
from kafkaviz.units import MISSING

MAX_RANGES = 5  # most ranges that are written out


def describe_facts(comparison: PartitionComparison) -> Iterator[Message]:
    for relation in comparison.relations[1:]:
        if relation.severity > Relation.SEGMENTS_DIFFER.severity:
            yield message("comparison.also", relation=relation_name(relation))
    replicas = [replica for replica in comparison.replicas if replica]
    if len(replicas) == 2:
        a, b = map(offsets_text, replicas)
        yield message("comparison.offsets", a=a, b=b)
    elif replicas:
        yield message("comparison.alone", offsets=offsets_text(replicas[0]))
    epochs = comparison.leader_epochs_there
    if comparison.first_divergent_offset is not None and epochs:
        offset = comparison.first_divergent_offset
        key = "parted" if epochs[0] != epochs[1] else "altered_at"
        yield message(f"comparison.{key}", offset=offset, a=epochs[0], b=epochs[1])
    lag = comparison.lag
    if lag and lag.time_ms is not None and lag.time_ms >= 0:
        yield message(
            "comparison.lag", side=lag.side, n=lag.offsets, bytes=lag.size_bytes, ms=lag.time_ms
        )
    elif lag:
        yield message("comparison.lag_offsets", side=lag.side, n=lag.offsets, bytes=lag.size_bytes)
    if len(replicas) == 2:
        for side, records in zip(SIDES, comparison.only_in, strict=True):
            if records.records:
                yield message(
                    "comparison.only_in", side=side, n=records.records, ranges=ranges_text(records)
                )
    if comparison.unreadable.records:
        sides = join_comma(comparison.unreadable_sides)
        ranges = ranges_text(comparison.unreadable)
        yield message("comparison.unreadable", sides=sides, ranges=ranges)
    if comparison.other_generation:
        yield message("comparison.other_generation", id=comparison.other_generation)
    if comparison.other_directory:
        yield message("comparison.other_directory", name=comparison.other_directory)
    yield from comparison.notes


def offsets_text(replica: Replica, form: Callable[[int], str] = str) -> Text:
    """Returns the first and the last offset of a log, such as "180–219"."""
    return offset_range_text(replica.log_start_offset, replica.log_end_offset, form)


def offset_range_text(start: int, end: int, form: Callable[[int], str] = str) -> Text:
    """Returns a range of offsets such as "180–219". `end` is exclusive."""
    return f"{form(start)}–{form(end - 1)}" if start < end else message("common.none")


def ranges_text(records: RecordSet) -> str:
    """Returns the first ranges of offsets, and "…" if there are more."""
    more = records.more_ranges + max(0, len(records.ranges) - MAX_RANGES)
    return join_ranges(records.ranges[:MAX_RANGES], has_more=bool(more))


def join_ranges(ranges: tuple[OffsetRange, ...], *, has_more: bool = False) -> str:
    """Returns ranges of offsets such as "180–219, 230"."""
    texts = [str(first) if first == last else f"{first}–{last}" for first, last in ranges]
    return join_comma([*texts, *(["…"] if has_more else [])])


def describe_difference(difference: ByteDifference) -> Message:
    locations = [location for location in difference.locations if location]
    places = [_place(location) for location in locations]
    if difference.what in ("tail", "hole"):
        side = SIDES[difference.locations[0] is None]
        return message(f"comparison.{difference.what}", place=places[0], side=side)
    if len({(location.file, location.position) for location in locations}) == 1:
        place = _place(max(locations, key=lambda location: location.size_bytes))
    else:
        place = message("comparison.places", a=places[0], b=places[1])
    a, b = (MISSING if value is None else value for value in difference.values)
    field = field_text(difference.what)
    text = message("comparison.difference", place=place, field=field, a=a, b=b)
    checked_sides = zip(SIDES, difference.valid_crcs, strict=True)
    wrong = [side for side, is_valid in checked_sides if is_valid is False]
    if len(wrong) == 1:
        return message("comparison.wrong_checksum", text=text, side=wrong[0])
    return message("comparison.wrong_checksums", text=text) if wrong else text


def _place(location: FileLocation) -> Message:
    n = location.size_bytes
    return message("comparison.place", file=location.file, position=location.position, n=n)


def field_text(name: str) -> Text:
    """Returns what differs between two batches: a field's name, or words such as "the size"."""
    in_words = ("entry", "size", "file", "record", "records")
    return message(f"comparison.what_{name}") if name in in_words else name


def describe_index(index: IndexComparison) -> Message:
    """Says how many entries an index has on each side, and why the numbers differ."""
    a, b = (MISSING if count is None else count for count in index.entries)
    text = message(
        "comparison.index",
        segment=index.segment,
        kind=index.kind,
        a=a,
        b=b,
        n=index.common,
        why=message(f"comparison.index_{index.reason.value.replace('-', '_')}"),
    )
    if not index.lookup:
        return text
    offset = index.lookup.target_offset
    headers = [read.headers for read in index.lookup.reads]
    for side, count in zip(SIDES, headers, strict=True):
        if not count:
            return message("comparison.lookup_missed", text=text, offset=offset, side=side)
    return message("comparison.lookup", text=text, offset=offset, a=headers[0], b=headers[1])


def describe_walk(walk: FollowerTruncation, leader: str, follower: str) -> Message:
    if not walk.follower_loses:
        return message("comparison.loses_nothing", leader=leader, follower=follower)
    ranges = join_ranges(
        tuple(OffsetRange(*offsets) for offsets in walk.follower_loses[:MAX_RANGES]),
        has_more=len(walk.follower_loses) > MAX_RANGES,
    )
    return message("comparison.loses", leader=leader, follower=follower, ranges=ranges)


def describe_step(step: TruncationStep) -> Message:
    answer = step.answer
    return message(
        f"comparison.step_{step.rule.value.replace('-', '_')}",
        epoch=-1 if step.epoch is None else step.epoch,
        at=step.fetch_offset,
        answer=answer.epoch if answer else -1,
        end=answer.end_offset if answer else -1,
        to=step.truncates_to,
    )


def describe_change(change: FileChange) -> Message:
    before, after = (0 if size is None else size for size in change.sizes)
    text = message(
        "comparison.change",
        file=change.file,
        change=message(f"comparison.change_{change.kind.value.replace('-', '_')}"),
        before=before,
        after=after,
    )
    return message("comparison.foretold", text=text) if change.is_predicted else text


def outcome_text(start: StartComparison) -> str:
    """Says if a broker was started between two copies, and how many predicted steps were right."""
    if not start.changes:
        return say("comparison.nothing_changed")
    if start.is_swapped:
        return say("comparison.swapped")
    if not start.is_started:
        return say("comparison.not_started")
    counts = Counter(predicted.outcome for predicted in start.steps)
    return say(
        "comparison.started",
        n=len(start.steps),
        right=counts[StepOutcome.AS_PREDICTED],
        wrong=counts[StepOutcome.OTHERWISE],
        unseen=counts[StepOutcome.UNSEEN],
    )


def describe_relation(comparison: PartitionComparison) -> Message:
    if comparison.is_torn_alone:
        return message("comparison.torn_alone")
    return relation_name(comparison.relation)


def relation_name(relation: Relation) -> Message:
    return message(f"comparison.relation_{relation.value.replace('-', '_')}")
