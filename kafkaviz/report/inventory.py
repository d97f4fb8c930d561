"""The report's sections on the contents of the directory and on disk space.

The first shows the release that wrote the directory, the last shutdown, totals, the broker map, and
the topic-partitions and segments. The second shows what uses each byte, and what may be deleted.
"""

import numpy as np

from kafkaviz import units
from kafkaviz.analysis import badges
from kafkaviz.analysis.overview import KINDS, UNKNOWN, PartitionRow, inactive_segments
from kafkaviz.figures.broker import broker_map, map_rows
from kafkaviz.figures.disk import disk_map
from kafkaviz.figures.disk.disk_map import DiskTable
from kafkaviz.html import Html, html, tag, worded
from kafkaviz.log.broker import Broker
from kafkaviz.messages import message, render, say, say_count
from kafkaviz.render.segment_text import included_text
from kafkaviz.render.sentences import join_comma
from kafkaviz.report.html import Drawing, ReportSection, details, facts, mark, mono, note, table
from kafkaviz.report.subject import Subject

# most rows per table: the largest partitions, the first segments and the first problems
ROWS = 1000
SEGMENTS = 1000
PROBLEMS = 50
HEADS = (
    "common.topic_partition", "common.segments", "broker.column_offsets", "broker.column_log",
    "disk.column_on_disk", "common.batches", "common.records", "broker.column_entries",
    "broker.column_gap", "broker.column_codec", "broker.column_newest",
)  # fmt: skip
SEGMENT_HEADS = (
    "common.topic_partition", "report.base_offset", "common.state", "broker.column_log",
    "common.batches", "common.records", "rolls.head_offset_entries", "rolls.head_time_entries",
    "report.behind_last_batch",
)  # fmt: skip


def section(subject: Subject) -> ReportSection:
    drawing = _map(subject)
    also = included_text(tuple(inactive_segments(subject.broker.partitions)))
    body = (
        _chips(subject),
        _metrics(subject),
        note(also) if also else "",
        _problems(subject),
        drawing.html if drawing else "",
        *_partitions(subject),
        _segments(subject),
    )
    drawings = (drawing,) if drawing else ()
    return ReportSection("inventory", say("report.what_is_in_it"), body, drawings)


def _chips(subject: Subject) -> Html:
    broker = subject.broker
    ids = {
        say("report.cluster"): broker.cluster_id,
        say("report.directory_id"): broker.directory_id,
        say("report.node"): broker.node_id,
    }
    known_ids = {name: mono(value) for name, value in ids.items() if value}
    key = "report.written_by_why" if subject.looks.reason else "report.written_by_release"
    simulated = {say("report.simulated"): say("report.simulated_by")} if broker.is_simulated else {}
    pairs = {
        **simulated,
        say("report.how_left"): _stop_chip(broker.shutdown_state),
        say("report.written_by"): say(key, release=subject.looks.text, why=subject.looks.reason),
        **known_ids,
    }
    return facts(pairs)


def _stop_chip(state: str) -> Html:
    if state == "unknown":
        return html(say("report.left_unknown"))
    if state == "clean":
        return tag("span", mark("ok"), say("broker.stopped_cleanly"), class_="chip ok")
    return tag("span", mark("warning"), say("report.left_unclean"), class_="chip warning")


def _metrics(subject: Subject) -> Html:
    overview = subject.overview
    total = overview.total
    empty = sum(row.sums.log_bytes == 0 for row in overview.partitions)
    counts = {kind: overview.count_kind(kind) for kind in KINDS[1:]}
    kinds = join_comma(
        say("report.count_of_kind", count=count, kind=message(f"common.kind_{kind}"))
        for kind, count in counts.items()
        if count
    ) or say("report.all_closed")
    covered = None if total.bytes_per_entry is None else round(total.bytes_per_entry)
    entries = say("report.entries_of_both", offsets=total.offset_entries, times=total.time_entries)
    cells = (
        (
            say("common.topic_partitions"),
            units.format_count(len(overview.partitions)),
            say_count("broker.n_empty", empty),
        ),
        (say("common.segments"), units.format_count(total.segments), kinds),
        (
            say("broker.log"),
            units.format_bytes(total.log_bytes),
            say("report.batches_records", batches=total.batches, records=total.records),
        ),
        (
            say("common.index"),
            units.format_bytes(total.index_bytes),
            say("broker.share_of_log", share=units.format_percent(total.index_share, 1)),
        ),
        (say("broker.covers"), units.format_bytes(covered), entries),
        (
            say("report.files_apparent"),
            units.format_bytes(total.length_bytes),
            say("report.allocated", size=total.allocated_bytes),
        ),
    )
    items = (
        tag("div", tag("dt", name), tag("dd", value), tag("dd", more, class_="note"))
        for name, value, more in cells
    )
    return tag("dl", *items, class_="metrics")


def _problems(subject: Subject) -> Html:
    problems = list(subject.overview.problems)
    if not problems:
        return Html("")
    lines = []
    for problem in problems[:PROBLEMS]:
        where = mono(_relative_path(subject.broker, problem.path))
        lines.append(tag("li", worded("common.labelled", where=where, text=problem.what)))
    if len(problems) > PROBLEMS:
        lines.append(tag("li", say_count("common.n_more", len(problems) - PROBLEMS)))
    head = tag("strong", say("report.files_not_read", n=len(problems)))
    return tag("div", mark("warning"), tag("div", head, tag("ul", *lines)), class_="call warning")


def _relative_path(broker: Broker, path) -> str:
    for directory in broker.log_directories:
        if path.is_relative_to(directory.path):
            has_others = len(broker.log_directories) > 1
            base = directory.path.parent if has_others else directory.path
            return str(path.relative_to(base))
    return str(path)


def _map(subject: Subject) -> Drawing | None:
    overview = subject.overview
    if not overview.partitions:
        return None
    map_view = broker_map.view(
        overview,
        tails={log_key: render(text) for log_key, text in subject.tails.items()},
        badges=badges.badges_from_findings(subject.health.findings, subject.broker),
    )
    count = len(overview.partitions)
    shown_count = map_rows.ROWS_PER_PAGE
    key = "report.map_caption_largest" if count > shown_count else "report.map_caption"
    caption = say(key, shown_count=shown_count, count=count)
    return Drawing("map", map_view.title, caption, lambda mode: broker_map.figure(map_view, mode))


def _partitions(subject: Subject) -> list[Html]:
    rows = sorted(subject.overview.partitions, key=map_rows.ORDERS[map_rows.LARGEST])
    heads = tuple(map(say, HEADS))
    cells = map(_row, rows[:ROWS])
    parts = [
        tag("h3", say("report.partitions_heading", n=len(rows))),
        table(say("common.topic_partitions"), heads, cells, "crrrrrrrrll"),
    ]
    if len(rows) > ROWS:
        parts.append(note(say("report.largest_of", shown_count=ROWS, count=len(rows))))
    return parts


def _row(row: PartitionRow) -> tuple:
    sums = row.sums
    label = row.label
    if row.state != "current":
        label = say("broker.named_state", name=label, state=say(f"common.state_{row.state}"))
    offsets = units.MISSING
    first = row.log_start_offset
    if row.last_offset is not None and first is not None and row.last_offset >= first:
        offsets = f"{units.format_count(first)}–{units.format_count(row.last_offset)}"
    covered = None if sums.bytes_per_entry is None else round(sums.bytes_per_entry)
    return (
        label,
        units.format_count(sums.segments),
        offsets,
        units.format_bytes(sums.log_bytes),
        units.format_bytes(sums.allocated_bytes),
        units.format_count(sums.batches),
        units.format_count(sums.records),
        units.format_count(sums.offset_entries),
        units.format_count(covered),
        ", ".join(row.codecs or ()),
        units.moment(sums.newest_ms, fraction=False),
    )


def _segments(subject: Subject) -> Html:
    rows = subject.overview.segments
    count = len(rows)
    cells = (_segment_cells(subject, row) for row in rows[:SEGMENTS])
    body = table(say("common.segments"), tuple(map(say, SEGMENT_HEADS)), cells, "crlrrrrrr")
    more = say("report.first_of", shown_count=SEGMENTS, count=count) if count > SEGMENTS else ""
    return details(say("report.every_segment", n=count), body, note(more) if more else "")


def _segment_cells(subject: Subject, row: np.void) -> tuple:
    counts = (
        None if row[name] == UNKNOWN else int(row[name])
        for name in ("batches", "records", "offset_entries", "time_entries")
    )
    return (
        subject.overview.partitions[row["partition"]].label,
        units.format_count(int(row["base_offset"])),
        say(f"common.kind_{KINDS[row['kind']]}"),
        units.format_bytes(int(row["log_bytes"])),
        *map(units.format_count, counts),
        f"{units.format_count(int(row['torn_bytes']))} B" if row["torn_bytes"] > 0 else "",
    )


MAX_TOPICS = 20  # most rows of the table of topics


def disk_section(subject: Subject) -> ReportSection:
    health = subject.health
    shares = health.all_shares()
    names = {
        directory.text: subject.broker.directory_names[directory.path]
        for directory in subject.broker.log_directories
    }
    uses = disk_map.use_table(shares, names)
    topics = disk_map.topic_table(shares)
    steps = health.freeing_steps()
    prices = health.index_prices()
    parts: list[object] = [
        note(disk_map.directories_view(shares, names).title),
        *_titled(say("disk.uses_title"), say("disk.uses_below"), uses, "l"),
        *_titled(say("disk.topic_table"), say("disk.topic_table_below"), topics, "c"),
    ]
    title = disk_map.freeing_title(steps)
    parts.append(tag("h3", title))
    if steps:
        freeing = disk_map.freeing_table(steps, names)
        kinds = "wrrww" if len(names) == 1 else "wlrrww"
        parts += [note(say("disk.freeing_below")), table(title, freeing.heads, freeing.rows, kinds)]
    parts.append(note(say("disk.freeing_never")))
    if prices:
        title = disk_map.price_title(prices)
        recovery = health.recovery_reads() if health.restart else None
        price = disk_map.price_table(prices, recovery, names)
        parts += [tag("h3", title), note(disk_map.price_caption(prices))]
        parts.append(table(title, price.heads, price.rows, "llrlrr"))
    return ReportSection("disk", say("common.page_disk"), parts)


def _titled(title: str, below: str, content: DiskTable, name_kind: str) -> list[Html]:
    """Returns a heading, a note, and a table of up to `MAX_TOPICS` rows and the rows of sums."""
    count = len(content.rows) - content.sums
    sums = [tuple(tag("b", cell) for cell in row) for row in content.rows[count:]]
    rows = [*content.rows[: min(count, MAX_TOPICS)], *sums]
    kinds = name_kind + "r" * (len(content.heads) - 1)
    parts = [tag("h3", title), note(below), table(title, content.heads, rows, kinds)]
    if count > MAX_TOPICS:
        parts.append(note(say("report.more_in_json", n=count - MAX_TOPICS)))
    return parts
