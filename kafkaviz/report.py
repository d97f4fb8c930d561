"""The report: one HTML file that tells what a broker directory holds, what is wrong with it, and
what to set; it opens without a network.

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
from kafkaviz.analyse.health import Health
from kafkaviz.figures.checkup import View
from kafkaviz.log.broker import Broker
from kafkaviz.reporting import closing, health, inventory, tuning
from kafkaviz.reporting.html import Drawing, Html, Part, join, mark, mono, tag
from kafkaviz.reporting.subject import Subject, gather

HERE = Path(__file__).parent
MODES = ("light", "dark")
# those of Streamlit
FONTS = (
    ("Source Sans", "SourceSansVF-Upright", "200 900"),
    ("Source Code Pro", "SourceCodeVF-Upright", "200 900"),
)


def report(
    broker: Broker,
    made_ms: int,
    version: str | None = None,
    typed: Mapping[str, str] | None = None,
    checked: Health | None = None,
    with_payload: bool = False,
    with_sha256: bool = False,
    watch: Callable[[str], None] = lambda what: None,
) -> str:
    """The report of a broker directory, or of one that was opened as one partition. made_ms: the
    date that it bears.

    version, typed: as `kafkaviz check` takes them; checked: a checkup that there is already.
    with_payload: show a few records. with_sha256: of every file. watch: told what is being read.
    RefusedSetting, CannotOpen.
    """
    return page(gather(broker, version, typed, checked, with_payload, with_sha256, watch), made_ms)


def page(subject: Subject, made_ms: int) -> str:
    """The HTML of what was gathered."""
    asked = [closing.records(subject)] if subject.samples is not None else []
    asked += [closing.files(subject)] if subject.digests is not None else []
    parts = [
        inventory.part(subject),
        health.part(subject),
        tuning.part(subject),
        *asked,
        closing.about(subject, __version__, made_ms),
    ]
    drawings = [one for part in parts for one in part.drawings]
    name = units.legible(subject.broker.source.name)
    body = join(
        (
            _header(subject, name, parts),
            tag("main", *(part.html for part in parts)),
            _footer(),
            _packed(drawings),
        )
    )
    return _document(f"{name}, a kafkaviz report", body, has_figures=bool(drawings))


# ---- the head of the page


def _header(subject: Subject, name: str, parts: Sequence[Part]) -> Html:
    brand = tag(
        "div",
        Html(_drawing("mark").replace("<svg ", '<svg aria-hidden="true" ', 1)),
        "kafkaviz",
        class_="brand",
    )
    links = (tag("li", tag("a", part.heading, href=f"#{part.name}")) for part in parts)
    total = subject.overview.total
    many = len(subject.overview.partitions)
    segments = f"{units.group(total.segments)} segment{'' if total.segments == 1 else 's'}"
    lead = (
        f"{units.group(many)} topic-partition{'' if many == 1 else 's'}, "
        f"{units.size(total.log_bytes)} of log in {segments}."
    )
    title = join((tag("h1", "What is in ", mono(name)), tag("p", lead, class_="lead")))
    return tag(
        "header",
        brand,
        title,
        _answers(subject),
        tag("nav", tag("ul", *links), aria_label="Sections"),
    )


def _answers(subject: Subject) -> Html:
    """The three answers that a reader in a hurry takes along."""
    shown = health.view(subject)
    told = [
        (shown.verdict.kind, "The next start", shown.verdict.title, "health"),
        (_worst(shown), "Findings", health.counts_words(shown), "health"),
    ]
    if subject.tuned:
        verdict = tuning.verdict_view(subject.tuned)
        told.append(
            (
                verdict.mark,
                "index.interval.bytes",
                f"{verdict.headline}{tuning.own_words(subject.tuned)}",
                "tuning",
            )
        )
    return tag("ul", *(_answer(*one) for one in told), class_="answers")


def _answer(kind: str, what: str, words: str, place: str) -> Html:
    link = tag("a", "Show", href=f"#{place}", aria_label=f"Show {what}")
    return tag("li", mark(kind), tag("span", tag("b", f"{what}:"), words), link)


def _worst(shown: View) -> str:
    return next(
        (severity for severity in ("error", "warning", "info") if shown.counts[severity]), "ok"
    )


def _footer() -> Html:
    words = "This file is complete: it needs no network and no server."
    return tag(
        "footer",
        tag("p", words, " The figures are drawn by Plotly.js, MIT licence, copyright Plotly, Inc."),
    )


# ---- the document


def _document(title: str, body: Html, has_figures: bool) -> str:
    """The whole file. Of scripts only the two whose checksums the policy names are run."""
    script = _own("page.js")
    scripts = (
        " ".join(f"'sha256-{_sha256(one)}'" for one in (script, get_plotlyjs()))
        if has_figures
        else "'none'"
    )
    seen = "style-src 'unsafe-inline'; img-src data: blob:; font-src data:"
    policy = (
        f"default-src 'none'; script-src {scripts}; {seen}; base-uri 'none'; form-action 'none'"
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
    drawn = tag("script", Html(script)) if has_figures else ""
    return f"<!doctype html>\n{tag('html', head, tag('body', body, drawn), lang='en')}\n"


def _packed(drawings: Sequence[Drawing]) -> Html:
    """Plotly and the figures in both modes, as the script unpacks them."""
    if not drawings:
        return Html("")
    figures = _zipped(
        _object(
            {
                one.name: _object({mode: one.draw(mode).to_json() for mode in MODES})
                for one in drawings
            }
        ).encode()
    )
    held = (("packed-plotly", _plotly()), ("packed-figures", figures))
    return join(
        tag("script", Html(text), id=name, type="application/octet-stream") for name, text in held
    )


def _object(members: Mapping[str, str]) -> str:
    """A JSON object of values that are JSON already."""
    return "{" + ",".join(f"{json.dumps(name)}:{value}" for name, value in members.items()) + "}"


@cache
def _plotly() -> str:
    return _zipped(get_plotlyjs().encode())


def _zipped(data: bytes) -> str:
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()


def _sha256(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@cache
def _styles() -> str:
    """The app's tokens and fonts, the marks of the severities, and the report's own rules."""
    marks = (
        f'--kv-mark-{name}: url("data:image/svg+xml,{quote(_drawing(name))}");'
        for name in ("error", "warning", "info", "ok")
    )
    tokens = (HERE / "ui" / "tokens.css").read_text(encoding="utf-8")
    return "\n".join((*_fonts(), tokens, f":root {{ {' '.join(marks)} }}", _own("page.css")))


def _fonts() -> list[str]:
    """The app's own, which come with Streamlit; without them the reader's sans-serif and monospace
    do.
    """
    spec = find_spec("streamlit")
    folder = (
        Path(spec.origin).parent / "static" / "static" / "media" if spec and spec.origin else None
    )
    found = []
    for family, stem, weights in FONTS:
        for path in sorted(folder.glob(f"{stem}*.woff2"))[:1] if folder else ():
            source = (
                f'url("data:font/woff2;base64,{base64.b64encode(path.read_bytes()).decode()}") '
                'format("woff2")'
            )
            found.append(
                f'@font-face {{ font-family: "{family}"; font-weight: {weights}; src: {source}; }}'
            )
    return found


def _drawing(name: str) -> str:
    return (HERE / "ui" / "art" / f"{name}.svg").read_text(encoding="utf-8").strip()


def _own(name: str) -> str:
    return (HERE / "reporting" / name).read_text(encoding="utf-8")
