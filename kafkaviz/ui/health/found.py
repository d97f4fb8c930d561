"""What a checkup found, or why it did not come to an end."""

from contextlib import suppress
from typing import TYPE_CHECKING

import streamlit as st

from kafkaviz import words
from kafkaviz.errors import KafkavizError
from kafkaviz.figures import checkup as drawn
from kafkaviz.figures import fault_words
from kafkaviz.log import file
from kafkaviz.ui import parts
from kafkaviz.ui.cache import KEPT, Listed
from kafkaviz.ui.checkups import Stopped, again
from kafkaviz.ui.components.findings import findings
from kafkaviz.words import say

if TYPE_CHECKING:
    from kafkaviz.analyse.health import Health


def told(here: Listed, health: "Health", asked: str) -> None:
    """The findings, what the next start does, and what retention keeps."""
    findings(_message(here.key, asked, words.language(), health))


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _message(key: str, asked: str, spoken: str, _health: "Health") -> dict:
    broker = _health.broker
    logs = {
        (one.directory, found.base_offset): found.log.size_bytes
        for one in broker.partitions
        for found in one.segments
        if found.log
    }

    def read(name: str, position: int, length: int) -> bytes:
        with suppress(KafkavizError):
            return file.read(broker.path / name, position, length)
        return b""

    of = _health.retention, broker.left != "unknown", _health.version.version
    shown = drawn.view(_health.findings, _health.restart, logs, read, len(broker.partitions), *of)
    return drawn.message(shown, f"{key} {asked}")


def not_ended(here: Listed, error: Exception, asked: str) -> None:
    """Why there are no findings, and the way to check again."""
    with parts.state(
        "checkup",
        "error",
        say("health.not_ended"),
        say("health.not_ended_why", error=_cause(error)),
    ):
        st.button(
            say("health.check_again"), key="kv_checkup_again", on_click=again, args=(here, asked)
        )


def _cause(error: Exception) -> str:
    """Why a checkup has no findings."""
    if isinstance(error, Stopped):
        return say("health.was_cancelled")
    own = say("health.own_fault", fault=f"{type(error).__name__}: {error}")
    return fault_words.told(error) if isinstance(error, KafkavizError) else own
