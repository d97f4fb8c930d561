"""The Health page: the problems of a directory, and what the next broker start-up will do."""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, cast

import streamlit as st

from kafkaviz import messages, units, versions
from kafkaviz.app import page_state
from kafkaviz.app.cache.broker_cache import HASH_FUNCS, MAX_BROKERS, BrokerSnapshot
from kafkaviz.app.frame import frame, pages
from kafkaviz.app.frontend import findings
from kafkaviz.app.pages.health.rebuilt_indexes import render_rebuilt_indexes
from kafkaviz.app.run_queue import in_turn
from kafkaviz.app.state import check_jobs, page_location
from kafkaviz.app.state.check_jobs import (
    LARGE_BYTES,
    check_again,
    is_for_spark,
    is_large,
)
from kafkaviz.app.widgets import elements, faults, progress_strip, tables
from kafkaviz.app.widgets.elements import apply_print_style
from kafkaviz.errors import KafkavizError
from kafkaviz.figures.health import health_view
from kafkaviz.log.remote import address
from kafkaviz.messages import render, say

if TYPE_CHECKING:
    from kafkaviz.analysis.broker_health import Health

TRACES = "traces"  # an option in place of a release: the one that the directory's files show


@in_turn
def render_page() -> None:
    """Draws the page.

    For a very large directory, the pipeline finds the problems, always for the inferred release.
    """
    location = frame("Health")
    apply_print_style()
    snapshot = faults.require_snapshot(location)
    chosen_release = address_release()
    checked_release = "" if is_large(snapshot) else chosen_release
    if is_for_spark(snapshot):
        render_head(snapshot, None, checked_release)
        render_traces_notice(snapshot, chosen_release)
        return progress_strip.render_ingest_strip(snapshot)
    _render_check(snapshot, checked_release, chosen_release)


def _render_check(snapshot: BrokerSnapshot, checked_release: str, chosen_release: str) -> None:
    error_count = check_jobs.error_count(snapshot)
    job = check_jobs.get_or_start(snapshot, checked_release)
    is_over = job.wait_until_over(check_jobs.QUICK_S)
    if is_over and check_jobs.error_count(snapshot) != error_count:
        st.rerun()  # the sidebar, which shows this number, was drawn before the number was known
    render_head(snapshot, job.result if is_over else None, checked_release)
    render_traces_notice(snapshot, chosen_release)
    if not is_over or job.error is not None:
        return progress_strip.render_unfinished_check(snapshot, checked_release)
    health = cast("Health", job.result)
    finding_list, start = _payloads(snapshot, checked_release, messages.language(), health)
    findings(finding_list)
    st.space(16)
    render_rebuilt_indexes(
        snapshot, health.findings, checked_release or health.assumed_release.version
    )
    if any(finding.needs_replica for finding in health.findings):
        _render_compare_link(snapshot)
    st.space(16)
    findings(start, "kv_start")


def _render_compare_link(snapshot: BrokerSnapshot) -> None:
    command = f"kafkaviz compare {page_location.shell_paths(snapshot.broker, ',')}"
    with st.expander(say("health.other_replica")):
        elements.paragraph(say("health.other_replica_below"))
        st.code(f"{command} {say('health.other_directory')}", language="bash", wrap_lines=True)
        st.page_link(
            pages()["Compare"].script,
            label=say("health.compare"),
            icon=":material/compare_arrows:",
            query_params=page_state.address(
                page_state.join_directories(map(address.display, snapshot.broker.sources))
            ),
        )


@st.cache_resource(max_entries=MAX_BROKERS, show_spinner=False, hash_funcs=HASH_FUNCS)
def _payloads(
    snapshot: BrokerSnapshot, release: str, language: str, _health: "Health"
) -> tuple[dict, dict]:
    view = health_view.view(_health)
    return (
        health_view.findings_payload(view, f"{snapshot.key} {release}"),
        health_view.start_payload(view),
    )


def address_release() -> str:
    """Returns the release in the address, or "" if the address has no valid release."""
    release_text = st.query_params.get(page_state.RELEASE, "")
    with suppress(KafkavizError):
        return release_text and ".".join(map(str, versions.parse(release_text)))
    return ""


def render_head(snapshot: BrokerSnapshot, health: "Health | None", release: str) -> None:
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
    file_name = f"{name}-health.json"
    tables.download("JSON", lambda: _health_json(health), file_name, "kv_json", "application/json")
    st.download_button(
        say("common.report"),
        lambda: _report_html(snapshot, health, release),
        tables.report_name(snapshot.broker),
        "text/html",
        on_click="ignore",
        icon=":material/download:",
        help=say("health.report_help"),
        key="kv_report",
    )


def _choose_release(health: "Health | None", release: str) -> None:
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
    from kafkaviz.analysis.broker_health import health_object

    return json.dumps(health_object(health), ensure_ascii=False, indent=2)


def _report_html(snapshot: BrokerSnapshot, health: "Health", release: str) -> str:
    from kafkaviz.report import report

    return report(snapshot.broker, int(time.time() * 1000), release or None, known_health=health)
