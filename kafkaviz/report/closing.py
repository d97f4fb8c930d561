"""What ends a report: some records and the checksums of the files where they were asked for, and
how the report was made.
"""

from kafkaviz import units
from kafkaviz.report.html import (
    Html,
    ReportSection,
    details,
    facts,
    join,
    mono,
    note,
    table,
    tag,
)
from kafkaviz.report.records import Sample
from kafkaviz.report.subject import Subject


def records(subject: Subject) -> ReportSection:
    """A few records of each topic."""
    words = (
        "The last records of the largest partition of each topic but Kafka’s own, long ones cut "
        "off."
    )
    samples = map(_sample, subject.samples or ())
    return ReportSection(
        "records",
        "A few records",
        join((note(words), *samples)) if subject.samples else note("No topic holds a record."),
    )


def _sample(sample: Sample) -> Html:
    if sample.fault:
        return join((tag("h3", mono(sample.partition)), note(f"cannot be read: {sample.fault}")))
    heads = ("Offset", "Time (UTC)", "Key", "Value", "Headers")
    return join(
        (
            tag("h3", mono(sample.partition)),
            table(f"Records of {sample.partition}", heads, sample.rows, "rlwww"),
        )
    )


def files(subject: Subject) -> ReportSection:
    """The checksums, as sha256sum -c takes them in the directory."""
    digests = [digest for digest in subject.digests or () if not digest.is_archive]
    archive_lines = [
        tag("p", "The archive ", mono(digest.name), ": ", mono(digest.sha256 or digest.fault))
        for digest in subject.digests or ()
        if digest.is_archive
    ]
    lines = "\n".join(_line(digest.sha256, digest.name) for digest in digests if digest.sha256)
    faults = [
        tag("li", mono(digest.name), f": {digest.fault}") for digest in digests if not digest.sha256
    ]
    total = (
        f"{units.group(len(digests))} {'file' if len(digests) == 1 else 'files'}, "
        f"{units.size(sum(digest.size_bytes for digest in digests))}"
    )
    words = (
        "As sha256sum prints them; saved as a file, sha256sum -c holds the directory against them."
    )
    body = details(
        f"SHA-256 of {total}", note(words), tag("pre", Html(lines), class_="sums", tabindex="0")
    )
    left_out = [tag("p", "Not read:"), tag("ul", *faults)] if faults else []
    return ReportSection(
        "files", "The files that it is made of", join((*archive_lines, body, *left_out))
    )


def _line(digits: str, name: str) -> Html:
    """A name with a line break or a backslash as sha256sum escapes it."""
    escaped = (
        units.escape_controls(name).replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    )
    return join((f"{chr(92) if escaped != units.escape_controls(name) else ''}{digits}  ", escaped))


def about(subject: Subject, version: str, made_ms: int) -> ReportSection:
    """When, by what, of what, and what it leaves out."""
    time_tag = tag(
        "time",
        f"{units.moment(made_ms, fraction=False)} UTC",
        datetime=f"{units.moment(made_ms, fraction=False).replace(' ', 'T')}Z",
    )
    pairs = {
        "Made": join((time_tag, f" by kafkaviz {version}")),
        "Of": mono(str(subject.broker.source)),
        "Read as": f"Kafka {subject.health.version.text}: {subject.health.version.reason}",
        "Records’ content": "left out"
        if subject.samples is None
        else "a few records are shown, as was asked for",
        "Checksums": "not asked for" if subject.digests is None else "SHA-256 of every file",
        "Times in the tuning": _prices(subject),
        "The directory": "was read only: nothing in it was written, touched or locked",
    }
    return ReportSection("about", "About this report", facts(pairs))


def _prices(subject: Subject) -> str:
    if subject.tuning is None:
        return "none"
    costs = subject.tuning.costs
    calibration_text = f"calibrated on the machine that made this report, {costs.calibrated}"
    origin = calibration_text if costs.calibrated else "from presets, not measured here"
    return f"modelled, {origin}; entries, bytes and headers are counted"
