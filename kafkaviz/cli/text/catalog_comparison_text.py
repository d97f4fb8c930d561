"""The text of a comparison of two catalogs; compare_text.py has that of directories."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kafkaviz.analysis.comparison.comparison import SIDES
from kafkaviz.cli.common import output
from kafkaviz.cli.text.compare_text import NAME_COLUMNS, RELATION_COLUMNS
from kafkaviz.figures.text.comparison_text import offset_range_text
from kafkaviz.messages import Message, Text, message, say
from kafkaviz.pipeline.sql.catalog_comparison import CatalogPair, CatalogRelation

INDENT = "  "


def render(pair: CatalogPair, rows: Sequence[Mapping[str, Any]]) -> Iterator[Text]:
    for side, side_catalog in zip(SIDES, pair.catalogs, strict=True):
        yield say("comparison.source", side=side, path=side_catalog.path)
    for side in pair.unverified_sides:
        yield from output.wrap(message("comparison.believed", side=side), INDENT)
    for problem in pair.problems:
        yield from output.wrap(
            message("comparison.problem", path=problem.path, problem=problem.what), INDENT
        )
    relations = {row["relation"]: CatalogRelation(row["relation"]) for row in rows}
    for row in sorted(rows, key=lambda row: relations[row["relation"]].severity, reverse=True):
        yield from _render_log(row)
    yield ""
    counts = Counter(row["relation"] for row in rows)
    for relation in filter(counts.get, CatalogRelation):
        words = _relation_text(relation)
        yield message("comparison.count", n=counts[relation], relation=words)


def _render_log(row: Mapping[str, Any]) -> Iterator[Text]:
    relation = CatalogRelation(row["relation"])
    name = output.pad(f"{row['topic']}-{row['partition']}", NAME_COLUMNS)
    line = f"{name}  {output.pad(relation.value, RELATION_COLUMNS)}  {_relation_text(relation)}"
    if relation is CatalogRelation.SAME_BATCHES:
        yield line
        return
    yield ""
    yield line
    for text in _describe_log(row):
        yield from output.wrap(text, INDENT)


def _describe_log(row: Mapping[str, Any]) -> Iterator[Message]:
    offsets = [
        offset_range_text(row[f"start_{side}"], row[f"end_{side}"])
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
    """Returns the first batch that differs, or the offset where the leader epochs diverge."""
    offset, a, b = (row[name] for name in ("first_different_offset", "epoch_a", "epoch_b"))
    if a is None or b is None:
        side = "b" if a is None else "a"
        return message("comparison.catalog_first_alone", offset=offset, side=side)
    key = "catalog_first" if a == b else "parted"
    return message(f"comparison.{key}", offset=offset, a=a, b=b)


def _relation_text(relation: CatalogRelation) -> Message:
    return message(f"comparison.relation_{relation.value.replace('-', '_')}")
