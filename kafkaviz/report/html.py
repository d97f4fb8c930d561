"""HTML elements of a report: marks, tables, figures and sections."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from kafkaviz.html import Html, join, tag
from kafkaviz.messages import say

MARKS = {
    "error": "report.mark_error",
    "warning": "report.mark_warning",
    "info": "report.mark_info",
    "ok": "report.mark_ok",
}


def mark(kind: str) -> Html:
    """Returns the mark of a severity: "error", "warning", "info" or "ok"."""
    return tag("span", class_=f"mark {kind}", role="img", aria_label=say(MARKS[kind]))


def mono(text: str) -> Html:
    return tag("code", text)


def note(*children: object) -> Html:
    return tag("p", *children, class_="note")


# ---- tables


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
    """Returns a block that opens by a click. In print, it is open."""
    return tag("details", tag("summary", summary), *children)


# ---- figures and sections


@dataclass(frozen=True)
class Drawing:
    """A figure of the report.

    Attributes:
        name: a part of the id of the HTML element.
        draw: returns the Plotly figure in a mode, "light" or "dark". Its layout has a height.
        table: the same data as HTML, for readers who cannot see the figure.
    """

    name: str
    title: str
    caption: str
    draw: Callable[[str], Any]
    table: str = ""

    @property
    def html(self) -> Html:
        height = f"height:{int(self.draw('light').layout.height or 300)}px"
        undrawn = tag(
            "p",
            say("report.figure_by_script"),
            class_="undrawn note",
        )
        words = say("common.titled", title=self.title, below=self.caption)
        box = tag(
            "div",
            undrawn,
            class_="plot",
            style=height,
            data_figure=self.name,
            role="img",
            aria_label=words,
        )
        caption = tag("figcaption", tag("strong", self.title), tag("span", self.caption))
        return tag("figure", caption, box, self.table, id=f"figure-{self.name}")


@dataclass(frozen=True)
class ReportSection:
    """A section of the report. A link to it ends in "#" and `name`."""

    name: str
    heading: str
    body: Html
    drawings: tuple[Drawing, ...] = ()

    @property
    def html(self) -> Html:
        head = tag("h2", self.heading, id=f"{self.name}-heading")
        return tag("section", head, self.body, id=self.name, aria_labelledby=f"{self.name}-heading")


def facts(pairs: Mapping[str, object]) -> Html:
    return tag(
        "dl",
        *(join((tag("dt", name), tag("dd", value))) for name, value in pairs.items()),
        class_="facts",
    )
