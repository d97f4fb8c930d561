"""HTML put together so that nothing read from a file becomes markup.

A text is escaped unless it is Html already.

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
    """Markup; any other text is escaped before it is put into some."""

    __slots__ = ()


def html(value: object) -> Html:
    """The same if it is Html, else its text in the reader's language, escaped.

    What would turn the order of its letters is written out.
    """
    if isinstance(value, Html):
        return value
    text = value.render(language()) if isinstance(value, Message) else str(value)
    return Html(escape(units.escape_line(text)))


def join(parts: Iterable[object], separator: str = "") -> Html:
    """One behind the other.

    Args:
        separator: a text, escaped too.
    """
    return Html(html(separator).join(map(html, parts)))


def tag(name: str, /, *children: object, **attributes: object) -> Html:
    """An element.

    Attributes: class_ is class, aria_label is aria-label; True stands alone, None and False are
    left out.
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
    """The mark of "error", "warning", "info" or "ok": a shape of its own, not a colour alone."""
    return tag("span", class_=f"mark {kind}", role="img", aria_label=say(MARKS[kind]))


def mono(text: str) -> Html:
    """Text in the face of bytes and names."""
    return tag("code", text)


def worded(key: str, **values: object) -> Html:
    """A text with markup inside: each Html value stays markup, all else is escaped."""
    parts = {name: value for name, value in values.items() if isinstance(value, Html)}
    marks = {name: chr(0xE000 + place) for place, name in enumerate(parts)}
    text = html(say(key, **(values | marks)))
    for name, place in marks.items():
        text = Html(text.replace(place, parts[name]))
    return text


def note(*children: object) -> Html:
    """A quiet line."""
    return tag("p", *children, class_="note")


# ---- tables


def table(
    caption: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    kinds: str = "",
    marked_row: int | None = None,
) -> Html:
    """A table.

    Args:
        caption: what a reader who does not see it hears first.
        kinds: a letter a column: l text, r a number, w text that breaks, c a name in the face of
            code.
        marked_row: the row that is marked.
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
    """What a reader opens; printed it is open."""
    return tag("details", tag("summary", summary), *children)


# ---- figures and sections


@dataclass(frozen=True)
class Drawing:
    """A figure: what it says, what it is of, and how it is drawn in a mode ("light" or "dark").

    draw gives a plotly figure, whose layout has a height.

    Attributes:
        table: Html, the same for who does not see it.
    """

    name: str
    title: str
    caption: str
    draw: Callable[[str], Any]
    table: str = ""

    @property
    def html(self) -> Html:
        """Its place in the page; the script draws into it."""
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

    The name in its address, its heading, what stands in it, its figures.
    """

    name: str
    heading: str
    body: Html
    drawings: tuple[Drawing, ...] = ()

    @property
    def html(self) -> Html:
        """The section."""
        head = tag("h2", self.heading, id=f"{self.name}-heading")
        return tag("section", head, self.body, id=self.name, aria_labelledby=f"{self.name}-heading")


def facts(pairs: Mapping[str, object]) -> Html:
    """Names and values."""
    return tag(
        "dl",
        *(join((tag("dt", name), tag("dd", value))) for name, value in pairs.items()),
        class_="facts",
    )
