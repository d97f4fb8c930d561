"""What the report says is there: what wrote it and how it was left, in figures, as a map, and a row
a topic-partition.
"""

from collections.abc import Iterator

import numpy as np

from kafkaviz import units
from kafkaviz.analyse import marks
from kafkaviz.analyse.overview import KINDS, UNKNOWN, Row
from kafkaviz.analyse.unused import unused
from kafkaviz.figures import broker_map, map_rows, unused_words
from kafkaviz.log.broker import Broker
from kafkaviz.reporting.html import (
    Drawing,
    Html,
    Part,
    facts,
    folded,
    join,
    mark,
    mono,
    note,
    table,
    tag,
)
from kafkaviz.reporting.subject import Subject

ROWS, SEGMENTS, PROBLEMS = 1000, 1000, 50  # of a table; the largest and the first
HEADS = (
    "Topic-partition",
    "Segments",
    "Offsets",
    "Log",
    "On disk",
    "Batches",
    "Records",
    "Entries",
    "Bytes an entry",
    "Codec",
    "Newest record (UTC)",
)


def part(subject: Subject) -> Part:
    """The section."""
    drawing = _map(subject)
    also = unused_words.counted_too(tuple(unused(subject.broker.partitions)))
    metrics = join((_metrics(subject), note(also))) if also else _metrics(subject)
    head = _chips(subject), metrics, _problems(subject), drawing.html if drawing else ""
    return Part(
        "inventory",
        "What is there",
        join((*head, _partitions(subject), _segments(subject))),
        (drawing,) if drawing else (),
    )


def _chips(subject: Subject) -> Html:
    broker = subject.broker
    chip = _left(broker.left)
    ids = {
        "Cluster": broker.cluster_id,
        "Directory id": broker.directory_id,
        "Node": broker.node_id,
    }
    known = {name: mono(value) for name, value in ids.items() if value}
    why = f" ({subject.looks.because})" if subject.looks.because else ""
    simulated = {"Simulated": "by kafkaviz: no broker wrote it"} if broker.is_simulated else {}
    told = {
        **simulated,
        "How it was left": chip,
        "Written by": f"Kafka {subject.looks.text}{why}",
        **known,
    }
    return facts(told)


def _left(how: str) -> Html:
    if how == "unknown":
        return Html("not known: one partition was read, and no broker directory lies around it")
    kind, words = (
        ("ok", "stopped cleanly")
        if how == "clean"
        else ("warning", "not stopped cleanly, or still running")
    )
    return tag("span", mark(kind), words, class_=f"chip {kind}")


def _metrics(subject: Subject) -> Html:
    known, total = subject.overview, subject.overview.total
    empty = sum(row.sums.log_bytes == 0 for row in known.partitions)
    kinds = (
        ", ".join(
            f"{units.group(known.count(kind))} {kind}" for kind in KINDS[1:] if known.count(kind)
        )
        or "all closed"
    )
    covered = None if total.bytes_an_entry is None else round(total.bytes_an_entry)
    entries = f"{units.group(total.offset_entries)} offset, {units.group(total.time_entries)} time"
    cells = (
        ("Topic-partitions", units.group(len(known.partitions)), f"{units.group(empty)} empty"),
        ("Segments", units.group(total.segments), kinds),
        (
            "Log",
            units.size(total.log_bytes),
            f"{units.group(total.batches)} batches, {units.group(total.records)} records",
        ),
        ("Index", units.size(total.index_bytes), f"{units.share(total.index_share, 1)} of the log"),
        ("Bytes an entry covers", units.size(covered), entries),
        (
            "Files, apparent",
            units.size(total.length_bytes),
            f"{units.size(total.allocated_bytes)} allocated on disk",
        ),
    )
    told = (
        tag("div", tag("dt", name), tag("dd", value), tag("dd", more, class_="note"))
        for name, value, more in cells
    )
    return tag("dl", *told, class_="metrics")


def _problems(subject: Subject) -> Html:
    """What could not be read, and is in no sum."""
    found = list(subject.overview.problems)
    if not found:
        return Html("")
    told = [
        tag("li", mono(_below(subject.broker, one.path)), f": {one.what}")
        for one in found[:PROBLEMS]
    ]
    more = (
        [tag("li", f"and {units.group(len(found) - PROBLEMS)} more")]
        if len(found) > PROBLEMS
        else []
    )
    head = tag(
        "strong",
        (
            f"{units.group(len(found))} {'file was' if len(found) == 1 else 'files were'} not "
            "read, and left out"
        ),
    )
    return tag(
        "div", mark("warning"), tag("div", head, tag("ul", *told, *more)), class_="call warning"
    )


def _below(broker: Broker, path) -> str:
    return str(path.relative_to(broker.path)) if path.is_relative_to(broker.path) else str(path)


def _map(subject: Subject) -> Drawing | None:
    known = subject.overview
    if not known.partitions:
        return None
    shown = broker_map.view(known, tails=subject.tails, marks=marks.found(subject.health.findings))
    more = len(known.partitions) - map_rows.AT_ONCE
    of = (
        f" The {map_rows.AT_ONCE} largest of {units.group(len(known.partitions))}."
        if more > 0
        else ""
    )
    below = (
        "A row a topic-partition, its segments to scale, oldest left; the blue strip below shows "
        "how dense the index is."
    ) + of
    return Drawing("map", shown.title, below, lambda mode: broker_map.figure(shown, mode))


# ---- tables


def _partitions(subject: Subject) -> Html:
    rows = sorted(subject.overview.partitions, key=map_rows.ORDERS[map_rows.LARGEST])
    more = (
        f"The {units.group(ROWS)} largest of {units.group(len(rows))}." if len(rows) > ROWS else ""
    )
    head = tag("h3", f"Topic-partitions, {units.group(len(rows))}, the largest first")
    return join(
        (
            head,
            table("Topic-partitions", HEADS, map(_row, rows[:ROWS]), "crrrrrrrrll"),
            note(more) if more else "",
        )
    )


def _row(row: Row) -> tuple:
    sums = row.sums
    state = (
        "" if row.state == "current" else f" ({'deleted' if row.state == 'delete' else row.state})"
    )
    known = (
        row.last_offset is not None
        and row.log_start_offset is not None
        and row.last_offset >= row.log_start_offset
    )
    offsets = (
        f"{units.group(row.log_start_offset)}–{units.group(row.last_offset)}"
        if known
        else units.MISSING
    )
    covered = (
        units.MISSING if sums.bytes_an_entry is None else units.group(round(sums.bytes_an_entry))
    )
    return (
        f"{row.label}{state}",
        units.group(sums.segments),
        offsets,
        units.size(sums.log_bytes),
        units.size(sums.allocated_bytes),
        units.group(sums.batches),
        units.group(sums.records),
        units.group(sums.offset_entries),
        covered,
        ", ".join(row.codecs or ()),
        units.moment(sums.newest_ms, fraction=False),
    )


def _segments(subject: Subject) -> Html:
    rows = subject.overview.segments
    counts = "Log", "Batches", "Records", "Offset entries", "Time entries", "Behind the last batch"
    count = units.group(len(rows))
    more = f"The first {units.group(SEGMENTS)} of {count}." if len(rows) > SEGMENTS else ""
    told = table(
        "Segments",
        ("Topic-partition", "Base offset", "State", *counts),
        _segment_rows(subject, rows[:SEGMENTS]),
        "crlrrrrrr",
    )
    return folded(f"Every segment, {count}", told, note(more) if more else "")


def _segment_rows(subject: Subject, rows: np.ndarray) -> Iterator[tuple]:
    for one in rows:
        counts = (
            None if one[name] == UNKNOWN else int(one[name])
            for name in ("batches", "records", "offset_entries", "time_entries")
        )
        torn = f"{units.group(int(one['torn_bytes']))} B" if one["torn_bytes"] > 0 else ""
        name = subject.overview.partitions[one["partition"]].label
        base_offset, log_bytes = (
            units.group(int(one["base_offset"])),
            units.size(int(one["log_bytes"])),
        )
        yield name, base_offset, KINDS[one["kind"]], log_bytes, *map(units.group, counts), torn
