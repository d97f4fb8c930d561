"""Why a query has no answer: somebody cancelled it, it is wrong, or it took too much."""

from collections.abc import Callable
from functools import partial
from html import escape
from typing import TYPE_CHECKING, cast

import streamlit as st

from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.figures import fault_words
from kafkaviz.ui import parts
from kafkaviz.ui.cache import Listed
from kafkaviz.ui.explore.queries import queries
from kafkaviz.units import group
from kafkaviz.words import say
from kafkaviz.words.retold import retold

if TYPE_CHECKING:
    from kafkaviz.pipeline.sql import Place, Wrong


def cancelled(here: Listed, text: str) -> None:
    """Somebody ended it."""
    with parts.state("cancelled", "info", say("explore.cancelled"), say("explore.cancelled_why")):
        _run_again(here, text)


def failed(here: Listed, text: str, error: KafkavizError) -> None:
    """What is wrong with the query and where, or why it was ended."""
    from kafkaviz.pipeline.query import Lost, TooLarge, TooLong
    from kafkaviz.pipeline.sql import Wrong

    if isinstance(error, Wrong):
        return _wrong(text, error)
    if isinstance(error, Lost):
        finding, why = say("explore.lost"), say("explore.lost_why")
    elif isinstance(error, TooLong):
        finding, why = say("explore.too_long", n=error.seconds), say("explore.ask_less")
    elif isinstance(error, TooLarge):
        finding, why = say("explore.too_large", n=group(error.mib)), say("explore.ask_less")
    else:  # without the path of a catalog, which is the server's own
        told = (
            fault_words.what(error.what)
            if isinstance(error, CannotOpen)
            else fault_words.told(error)
        )
        finding, why = say("explore.not_ended"), say("explore.not_ended_why", error=told)
    with parts.state("failed", "error", finding, why):
        _run_again(here, text)


def _run_again(here: Listed, text: str) -> None:
    again = cast(Callable[..., None], queries().again)  # what a callback returns is dropped
    st.button(say("explore.run_again"), key="kv_again", on_click=again, args=(here, text))


def _wrong(text: str, error: "Wrong") -> None:
    """What is wrong with the query, and its line."""
    from kafkaviz.pipeline.sql import place

    at = place(text, error)
    what, advice = (retold("mistakes", one) for one in (error.what, error.advice))
    why = (
        say("explore.at", line=at.line, character=at.column, advice=advice).strip()
        if at
        else advice
    )
    with parts.state("wrong", "error", what, why, partial(_line_of, at) if at else None):
        pass


def _line_of(at: "Place") -> None:
    """The line of the query that is wrong, marked."""
    before, mark, after = at.text[: at.first], at.text[at.first : at.last], at.text[at.last :]
    st.html(
        f'<div class="kv-sqlat"><i>{at.line}</i>{escape(before)}'
        f"<b>{escape(mark) or '&nbsp;'}</b>{escape(after)}</div>"
    )
