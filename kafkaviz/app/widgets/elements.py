"""Small static pieces of a page, drawn with st.html or returned as HTML.

Text is escaped unless it is Html, so text from a file never becomes markup.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from html import escape as to_html
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from kafkaviz import config_def, versions
from kafkaviz.analysis.inferred_release import InferredRelease
from kafkaviz.app.frontend import art
from kafkaviz.app.registry import PAGES
from kafkaviz.html import Html, join, tag
from kafkaviz.messages import say, say_count
from kafkaviz.units import escape_controls, format_count

BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:%|[µm]?s|min|[KMGT]iB|[kMGT]?B)(?!\w))")
BEHIND_SIGN = re.compile(r"(?<=[<>≈]) (?=\d)")
LONE_DASH = re.compile(r"(?<!\S)–(?!\S)")
MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|~<>$:&])")
SEVERITIES = ("error", "warning", "info", "ok")
ROWS_AT_ONCE = 9  # rows that fit into the smallest box of a table without scrolling


def escape(text: str) -> Html:
    """Returns plain text as HTML with its line breaks. Html is returned unchanged."""
    return text if isinstance(text, Html) else Html(to_html(escape_controls(text)))


def draw_list(texts: Iterable[str]) -> None:
    st.html(tag("ul", *(tag("li", escape(text)) for text in texts), class_="kv-list"))


def escape_markdown(text: str) -> str:
    """Returns text escaped for Streamlit's Markdown: __consumer_offsets-0 does not become bold."""
    return MARKDOWN.sub(r"\\\1", escape_controls(text))


def cut_middle(text: str, length: int) -> str:
    """Returns the text, cut in the middle if it is longer than `length` characters."""
    if len(text) <= length:
        return text
    tail = length * 2 // 3  # two thirds, because the last part of a path matters most
    return f"{text[: length - tail - 1]}…{text[len(text) - tail :]}"


def page_name(name: str) -> str:
    """Returns the name of a page, a key of PAGES in app/registry.py, in the reader's language."""
    return say(f"common.page_{name.lower().replace(' ', '_')}")


def open_page(name: str, address: Mapping[str, Any]) -> None:
    """Opens the page `name`, a key of PAGES, with these address parameters."""
    st.switch_page(PAGES[name].script, query_params=address)


def page_link(name: str, text: str, address: Mapping[str, Any]) -> None:
    """Draws a link to the page `name`, a key of PAGES, with the icon of the page."""
    page = PAGES[name]
    st.page_link(page.script, label=text, icon=f":material/{page.icon}:", query_params=address)


def icon(name: str, *, small: bool = False) -> Html:
    return tag("span", name, class_="kv-ic s" if small else "kv-ic", aria_hidden="true")


def severity(kind: str) -> Html:
    """Returns the icon of one of SEVERITIES. Icons differ in shape, not only in colour."""
    name = say(f"common.severity_{kind}")
    return tag("span", class_=f"kv-sev {kind}", role="img", aria_label=name)


def mono(text: str) -> Html:
    return tag("span", escape(text), class_="kv-mono")


def label(name: str, value: str) -> Html:
    """Returns a name and a value, for a line above a control.

    If `name` is a topic setting, the setting's broker-level name follows: segment.ms log.roll.ms.
    If there are several broker-level names, the first follows, and a tooltip lists all of them.
    """
    name_html = tag("span", escape(name))
    if about := broker_names(name):
        broker_name = config_def.TOPIC_SETTINGS[name].broker_names[0][0]
        name_html = tag("span", name, " ", tag("small", broker_name), title=about)
    return tag("div", name_html, tag("b", escape(value)), class_="kv-lab kv-two")


def broker_names(name: str) -> str:
    """Returns the broker's names for a topic setting. "" if there are none."""
    setting = config_def.TOPIC_SETTINGS.get(name)
    if not setting or not setting.broker_names:
        return ""
    names = " → ".join(broker_name for broker_name, _ in setting.broker_names)
    return say("setting_names.on_a_broker", names=names)


def title(html: Html | str, lead: str = "", gap: int = 20) -> None:
    """Draws the h1 of the page and a sentence below. The h1 states the main result of the page."""
    below = tag("p", escape(lead)) if lead else ""
    head = tag("h1", escape(html))
    st.html(tag("div", head, below, class_="kv-hd", style=f"margin-bottom:{gap}px"))


def chips(items: Iterable[tuple[str, Html | str]], note: str = "") -> None:
    """Draws a row of small labels (chips), then a note. An item is (severity or "", HTML)."""
    row = (tag("span", escape(html), class_=f"kv-chip {kind}") for kind, html in items)
    after = tag("span", escape(note), class_="kv-sm kv-fnt kv-after")
    st.html(tag("div", *row, after, class_="kv-chips"))


def metrics(cells: Sequence[tuple[str, str, str]], *, is_pending: bool = False) -> None:
    """Draws numbers next to each other. A cell is (label, value with its unit, detail).

    `is_pending`: some values are not known yet and shown as a dash.
    """
    strip = (_metric(*cell) for cell in cells)
    st.html(tag("div", *strip, class_="kv-metrics owed" if is_pending else "kv-metrics"))


def _metric(label: str, value: str, detail: str) -> Html:
    number, _, unit = value.partition(" ")
    unit_html = join((" ", tag("small", escape(unit)))) if unit else ""
    return tag(
        "div",
        tag("div", escape(label), class_="kv-lab"),
        tag("div", _dashes(number), unit_html, class_="kv-v"),
        tag("div", _dashes(detail), class_="kv-d", title=escape(detail)),
    )


def _dashes(words: str) -> Html:
    return join(map(escape, LONE_DASH.split(words)), tag("i", "–"))


def heading(text: str, aside: str = "", gap: int = 0) -> None:
    """Draws a heading, with a note next to it and `gap` pixels below."""
    st.html(tag("h2", escape(text), " ", tag("small", escape(aside)), class_="kv-h2"))
    if gap:
        st.space(gap)


def crumb(text: str) -> None:
    st.html(tag("span", text, style="padding:0 8px"), width="content")


def separator() -> None:
    st.html(tag("span", "›", class_="kv-sep", aria_hidden="true"), width="content")


def paragraph(text: str, *, above_px: int = 0, is_faint: bool = False) -> None:
    if is_faint:
        st.html(tag("p", escape(text), class_="kv-sm kv-fnt"))
        return
    margin = f"margin-top:{above_px}px;" if above_px else ""
    st.html(tag("p", escape(text), class_="kv-sm", style=f"{margin}color:var(--kv-ink-2)"))


def hidden_count(key: str, count: int) -> None:
    if count > 0:
        st.html(tag("div", escape(say_count(key, count)), class_="kv-more"))


def figure_head(finding: str, below: str) -> None:
    """Draws the title and the caption of a figure. The title states the figure's main result."""
    st.html(figure_head_html(finding, below))


def figure_head_html(finding: str, below: str) -> Html:
    head = tag("div", escape(keep_units(finding)), class_="kv-figt")
    return join((head, tag("div", escape(keep_units(below)), class_="kv-figs")))


def keep_units(text: str) -> str:
    """Returns text with no-break spaces between a number, its unit, and a preceding <, > or ≈."""
    return BEHIND_SIGN.sub("\u00a0", BEFORE_UNIT.sub("\u00a0", text))


def key(swatches: Iterable[tuple[str, str]]) -> Html:
    """Returns the legend of a figure. A swatch is (CSS class of look.css, label)."""
    cells = (
        tag("span", tag("i", class_=f"kv-sw {kind}"), escape(words)) for kind, words in swatches
    )
    return tag("div", *cells, class_="kv-key")


def tab_counts(key: str, counts: Iterable[int]) -> None:
    """Shows the number of rows on each tab. CSS adds the number, so the tab's label lacks it."""
    tab = f'.st-key-{key} [role="tab"]'
    rules = (
        f'{tab}[data-key="{index}"] p::after {{ content: "{format_count(count)}"; }}'
        for index, count in enumerate(counts)
    )
    draw_style(" ".join(rules))


def facts(groups: Iterable[tuple[str, str, Iterable[tuple[str, str]]]]) -> None:
    """Draws groups of labelled values. A group is (colour, heading, rows), a row (label, HTML)."""
    st.html(join(_facts(*group) for group in groups))


def _facts(colour: str, name: str, rows: Iterable[tuple[str, str]]) -> Html:
    head = tag("div", tag("i", class_=f"kv-dot {colour}"), escape(name), class_="kv-ft")
    cells = (join((tag("dt", escape(label)), tag("dd", escape(html)))) for label, html in rows)
    return join((head, tag("dl", *cells, class_="kv-facts")))


def table(head: Html, rows: Iterable[Html]) -> None:
    st.html(table_html(head, rows))


def table_html(head: Html, rows: Iterable[Html]) -> Html:
    """Returns a short table. `head` has the cells of the first row."""
    rows = list(rows)
    # a table that scrolls must be reachable with the keyboard
    tab_index = 0 if len(rows) > ROWS_AT_ONCE else None
    inner = tag("table", tag("thead", tag("tr", head)), tag("tbody", *rows), class_="kv-tbl")
    return tag("div", inner, class_="kv-tblwrap", tabindex=tab_index)


def empty(name: str, finding: str, reason: str, level: int = 2) -> DeltaGenerator:
    """Draws a notice that something is missing. Returns a container below it for buttons."""
    with st.container(key=f"kv_empty_{name}"):
        art("empty", 120, 52, name)
        words = _finding_and_reason(finding, reason, level)
        st.html(tag("div", words, class_="kv-empty"))
        return st.container(
            key=f"kv_act_{name}", horizontal=True, horizontal_alignment="center", gap=8
        )


def state(
    name: str,
    mark: str,
    finding: str,
    reason: str,
    evidence: Callable[[], None] | None = None,
    *,
    level: int = 2,
) -> DeltaGenerator:
    """Draws a problem and its reason. Returns a container below them for buttons.

    Args:
        mark: one of SEVERITIES, or an icon name.
        evidence: draws something above the buttons.
        level: 1 if the page has no other title.
    """
    sign = severity(mark) if mark in SEVERITIES else icon(mark)
    with st.container(key=f"kv_state_{name}"):
        words = _finding_and_reason(finding, reason, level)
        st.html(tag("div", sign, tag("div", words), class_="kv-state"))
        if evidence:
            evidence()
        return st.container(key=f"kv_act_{name}", horizontal=True, gap=8)


def _finding_and_reason(finding: str, reason: str, level: int) -> Html:
    return join((tag(f"h{level}", escape(finding)), tag("p", escape(reason))))


def describe_writer(release: InferredRelease) -> str:
    first = release.first and versions.text(release.first)
    last = release.last and versions.text(release.last)
    if release.first and release.last and release.last > release.first:
        return say("common.wrote_between", first=first, last=last)
    if first and last:
        return say("common.wrote_one", first=first)
    if first:
        return say("common.wrote_first", first=first)
    return say("common.wrote_last", last=last) if last else say("common.wrote_unknown")


def apply_print_style() -> None:
    draw_style(read_css("print.css"))


@cache
def read_css(name: str) -> str:
    return (Path(__file__).parents[1] / name).read_text(encoding="utf-8")


def draw_style(css: str) -> None:
    st.html(tag("style", Html(css)))
