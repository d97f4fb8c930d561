"""The report: one HTML file about a broker directory that opens without a network.

It shows the contents of the directory, its faults, and the settings to change.

    subject = subject.gather(open_broker("/var/lib/kafka"))
    report.page(subject, made_ms)    "<!doctype html>…"

The file has about 2.6 MB: 2.0 MB are Plotly (compressed), 0.35 MB are fonts. The same directory
gives the same bytes except for the date. document.py builds the file.
"""

from collections.abc import Callable, Mapping, Sequence

from kafkaviz import __version__, units
from kafkaviz.analysis.broker_health import Health
from kafkaviz.figures.health.checkup import HealthView
from kafkaviz.html import Html, join, tag, worded
from kafkaviz.log.broker import Broker
from kafkaviz.messages import Message, message, say
from kafkaviz.report import closing, health, inventory, tuning
from kafkaviz.report.document import MODES, brand, document
from kafkaviz.report.html import ReportSection, mark, mono
from kafkaviz.report.subject import Subject, gather


def report(
    broker: Broker,
    created_ms: int,
    version: str | None = None,
    setting_overrides: Mapping[str, str] | None = None,
    checkup: Health | None = None,
    *,
    include_payload: bool = False,
    include_sha256: bool = False,
    on_progress: Callable[[Message], None] = lambda _what: None,
) -> str:
    """Returns the report of a broker directory, or of a broker that was opened for one partition.

    Args:
        created_ms: the date in the report.
        version: the release to assume, as in `kafkaviz check`.
        setting_overrides: settings to replace, as in `kafkaviz check`.
        checkup: an earlier checkup, used instead of a new one.
        include_payload: whether a few records are shown.
        include_sha256: whether every file is listed with its checksum.
        on_progress: called with progress messages.

    Raises:
        RefusedSetting: a setting has a value that Kafka refuses.
        CannotOpen: the directory cannot be read.
    """
    return page(
        gather(
            broker,
            version,
            setting_overrides,
            checkup,
            with_payload=include_payload,
            with_sha256=include_sha256,
            on_progress=on_progress,
        ),
        created_ms,
    )


def page(subject: Subject, created_ms: int) -> str:
    optional_parts = [closing.records(subject)] if subject.samples is not None else []
    optional_parts += [closing.files(subject)] if subject.digests is not None else []
    parts = [
        inventory.section(subject),
        health.section(subject),
        tuning.section(subject),
        *optional_parts,
        closing.about(subject, __version__, created_ms),
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
        (_worst_severity(view), say("checkup.findings"), health.describe_counts(view), "health"),
    ]
    if subject.tuning:
        verdict = tuning.verdict_view(subject.tuning)
        answers.append(
            (
                verdict.mark,
                "index.interval.bytes",
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
    """Returns the directory's name, or the broker's name if it has several log directories."""
    return broker.source.name if len(broker.sources) == 1 else broker.name
