"""The report's sections on health (findings and next broker start-up) and on retention."""

from collections.abc import Iterator
from itertools import groupby

from kafkaviz import units
from kafkaviz.analysis.checks.plan import is_lone
from kafkaviz.analysis.findings import ERROR
from kafkaviz.figures import health_view
from kafkaviz.figures.disk import retention_view
from kafkaviz.figures.startup_steps import HealthRow, HealthTable
from kafkaviz.format.names import METADATA_DIRECTORY
from kafkaviz.html import Html, join, tag
from kafkaviz.messages import message, say
from kafkaviz.render import retention_text
from kafkaviz.render.sentences import to_sentence
from kafkaviz.report.html import ReportSection, details, mark, mono, note, table, verdict_box
from kafkaviz.report.subject import Subject

# files with these suffixes hold no content of records
INDEXES = (".index", ".timeindex", ".txnindex", ".snapshot")
IN_FULL = 3  # most errors shown in full per code; of other findings, only one
ROW_BYTES = health_view.ROW_BYTES
GAPS_PX = 200  # total width of all gaps in the strip


def section(subject: Subject) -> ReportSection:
    page_view = view(subject)
    verdict = page_view.verdict
    body = (
        verdict_box(verdict.kind, verdict.title, verdict.text),
        note(say("report.one_partition")) if is_lone(subject.broker) else "",
        _strip(page_view.strip),
        *_findings(page_view),
        *_steps(page_view.steps),
    )
    return ReportSection("health", say("report.health_heading"), body)


def retention_section(subject: Subject) -> ReportSection | None:
    """Returns the section on what keeps each segment from deletion; None without segments."""
    segments = retention_view.segment_table(retention_view.named_logs(subject.health))
    if segments is None:
        return None
    metadata_retention = subject.health.metadata_retention()
    metadata_text = ""
    if metadata_retention is not None:
        text = retention_text.metadata_text(metadata_retention)
        metadata_text = to_sentence(say("common.labelled", where=METADATA_DIRECTORY, text=text))
    rows = (
        (join((mark(row.kind), row.cells[0])) if row.kind else row.cells[0], *row.cells[1:])
        for row in segments.rows
    )
    body = (
        tag("h3", segments.title),
        *map(note, segments.notes),
        table(segments.title, segments.columns, rows, "wllw"),
        note(say("report.more_in_json", n=segments.more)) if segments.more else "",
        note(metadata_text),
    )
    return ReportSection("retention", say("disk.tab_retention"), body)


def view(subject: Subject) -> health_view.HealthView:
    """Returns the view of the Health page.

    Bytes that may belong to records are left out, unless the report shows records.
    """
    shows_records = subject.samples is not None
    return health_view.view(subject.health, may_show=lambda name: shows_records or _is_index(name))


def describe_counts(page_view: health_view.HealthView) -> str:
    """Returns the number of findings by severity: "1 error, 13 warnings, 17 worth knowing"."""
    return say(
        "report.counts",
        errors=message("report.errors", n=page_view.counts["error"]),
        warnings=message("report.warnings", n=page_view.counts["warning"]),
        info=page_view.counts["info"],
    )


def _is_index(name: str) -> bool:
    """Returns whether a file is an index or snapshot, which has no content of records."""
    stem = name.rpartition("/")[2]
    for suffix in (".deleted", ".cleaned", ".swap"):
        stem = stem.removesuffix(suffix)
    return stem.endswith(INDEXES)


def _strip(strip: health_view.RecoveryStrip | None) -> Html:
    if strip is None:
        return Html("")
    bars = (
        tag(
            "span",
            tag("b", bar.name) if bar.share > 0.06 else "",
            class_="bad" if bar.fails or bar.cut_bytes else None,
            style=f"flex:{bar.share:.4f} 1 0",
            title=say("common.labelled", where=bar.name, text=bar.words),
        )
        for bar in strip.bars
    )
    words = say("common.titled", title=strip.title, below=strip.below or strip.aside)
    gaps = f"gap:{min(2, GAPS_PX / len(strip.bars)):.3g}px"
    foot = tag("p", tag("span", strip.below, class_="bad"), tag("span", strip.aside), class_="foot")
    return tag(
        "div",
        note(strip.title),
        tag("div", *bars, class_="bars", style=gaps, role="img", aria_label=words),
        foot,
        class_="strip",
    )


def _findings(page_view: health_view.HealthView) -> list[Html]:
    if not page_view.items:
        return [tag("h3", say("finding_list.findings")), note(say("report.nothing_found"))]
    heading = say("report.findings_counted", counts=describe_counts(page_view))
    return [tag("h3", heading), *map(_item, page_view.items)]


def _item(item: health_view.FindingItem) -> Html:
    full = IN_FULL if item.severity == ERROR else 1
    return tag(
        "article",
        tag("h4", mark(item.severity), item.title, " ", mono(item.code)),
        note(item.where) if item.count > 1 else "",
        *map(_member, item.members[:full]),
        _render_others(item, full),
        class_=f"finding {item.severity}",
    )


def _member(member: health_view.FindingMember) -> Html:
    texts = (
        tag("p", words)
        for words in dict.fromkeys((member.message, member.found, member.expected))
        if words
    )
    pairs = (
        (say("report.what_is_there"), join(texts)),
        ("", _dump(member.dump) if member.dump else ""),
        (say("report.what_kafka_does"), tag("p", member.consequence)),
        (say("finding_list.next"), tag("p", member.next_step)),
        (say("report.see"), tag("p", member.reference) if member.reference else ""),
    )
    blocks = (
        tag("div", tag("h5", name) if name else "", block, class_="block")
        for name, block in pairs
        if block
    )
    return tag("div", tag("p", mono(member.where)), *blocks, class_="member")


def _render_others(item: health_view.FindingItem, full: int) -> Html:
    rest = item.count - full
    if rest <= 0:
        return Html("")
    body = table(
        say("report.the_others", title=item.title),
        (say("health.column_where"), say("report.what_is_there")),
        ((member.where, member.message) for member in item.members[full:]),
        "cw",
    )
    unsent = item.count - len(item.members)
    more = note(say("report.more_in_json", n=unsent)) if unsent > 0 else ""
    return details(say("report.more_of_these", n=rest), body, more)


def _dump(dump: health_view.HexDump) -> Html:
    data = bytes.fromhex(dump.digits)
    rows = []
    for start in range(0, len(data), ROW_BYTES):
        line = _runs(data[start : start + ROW_BYTES], dump, dump.start + start)
        runs = join((tag("mark", words) if is_bad else words for words, is_bad in line), " ")
        rows.append(join((tag("i", units.format_count(dump.start + start).rjust(12)), "  ", runs)))
    words = say("report.bytes_from", start=dump.start, first=dump.bad[0], last=dump.bad[1] - 1)
    return tag(
        "pre",
        Html("\n".join(rows)),
        class_=f"hex {dump.kind}",
        tabindex="0",
        role="region",
        aria_label=words,
    )


def _runs(data: bytes, dump: health_view.HexDump, position: int) -> Iterator[tuple[str, bool]]:
    """Splits a hex dump line into faulty and other bytes: yields (hex digits, whether faulty)."""
    first_bad, end_bad = dump.bad
    for is_bad, run in groupby(
        enumerate(data, position), key=lambda numbered: first_bad <= numbered[0] < end_bad
    ):
        yield bytes(byte for _, byte in run).hex(" "), is_bad


def _steps(table_view: HealthTable | None) -> list[Html]:
    if table_view is None:
        return []
    rows = (
        tuple(_render_cell(row, place, cell, table_view) for place, cell in enumerate(row.cells))
        for row in table_view.rows
    )
    title = table_view.title
    parts = [tag("h3", title), table(title, table_view.columns, rows, "lwlw")]
    if table_view.more:
        parts.append(note(say("report.more_in_json", n=table_view.more)))
    return parts


def _render_cell(row: HealthRow, place: int, cell: str, table_view: HealthTable) -> object:
    text = mono(row.hover[place] or cell) if place in table_view.code and row.is_one else cell
    return join((mark(row.kind), text)) if place == 0 and row.kind else text
