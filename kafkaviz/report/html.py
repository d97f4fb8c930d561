"""HTML built so that text from a file never becomes markup.

Every string is escaped unless it is Html.

    tag("p", "a < b", class_="kv-note")     Html('<p class="kv-note">a &lt; b</p>')
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, cast

from kafkaviz import units
from kafkaviz.messages import Message, language, say

VOID = ("br", "input", "meta")
MARKS = {
    "error": "report.mark_error",
    "warning": "report.mark_warning",
    "info": "report.mark_info",
    "ok": "report.mark_ok",
}


class Html(str):
    """Markup. Any other string is escaped before it is put into markup."""

    __slots__ = ()


def html(value: object) -> Html:
    """Returns Html unchanged, and anything else as escaped text in the reader's language.

    Control characters and characters that change the text direction are written as escapes.
    """
    if isinstance(value, Html):
        return value
    text = value.render(language()) if isinstance(value, Message) else str(value)
    return Html(escape(units.escape_line(text)))


def join(parts: Iterable[object], separator: str = "") -> Html:
    """Joins the parts, escaping each part and the separator."""
    return Html(html(separator).join(map(html, parts)))


def tag(name: str, /, *children: object, **attributes: object) -> Html:
    """Returns an element.

    Underscores in attribute names become hyphens, and a trailing one is dropped: class_,
    aria_label. True gives an attribute without a value; None and False leave it out.
    """
    attribute_text = "".join(
        _attribute(key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items()
    )
    return Html(
        f"<{name}{attribute_text}>"
        if name in VOID
        else f"<{name}{attribute_text}>{join(children)}</{name}>"
    )


def _attribute(name: str, value: object) -> str:
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{html(value)}"'


def mark(kind: str) -> Html:
    """Returns the mark of a severity: "error", "warning", "info" or "ok".

    Each has its own shape, so that colour is not needed to tell them apart.
    """
    return tag("span", class_=f"mark {kind}", role="img", aria_label=say(MARKS[kind]))


def mono(text: str) -> Html:
    return tag("code", text)


def worded(key: str, **values: object) -> Html:
    """Returns a message as HTML: Html values stay markup, all other text is escaped."""
    parts = {name: value for name, value in values.items() if isinstance(value, Html)}
    marks = {name: chr(0xE000 + place) for place, name in enumerate(parts)}
    text = html(say(key, **(values | marks)))
    for name, place in marks.items():
        text = Html(text.replace(place, parts[name]))
    return text


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
        kinds: one letter per column: l text, r number, w text that wraps, c code font.
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
    """Returns a block that a reader can open. It is open in print."""
    return tag("details", tag("summary", summary), *children)


# ---- figures and sections


@dataclass(frozen=True)
class Drawing:
    """A figure of the report.

    Attributes:
        name: part of the element's id.
        draw: takes a mode ("light" or "dark") and returns a Plotly figure whose layout has a
            height.
        table: the same data as Html, for readers who cannot see the figure.
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
    """A section of the report.

    Attributes:
        name: the fragment of its address.
    """

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
