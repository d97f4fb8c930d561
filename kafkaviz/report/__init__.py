"""The report: one HTML file about a broker directory, which can be read without a network.

It shows the content of the directory, faults, and settings to change.

    subject = subject.gather(open_broker("/var/lib/kafka"))
    report.page(subject, created_ms)    "<!doctype html>…"

The file has about 2.6 MB. Two reports on the same directory differ only in the date. html.py builds
the file.
"""

from collections.abc import Sequence

from kafkaviz import __version__, config_def, units
from kafkaviz.html import Html, join, tag, worded
from kafkaviz.messages import message, render, say
from kafkaviz.report import health, inventory, tuning
from kafkaviz.report.html import (
    MODES,
    ReportSection,
    brand,
    details,
    document,
    facts,
    mark,
    mono,
    note,
    table,
)
from kafkaviz.report.subject import Subject


def page(subject: Subject, created_ms: int) -> str:
    """Returns the report. `created_ms` is the date to show, in milliseconds since 1970."""
    optional_parts = [records_section(subject)] if subject.samples is not None else []
    optional_parts += [files_section(subject)] if subject.digests is not None else []
    parts = [
        inventory.section(subject),
        health.section(subject),
        inventory.disk_section(subject),
        *filter(None, [health.retention_section(subject)]),
        tuning.section(subject),
        *optional_parts,
        about_section(subject, __version__, created_ms),
    ]
    drawings = [drawing for part in parts for drawing in part.drawings]
    broker = subject.broker
    name = units.escape_controls(broker.source.name if len(broker.sources) == 1 else broker.name)
    main = tag("main", *(part.html for part in parts))
    footer_text = say(
        "common.then", first=say("report.complete"), next=say("report.plotly_licence")
    )
    body = join([_header(subject, name, parts), main, tag("footer", tag("p", footer_text))])
    figures = {
        drawing.name: {mode: drawing.draw(mode).to_json() for mode in MODES} for drawing in drawings
    }
    return document(say("report.title", name=name), body, figures)


def _header(subject: Subject, name: str, parts: Sequence[ReportSection]) -> Html:
    links = (tag("li", tag("a", part.heading, href=f"#{part.name}")) for part in parts)
    total = subject.overview.total
    lead = say(
        "report.lead",
        partitions=message("report.topic_partitions", n=len(subject.overview.partitions)),
        log=total.log_bytes,
        segments=message("report.segments", n=total.segments),
    )
    return tag(
        "header",
        brand(),
        tag("h1", worded("report.what_is_in", name=mono(name))),
        tag("p", lead, class_="lead"),
        _answers(subject),
        tag("nav", tag("ul", *links), aria_label=say("report.sections")),
    )


def _answers(subject: Subject) -> Html:
    view = health.view(subject)
    severities = (severity for severity in ("error", "warning", "info") if view.counts[severity])
    worst = next(severities, "ok")
    counts = health.describe_counts(view)
    answers = [
        _answer(view.verdict.kind, say("report.next_start"), view.verdict.title, "health"),
        _answer(worst, say("finding_list.findings"), counts, "health"),
    ]
    if subject.tuning:
        verdict = tuning.verdict_view(subject.tuning)
        own = tuning.describe_own_intervals(subject.tuning)
        text = say("report.headline_and_own", headline=verdict.headline, own=own)
        label = config_def.label("index.interval.bytes")
        answers.append(_answer(verdict.mark, label, text, "tuning"))
    return tag("ul", *answers, class_="answers")


def _answer(kind: str, label: str, text: str, section: str) -> Html:
    link = tag(
        "a", say("report.show"), href=f"#{section}", aria_label=say("report.show_what", title=label)
    )
    return tag(
        "li", mark(kind), tag("span", tag("b", say("tuning.box_head", word=label)), text), link
    )


def records_section(subject: Subject) -> ReportSection:
    names = ("offset", "time", "key", "value", "headers")
    heads = [say(f"report.record_{name}") for name in names]
    body = [note(say("report.last_records" if subject.samples else "report.no_records"))]
    for sample in subject.samples or ():
        body.append(tag("h3", mono(sample.partition)))
        if sample.fault:
            body.append(note(say("report.cannot_be_read", why=sample.fault)))
        else:
            caption = say("report.records_of", name=sample.partition)
            body.append(table(caption, heads, sample.rows, "rlwww"))
    return ReportSection("records", say("report.few_records"), body)


def files_section(subject: Subject) -> ReportSection:
    """Returns the section with the files' checksums, in the format that `sha256sum -c` reads."""
    digests = [digest for digest in subject.digests or () if not digest.is_archive]
    body: list[Html] = []
    for digest in subject.digests or ():
        if digest.is_archive:
            sum_text = mono(digest.sha256 or render(digest.fault))
            text = worded("report.the_archive", name=mono(digest.name), sum=sum_text)
            body.append(tag("p", text))
    lines = "\n".join(_line(digest.sha256, digest.name) for digest in digests if digest.sha256)
    faults = [
        tag("li", worded("common.labelled", where=mono(digest.name), text=digest.fault))
        for digest in digests
        if not digest.sha256
    ]
    size_bytes = sum(digest.size_bytes for digest in digests)
    files = message("report.files_size", n=len(digests), size=size_bytes)
    sums = tag("pre", Html(lines), class_="sums", tabindex="0")
    summary = say("report.sha256_of", files=files)
    body.append(details(summary, note(say("report.as_sha256sum")), sums))
    if faults:
        body += [tag("p", say("report.not_read")), tag("ul", *faults)]
    return ReportSection("files", say("report.files_heading"), body)


def _line(digits: str, name: str) -> Html:
    """Returns a line as sha256sum writes it: line breaks and backslashes in names are escaped."""
    printable = units.escape_controls(name)
    escaped = printable.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return join([f"{chr(92) if escaped != printable else ''}{digits}  ", escaped])


def about_section(subject: Subject, version: str, made_ms: int) -> ReportSection:
    """Returns the section on the report itself: date, release, directory, omissions."""
    moment = units.moment(made_ms, fraction=False)
    time_tag = tag("time", f"{moment} UTC", datetime=f"{moment.replace(' ', 'T')}Z")
    release = subject.health.assumed_release
    read_as = say("report.read_as_release", release=release.version, why=release.reason)
    content = "report.content_left_out" if subject.samples is None else "report.content_shown"
    has_digests = subject.digests is not None
    checksums = "report.checksums_of_all" if has_digests else "report.checksums_not_asked"
    if subject.tuning is None:
        costs = say("common.none")
    elif subject.tuning.costs.calibrated:
        costs = say("report.costs_calibrated", day=subject.tuning.costs.calibrated)
    else:
        costs = say("report.costs_preset")
    pairs = {
        say("report.made"): worded("report.made_by", time=time_tag, version=version),
        say("report.of"): mono(subject.broker.sources_text),
        say("report.read_as"): read_as,
        say("report.content"): say(content),
        say("report.checksums"): say(checksums),
        say("report.times"): costs,
        say("report.directory"): say("report.read_only"),
    }
    return ReportSection("about", say("report.about"), [facts(pairs)])
