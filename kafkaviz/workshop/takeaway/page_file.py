"""Writes the parts of figures into one HTML file with the app's look.

As in a report (kafkaviz/report/document.py), the file contains everything that it needs, and only
its own scripts may run. It has the app's stylesheets and Streamlit's markup.
"""

import base64
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from plotly.io import to_json as figure_json

from kafkaviz.app.frontend import FRONTEND_FOLDER, DrawnComponent, kept_component
from kafkaviz.app.widgets import charts, elements
from kafkaviz.html import Html, join, tag
from kafkaviz.report.document import MODES, document
from kafkaviz.workshop.figures.figure import Chart, CodeText, Component, Group, Markdown, Part
from kafkaviz.workshop.lessons import markdown

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
    return tag("div", markdown.to_html(text), data_testid="stMarkdownContainer")


@cache
def _stylesheets() -> tuple[str, ...]:
    return tuple(path.read_text(encoding="utf-8") for path in STYLES)


def _as_expression(module: str) -> str:
    """Turns a bundle, an ES module, into an expression that returns the module's function.

    A single HTML file cannot import modules from other files.
    """
    body, count = MODULE_END.subn(r"return \1;", module)
    if not count:
        raise ValueError("a bundle ends with what it exports")
    return f"(()=>{{{body}}})()"
