"""Builds the HTML of a report: tables, figures, sections, and the complete page as one file.

A page contains its figures, fonts, styles and scripts. The Content-Security-Policy of the page has
the checksums of the scripts. So no other script runs, even if the name of a topic contains one. The
page fetches nothing. Plotly takes 2.0 MB of a page with figures (compressed). The fonts take 0.35
MB of every page.
"""

import base64
import gzip
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

from plotly.offline import get_plotlyjs

from kafkaviz.figures import tokens
from kafkaviz.html import Html, join, tag
from kafkaviz.messages import language, say


def mark(kind: str) -> Html:
    """Returns the coloured mark for a severity: "error", "warning", "info" or "ok"."""
    return tag("span", class_=f"mark {kind}", role="img", aria_label=say(f"report.mark_{kind}"))


def mono(text: str) -> Html:
    return tag("code", text)


def note(*children: object) -> Html:
    return tag("p", *children, class_="note")


def verdict_box(kind: str, headline: str, text: str) -> Html:
    """Returns the coloured box with the answer of a section. `kind` as in `mark`."""
    words = tag("div", tag("h3", headline), tag("p", text))
    return tag("div", tag("div", mark(kind), words), class_=f"verdict {kind}")


def table(
    caption: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    kinds: str = "",
    marked_row: int | None = None,
) -> Html:
    """Returns a table.

    Args:
        caption: read first by a screen reader.
        kinds: one letter per column: l for text, r for a number, w for text that wraps, c for code.
        marked_row: the index of the highlighted row.
    """
    kinds = kinds or "l" * len(heads)
    head = tag(
        "tr",
        *(
            tag("th", heading, scope="col", class_="r" if kind == "r" else None)
            for heading, kind in zip(heads, kinds, strict=True)
        ),
    )
    body = join(
        tag("tr", *map(_cell, row, kinds), class_="on" if place == marked_row else None)
        for place, row in enumerate(rows)
    )
    inner = tag("table", tag("caption", caption), tag("thead", head), tag("tbody", body))
    return tag("div", inner, class_="rows", tabindex="0", role="region", aria_label=caption)


def _cell(value: object, kind: str) -> Html:
    return tag(
        "td",
        mono(cast(str, value)) if kind == "c" and not isinstance(value, Html) else value,
        class_=None if kind == "l" else kind,
    )


def details(summary: str, *children: object) -> Html:
    """Returns an element whose content appears at a click on `summary`, and always in print."""
    return tag("details", tag("summary", summary), *children)


@dataclass(frozen=True)
class Drawing:
    """A figure of the report."""

    name: str  # a part of the id of the HTML element
    title: str
    caption: str
    # called with "light" or "dark"; returns the Plotly figure, whose layout sets the height
    draw: Callable[[str], Any]

    @property
    def html(self) -> Html:
        box = tag(
            "div",
            tag("p", say("report.figure_by_script"), class_="undrawn note"),
            class_="plot",
            style=f"height:{int(self.draw('light').layout.height or 300)}px",
            data_figure=self.name,
            role="img",
            aria_label=say("common.titled", title=self.title, below=self.caption),
        )
        caption = tag("figcaption", tag("strong", self.title), tag("span", self.caption))
        return tag("figure", caption, box, id=f"figure-{self.name}")


@dataclass(frozen=True)
class ReportSection:
    """A section of the report. A link to it ends in "#" and `name`."""

    name: str
    heading: str
    body: Sequence[object]
    drawings: tuple[Drawing, ...] = ()

    @property
    def html(self) -> Html:
        heading_id = f"{self.name}-heading"
        head = tag("h2", self.heading, id=heading_id)
        return tag("section", head, *self.body, id=self.name, aria_labelledby=heading_id)


def facts(pairs: Mapping[str, object]) -> Html:
    items = (join((tag("dt", name), tag("dd", value))) for name, value in pairs.items())
    return tag("dl", *items, class_="facts")


PACKAGE_DIRECTORY = Path(__file__).parents[1]
MODES = ("light", "dark")
# the fonts of Streamlit: family, file name, range of weights
FONTS = (
    ("Source Sans", "SourceSansVF-Upright", "200 900"),
    ("Source Code Pro", "SourceCodeVF-Upright", "200 900"),
)
Figures = Mapping[str, Mapping[str, str]]  # Plotly figures as JSON, by name and colour mode


def document(
    title: str,
    body: Html,
    figures: Figures,
    *,
    scripts: Sequence[str] = (),
    styles: Sequence[str] = (),
    body_class: str | None = None,
) -> str:
    """Returns the HTML of the page.

    Args:
        figures: the figures by name. A figure is drawn into the element whose data-figure is the
            name. A figure without a dark version is light in both modes.
        scripts: JavaScript that runs at the end of the body.
        styles: CSS rules that are added after the page's own rules.
    """
    run_scripts = [_read_asset("page.js"), *scripts] if figures else scripts
    known_scripts = [*run_scripts, get_plotlyjs()] if figures else run_scripts
    checksums = " ".join(f"'sha256-{_sha256(script)}'" for script in known_scripts) or "'none'"
    policy = (
        f"default-src 'none'; script-src {checksums}; style-src 'unsafe-inline'; "
        "img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", Html("\n".join((_styles(), *styles)))),
    )
    script_tags = (tag("script", Html(script)) for script in run_scripts)
    content = tag("body", body, _embed_figures(figures), *script_tags, class_=body_class)
    page = tag("html", head, content, lang=language())
    return f"<!doctype html>\n{page}\n"


def brand() -> Html:
    drawing = _read_svg("mark").replace("<svg ", '<svg aria-hidden="true" ', 1)
    return tag("div", Html(drawing), "kafkaviz", class_="brand")


def _embed_figures(figures: Figures) -> Html:
    """Returns script elements with Plotly and the figures, compressed. page.js unpacks them."""
    if not figures:
        return Html("")
    by_name = {name: _json_object(by_mode) for name, by_mode in figures.items()}
    scripts = {
        "packed-plotly": _plotly(),
        "packed-figures": gzip_base64(_json_object(by_name).encode()),
    }
    return join(
        tag("script", Html(text), id=name, type="application/octet-stream")
        for name, text in scripts.items()
    )


def _json_object(members: Mapping[str, str]) -> str:
    return "{" + ",".join(f"{json.dumps(name)}:{value}" for name, value in members.items()) + "}"


@cache
def _plotly() -> str:
    return gzip_base64(get_plotlyjs().encode())


def gzip_base64(data: bytes) -> str:
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()


def _sha256(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@cache
def _styles() -> str:
    marks = (
        f'--kv-mark-{name}: url("data:image/svg+xml,{quote(_read_svg(name))}");'
        for name in ("error", "warning", "info", "ok")
    )
    return "\n".join(
        (*_fonts(), tokens.STYLESHEET, f":root {{ {' '.join(marks)} }}", _read_asset("page.css"))
    )


def _fonts() -> list[str]:
    """Returns @font-face rules for Streamlit's fonts; [] if Streamlit is not installed."""
    spec = find_spec("streamlit")
    if not spec or not spec.origin:
        return []
    folder = Path(spec.origin).parent / "static" / "static" / "media"
    font_faces = []
    for family, stem, weights in FONTS:
        for path in sorted(folder.glob(f"{stem}*.woff2"))[:1]:
            data = base64.b64encode(path.read_bytes()).decode()
            source = f'url("data:font/woff2;base64,{data}") format("woff2")'
            font_faces.append(
                f'@font-face {{ font-family: "{family}"; font-weight: {weights}; src: {source}; }}'
            )
    return font_faces


def _read_svg(name: str) -> str:
    return (PACKAGE_DIRECTORY / "app" / "art" / f"{name}.svg").read_text(encoding="utf-8").strip()


def _read_asset(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
