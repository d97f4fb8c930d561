"""The head of the Health page: how the broker was stopped, the assumed release, downloads."""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

import streamlit as st

from kafkaviz import units, versions
from kafkaviz.app import page_state
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.state import page_location
from kafkaviz.app.state.checkups import LARGE_BYTES, check_again, is_large
from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.tables import report_name
from kafkaviz.errors import KafkavizError
from kafkaviz.messages import render, say

if TYPE_CHECKING:
    from kafkaviz.analysis.health.broker_health import Health

TRACES = "traces"  # instead of a release: the directory's own traces decide


def address_release() -> str:
    """Returns the release in the address, "" if it has no valid one."""
    release_text = st.query_params.get(page_state.RELEASE, "")
    with suppress(KafkavizError):
        return release_text and ".".join(map(str, versions.parse(release_text)))
    return ""


def render_head(snapshot: BrokerSnapshot, health: "Health | None", release: str) -> None:
    """Draws the title, how the broker was stopped, the release control and the downloads."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="kv_head"):
        elements.title(
            say("common.page_health"), say(f"health.left_{snapshot.broker.shutdown_state}"), gap=0
        )
        _choose_release(health, release)
        if health:
            st.button(
                say("health.check_again"),
                on_click=check_again,
                args=(snapshot, release),
                type="tertiary",
                icon=":material/refresh:",
                help=say("health.check_again_help"),
                key="kv_check_again",
            )
            _render_downloads(snapshot, health, release)


def render_traces_notice(snapshot: BrokerSnapshot, release: str) -> None:
    """Draws a notice if the directory is too large to be checked as this release."""
    if not (release and is_large(snapshot)):
        return
    paths = page_location.shell_paths(snapshot.broker)
    command = f"kafkaviz check {paths} --kafka-version {release}"
    size = units.format_bytes(LARGE_BYTES)
    with elements.state(
        "by_traces",
        "info",
        say("health.not_as", release=release),
        say("health.not_as_why", size=size, command=command),
    ):
        st.button(
            say("health.as_traces_tell"),
            key="kv_by_traces",
            on_click=cast(Callable[..., None], st.query_params.pop),
            args=(page_state.RELEASE, None),
        )
    st.space(12)


def _render_downloads(snapshot: BrokerSnapshot, health: "Health", release: str) -> None:
    name = units.escape_controls(snapshot.broker.name)
    widget_options: dict[str, Any] = {"on_click": "ignore", "icon": ":material/download:"}
    st.download_button(
        "JSON",
        lambda: _health_json(health),
        f"{name}-health.json",
        "application/json",
        type="tertiary",
        key="kv_json",
        **widget_options,
    )
    widget_options |= {"help": say("health.report_help"), "key": "kv_report"}
    st.download_button(
        say("common.report"),
        lambda: _report_html(snapshot, health, release),
        report_name(snapshot.broker),
        "text/html",
        **widget_options,
    )


def _choose_release(health: "Health | None", release: str) -> None:
    """Draws the menu of the assumed release, by default that of the directory's traces."""
    text_key = "by_traces" if health and health.assumed_release.is_decided else "newest_known"
    traces_text = (
        say(f"health.{text_key}", release=health.assumed_release.version)
        if health and not release
        else say("health.as_traces_tell")
    )
    options = [
        option
        for option in (TRACES, *versions.SELECTABLE_RELEASES)
        if option != (release or TRACES)
    ]
    help_text = render(health.assumed_release.reason) if health else say("health.release_help")
    choice = st.menu_button(
        say("health.as_release", release=release) if release else traces_text,
        options,
        help=help_text,
        format_func=(
            lambda option: (
                traces_text if option == TRACES else say("health.as_release", release=option)
            )
        ),
        key="kv_release",
    )
    if choice:
        st.query_params.pop(page_state.RELEASE, None)
        if choice != TRACES:
            st.query_params[page_state.RELEASE] = choice
        st.rerun()


def _health_json(health: "Health") -> str:
    """Returns the output of `kafkaviz check --json`."""
    from kafkaviz.analysis.health.health_object import as_object

    return json.dumps(as_object(health), ensure_ascii=False, indent=2)


def _report_html(snapshot: BrokerSnapshot, health: "Health", release: str) -> str:
    """Returns the output of `kafkaviz report`, for which the directory is read again."""
    from kafkaviz.report import report

    return report(snapshot.broker, int(time.time() * 1000), release or None, checkup=health)
