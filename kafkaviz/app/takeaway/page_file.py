"""Captured parts as one HTML file, in the look of the app.

The file is the report's kind of page (kafkaviz/report/document.py): complete, and allowed to run
nothing but its own scripts. It wears the app's stylesheets, so the parts are marked as Streamlit
marks them.
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
from kafkaviz.app.lessons import markdown
from kafkaviz.app.takeaway.capture import (
    ChartPart,
    CodePart,
    Group,
    HtmlPart,
    MarkdownPart,
    Part,
)
from kafkaviz.report.document import document
from kafkaviz.report.html import Html, join, tag
from kafkaviz.units import escape_controls

APP_FOLDER = Path(__file__).parents[1]
STYLES = (
    APP_FOLDER / "look.css",
    APP_FOLDER / "pages" / "workshop" / "workshop.css",
    Path(__file__).with_name("takeaway.css"),
)
UNDER_NO_BAR = ".bar { top: 0; } .two > .card { top: 70px; }"  # what sticks below the app's bar
MODULE_END = re.compile(r"export\s*\{\s*(\w+) as default\s*\};?\s*$")


class PageFile:
    """A file in the making: the body asks it for the HTML of parts, and it keeps what they need."""

    def __init__(self) -> None:
        self._figures: dict[str, Mapping[str, str]] = {}
        self._components: dict[str, DrawnComponent] = {}
        self._drawn: list[dict[str, Any]] = []

    def html(self, part: Part) -> Html:
        """A part as markup."""
        if isinstance(part, Group):
            return self._group(part)
        if isinstance(part, HtmlPart):
            return tag("div", Html(part.html), data_testid="stHtml")
        if isinstance(part, MarkdownPart):
            return prose(part.text)
        if isinstance(part, CodePart):
            text = Html(escape(escape_controls(part.text)))  # of several lines
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
        """The file.

        Args:
            words: what takeaway.js says.
            styles: rules of this file alone.
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
        """takeaway.js, given the components that are in the file."""
        scripts = (
            f"{json.dumps(name)}:{_as_expression(component.script)}"
            for name, component in sorted(self._components.items())
        )
        own = (FRONTEND_FOLDER / "bundles" / "takeaway.js").read_text(encoding="utf-8")
        return f"({_as_expression(own)})({{{','.join(scripts)}}});"


def prose(text: str) -> Html:
    """A text in Markdown, as Streamlit marks it."""
    return tag("div", markdown.to_html(text), data_testid="stMarkdownContainer")


@cache
def _stylesheets() -> tuple[str, ...]:
    return tuple(path.read_text(encoding="utf-8") for path in STYLES)


def _as_expression(module: str) -> str:
    """A bundle, which is a module, as an expression that gives its function.

    A file has no second file that a module could be imported from.
    """
    body, count = MODULE_END.subn(r"return \1;", module)
    if not count:
        raise ValueError("a bundle ends with what it exports")
    return f"(()=>{{{body}}})()"
