"""The text of a comparison: a line per partition, and the differences between the two sides."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafkaviz.analysis.comparison.comparison import (
    SIDES,
    BrokerComparison,
    PartitionComparison,
    Relation,
)
from kafkaviz.analysis.comparison.start_changes import ChangeKind, FileChange, StartComparison
from kafkaviz.cli.common import output
from kafkaviz.messages import Message, Text, message, say
from kafkaviz.messages import render as render_text
from kafkaviz.render import comparison_text

if TYPE_CHECKING:
    from kafkaviz.pipeline.sql.catalog_comparison import CatalogPair, CatalogRelation

MAX_LINES = 5  # most differences, and most indexes, that are printed per partition
MAX_CHANGES = 20
NAME_COLUMNS = 32
RELATION_COLUMNS = 22


def render(comparison: BrokerComparison) -> Iterator[Text]:
    equal = sum(partition.relation.has_equal_records for partition in comparison.partitions)
    yield _verdict(equal, len(comparison.partitions), len(comparison.problems))
    for relation, count in comparison.counts.items():
        words = comparison_text.relation_name(relation)
        yield from _wrap(message("comparison.count", n=count, relation=words))
    yield say("comparison.source", side="a", path=comparison.sources[0])
    yield say("comparison.source", side="b", path=comparison.sources[1])
    for problem in comparison.problems:
        yield from _wrap(message("comparison.problem", path=problem.path, problem=problem.what))
    for partition in comparison.worst_first:
        yield from _render_partition(partition)
    if comparison.start:
        yield from _render_start(comparison.start)


def _verdict(equal: int, total: int, problems: int, compared: str = "records") -> Message:
    """Returns a sentence that says whether both sides are equal.

    Args:
        equal: the number of partitions, out of `total`, that are equal on both sides.
        problems: number of problems that prevented reading.
        compared: "records"; "batches" for catalogs, which have no records.
    """
    if equal < total:
        return message(f"comparison.verdict_differs_{compared}", n=total - equal, all=total)
    if problems:
        return message(f"comparison.verdict_unknown_{compared}", n=problems)
    if not total:
        return message("comparison.verdict_none")
    return message(f"comparison.verdict_same_{compared}", n=total)


def _render_partition(comparison: PartitionComparison) -> Iterator[str]:
    relation = comparison.relation
    name = output.pad(comparison.partition, NAME_COLUMNS)
    text = render_text(comparison_text.describe_relation(comparison))
    line = f"{name}  {output.pad(relation.value, RELATION_COLUMNS)}  {text}"
    if relation is Relation.IDENTICAL:
        yield line
        return
    yield ""
    yield line
    for text in comparison_text.describe_facts(comparison):
        yield from _wrap(text)
    for difference in comparison.differences[:MAX_LINES]:
        yield from _wrap(comparison_text.describe_difference(difference))
    if comparison.difference_count > MAX_LINES:
        more = comparison.difference_count - MAX_LINES
        yield from _wrap(message("comparison.more_in_json", n=more))
    for index in comparison.indexes[:MAX_LINES]:
        yield from _wrap(comparison_text.describe_index(index))
    if len(comparison.indexes) > MAX_LINES:
        more = len(comparison.indexes) - MAX_LINES
        yield from _wrap(message("comparison.more_indexes", n=more))
    if comparison.truncations and relation.severity > Relation.START_DIFFERS.severity:
        for side, walk in enumerate(comparison.truncations):
            text = comparison_text.describe_walk(walk, SIDES[side], SIDES[1 - side])
            yield from _wrap(text)
            for step in walk.steps if walk.follower_loses else ():
                yield from _wrap(comparison_text.describe_step(step), "    ")


def _render_start(start: StartComparison) -> Iterator[str]:
    yield ""
    yield from output.wrap(comparison_text.outcome_text(start))
    if not start.changes or start.is_swapped:
        return
    if start.is_started:
        for predicted in start.unexpected_steps[:MAX_CHANGES]:
            step = predicted.step
            action = message(f"comparison.action_{step.action}")
            file = step.file or step.partition or ""
            text = message("comparison.otherwise", file=file, action=action, why=step.why)
            yield from _wrap(text)
    logs = [change for change in start.changes if _is_of_log(change)]
    if logs:
        yield say("comparison.changes")
    for change in logs[:MAX_CHANGES]:
        yield from _wrap(comparison_text.describe_change(change))
    hidden = len(start.changes) - len(logs[:MAX_CHANGES])
    if hidden:
        yield from _wrap(message("comparison.more_changes", n=hidden))


def _is_of_log(change: FileChange) -> bool:
    """Returns whether the changed file is a .log or index, neither trimmed nor deleted."""
    is_trimmed = change.kind in (ChangeKind.TRIMMED, ChangeKind.TRIMMED_AND_APPENDED)
    is_deleted = ".deleted" in change.file
    return change.file.endswith((".log", "index")) and not is_trimmed and not is_deleted


def render_catalogs(pair: "CatalogPair", rows: Sequence[Mapping[str, Any]]) -> Iterator[Text]:
    from kafkaviz.pipeline.sql.catalog_comparison import CatalogRelation

    counts = Counter(row["relation"] for row in rows)
    equal = counts[CatalogRelation.SAME_BATCHES]
    yield _verdict(equal, len(rows), len(pair.problems), compared="batches")
    for relation in filter(counts.get, CatalogRelation):
        words = _relation_text(relation)
        yield from _wrap(message("comparison.count", n=counts[relation], relation=words))
    for side, side_catalog in zip(SIDES, pair.catalogs, strict=True):
        yield say("comparison.source", side=side, path=side_catalog.path)
    for side in pair.unverified_sides:
        yield from _wrap(message("comparison.believed", side=side))
    for problem in pair.problems:
        yield from _wrap(message("comparison.problem", path=problem.path, problem=problem.what))
    relations = {row["relation"]: CatalogRelation(row["relation"]) for row in rows}
    for row in sorted(rows, key=lambda row: relations[row["relation"]].severity, reverse=True):
        yield from _render_log(row)


def _render_log(row: Mapping[str, Any]) -> Iterator[Text]:
    from kafkaviz.pipeline.sql.catalog_comparison import CatalogRelation

    relation = CatalogRelation(row["relation"])
    name = output.pad(f"{row['topic']}-{row['partition']}", NAME_COLUMNS)
    line = f"{name}  {output.pad(relation.value, RELATION_COLUMNS)}  {_relation_text(relation)}"
    if relation is CatalogRelation.SAME_BATCHES:
        yield line
        return
    yield ""
    yield line
    for text in _describe_log(row):
        yield from _wrap(text)


def _describe_log(row: Mapping[str, Any]) -> Iterator[Message]:
    offsets = [
        comparison_text.offset_range_text(row[f"start_{side}"], row[f"end_{side}"])
        for side in SIDES
        if row[f"end_{side}"] is not None
    ]
    if len(offsets) == 1:
        yield message("comparison.alone", offsets=offsets[0])
    else:
        yield message("comparison.offsets", a=offsets[0], b=offsets[1])
    for side in SIDES:
        if row[f"damaged_{side}"]:
            yield message("comparison.catalog_damage", side=side, n=row[f"damaged_{side}"])
    if row["different_batches"]:
        yield message("comparison.catalog_differences", n=row["different_batches"])
        yield _describe_first(row)
    if row["other_generation"]:
        yield message("comparison.other_generation", id=row["other_generation"])
    if row["other_directory"]:
        yield message("comparison.other_directory", name=row["other_directory"])


def _describe_first(row: Mapping[str, Any]) -> Message:
    offset, a, b = (row[name] for name in ("first_different_offset", "epoch_a", "epoch_b"))
    if a is None or b is None:
        side = "b" if a is None else "a"
        return message("comparison.catalog_first_alone", offset=offset, side=side)
    if a == b:
        return message("comparison.catalog_first", offset=offset, epoch=a)
    return message("comparison.parted", offset=offset, a=a, b=b)


def _relation_text(relation: "CatalogRelation") -> Message:
    return message(f"comparison.relation_{relation.value.replace('-', '_')}")


def _wrap(text: Text, indent: str = "  ") -> Iterator[str]:
    return output.wrap(text, indent)
