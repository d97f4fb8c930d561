"""What the report says is there: what wrote it and how it was left, in figures, as a map, and a row
a topic-partition.
"""

from collections.abc import Iterator

import numpy as np

from kafkaviz import units
from kafkaviz.analysis import partition_badges
from kafkaviz.analysis.inactive_segments import inactive_segments
from kafkaviz.analysis.overview import KINDS, UNKNOWN, PartitionRow
from kafkaviz.figures import broker_map, inactive_segment_text, map_rows
from kafkaviz.log.broker import Broker
from kafkaviz.report.html import (
    Drawing,
    Html,
    ReportSection,
    details,
    facts,
    join,
    mark,
    mono,
    note,
    table,
    tag,
)
from kafkaviz.report.subject import Subject

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


def section(subject: Subject) -> ReportSection:
    """The section."""
    drawing = _map(subject)
    also = inactive_segment_text.included_text(tuple(inactive_segments(subject.broker.partitions)))
    metrics = join((_metrics(subject), note(also))) if also else _metrics(subject)
    head = _chips(subject), metrics, _problems(subject), drawing.html if drawing else ""
    return ReportSection(
        "inventory",
        "What is there",
        join((*head, _partitions(subject), _segments(subject))),
        (drawing,) if drawing else (),
    )


def _chips(subject: Subject) -> Html:
    broker = subject.broker
    chip = _stop_chip(broker.shutdown_state)
    ids = {
        "Cluster": broker.cluster_id,
        "Directory id": broker.directory_id,
        "Node": broker.node_id,
    }
    known_ids = {name: mono(value) for name, value in ids.items() if value}
    why = f" ({subject.looks.reason})" if subject.looks.reason else ""
    simulated = {"Simulated": "by kafkaviz: no broker wrote it"} if broker.is_simulated else {}
    pairs = {
        **simulated,
        "How it was left": chip,
        "Written by": f"Kafka {subject.looks.text}{why}",
        **known_ids,
    }
    return facts(pairs)


def _stop_chip(state: str) -> Html:
    if state == "unknown":
        return Html("not known: one partition was read, and no broker directory lies around it")
    kind, words = (
        ("ok", "stopped cleanly")
        if state == "clean"
        else ("warning", "not stopped cleanly, or still running")
    )
    return tag("span", mark(kind), words, class_=f"chip {kind}")


def _metrics(subject: Subject) -> Html:
    overview, total = subject.overview, subject.overview.total
    empty = sum(row.sums.log_bytes == 0 for row in overview.partitions)
    kinds = (
        ", ".join(
            f"{units.group(overview.count_kind(kind))} {kind}"
            for kind in KINDS[1:]
            if overview.count_kind(kind)
        )
        or "all closed"
    )
    covered = None if total.bytes_an_entry is None else round(total.bytes_an_entry)
    entries = f"{units.group(total.offset_entries)} offset, {units.group(total.time_entries)} time"
    cells = (
        ("Topic-partitions", units.group(len(overview.partitions)), f"{units.group(empty)} empty"),
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
    items = (
        tag("div", tag("dt", name), tag("dd", value), tag("dd", more, class_="note"))
        for name, value, more in cells
    )
    return tag("dl", *items, class_="metrics")


def _problems(subject: Subject) -> Html:
    """What could not be read, and is in no sum."""
    problems = list(subject.overview.problems)
    if not problems:
        return Html("")
    lines = [
        tag("li", mono(_relative_path(subject.broker, problem.path)), f": {problem.what}")
        for problem in problems[:PROBLEMS]
    ]
    more = (
        [tag("li", f"and {units.group(len(problems) - PROBLEMS)} more")]
        if len(problems) > PROBLEMS
        else []
    )
    head = tag(
        "strong",
        (
            f"{units.group(len(problems))} {'file was' if len(problems) == 1 else 'files were'} "
            "not read, and left out"
        ),
    )
    return tag(
        "div", mark("warning"), tag("div", head, tag("ul", *lines, *more)), class_="call warning"
    )


def _relative_path(broker: Broker, path) -> str:
    return str(path.relative_to(broker.path)) if path.is_relative_to(broker.path) else str(path)


def _map(subject: Subject) -> Drawing | None:
    overview = subject.overview
    if not overview.partitions:
        return None
    map_view = broker_map.view(
        overview,
        tails=subject.tails,
        badges=partition_badges.badges_from_findings(subject.health.findings),
    )
    more = len(overview.partitions) - map_rows.ROWS_A_PAGE
    limit_note = (
        f" The {map_rows.ROWS_A_PAGE} largest of {units.group(len(overview.partitions))}."
        if more > 0
        else ""
    )
    caption = (
        "A row a topic-partition, its segments to scale, oldest left; the blue strip below shows "
        "how dense the index is."
    ) + limit_note
    return Drawing("map", map_view.title, caption, lambda mode: broker_map.figure(map_view, mode))


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


def _row(row: PartitionRow) -> tuple:
    sums = row.sums
    state = (
        "" if row.state == "current" else f" ({'deleted' if row.state == 'delete' else row.state})"
    )
    has_offsets = (
        row.last_offset is not None
        and row.log_start_offset is not None
        and row.last_offset >= row.log_start_offset
    )
    offsets = (
        f"{units.group(row.log_start_offset)}–{units.group(row.last_offset)}"
        if has_offsets
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
    body = table(
        "Segments",
        ("Topic-partition", "Base offset", "State", *counts),
        _segment_rows(subject, rows[:SEGMENTS]),
        "crlrrrrrr",
    )
    return details(f"Every segment, {count}", body, note(more) if more else "")


def _segment_rows(subject: Subject, rows: np.ndarray) -> Iterator[tuple]:
    for row in rows:
        counts = (
            None if row[name] == UNKNOWN else int(row[name])
            for name in ("batches", "records", "offset_entries", "time_entries")
        )
        torn = f"{units.group(int(row['torn_bytes']))} B" if row["torn_bytes"] > 0 else ""
        name = subject.overview.partitions[row["partition"]].label
        base_offset, log_bytes = (
            units.group(int(row["base_offset"])),
            units.size(int(row["log_bytes"])),
        )
        yield name, base_offset, KINDS[row["kind"]], log_bytes, *map(units.group, counts), torn
