"""What ends a report: some records and the checksums of the files where they were asked for, and
how the report was made.
"""

from kafkaviz import units
from kafkaviz.reporting.html import Html, Part, facts, folded, join, mono, note, table, tag
from kafkaviz.reporting.records import Sample
from kafkaviz.reporting.subject import Subject


def records(subject: Subject) -> Part:
    """A few records of each topic."""
    words = (
        "The last records of the largest partition of each topic but Kafka’s own, long ones cut "
        "off."
    )
    told = map(_sample, subject.samples or ())
    return Part(
        "records",
        "A few records",
        join((note(words), *told)) if subject.samples else note("No topic holds a record."),
    )


def _sample(one: Sample) -> Html:
    if one.fault:
        return join((tag("h3", mono(one.partition)), note(f"cannot be read: {one.fault}")))
    heads = ("Offset", "Time (UTC)", "Key", "Value", "Headers")
    return join(
        (
            tag("h3", mono(one.partition)),
            table(f"Records of {one.partition}", heads, one.rows, "rlwww"),
        )
    )


def files(subject: Subject) -> Part:
    """The checksums, as sha256sum -c takes them in the directory."""
    found = [one for one in subject.digests or () if not one.is_archive]
    of = [
        tag("p", "The archive ", mono(one.name), ": ", mono(one.sha256 or one.fault))
        for one in subject.digests or ()
        if one.is_archive
    ]
    lines = "\n".join(_line(one.sha256, one.name) for one in found if one.sha256)
    faults = [tag("li", mono(one.name), f": {one.fault}") for one in found if not one.sha256]
    total = (
        f"{units.group(len(found))} {'file' if len(found) == 1 else 'files'}, "
        f"{units.size(sum(one.size_bytes for one in found))}"
    )
    words = (
        "As sha256sum prints them; saved as a file, sha256sum -c holds the directory against them."
    )
    told = folded(
        f"SHA-256 of {total}", note(words), tag("pre", Html(lines), class_="sums", tabindex="0")
    )
    left_out = [tag("p", "Not read:"), tag("ul", *faults)] if faults else []
    return Part("files", "The files that it is made of", join((*of, told, *left_out)))


def _line(digits: str, name: str) -> Html:
    """A name with a line break or a backslash as sha256sum escapes it."""
    escaped = units.legible(name).replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return join((f"{chr(92) if escaped != units.legible(name) else ''}{digits}  ", escaped))


def about(subject: Subject, version: str, made_ms: int) -> Part:
    """When, by what, of what, and what it leaves out."""
    at = tag(
        "time",
        f"{units.moment(made_ms, fraction=False)} UTC",
        datetime=f"{units.moment(made_ms, fraction=False).replace(' ', 'T')}Z",
    )
    told = {
        "Made": join((at, f" by kafkaviz {version}")),
        "Of": mono(str(subject.broker.source)),
        "Read as": f"Kafka {subject.health.version.text}: {subject.health.version.because}",
        "Records’ content": "left out"
        if subject.samples is None
        else "a few records are shown, as was asked for",
        "Checksums": "not asked for" if subject.digests is None else "SHA-256 of every file",
        "Times in the tuning": _prices(subject),
        "The directory": "was read only: nothing in it was written, touched or locked",
    }
    return Part("about", "About this report", facts(told))


def _prices(subject: Subject) -> str:
    if subject.tuned is None:
        return "none"
    costs = subject.tuned.costs
    own = f"calibrated on the machine that made this report, {costs.calibrated}"
    known = own if costs.calibrated else "from presets, not measured here"
    return f"modelled, {known}; entries, bytes and headers are counted"
