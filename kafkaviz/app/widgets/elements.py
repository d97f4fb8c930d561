"""Small pieces of a page that are only shown.

Title, chips, metric strip, figure head, states, short tables.

Each writes HTML for st.html. Arguments named html (and the cells of `table`) are HTML already; all
others are plain text and are escaped here, so that nothing read from a file becomes markup.
"""

import re
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from html import escape as to_html

import streamlit as st

from kafkaviz.app.frontend import art
from kafkaviz.messages import say, say_count
from kafkaviz.units import escape_controls, group

BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:%|[µm]?s|min|[KMGT]iB|[kMGT]?B)(?!\w))")
BEHIND_SIGN = re.compile(r"(?<=[<>≈]) (?=\d)")
MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|~<>$:&])")
SEVERITIES = ("error", "warning", "info", "ok")
ROWS_AT_ONCE = 9  # the lowest of the boxes that tables lie in shows as many


def escape(text: str) -> str:
    """Plain text as HTML."""
    return to_html(escape_controls(text))


def escape_markdown(text: str) -> str:
    """Text for a Streamlit label that reads as it is: __consumer_offsets-0 is no bold word."""
    return MARKDOWN.sub(r"\\\1", escape_controls(text))


def cut_middle(text: str, length: int) -> str:
    """Text cut in the middle to at most `length` characters.

    Both ends of a path matter, the last part most.
    """
    if len(text) <= length:
        return text
    tail = length * 2 // 3
    return f"{text[: length - tail - 1]}…{text[len(text) - tail :]}"


def page_name(name: str) -> str:
    """The name of a page, of app/frame.py's PAGES, in the reader's language."""
    return say(f"common.page_{name.lower().replace(' ', '_')}")


def icon(name: str, *, small: bool = False) -> str:
    """A Material symbol as inline HTML."""
    return f'<span class="kv-ic{" s" if small else ""}" aria-hidden="true">{escape(name)}</span>'


def severity(kind: str) -> str:
    """The mark of "error", "warning", "info" or "ok" as inline HTML.

    A shape of its own, not a colour alone.
    """
    return (
        f'<span class="kv-sev {kind}" role="img" aria-label="{say(f"common.severity_{kind}")}'
        '"></span>'
    )


def mono(text: str) -> str:
    """Text in the face of bytes and names, as HTML."""
    return f'<span class="kv-mono">{escape(text)}</span>'


def label(name: str, value: str, about: str = "") -> str:
    """A name on the left and its value on the right, above what they are of, as HTML.

    Args:
        about: what the name says to who points at it.
    """
    title = f' title="{escape(about)}"' if about else ""
    return (
        f'<div class="kv-lab kv-two"><span{title}>{escape(name)}</span><b>{escape(value)}</b></div>'
    )


def title(html: str, lead: str = "", gap: int = 20) -> None:
    """The page's h1, which says what was found, and one sentence more."""
    below = f"<p>{escape(lead)}</p>" if lead else ""
    st.html(f'<div class="kv-hd" style="margin-bottom:{gap}px"><h1>{html}</h1>{below}</div>')


def chips(items: Iterable[tuple[str, str]], note: str = "") -> None:
    """A row of chips: each a kind ("ok", "warning", "error", "info" or "") and its HTML.

    Then a quiet sentence.
    """
    row = "".join(f'<span class="kv-chip {kind}">{html}</span>' for kind, html in items)
    st.html(
        f'<div class="kv-chips">{row}'
        f'<span class="kv-sm kv-fnt kv-after">{escape(note)}</span></div>'
    )


def metrics(cells: Sequence[tuple[str, str, str]], *, is_pending: bool = False) -> None:
    """A strip of figures: label, value with its unit, and a line of detail.

    Args:
        is_pending: numbers are still being worked out; a dash then keeps the room of one and shows
            it.
    """
    st.html(
        f'<div class="kv-metrics{" owed" if is_pending else ""}">'
        f"{''.join(_metric(*cell) for cell in cells)}</div>"
    )


def _metric(label: str, value: str, detail: str) -> str:
    number, _, unit = value.partition(" ")
    unit = f" <small>{escape(unit)}</small>" if unit else ""
    return (
        f'<div><div class="kv-lab">{escape(label)}</div>'
        f'<div class="kv-v">{_dashes(number)}{unit}</div>'
        f'<div class="kv-d" title="{escape(detail)}">{_dashes(detail)}</div></div>'
    )


def _dashes(words: str) -> str:
    """Text as HTML, its lone dashes marked: they stand where a number will."""
    return re.sub(r"(^|\s)–(?=\s|$)", r"\1<i>–</i>", escape(words))


def heading(text: str, aside: str = "") -> None:
    """The heading of a section, and a quiet word beside it."""
    st.html(f'<h2 class="kv-h2">{escape(text)} <small>{escape(aside)}</small></h2>')


def hidden_count(key: str, count: int) -> None:
    """How many rows of a table are not in sight, where there are any."""
    if count > 0:
        st.html(f'<div class="kv-more">{escape(say_count(key, count))}</div>')


def figure_head(finding: str, below: str) -> None:
    """The title of a figure, which says what it shows of this data, and how to read it."""
    finding, below = keep_units(finding), keep_units(below)
    st.html(
        f'<div class="kv-figt">{escape(finding)}</div><div class="kv-figs">{escape(below)}</div>'
    )


def keep_units(text: str) -> str:
    """The text with no line break between a number and its unit, nor behind the sign before it."""
    return BEHIND_SIGN.sub("\u00a0", BEFORE_UNIT.sub("\u00a0", text))


def key(swatches: Iterable[tuple[str, str]]) -> str:
    """What the colours of a figure mean, as HTML.

    The class of a swatch (see look.css) and its words.
    """
    cells = "".join(
        f'<span><i class="kv-sw {kind}"></i>{escape(words)}</span>' for kind, words in swatches
    )
    return f'<div class="kv-key">{cells}</div>'


def tab_counts(key: str, counts: Iterable[int]) -> None:
    """How many rows stand behind each tab, beside its name.

    In the name itself they would become part of every link to it.
    """
    tab = f'.st-key-{key} [role="tab"]'
    rules = (
        f'{tab}[data-key="{index}"] p::after {{ content: "{group(count)}"; }}'
        for index, count in enumerate(counts)
    )
    st.html(f"<style>{' '.join(rules)}</style>")


def facts(groups: Iterable[tuple[str, str, Iterable[tuple[str, str]]]]) -> None:
    """Groups of facts: a colour's name, a heading, and rows of label and value; a value is HTML."""
    st.html("".join(_facts(*group) for group in groups))


def _facts(colour: str, name: str, rows: Iterable[tuple[str, str]]) -> str:
    cells = "".join(f"<dt>{escape(label)}</dt><dd>{html}</dd>" for label, html in rows)
    return (
        f'<div class="kv-ft"><i class="kv-dot {colour}"></i>{escape(name)}</div>'
        f'<dl class="kv-facts">{cells}</dl>'
    )


def table(head: str, rows: Iterable[str]) -> None:
    """A short table, exact to the letter.

    The cells of its head and its rows (<tr>…</tr>) are HTML.
    """
    rows = list(rows)
    # what scrolls has to be reached by key
    scrolled = ' tabindex="0"' if len(rows) > ROWS_AT_ONCE else ""
    body = (
        f'<table class="kv-tbl"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )
    st.html(f'<div class="kv-tblwrap"{scrolled}>{body}</div>')


@contextmanager
def empty(name: str, finding: str, reason: str, level: int = 2) -> Generator[None]:
    """Nothing here yet: what it is, why, and, in the with block, one way on.

    Args:
        level: 1 where the page has no other title.
    """
    with st.container(key=f"kv_empty_{name}"):
        art("empty", 120, 52, name)
        st.html(
            f'<div class="kv-empty"><h{level}>{escape(finding)}</h{level}>'
            f"<p>{escape(reason)}</p></div>"
        )
        with st.container(
            key=f"kv_act_{name}", horizontal=True, horizontal_alignment="center", gap=8
        ):
            yield


@contextmanager
def state(
    name: str,
    mark: str,
    finding: str,
    reason: str,
    evidence: Callable[[], None] | None = None,
    *,
    level: int = 2,
) -> Generator[None]:
    """Something is wrong, or only part is there.

    A mark (a severity or an icon), what, why, and, in the with block, the way on.

    evidence draws what stands between the sentences and the way on.

    Args:
        level: 1 where the page has no other title.
    """
    sign = severity(mark) if mark in SEVERITIES else icon(mark)
    with st.container(key=f"kv_state_{name}"):
        st.html(
            f'<div class="kv-state">{sign}<div><h{level}>{escape(finding)}</h{level}>'
            f"<p>{escape(reason)}</p></div></div>"
        )
        if evidence:
            evidence()
        with st.container(key=f"kv_act_{name}", horizontal=True, gap=8):
            yield
