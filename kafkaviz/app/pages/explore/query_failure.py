"""Why a query has no answer: somebody cancelled it, it is wrong, or it took too much."""

from collections.abc import Callable
from functools import partial
from html import escape
from typing import TYPE_CHECKING, cast

import streamlit as st

from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.pages.explore.queries import queries
from kafkaviz.app.widgets import elements
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.figures import error_text
from kafkaviz.units import group
from kafkaviz.words import say
from kafkaviz.words.sentence_translation import translate_sentence

if TYPE_CHECKING:
    from kafkaviz.pipeline.sql import ErrorLocation, QueryError


def render_cancelled(snapshot: BrokerSnapshot, text: str) -> None:
    """Somebody ended it."""
    with elements.state(
        "cancelled", "info", say("explore.cancelled"), say("explore.cancelled_why")
    ):
        _render_run_again(snapshot, text)


def render_failure(snapshot: BrokerSnapshot, text: str, error: KafkavizError) -> None:
    """What is wrong with the query and where, or why it was ended."""
    from kafkaviz.pipeline.query import QueryTooLarge, QueryTooLong, WorkerLost
    from kafkaviz.pipeline.sql import QueryError

    if isinstance(error, QueryError):
        return _render_mistake(text, error)
    if isinstance(error, WorkerLost):
        finding, detail = say("explore.lost"), say("explore.lost_why")
    elif isinstance(error, QueryTooLong):
        finding, detail = say("explore.too_long", n=error.seconds), say("explore.ask_less")
    elif isinstance(error, QueryTooLarge):
        finding, detail = say("explore.too_large", n=group(error.mib)), say("explore.ask_less")
    else:  # without the path of a catalog, which is the server's own
        reason = (
            error_text.describe_part(error.what)
            if isinstance(error, CannotOpen)
            else error_text.describe(error)
        )
        finding, detail = say("explore.not_ended"), say("explore.not_ended_why", error=reason)
    with elements.state("failed", "error", finding, detail):
        _render_run_again(snapshot, text)


def _render_run_again(snapshot: BrokerSnapshot, text: str) -> None:
    restart = cast(Callable[..., None], queries().restart)  # what a callback returns is dropped
    st.button(say("explore.run_again"), key="kv_again", on_click=restart, args=(snapshot, text))


def _render_mistake(text: str, error: "QueryError") -> None:
    """What is wrong with the query, and its line."""
    from kafkaviz.pipeline.sql import locate_error

    error_location = locate_error(text, error)
    mistake, advice = (
        translate_sentence("mistakes", text_key) for text_key in (error.what, error.advice)
    )
    detail = (
        say(
            "explore.at", line=error_location.line, character=error_location.column, advice=advice
        ).strip()
        if error_location
        else advice
    )
    with elements.state(
        "wrong",
        "error",
        mistake,
        detail,
        partial(_render_line, error_location) if error_location else None,
    ):
        pass


def _render_line(error_location: "ErrorLocation") -> None:
    """The line of the query that is wrong, marked."""
    before, mark, after = (
        error_location.text[: error_location.first],
        error_location.text[error_location.first : error_location.last],
        error_location.text[error_location.last :],
    )
    st.html(
        f'<div class="kv-sqlat"><i>{error_location.line}</i>{escape(before)}'
        f"<b>{escape(mark) or '&nbsp;'}</b>{escape(after)}</div>"
    )
