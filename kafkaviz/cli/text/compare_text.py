"""A comparison in words: a line for each partition, and below those that differ how and why."""

from collections.abc import Iterator

from kafkaviz.analysis.comparison.byte_differences import ByteDifference
from kafkaviz.analysis.comparison.comparison import (
    SIDES,
    BrokerComparison,
    PartitionComparison,
    Relation,
)
from kafkaviz.analysis.comparison.index_differences import IndexComparison
from kafkaviz.analysis.comparison.leader_epochs import TruncationStep, TruncationWalk
from kafkaviz.analysis.comparison.record_ranges import OffsetRange, RecordSet
from kafkaviz.analysis.comparison.start_changes import (
    ChangeKind,
    FileChange,
    StartComparison,
    StepOutcome,
)
from kafkaviz.cli.common import output
from kafkaviz.messages import Message, Text, message, say

MAX_LINES = 5  # of differences, indexes or ranges that are printed of a partition
MAX_CHANGES = 20
NAME_COLUMNS, RELATION_COLUMNS = 32, 22


def render(comparison: BrokerComparison) -> Iterator[Text]:
    """Two directories."""
    yield say("comparison.source", side="a", path=comparison.sources[0])
    yield say("comparison.source", side="b", path=comparison.sources[1])
    for problem in comparison.problems:
        yield from _wrap(message("comparison.problem", path=problem.path, problem=problem.what))
    for partition in sorted(
        comparison.partitions, key=lambda item: item.relation.severity, reverse=True
    ):
        yield from _render_partition(partition)
    yield ""
    for relation, count in comparison.counts.items():
        yield message("comparison.count", n=count, relation=_relation(relation))
    if comparison.start:
        yield from _render_start(comparison.start)


def _render_partition(comparison: PartitionComparison) -> Iterator[str]:
    relation = comparison.relation
    name = output.pad(comparison.partition, NAME_COLUMNS)
    line = f"{name}  {output.pad(relation.value, RELATION_COLUMNS)}  {say(_relation_key(relation))}"
    if relation is Relation.IDENTICAL:
        yield line
        return
    yield ""
    yield line
    for text in _facts(comparison):
        yield from _wrap(text)
    for difference in comparison.differences[:MAX_LINES]:
        yield from _wrap(_describe_difference(difference))
    if comparison.difference_count > MAX_LINES:
        yield from _wrap(
            message("comparison.more_in_json", n=comparison.difference_count - MAX_LINES)
        )
    for index in comparison.indexes[:MAX_LINES]:
        yield from _wrap(_describe_index(index))
    if len(comparison.indexes) > MAX_LINES:
        more = len(comparison.indexes) - MAX_LINES
        yield from _wrap(message("comparison.more_indexes", n=more))
    if comparison.truncations and relation.severity > Relation.START_DIFFERS.severity:
        for side, walk in enumerate(comparison.truncations):
            yield from _render_walk(walk, SIDES[side], SIDES[1 - side])


def _facts(comparison: PartitionComparison) -> Iterator[Message]:
    """What is said of the partition as a whole."""
    for relation in comparison.relations[1:]:
        if relation.severity > Relation.SEGMENTS_DIFFER.severity:
            yield message("comparison.also", relation=_relation(relation))
    replicas = [replica for replica in comparison.replicas if replica]
    if len(replicas) == 2:
        a, b = replicas
        yield message(
            "comparison.offsets",
            a_start=a.log_start_offset,
            a_end=a.log_end_offset,
            b_start=b.log_start_offset,
            b_end=b.log_end_offset,
        )
    elif replicas:
        yield message(
            "comparison.alone",
            start=replicas[0].log_start_offset,
            end=replicas[0].log_end_offset,
        )
    epochs = comparison.leader_epochs_there
    if comparison.first_divergent_offset is not None and epochs:
        offset = comparison.first_divergent_offset
        key = "parted" if epochs[0] != epochs[1] else "altered_at"
        yield message(f"comparison.{key}", offset=offset, a=epochs[0], b=epochs[1])
    lag = comparison.lag
    if lag and lag.time_ms is not None and lag.time_ms >= 0:
        yield message(
            "comparison.lag",
            side=lag.side,
            n=lag.offsets,
            bytes=lag.size_bytes,
            ms=lag.time_ms,
        )
    elif lag:
        yield message("comparison.lag_offsets", side=lag.side, n=lag.offsets, bytes=lag.size_bytes)
    if len(replicas) == 2:
        for side, records in zip(SIDES, comparison.only_in, strict=True):
            if records.records:
                yield message(
                    "comparison.only_in", side=side, n=records.records, ranges=_ranges(records)
                )
    if comparison.unreadable.records:
        yield message("comparison.unreadable", ranges=_ranges(comparison.unreadable))
    if comparison.other_generation:
        yield message("comparison.other_generation", id=comparison.other_generation)
    if comparison.other_directory:
        yield message("comparison.other_directory", name=comparison.other_directory)
    yield from comparison.notes


def _ranges(records: RecordSet) -> str:
    more = records.more_ranges + max(0, len(records.ranges) - MAX_LINES)
    return _join_ranges(records.ranges[:MAX_LINES], has_more=bool(more))


def _join_ranges(ranges: tuple[OffsetRange, ...], *, has_more: bool = False) -> str:
    texts = [str(first) if first == last else f"{first}–{last}" for first, last in ranges]
    return ", ".join([*texts, *(["…"] if has_more else [])])


def _describe_difference(difference: ByteDifference) -> Message:
    location = difference.location
    values = {
        "file": location.file,
        "position": location.position,
        "n": location.size_bytes,
        "field": _what(difference.what),
    }
    if difference.what == "tail":
        side = SIDES[difference.locations[0] is None]
        return message("comparison.tail", **values, side=side)
    if difference.what == "hole":
        side = SIDES[difference.locations[0] is None]
        return message("comparison.hole", **values, side=side)
    text = message(
        "comparison.difference",
        **values,
        a="–" if difference.values[0] is None else difference.values[0],
        b="–" if difference.values[1] is None else difference.values[1],
    )
    wrong = [
        side
        for side, is_valid in zip(SIDES, difference.valid_crcs, strict=True)
        if is_valid is False
    ]
    if len(wrong) == 1:
        return message("comparison.wrong_checksum", text=text, side=wrong[0])
    return message("comparison.wrong_checksums", text=text) if wrong else text


def _what(name: str) -> Text:
    """A field by its own name, or what is no field in words."""
    in_words = ("entry", "size", "file", "records")
    return message(f"comparison.what_{name}") if name in in_words else name


def _describe_index(index: IndexComparison) -> Message:
    text = message(
        "comparison.index",
        segment=index.segment,
        kind=index.kind,
        a="–" if index.entries[0] is None else index.entries[0],
        b="–" if index.entries[1] is None else index.entries[1],
        n=index.common,
        why=message(f"comparison.index_{index.reason.value.replace('-', '_')}"),
    )
    if not index.lookup:
        return text
    reads = index.lookup.reads
    if not all(read.headers for read in reads):
        side = next(side for side, read in zip(SIDES, reads, strict=True) if not read.headers)
        offset = index.lookup.target_offset
        return message("comparison.lookup_missed", text=text, offset=offset, side=side)
    return message(
        "comparison.lookup",
        text=text,
        offset=index.lookup.target_offset,
        a=reads[0].headers,
        b=reads[1].headers,
    )


def _render_walk(walk: TruncationWalk, leader: str, follower: str) -> Iterator[str]:
    if walk.follower_loses:
        ranges = _join_ranges(
            tuple(OffsetRange(*offsets) for offsets in walk.follower_loses[:MAX_LINES]),
            has_more=len(walk.follower_loses) > MAX_LINES,
        )
        head = message("comparison.loses", leader=leader, follower=follower, ranges=ranges)
    else:
        head = message("comparison.loses_nothing", leader=leader, follower=follower)
    yield from _wrap(head)
    if walk.follower_loses:
        for step in walk.steps:
            yield from _wrap(_describe_step(step), "    ")


def _describe_step(step: TruncationStep) -> Message:
    answer = step.answer
    return message(
        f"comparison.step_{step.rule.value.replace('-', '_')}",
        epoch=-1 if step.epoch is None else step.epoch,
        at=step.fetch_offset,
        answer=answer.epoch if answer else -1,
        end=answer.end_offset if answer else -1,
        to=step.truncates_to,
    )


def _render_start(start: StartComparison) -> Iterator[str]:
    """Before and after."""
    yield ""
    if not start.changes:
        yield say("comparison.nothing_changed")
        return
    if start.is_started:
        counts = {outcome: 0 for outcome in StepOutcome}
        for foretold in start.steps:
            counts[foretold.outcome] += 1
        yield from output.wrap(
            message(
                "comparison.started",
                n=len(start.steps),
                right=counts[StepOutcome.AS_FORETOLD],
                wrong=counts[StepOutcome.OTHERWISE],
                unseen=counts[StepOutcome.UNSEEN],
            )
        )
        for foretold in start.unexpected_steps[:MAX_CHANGES]:
            step = foretold.step
            yield from _wrap(
                message(
                    "comparison.otherwise",
                    file=step.file or step.partition or "",
                    action=message(f"comparison.action_{step.action}"),
                    why=step.why,
                )
            )
    else:
        yield say("comparison.not_started")
    logs = [change for change in start.changes if _is_of_log(change)]
    if logs:
        yield say("comparison.changes")
    for change in logs[:MAX_CHANGES]:
        yield from _wrap(_describe_change(change))
    hidden = len(start.changes) - len(logs[:MAX_CHANGES])
    if hidden:
        yield from _wrap(message("comparison.more_changes", n=hidden))


def _is_of_log(change: FileChange) -> bool:
    """Whether it is about records or their indexes, and more than a start's housekeeping."""
    is_plain = change.file.endswith((".log", "index"))
    is_housekeeping = change.kind is ChangeKind.TRIMMED or ".deleted" in change.file
    return is_plain and not is_housekeeping


def _describe_change(change: FileChange) -> Message:
    before, after = (0 if size is None else size for size in change.sizes)
    text = message(
        "comparison.change",
        file=change.file,
        change=message(f"comparison.change_{change.kind.value.replace('-', '_')}"),
        before=before,
        after=after,
    )
    return message("comparison.foretold", text=text) if change.is_foretold else text


def _relation(relation: Relation) -> Message:
    return message(_relation_key(relation))


def _relation_key(relation: Relation) -> str:
    return f"comparison.relation_{relation.value.replace('-', '_')}"


def _wrap(text: Text, indent: str = "  ") -> Iterator[str]:
    return output.wrap(text, indent)
