"""The last sections of a report: records and checksums on request, and how the report was made."""

from kafkaviz import units
from kafkaviz.html import Html, join, tag, worded
from kafkaviz.messages import message, render, say
from kafkaviz.report.html import ReportSection, details, facts, mono, note, table
from kafkaviz.report.records import Sample
from kafkaviz.report.subject import Subject


def records(subject: Subject) -> ReportSection:
    words = say("report.last_records")
    samples = map(_sample, subject.samples or ())
    return ReportSection(
        "records",
        say("report.few_records"),
        join((note(words), *samples)) if subject.samples else note(say("report.no_records")),
    )


def _sample(sample: Sample) -> Html:
    if sample.fault:
        return join(
            (
                tag("h3", mono(sample.partition)),
                note(say("report.cannot_be_read", why=sample.fault)),
            )
        )
    heads = (
        *(say(f"report.record_{name}") for name in ("offset", "time", "key", "value", "headers")),
    )
    return join(
        (
            tag("h3", mono(sample.partition)),
            table(say("report.records_of", name=sample.partition), heads, sample.rows, "rlwww"),
        )
    )


def files(subject: Subject) -> ReportSection:
    """Returns the checksums in the format that `sha256sum -c` reads."""
    digests = [digest for digest in subject.digests or () if not digest.is_archive]
    archive_lines = [
        tag(
            "p",
            worded(
                "report.the_archive",
                name=mono(digest.name),
                sum=mono(digest.sha256 or render(digest.fault)),
            ),
        )
        for digest in subject.digests or ()
        if digest.is_archive
    ]
    lines = "\n".join(_line(digest.sha256, digest.name) for digest in digests if digest.sha256)
    faults = [
        tag("li", worded("common.labelled", where=mono(digest.name), text=digest.fault))
        for digest in digests
        if not digest.sha256
    ]
    total = message(
        "report.files_size", n=len(digests), size=sum(digest.size_bytes for digest in digests)
    )
    words = say("report.as_sha256sum")
    body = details(
        say("report.sha256_of", files=total),
        note(words),
        tag("pre", Html(lines), class_="sums", tabindex="0"),
    )
    left_out = [tag("p", say("report.not_read")), tag("ul", *faults)] if faults else []
    return ReportSection(
        "files", say("report.files_heading"), join((*archive_lines, body, *left_out))
    )


def _line(digits: str, name: str) -> Html:
    """Returns a line in the format of sha256sum, which escapes line breaks and backslashes."""
    escaped = (
        units.escape_controls(name).replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    )
    return join((f"{chr(92) if escaped != units.escape_controls(name) else ''}{digits}  ", escaped))


def about(subject: Subject, version: str, made_ms: int) -> ReportSection:
    """Returns the section on the report itself: its date, release, directory and omissions."""
    time_tag = tag(
        "time",
        f"{units.moment(made_ms, fraction=False)} UTC",
        datetime=f"{units.moment(made_ms, fraction=False).replace(' ', 'T')}Z",
    )
    pairs = {
        say("report.made"): worded("report.made_by", time=time_tag, version=version),
        say("report.of"): mono(subject.broker.sources_text),
        say("report.read_as"): say(
            "report.read_as_release",
            release=subject.health.assumed_release.version,
            why=subject.health.assumed_release.reason,
        ),
        say("report.content"): say(
            "report.content_left_out" if subject.samples is None else "report.content_shown"
        ),
        say("report.checksums"): say(
            "report.checksums_not_asked" if subject.digests is None else "report.checksums_of_all"
        ),
        say("report.times"): _costs(subject),
        say("report.directory"): say("report.read_only"),
    }
    return ReportSection("about", say("report.about"), facts(pairs))


def _costs(subject: Subject) -> str:
    if subject.tuning is None:
        return say("common.none")
    costs = subject.tuning.costs

    if costs.calibrated:
        return say("report.costs_calibrated", day=costs.calibrated)
    return say("report.costs_preset")
