"""Writes the parts of figures into one HTML file with the app's look.

As in a report (kafkaviz/report/html.py), the file contains everything that it needs, and only
its own scripts may run. It has the app's stylesheets and Streamlit's markup. `to_html` and
`inline_html` convert the Markdown of lessons.
"""

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from plotly.io import to_json as figure_json

from kafkaviz.app.frontend import FRONTEND_FOLDER, DrawnComponent, kept_component
from kafkaviz.app.widgets import charts, elements
from kafkaviz.app.widgets.elements import broker_names
from kafkaviz.html import Html, join, tag
from kafkaviz.report.html import MODES, document
from kafkaviz.units import escape_controls
from kafkaviz.workshop.figures.figure import Chart, CodeText, Component, Group, Markdown, Part

STYLES = (
    FRONTEND_FOLDER.parent / "look.css",
    Path(__file__).parents[1] / "workshop.css",
    Path(__file__).with_name("takeaway.css"),
)
# CSS for elements that stick below the app's bar, which this file does not have
UNDER_NO_BAR = ".bar { top: 0; } .two > .card { top: 70px; }"
MODULE_END = re.compile(r"export\s*\{(?:[^}]*,)?\s*(\w+) as default\b[^}]*\};?\s*$")


class PageFile:
    """An HTML file under construction. Collects the charts and components of its parts."""

    def __init__(self, modes: Sequence[str] = MODES) -> None:
        self._modes = modes
        self._figures: dict[str, Mapping[str, str]] = {}
        self._components: dict[str, DrawnComponent] = {}
        self._drawn: list[dict[str, Any]] = []

    def html(self, part: Part) -> Html:
        """Returns a part as markup, and adds its charts and components to the file."""
        if isinstance(part, Group):
            return self._group(part)
        if isinstance(part, Markdown):
            return prose(part.text)
        if isinstance(part, CodeText):
            text = elements.escape(part.text)  # escape() keeps line breaks
            return tag("pre", tag("code", text), class_="command", tabindex="0")
        if isinstance(part, Chart):
            return self._chart(part)
        if isinstance(part, Component):
            return self._component(kept_component(part.draw))
        return tag("div", part, data_testid="stHtml")

    def text(
        self,
        title: str,
        body: Html,
        words: Mapping[str, str] | None = None,
        styles: Iterable[str] = (),
    ) -> str:
        """Returns the complete file. `words` are the texts that takeaway.js shows."""
        data = {
            "components": {
                name: {"style": f"{component.style}{UNDER_NO_BAR}", "markup": component.markup}
                for name, component in self._components.items()
            },
            "drawn": self._drawn,
            "words": dict(words or {}),
        }
        data_text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        script = Html(data_text.replace("<", "\\u003c"))
        island = tag("script", script, id="takeaway", type="application/json")
        return document(
            title,
            join((body, island)),
            self._figures,
            scripts=(self._script(),),
            styles=(*_stylesheets(), *styles),
            body_class="stApp kv-takeaway",
        )

    def _group(self, group: Group) -> Html:
        names = ["kv-parts", "row" if group.is_row else "", group.key and f"st-key-{group.key}"]
        return tag(
            "div",
            *map(self.html, group.parts),
            class_=" ".join(filter(None, names)),
            style=f"gap:{group.gap_px}px",
        )

    def _chart(self, chart: Chart) -> Html:
        name = f"figure-{len(self._figures)}"
        figures = {
            mode: charts.with_page_layout(chart.draw(chart.view, mode)) for mode in self._modes
        }
        self._figures[name] = {
            mode: figure_json(figure, validate=False) for mode, figure in figures.items()
        }
        height = figures["light"].to_dict()["layout"].get("height") or 300
        return tag(
            "div",
            class_="plot",
            style=f"height:{int(height)}px",
            data_figure=name,
            role="img",
            aria_label=chart.alt,
        )

    def _component(self, component: DrawnComponent) -> Html:
        self._components[component.name] = component
        drawn: dict[str, Any] = {"name": component.name}
        if isinstance(component.data, bytes):
            drawn["bytes"] = base64.b64encode(component.data).decode()
        else:
            drawn["data"] = component.data | {"shares_page": True}
        self._drawn.append(drawn)
        return tag("div", class_="kv-live", data_live=str(len(self._drawn) - 1))

    def _script(self) -> str:
        scripts = (
            f"{json.dumps(name)}:{_as_expression(component.script)}"
            for name, component in sorted(self._components.items())
        )
        own = (FRONTEND_FOLDER / "bundles" / "takeaway.js").read_text(encoding="utf-8")
        return f"({_as_expression(own)})({{{','.join(scripts)}}});"


def prose(text: str) -> Html:
    """Converts Markdown to HTML with Streamlit's markup."""
    return tag("div", to_html(text), data_testid="stMarkdownContainer")


@cache
def _stylesheets() -> tuple[str, ...]:
    return tuple(path.read_text(encoding="utf-8") for path in STYLES)


def _as_expression(module: str) -> str:
    """Turns an ES module into an expression, because the HTML file cannot import other files."""
    body, count = MODULE_END.subn(r"return \1;", module)
    if not count:
        raise ValueError("a bundle ends with what it exports")
    return f"(()=>{{{body}}})()"


# kinds of Markdown blocks and how their lines begin; the first match counts
BLOCKS = (
    ("ul", re.compile(r"[-*+]\s+(.*)")),
    ("ol", re.compile(r"\d{1,9}[.)]\s+(.*)")),
    ("blockquote", re.compile(r">\s?(.*)")),
    ("heading", re.compile(r"#{1,6}\s+(.*)")),
)
FENCE = re.compile(r"(```|~~~)")
INLINE = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|(?P<ticks>`+)(?P<code>.+?)(?P=ticks)(?!`)"
    r"|\*\*(?P<bold>\S(?:.*?\S)?)\*\*"
    r"|(?<![\w*])_(?P<under>\S(?:.*?\S)?)_(?!\w)"
    r"|\*(?P<italic>[^\s*](?:.*?[^\s*])?)\*"
    r"|\[(?P<words>[^\]]+)\]\((?P<address>https?://[^\s)]+)\)",
    re.DOTALL,
)


def to_html(text: str) -> Html:
    """Converts Markdown to HTML.

    Supports paragraphs, lists, headings, quotes, code blocks, **bold**, *italic*, `code` and links.
    Everything else, including HTML, is escaped, because anyone may write a lesson.
    """
    return join(_blocks(escape_controls(text).split("\n")))


def inline_html(text: str) -> Html:
    """Converts Markdown without blocks to HTML. The result has no surrounding element."""
    return _inline(escape_controls(text))


def _blocks(lines: list[str]) -> Iterator[Html]:
    kind = ""
    block_lines = []
    rows = iter(lines)
    for line in rows:
        stripped = line.strip()
        fence = FENCE.match(stripped)
        block, content = _block_of_line(stripped)
        if kind in ("ul", "ol") and stripped and block != kind and line[:1].isspace():
            block_lines[-1] += f" {stripped}"
            continue
        if not stripped or fence or block != kind:
            yield from _close(kind, block_lines)
            kind = ""
            block_lines = []
        if fence:
            code = []
            for row in rows:
                if row.strip() == fence[1]:
                    break
                code.append(row)
            yield tag("pre", tag("code", Html(escape("\n".join(code)))), tabindex=0)
        elif stripped:
            kind = block
            block_lines.append(content)
    yield from _close(kind, block_lines)


def _block_of_line(line: str) -> tuple[str, str]:
    """Returns a line's kind of block ("p" for a paragraph) and the line without its marker."""
    for kind, pattern in BLOCKS:
        if match := pattern.fullmatch(line):
            return kind, match[1]
    return "p", line


def _close(kind: str, block_lines: list[str]) -> Iterator[Html]:
    if not block_lines:
        return
    if kind in ("ul", "ol"):
        yield tag(kind, *(tag("li", _inline(item)) for item in block_lines))
    elif kind == "heading":
        yield from (tag("h3", _inline(line)) for line in block_lines)
    elif kind == "blockquote":
        yield tag("blockquote", tag("p", _inline("\n".join(block_lines))))
    else:
        yield tag("p", _inline("\n".join(block_lines)))


def _inline(text: str) -> Html:
    parts = []
    end = 0
    for match in INLINE.finditer(text):
        parts += [Html(escape(text[end : match.start()])), _span(match)]
        end = match.end()
    return join((*parts, Html(escape(text[end:]))))


def _span(match: re.Match) -> str:
    if match["escaped"]:
        return match["escaped"]
    if match["code"]:
        code = match["code"].strip()
        return tag("code", Html(escape(code)), title=broker_names(code) or None)
    if match["bold"]:
        return tag("strong", _inline(match["bold"]))
    if match["words"]:
        return tag("a", _inline(match["words"]), href=match["address"])
    return tag("em", _inline(match["italic"] or match["under"]))
