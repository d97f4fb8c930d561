"""What a checkup found, or why it did not come to an end."""

from contextlib import suppress
from typing import TYPE_CHECKING

import streamlit as st

from kafkaviz import words
from kafkaviz.app.cache.broker_cache import MAX_BROKERS, BrokerSnapshot
from kafkaviz.app.components.findings import findings
from kafkaviz.app.state.checkups import CheckupCancelled, check_again
from kafkaviz.app.widgets import elements
from kafkaviz.errors import KafkavizError
from kafkaviz.figures import checkup as checkup_figure
from kafkaviz.figures import error_text
from kafkaviz.log import file
from kafkaviz.words import say

if TYPE_CHECKING:
    from kafkaviz.analysis.health import Health


def render_findings(snapshot: BrokerSnapshot, health: "Health", release: str) -> None:
    """The findings, what the next start does, and what retention keeps."""
    findings(_message(snapshot.key, release, words.language(), health))


@st.cache_resource(max_entries=MAX_BROKERS, show_spinner=False)
def _message(key: str, release: str, language: str, _health: "Health") -> dict:
    broker = _health.broker
    logs = {
        (partition.directory, segment.base_offset): segment.log.size_bytes
        for partition in broker.partitions
        for segment in partition.segments
        if segment.log
    }

    def read_bytes(name: str, position: int, length: int) -> bytes:
        with suppress(KafkavizError):
            return file.read(broker.path / name, position, length)
        return b""

    view = checkup_figure.view(
        _health.findings,
        _health.restart,
        logs,
        read_bytes=read_bytes,
        logs=len(broker.partitions),
        log_retention=_health.retention,
        is_left_known=broker.shutdown_state != "unknown",
        release=_health.version.version,
    )
    return checkup_figure.message(view, f"{key} {release}")


def render_failure(snapshot: BrokerSnapshot, error: Exception, release: str) -> None:
    """Why there are no findings, and the way to check again."""
    with elements.state(
        "checkup",
        "error",
        say("health.not_ended"),
        say("health.not_ended_why", error=_failure_text(error)),
    ):
        st.button(
            say("health.check_again"),
            key="kv_checkup_again",
            on_click=check_again,
            args=(snapshot, release),
        )


def _failure_text(error: Exception) -> str:
    """Why a checkup has no findings."""
    if isinstance(error, CheckupCancelled):
        return say("health.was_cancelled")
    own_fault = say("health.own_fault", fault=f"{type(error).__name__}: {error}")
    return error_text.describe(error) if isinstance(error, KafkavizError) else own_fault
