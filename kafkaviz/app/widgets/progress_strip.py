"""The strip of a job: one line about its work and progress, and a button."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from kafkaviz import units
from kafkaviz.app.widgets import elements
from kafkaviz.errors import KafkavizError
from kafkaviz.figures.text.sentences import describe_error
from kafkaviz.jobs import Job, JobCancelled, ReadProgress
from kafkaviz.messages import say


def render_reading_job(job: Job[Any, ReadProgress], text: str, *, button_key: str) -> None:
    """Draws how much of the logs a job has read, and a button that cancels it."""
    progress = job.progress()
    done = units.format_bytes(progress.done_bytes)
    total = units.format_bytes(progress.total_bytes)
    render_strip(
        "kv_strip_work",
        line_html(text, say("health.read_of", done=done, total=total), progress.share),
        button_label=say("common.cancel"),
        button_key=button_key,
        on_click=job.cancel,
    )


def failure_text(error: Exception) -> str:
    """Returns why a job has no result."""
    if isinstance(error, JobCancelled):
        return say("health.was_cancelled")
    if isinstance(error, KafkavizError):
        return describe_error(error)
    return say("health.own_fault", fault=f"{type(error).__name__}: {error}")


def render_strip(
    key: str,
    line: str,
    *,
    button_label: str = "",
    button_key: str = "",
    on_click: Callable[..., Any] | None = None,
    args: tuple[Any, ...] = (),
) -> None:
    """Draws a line from `line_html`, and a button if it has a label."""
    with st.container(horizontal=True, key=key, vertical_alignment="center"):
        st.html(line)
        if button_label:
            st.button(button_label, type="tertiary", key=button_key, on_click=on_click, args=args)


def line_html(text: str, aside: str, share: float | None = None, mark: str = "") -> str:
    """Returns the line as HTML: a sentence, a bar if the share is known, and a note.

    Args:
        share: the finished part, from 0 to 1.
        mark: HTML that replaces the icon of a running job.
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
