"""The head of the Health page: how the broker was left, the release that it is judged by, and the
findings to take along.
"""

import json
import shlex
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

import streamlit as st

from kafkaviz import units, versions
from kafkaviz.errors import KafkavizError
from kafkaviz.ui import parts, state, wrote
from kafkaviz.ui.cache import Listed
from kafkaviz.ui.checkups import LARGE_BYTES, again, is_large
from kafkaviz.ui.tables import report_name
from kafkaviz.words import say

if TYPE_CHECKING:
    from kafkaviz.analyse.health import Health

TRACES = "traces"  # in place of a release: what the directory's own traces say


def release() -> str:
    """The release that the directory is judged by, as the address has it; "" where its own traces
    decide.
    """
    asked = st.query_params.get(state.RELEASE, "")
    with suppress(KafkavizError):
        return asked and ".".join(map(str, versions.parse(asked)))
    return ""


def head(here: Listed, health: "Health | None", asked: str) -> None:
    """The title, how the broker was left, by which release that is judged, a way to check again,
    and the findings to take along.
    """
    with st.container(horizontal=True, vertical_alignment="bottom", key="kv_head"):
        parts.title(say("common.page_health"), say(f"health.left_{here.broker.left}"), gap=0)
        _choose_release(health, asked)
        if health:
            look: dict[str, Any] = {
                "type": "tertiary",
                "icon": ":material/refresh:",
                "help": say("health.check_again_help"),
                "key": "kv_check_again",
            }
            st.button(say("health.check_again"), on_click=again, args=(here, asked), **look)
            _downloads(here, health, asked)


def by_traces(here: Listed, wanted: str) -> None:
    """Where the directory is too large to be judged as the release that was chosen, says so, and
    how that is asked; else nothing.
    """
    if not (wanted and is_large(here)):
        return
    command = (
        f"kafkaviz check {shlex.quote(units.legible(str(here.broker.source)))} --kafka-version "
        f"{wanted}"
    )
    size = units.size(LARGE_BYTES)
    with parts.state(
        "by_traces",
        "info",
        say("health.not_as", release=wanted),
        say("health.not_as_why", size=size, command=command),
    ):
        st.button(
            say("health.as_traces_tell"),
            key="kv_by_traces",
            on_click=cast(Callable[..., None], st.query_params.pop),
            args=(state.RELEASE, None),
        )
    st.space(12)


def _downloads(here: Listed, health: "Health", asked: str) -> None:
    """The findings as JSON, and the whole report; both are made on click."""
    name = units.legible(here.broker.name)
    look: dict[str, Any] = {"on_click": "ignore", "icon": ":material/download:"}
    st.download_button(
        "JSON",
        lambda: _as_json(health),
        f"{name}-health.json",
        "application/json",
        type="tertiary",
        key="kv_json",
        **look,
    )
    look |= {"help": say("health.report_help"), "key": "kv_report"}
    st.download_button(
        say("health.report"),
        lambda: _as_page(here, health, asked),
        report_name(here.broker),
        "text/html",
        **look,
    )


def _choose_release(health: "Health | None", asked: str) -> None:
    """The release whose behaviour is told: by default the one that the directory's own traces
    say.
    """
    how = "by_traces" if health and health.version.is_decided else "newest_known"
    traces = (
        say(f"health.{how}", release=health.version.text)
        if health and not asked
        else say("health.as_traces_tell")
    )
    offered = [one for one in (TRACES, *versions.OFFERED) if one != (asked or TRACES)]
    look: dict[str, Any] = {
        "format_func": lambda one: (
            traces if one == TRACES else say("health.as_release", release=one)
        ),
        "key": "kv_release",
    }
    told = wrote.because(health.version.because) if health else say("health.release_help")
    wanted = st.menu_button(
        say("health.as_release", release=asked) if asked else traces, offered, help=told, **look
    )
    if wanted:
        st.query_params.pop(state.RELEASE, None)
        if wanted != TRACES:
            st.query_params[state.RELEASE] = wanted
        st.rerun()


def _as_json(health: "Health") -> str:
    """What `kafkaviz check --json` prints."""
    from kafkaviz.analyse.health_object import as_object

    return json.dumps(as_object(health), ensure_ascii=False, indent=2)


def _as_page(here: Listed, health: "Health", asked: str) -> str:
    """What `kafkaviz report` writes; the directory is read once more for its inventory and its
    tuning.
    """
    from kafkaviz.report import report

    return report(here.broker, int(time.time() * 1000), asked or None, checked=health)
