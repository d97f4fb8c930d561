"""Captured parts as one HTML file with the app's look.

The file is built like a report (kafkaviz/report/document.py): it is complete, and only its own
scripts may run. It uses the app's stylesheets, so the parts have Streamlit's markup.
"""

import base64
import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from kafkaviz.app.frontend import FRONTEND_FOLDER, DrawnComponent
from kafkaviz.report.document import document
from kafkaviz.report.html import Html, join, tag
from kafkaviz.units import escape_controls
from kafkaviz.workshop.lessons import markdown
from kafkaviz.workshop.takeaway.capture import (
    ChartPart,
    CodePart,
    Group,
    HtmlPart,
    MarkdownPart,
    Part,
)

STYLES = (
    FRONTEND_FOLDER.parent / "look.css",
    Path(__file__).parents[1] / "page" / "workshop.css",
    Path(__file__).with_name("takeaway.css"),
)
# replaces offsets for elements that stick below the app's bar
UNDER_NO_BAR = ".bar { top: 0; } .two > .card { top: 70px; }"
MODULE_END = re.compile(r"export\s*\{\s*(\w+) as default\s*\};?\s*$")


class PageFile:
    """A file under construction, which collects the figures and components that its parts need."""

    def __init__(self) -> None:
        self._figures: dict[str, Mapping[str, str]] = {}
        self._components: dict[str, DrawnComponent] = {}
        self._drawn: list[dict[str, Any]] = []

    def html(self, part: Part) -> Html:
        """Returns a part as markup, and adds its figures and components to the file."""
        if isinstance(part, Group):
            return self._group(part)
        if isinstance(part, HtmlPart):
            return tag("div", Html(part.html), data_testid="stHtml")
        if isinstance(part, MarkdownPart):
            return prose(part.text)
        if isinstance(part, CodePart):
            text = Html(escape(escape_controls(part.text)))  # it may have several lines
            return tag("pre", tag("code", text), class_="command", tabindex="0")
        if isinstance(part, ChartPart):
            return self._chart(part)
        return self._component(part)

    def text(
        self,
        title: str,
        body: Html,
        words: Mapping[str, str] | None = None,
        styles: Iterable[str] = (),
    ) -> str:
        """Returns the complete file.

        Args:
            words: the texts of takeaway.js.
            styles: CSS for this file only.
        """
        data = {
            "components": {
                name: {"style": f"{component.style}{UNDER_NO_BAR}", "markup": component.markup}
                for name, component in self._components.items()
            },
            "drawn": self._drawn,
            "words": dict(words or {}),
        }
        data_text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        island = tag(
            "script",
            Html(data_text.replace("<", "\\u003c")),
            id="takeaway",
            type="application/json",
        )
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
        share = f"flex:{group.weight:g} 1 0;" if group.weight else ""
        return tag(
            "div",
            *map(self.html, group.parts),
            class_=" ".join(filter(None, names)),
            style=f"{share}gap:{group.gap_px}px",
        )

    def _chart(self, chart: ChartPart) -> Html:
        name = f"figure-{len(self._figures)}"
        self._figures[name] = chart.figures
        height = json.loads(chart.figures["light"])["layout"].get("height") or 300
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
        """Returns takeaway.js, called with the components of the file."""
        scripts = (
            f"{json.dumps(name)}:{_as_expression(component.script)}"
            for name, component in sorted(self._components.items())
        )
        own = (FRONTEND_FOLDER / "bundles" / "takeaway.js").read_text(encoding="utf-8")
        return f"({_as_expression(own)})({{{','.join(scripts)}}});"


def prose(text: str) -> Html:
    """Returns Markdown as HTML with Streamlit's markup."""
    return tag("div", markdown.to_html(text), data_testid="stMarkdownContainer")


@cache
def _stylesheets() -> tuple[str, ...]:
    return tuple(path.read_text(encoding="utf-8") for path in STYLES)


def _as_expression(module: str) -> str:
    """Turns a bundle, which is an ES module, into an expression that returns its function.

    A single file cannot import modules from another one.
    """
    body, count = MODULE_END.subn(r"return \1;", module)
    if not count:
        raise ValueError("a bundle ends with what it exports")
    return f"(()=>{{{body}}})()"
