"""HTML built so that text from a file never becomes markup.

Every string is escaped unless it is Html.

    tag("p", "a < b", class_="kv-note")     Html('<p class="kv-note">a &lt; b</p>')
"""

from collections.abc import Iterable, Sequence
from html import escape

from kafkaviz import units
from kafkaviz.messages import Message, language, say

VOID = ("br", "hr", "img", "input", "link", "meta")
MAX_ROWS = 60  # the most rows that a table in a notebook shows


class Html(str):
    """Markup. Any other string is escaped before it is put into markup."""

    __slots__ = ()


def html(value: object) -> Html:
    """Returns Html unchanged, else escaped text. A Message is put into the reader's language.

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

    Attribute names: aria_label becomes aria-label, class_ becomes class. If the value is True, the
    element has the attribute without a value. If it is None or False, the attribute is left out.
    """
    attribute_text = "".join(
        _attribute(key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items()
    )
    start = f"<{name}{attribute_text}>"
    return Html(start if name in VOID else f"{start}{join(children)}</{name}>")


def _attribute(name: str, value: object) -> str:
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{html(value)}"'


def worded(key: str, **values: object) -> Html:
    """Returns a message as HTML: Html values stay markup, all other text is escaped."""
    parts = {name: value for name, value in values.items() if isinstance(value, Html)}
    marks = {name: chr(0xE000 + place) for place, name in enumerate(parts)}
    text = html(say(key, **(values | marks)))
    for name, place in marks.items():
        text = Html(text.replace(place, parts[name]))
    return text


def html_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Html:
    """Returns a title and a table with at most MAX_ROWS rows, for `_repr_html_` in a notebook.

    Args:
        columns: the message keys of the column names.
        rows: numbers are aligned to the right; None is shown as a dash.
    """
    rows = list(rows)
    head = tag("tr", *(tag("th", say(column)) for column in columns))
    body = tag("tbody", *(tag("tr", *map(_cell, row)) for row in rows[:MAX_ROWS]))
    more = len(rows) - MAX_ROWS
    note = tag("p", say("common.n_more", n=more)) if more > 0 else ""
    table = tag("table", tag("thead", head), body)
    return join((tag("p", tag("strong", title)), table, note))


def _cell(value: object) -> Html:
    if value is None:
        return tag("td", units.MISSING)
    if isinstance(value, int):
        return tag("td", units.format_count(value), style="text-align: right")
    return tag("td", value, style="text-align: left")
