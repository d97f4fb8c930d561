"""The strip of a job: one line about what it does and how far it is, and at its end a button."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from kafkaviz.app.widgets import elements


def render_strip(
    key: str,
    line: str,
    *,
    button_label: str = "",
    button_key: str = "",
    on_click: Callable[..., Any] | None = None,
    args: tuple[Any, ...] = (),
) -> None:
    """A strip and its button, if it has one.

    Args:
        line: see line_html.
    """
    with st.container(horizontal=True, key=key, vertical_alignment="center"):
        st.html(line)
        if button_label:
            st.button(button_label, type="tertiary", key=button_key, on_click=on_click, args=args)


def line_html(text: str, aside: str, share: float | None = None, mark: str = "") -> str:
    """The line as HTML: a sentence, a bar where a share is known, and small words.

    Args:
        text: plain text.
        aside: plain text.
        mark: as HTML, in place of the sign of what is under way.
    """
    bar = (
        ""
        if share is None
        else f'<div class="kv-prog"><i style="width:{100 * share:.0f}%"></i></div>'
    )
    return (
        f'<div class="kv-work" role="status">{mark or elements.icon("bolt", small=True)}'
        f"<span>{elements.escape(text)}</span>{bar}"
        f'<span class="kv-fnt">{elements.escape(aside)}</span></div>'
    )
