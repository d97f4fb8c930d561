"""The report: one HTML file that opens without a network.

It says what a broker directory holds, what is wrong with it, and what to set.

    subject = subject.gather(open_broker("/var/lib/kafka"))
    report.page(subject, made_ms)       "<!doctype html>…", 2.6 MB, of which Plotly, packed, is 2.0
    and the fonts are 0.35

Everything is in the file. Its policy lets two scripts run, by their checksums: the one that draws,
and Plotly. Nothing else can, whatever a topic is called, and nothing can be fetched. The same
directory gives the same bytes, but for the date.
"""

import base64
import gzip
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from plotly.offline import get_plotlyjs

from kafkaviz import __version__, units
from kafkaviz.analysis.health.broker_health import Health
from kafkaviz.figures import tokens
from kafkaviz.figures.health.checkup import HealthView
from kafkaviz.log.broker import Broker
from kafkaviz.messages import Message, language, message, say
from kafkaviz.report import closing, health, inventory, tuning
from kafkaviz.report.html import Drawing, Html, ReportSection, join, mark, mono, tag, worded
from kafkaviz.report.subject import Subject, gather

PACKAGE_DIRECTORY = Path(__file__).parents[1]
MODES = ("light", "dark")
# those of Streamlit
FONTS = (
    ("Source Sans", "SourceSansVF-Upright", "200 900"),
    ("Source Code Pro", "SourceCodeVF-Upright", "200 900"),
)


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
    """The report of a broker directory, or of one that was opened as one partition.

    Args:
        created_ms: the date that it bears.
        version: as `kafkaviz check` takes it.
        setting_overrides: as `kafkaviz check` takes them.
        checkup: a checkup that there is already.
        include_payload: show a few records.
        include_sha256: of every file.
        on_progress: called with what is being read.

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
    """The HTML of what was gathered."""
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
    name = units.escape_controls(subject.broker.source.name)
    body = join(
        (
            _header(subject, name, parts),
            tag("main", *(part.html for part in parts)),
            _footer(),
            _embed_figures(drawings),
        )
    )
    return _document(say("report.title", name=name), body, has_figures=bool(drawings))


# ---- the head of the page


def _header(subject: Subject, name: str, parts: Sequence[ReportSection]) -> Html:
    brand = tag(
        "div",
        Html(_read_svg("mark").replace("<svg ", '<svg aria-hidden="true" ', 1)),
        "kafkaviz",
        class_="brand",
    )
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
        brand,
        title,
        _answers(subject),
        tag("nav", tag("ul", *links), aria_label=say("report.sections")),
    )


def _answers(subject: Subject) -> Html:
    """The three answers that a reader in a hurry takes along."""
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
        "a", say("report.show"), href=f"#{section}", aria_label=say("report.show_what", what=label)
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


# ---- the document


def _document(title: str, body: Html, *, has_figures: bool) -> str:
    """The whole file. Of scripts only the two whose checksums the policy names are run."""
    script = _read_asset("page.js")
    scripts = (
        " ".join(f"'sha256-{_sha256(source)}'" for source in (script, get_plotlyjs()))
        if has_figures
        else "'none'"
    )
    style_policy = "style-src 'unsafe-inline'; img-src data: blob:; font-src data:"
    policy = (
        f"default-src 'none'; script-src {scripts}; {style_policy}; base-uri 'none'; form-action "
        "'none'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", Html(_styles())),
    )
    figure_script = tag("script", Html(script)) if has_figures else ""
    return (
        f"<!doctype html>\n{tag('html', head, tag('body', body, figure_script), lang=language())}\n"
    )


def _embed_figures(drawings: Sequence[Drawing]) -> Html:
    """Plotly and the figures in both modes, as the script unpacks them."""
    if not drawings:
        return Html("")
    figures = _gzip_base64(
        _json_object(
            {
                drawing.name: _json_object({mode: drawing.draw(mode).to_json() for mode in MODES})
                for drawing in drawings
            }
        ).encode()
    )
    scripts = (("packed-plotly", _plotly()), ("packed-figures", figures))
    return join(
        tag("script", Html(text), id=name, type="application/octet-stream")
        for name, text in scripts
    )


def _json_object(members: Mapping[str, str]) -> str:
    """A JSON object of values that are JSON already."""
    return "{" + ",".join(f"{json.dumps(name)}:{value}" for name, value in members.items()) + "}"


@cache
def _plotly() -> str:
    return _gzip_base64(get_plotlyjs().encode())


def _gzip_base64(data: bytes) -> str:
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()


def _sha256(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@cache
def _styles() -> str:
    """The app's tokens and fonts, the marks of the severities, and the report's own rules."""
    marks = (
        f'--kv-mark-{name}: url("data:image/svg+xml,{quote(_read_svg(name))}");'
        for name in ("error", "warning", "info", "ok")
    )
    return "\n".join(
        (*_fonts(), tokens.STYLESHEET, f":root {{ {' '.join(marks)} }}", _read_asset("page.css"))
    )


def _fonts() -> list[str]:
    """The app's own, which come with Streamlit.

    Without them the reader's sans-serif and monospace do.
    """
    spec = find_spec("streamlit")
    folder = (
        Path(spec.origin).parent / "static" / "static" / "media" if spec and spec.origin else None
    )
    font_faces = []
    for family, stem, weights in FONTS:
        for path in sorted(folder.glob(f"{stem}*.woff2"))[:1] if folder else ():
            source = (
                f'url("data:font/woff2;base64,{base64.b64encode(path.read_bytes()).decode()}") '
                'format("woff2")'
            )
            font_faces.append(
                f'@font-face {{ font-family: "{family}"; font-weight: {weights}; src: {source}; }}'
            )
    return font_faces


def _read_svg(name: str) -> str:
    return (PACKAGE_DIRECTORY / "app" / "art" / f"{name}.svg").read_text(encoding="utf-8").strip()


def _read_asset(name: str) -> str:
    return (Path(__file__).with_name(name)).read_text(encoding="utf-8")
