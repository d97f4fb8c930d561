"""The report: one HTML file about a broker directory, which needs no network to be read.

It shows the content of the directory, faults, and settings to change.

    subject = subject.gather(open_broker("/var/lib/kafka"))
    report.page(subject, made_ms)    "<!doctype html>…"

The file has about 2.6 MB. Two reports on the same directory differ only in the date. html.py builds
the file.
"""

from collections.abc import Callable, Mapping, Sequence

from kafkaviz import __version__, config_def, units
from kafkaviz.analysis.broker_health import Health
from kafkaviz.figures.health_view import HealthView
from kafkaviz.html import Html, join, tag, worded
from kafkaviz.log.broker import Broker
from kafkaviz.messages import Message, message, render, say
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
from kafkaviz.report.subject import Sample, Subject, gather


def report(
    broker: Broker,
    created_ms: int,
    version: str | None = None,
    setting_overrides: Mapping[str, str] | None = None,
    known_health: Health | None = None,
    *,
    include_payload: bool = False,
    include_sha256: bool = False,
    on_progress: Callable[[Message], None] = lambda _what: None,
) -> str:
    """Returns the report on a broker directory, or on a single partition.

    Args:
        created_ms: the date to show, in milliseconds since 1970.
        version: the Kafka release to assume, as in `kafkaviz check`.
        setting_overrides: settings to use instead of those found, as in `kafkaviz check`.
        known_health: the result of an earlier check. None: the directory is checked.
        include_payload: whether a few records are shown.
        include_sha256: whether every file is listed with its checksum.
        on_progress: called with a message before each step.

    Raises:
        RefusedSetting: a setting has a value that Kafka refuses.
        CannotOpen: the directory cannot be read.
    """
    return page(
        gather(
            broker,
            version,
            setting_overrides,
            known_health,
            with_payload=include_payload,
            with_sha256=include_sha256,
            on_progress=on_progress,
        ),
        created_ms,
    )


def page(subject: Subject, created_ms: int) -> str:
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
    name = units.escape_controls(_name_of(subject.broker))
    body = join(
        (
            _header(subject, name, parts),
            tag("main", *(part.html for part in parts)),
            _footer(),
        )
    )
    figures = {
        drawing.name: {mode: drawing.draw(mode).to_json() for mode in MODES} for drawing in drawings
    }
    return document(say("report.title", name=name), body, figures)


# ---- the head of the page


def _header(subject: Subject, name: str, parts: Sequence[ReportSection]) -> Html:
    links = (tag("li", tag("a", part.heading, href=f"#{part.name}")) for part in parts)
    total = subject.overview.total
    partition_count = len(subject.overview.partitions)
    lead = say(
        "report.lead",
        partitions=message("report.topic_partitions", n=partition_count),
        log=total.log_bytes,
        segments=message("report.segments", n=total.segments),
    )
    title = join(
        (tag("h1", worded("report.what_is_in", name=mono(name))), tag("p", lead, class_="lead"))
    )
    return tag(
        "header",
        brand(),
        title,
        _answers(subject),
        tag("nav", tag("ul", *links), aria_label=say("report.sections")),
    )


def _answers(subject: Subject) -> Html:
    view = health.view(subject)
    answers = [
        (view.verdict.kind, say("report.next_start"), view.verdict.title, "health"),
        (
            _worst_severity(view),
            say("finding_list.findings"),
            health.describe_counts(view),
            "health",
        ),
    ]
    if subject.tuning:
        verdict = tuning.verdict_view(subject.tuning)
        answers.append(
            (
                verdict.mark,
                config_def.label("index.interval.bytes"),
                say(
                    "report.headline_and_own",
                    headline=verdict.headline,
                    own=tuning.describe_own_intervals(subject.tuning),
                ),
                "tuning",
            )
        )
    return tag("ul", *(_answer(*answer) for answer in answers), class_="answers")


def _answer(kind: str, label: str, text: str, section: str) -> Html:
    link = tag(
        "a", say("report.show"), href=f"#{section}", aria_label=say("report.show_what", title=label)
    )
    return tag(
        "li", mark(kind), tag("span", tag("b", say("tuning.box_head", word=label)), text), link
    )


def _worst_severity(view: HealthView) -> str:
    return next(
        (severity for severity in ("error", "warning", "info") if view.counts[severity]), "ok"
    )


def _footer() -> Html:
    text = say("report.complete")
    return tag(
        "footer",
        tag("p", say("common.then", first=text, next=say("report.plotly_licence"))),
    )


def _name_of(broker: Broker) -> str:
    return broker.source.name if len(broker.sources) == 1 else broker.name


# ---- the last sections: records and checksums on request, and how the report was made


def records_section(subject: Subject) -> ReportSection:
    words = say("report.last_records")
    samples = map(_render_sample, subject.samples or ())
    return ReportSection(
        "records",
        say("report.few_records"),
        join((note(words), *samples)) if subject.samples else note(say("report.no_records")),
    )


def _render_sample(sample: Sample) -> Html:
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


def files_section(subject: Subject) -> ReportSection:
    """Returns the section with the files' checksums, in the format that `sha256sum -c` reads."""
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
    """Returns a line as sha256sum writes it: line breaks and backslashes in names are escaped."""
    escaped = (
        units.escape_controls(name).replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    )
    return join((f"{chr(92) if escaped != units.escape_controls(name) else ''}{digits}  ", escaped))


def about_section(subject: Subject, version: str, made_ms: int) -> ReportSection:
    """Returns the section on the report itself: date, release, directory, omissions."""
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
