"""The two tables of the Health page: the steps of the next start, and what keeps each segment.

    Cut      append-time-0/0.log       45 B from byte 561 373     its last batch is not whole
    Rebuild  48 files in 24 topic-partitions                      the segment reaches above the
    recovery point

Steps of one kind and cause are one row where there are more than a few; segments are a row each,
the worst first.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

from kafkaviz import units
from kafkaviz.analyse import retention
from kafkaviz.analyse.retention import Kept, LogRetention
from kafkaviz.figures import retention_words
from kafkaviz.figures.finding_words import capital, told, why
from kafkaviz.figures.listed import listed
from kafkaviz.format.names import counting
from kafkaviz.simulate.starting.restart import Restart, Step
from kafkaviz.simulate.steps import CAUSES
from kafkaviz.words import counted, say

ALONE = 3  # more steps of one kind and cause are one row
SENT, SHOWN = 300, 6  # rows of a table: sent at all, and shown before somebody asks for more
ORDER = ("fail", "truncate", "delete", "rebuild", "keep")
SHORT_NAME = 44  # letters; a longer name of a directory is shortened in the middle


class Row(NamedTuple):
    """A row: its mark (a severity, or none), its cells, the whole of each on hover, and where its
    segment is shown.

    is_one: it is of one file or segment, which its cells name.
    """

    kind: str
    cells: tuple[str, ...]
    hover: tuple[str, ...]
    link: Mapping[str, str]
    is_one: bool = True


class Table(NamedTuple):
    """A table; code: the columns of names; shown: how many rows at first; more: how many are not
    sent.
    """

    name: str
    title: str
    notes: tuple[str, ...]
    columns: tuple[str, ...]
    code: tuple[int, ...]
    rows: tuple[Row, ...]
    shown: int
    more: int


# ---- the next start


def steps(restart: Restart | None) -> Table | None:
    """What the start does, step by step; None where that is nothing, or not known."""
    if restart is None or not restart.steps:
        return None
    groups: dict[tuple, list[Step]] = {}
    for one in restart.steps:
        groups.setdefault((one.expected, ORDER.index(one.action), one.cause), []).append(one)
    rows = [row for key in sorted(groups) for row in _rows(groups[key])]
    # the others every start may do
    own = sum(len(_rows(groups[key])) for key in groups if not key[0])
    doing = "every" if not own else "start" if restart.starts else "failing"
    title = say(f"health.steps_{doing}", steps=_count(len(restart.steps), len(rows)))
    sent = tuple(rows[:SENT])
    return Table(
        "steps",
        title,
        (),
        _columns("step", "where", "what", "why"),
        (1,),
        sent,
        min(own or SHOWN, SHOWN),
        len(rows) - len(sent),
    )


def _count(steps: int, rows: int) -> str:
    """How many, and in how many rows where some stand together."""
    told = _many("steps", steps)
    return (
        told
        if steps == rows
        else counted("health.steps_together", rows, steps=told, n=units.group(rows))
    )


def _rows(same: Sequence[Step]) -> list[Row]:
    if len(same) <= ALONE:
        return [_row(one) for one in same]
    partitions = {one.partition for one in same}
    several = counted("common.n_topic_partitions", len(partitions), n=units.group(len(partitions)))
    within = (
        several
        if len(partitions) > 1
        else _short(same[0].partition or say("health.broker_directory"))
    )
    size_bytes = sum(one.size_bytes or 0 for one in same)
    what = units.size(size_bytes) if same[0].action in ("truncate", "delete") and size_bytes else ""
    where = say("health.files_in", n=units.group(len(same)), where=within)
    cells = (
        say(f"health.does_{same[0].action}"),
        where,
        what,
        capital(told(CAUSES[same[0].cause])),
    )
    names = listed(sorted({one.partition or "" for one in same}, key=counting)[:20])
    return [
        Row(
            _kind(same[0]),
            cells,
            ("", names, f"{units.group(size_bytes)} B" if what else "", ""),
            {},
            False,
        )
    ]


def _row(one: Step) -> Row:
    where = one.file or one.partition or say("health.broker_directory")
    exact = "" if one.size_bytes is None else f"{units.group(one.size_bytes)} B"
    is_there = one.partition and one.segment is not None and one.file and one.action != "delete"
    link = {"tp": one.partition, "segment": str(one.segment)} if is_there else {}
    cells = (
        say(f"health.does_{one.action}"),
        _short(where),
        _what(one),
        capital(one.error or why(one)),
    )
    return Row(_kind(one), cells, ("", where, exact, told(one.why)), link)


def _kind(one: Step) -> str:
    if one.action in ("fail", "truncate"):
        return "error"
    return (
        ""
        if one.expected or one.action == "keep"
        else "warning"
        if one.action == "delete"
        else "info"
    )


def _what(one: Step) -> str:
    size = "" if one.size_bytes is None else units.size(one.size_bytes)
    if one.from_position is not None:
        at = units.group(one.from_position)
        return (
            say("health.from_byte", size=size, byte=at)
            if one.action == "truncate"
            else say("health.at_byte", byte=at)
        )
    return say("health.to_size", size=size) if one.action == "rebuild" and size else size


# ---- retention


def kept(logs: Sequence[LogRetention]) -> Table | None:
    """What keeps each segment, and until when; None without a segment."""
    pairs = retention.worst_first(logs)
    if not pairs:
        return None
    notes = bases([log for log in logs if log.segments])
    rows = [_kept(log, one) for log, one in pairs[:SENT]]
    columns = _columns("segment", "newest", "of", "kept")
    return Table(
        "retention",
        retention_words.headline(logs),
        notes,
        columns,
        (0,),
        tuple(rows),
        SHOWN,
        len(pairs) - len(rows),
    )


def bases(logs: Sequence[LogRetention]) -> tuple[str, ...]:
    """By which settings, the most common first; the default of a broker may be another one, which
    no file here tells.
    """
    counts: dict[str, int] = {}
    for log in logs:
        words = retention_words.basis(log) if log.limits.deletes else say("health.compacted")
        counts[words] = counts.get(words, 0) + 1
    common = sorted(counts.items(), key=lambda one: -one[1])
    named = [
        say("health.logs_by", logs=_many("logs", count), basis=words) for words, count in common[:3]
    ]
    rest = sum(count for _, count in common[3:])
    more = [say("health.own_settings", n=units.group(rest))] if rest else []
    if any(
        log.limits.deletes and log.limits.ms_source.startswith(retention_words.DEFAULT)
        for log in logs
    ):
        more.append(say("health.may_be_another"))
    return (*named, *more, retention_words.counted_are())


def _kept(log: LogRetention, one: Kept) -> Row:
    aged = one.aged
    offset = units.MISSING if aged.offset is None else units.group(aged.offset)
    of = "" if aged.counted_by == "unknown" else say(f"health.of_{aged.counted_by}", offset=offset)
    time = units.moment(aged.timestamp_ms, fraction=False)
    name = f"{_short(log.partition)} {units.group(aged.base_offset)}"
    waits = (
        one.state == "behind"
        and cast(int, one.gone_ms) - cast(int, one.until_ms) > retention.DAY_MS
    )
    odd = aged.counted_by in ("unwritten", "entry") or retention_words.is_of_another_unit(aged)
    kind = "warning" if odd or waits else "info" if one.is_due else ""
    whole = f"{log.partition} {units.file_stem(aged.base_offset)}, {units.size(aged.size_bytes)}"
    hover = (
        whole,
        f"{units.group(aged.timestamp_ms)} ms",
        retention_words.newest(aged),
        retention_words.basis(log),
    )
    link = {"tp": log.partition, "segment": str(aged.base_offset)}
    return Row(kind, (name, time, of, capital(retention_words.reason(log, one))), hover, link)


# ---- both


def _short(name: str) -> str:
    """A path without the zeros in front of a segment's name, and without the middle of what is
    still too long.
    """
    directory, slash, file = name.rpartition("/")
    stem, dot, suffix = file.partition(".")
    if slash and len(stem) == 20 and stem.isdigit():
        name = f"{directory}/{int(stem)}{dot}{suffix}"
    return (
        name if len(name) <= SHORT_NAME else f"{name[: SHORT_NAME // 2]}…{name[-SHORT_NAME // 2 :]}"
    )


def _many(key: str, count: int) -> str:
    return counted(f"health.n_{key}", count, n=units.group(count))


def _columns(*names: str) -> tuple[str, ...]:
    return tuple(say(f"health.column_{name}") for name in names)
