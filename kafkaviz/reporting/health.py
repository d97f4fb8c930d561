"""What the report says is wrong, what the next start of the broker will do, and what keeps each
segment.
"""

from collections.abc import Iterator
from contextlib import suppress

from kafkaviz import units
from kafkaviz.analyse.finding import ERROR
from kafkaviz.analyse.health import is_lone
from kafkaviz.errors import KafkavizError
from kafkaviz.figures import checkup, checkup_tables
from kafkaviz.figures.checkup import Dump, Item, Member, Strip
from kafkaviz.figures.checkup_tables import Table
from kafkaviz.log import file
from kafkaviz.reporting.html import Html, Part, folded, join, mark, mono, note, table, tag
from kafkaviz.reporting.subject import Subject

# what is in these tells nothing of a record's content
INDEXES = (".index", ".timeindex", ".txnindex", ".snapshot")
IN_FULL = 3  # errors of one code; of what weighs less the first, the others by their place
ROW_BYTES = checkup.ROW_BYTES
GAPS_PX = 200  # that the gaps of the strip may take in all
# of the cells of both tables, as html.table has them
KINDS = {"steps": "lwlw", "retention": "wllw"}


def part(subject: Subject) -> Part:
    """The section."""
    shown = view(subject)
    verdict = tag(
        "div",
        mark(shown.verdict.kind),
        tag("div", tag("h3", shown.verdict.title), tag("p", shown.verdict.text)),
    )
    head = tag("div", verdict, class_=f"verdict {shown.verdict.kind}")
    alone = note(
        "One partition was read, not the broker directory around it: the start is told for this "
        "partition alone."
    )
    tables = _table(shown.steps), _table(shown.retention)
    body = (
        head,
        alone if is_lone(subject.broker) else "",
        _strip(shown.strip),
        _findings(shown),
        *tables,
    )
    return Part("health", "What is wrong, and what the next start will do", join(body))


def view(subject: Subject) -> checkup.View:
    """The same as the Health page shows; bytes that can be a record's content stay away unless
    records were asked for.
    """
    broker, found = subject.broker, subject.health
    segments = ((one.directory, segment) for one in broker.partitions for segment in one.segments)
    logs = {
        (directory, segment.base_offset): segment.log.size_bytes
        for directory, segment in segments
        if segment.log
    }

    def read(name: str, position: int, length: int) -> bytes:
        if subject.samples is None and not _is_index(name):
            return b""
        with suppress(KafkavizError):
            return file.read(broker.path / name, position, length)
        return b""

    of = found.retention, broker.left != "unknown", found.version.version
    return checkup.view(found.findings, found.restart, logs, read, len(broker.partitions), *of)


def counts_words(shown: checkup.View) -> str:
    """1 error, 13 warnings, 17 worth knowing."""
    of = ((shown.counts[severity], severity) for severity in ("error", "warning"))
    many = (f"{units.group(count)} {severity}{'' if count == 1 else 's'}" for count, severity in of)
    return f"{', '.join(many)}, {units.group(shown.counts['info'])} worth knowing"


def _is_index(name: str) -> bool:
    """Whether a file holds no content; of a KRaft snapshot, which is a .checkpoint, and of a .log
    nobody can say that.
    """
    stem = name.rpartition("/")[2]
    for suffix in (".deleted", ".cleaned", ".swap"):
        stem = stem.removesuffix(suffix)
    return stem.endswith(INDEXES)


def _strip(strip: Strip | None) -> Html:
    """The logs that the start reads, in proportion."""
    if strip is None:
        return Html("")
    bars = (
        tag(
            "span",
            tag("b", bar.name) if bar.share > 0.06 else "",
            class_="bad" if bar.fails or bar.cut_bytes else None,
            style=f"flex:{bar.share:.4f} 1 0",
            title=f"{bar.name}: {bar.words}",
        )
        for bar in strip.bars
    )
    words, gaps = (
        f"{strip.title}. {strip.below or strip.aside}",
        f"gap:{min(2, GAPS_PX / len(strip.bars)):.3g}px",
    )
    foot = tag("p", tag("span", strip.below, class_="bad"), tag("span", strip.aside), class_="foot")
    return tag(
        "div",
        note(strip.title),
        tag("div", *bars, class_="bars", style=gaps, role="img", aria_label=words),
        foot,
        class_="strip",
    )


# ---- findings


def _findings(shown: checkup.View) -> Html:
    if not shown.items:
        return join(
            (tag("h3", "Findings"), note("Nothing was found, not even something worth knowing."))
        )
    return join((tag("h3", f"Findings: {counts_words(shown)}"), *map(_item, shown.items)))


def _item(item: Item) -> Html:
    head = tag("h4", mark(item.severity), item.title, " ", mono(item.code))
    many = note(item.where) if item.count > 1 else ""
    full = IN_FULL if item.severity == ERROR else 1
    members = list(map(_member, item.members[:full]))
    return tag(
        "article", head, many, *members, _others(item, full), class_=f"finding {item.severity}"
    )


def _member(one: Member) -> Html:
    there = (
        tag("p", words) for words in dict.fromkeys((one.message, one.found, one.expected)) if words
    )
    told = (
        ("What is there", join(there)),
        ("", _dump(one.dump) if one.dump else ""),
        ("What Kafka does", tag("p", one.consequence)),
        ("A safe next step", tag("p", one.next_step)),
        ("See", tag("p", one.reference) if one.reference else ""),
    )
    blocks = (
        tag("div", tag("h5", name) if name else "", block, class_="block")
        for name, block in told
        if block
    )
    return tag("div", tag("p", mono(one.where)), *blocks, class_="member")


def _others(item: Item, full: int) -> Html:
    """Where else, and what else is said there."""
    left = item.count - full
    if left <= 0:
        return Html("")
    told = table(
        f"{item.title}: the others",
        ("Where", "What is there"),
        ((one.where, one.message) for one in item.members[full:]),
        "cw",
    )
    unsent = item.count - len(item.members)
    more = (
        note(f"and {units.group(unsent)} more: kafkaviz check --json lists all")
        if unsent > 0
        else ""
    )
    return folded(f"{units.group(left)} more of these", told, more)


def _dump(dump: Dump) -> Html:
    """Lines of 16 bytes, those that the finding is about marked."""
    data, rows = bytes.fromhex(dump.digits), []
    for start in range(0, len(data), ROW_BYTES):
        line = _runs(data[start : start + ROW_BYTES], dump, dump.start + start)
        runs = join((tag("mark", words) if is_bad else words for words, is_bad in line), " ")
        rows.append(join((tag("i", units.group(dump.start + start).rjust(12)), "  ", runs)))
    words = f"Bytes from {dump.start} on; marked are {dump.bad[0]} to {dump.bad[1] - 1}"
    return tag(
        "pre",
        Html("\n".join(rows)),
        class_=f"hex {dump.kind}",
        tabindex="0",
        role="region",
        aria_label=words,
    )


def _runs(data: bytes, dump: Dump, position: int) -> Iterator[tuple[str, bool]]:
    """The bytes of a line in runs of the same kind: (their digits, whether the finding is about
    them).
    """
    start = 0
    kinds = [dump.bad[0] <= position + place < dump.bad[1] for place in range(len(data))]
    for place in range(1, len(data) + 1):
        if place == len(data) or kinds[place] != kinds[start]:
            yield data[start:place].hex(" "), kinds[start]
            start = place


# ---- the next start, retention


def _table(shown: Table | None) -> Html:
    if shown is None:
        return Html("")
    rows = (
        tuple(_named(row, place, cell, shown) for place, cell in enumerate(row.cells))
        for row in shown.rows
    )
    told = table(shown.title, shown.columns, rows, KINDS[shown.name])
    more = (
        note(f"and {units.group(shown.more)} more: kafkaviz check --json lists all")
        if shown.more
        else ""
    )
    return join((tag("h3", shown.title), *map(note, shown.notes), told, more))


def _named(row: checkup_tables.Row, place: int, cell: str, shown: Table) -> object:
    """A cell with its mark, its name in the face of names."""
    told = mono(row.hover[place] or cell) if place in shown.code and row.is_one else cell
    return join((mark(row.kind), told)) if place == 0 and row.kind else told
