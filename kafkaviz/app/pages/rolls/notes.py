"""Settings of a simulated log that do not work, and what else must be said of it, in place of a
traceback.
"""

from typing import cast

import streamlit as st

from kafkaviz import config_def, units
from kafkaviz.analysis.limits import IndexRoom, index_room
from kafkaviz.app.pages.rolls.simulated_log import RollSimulation
from kafkaviz.app.widgets import elements
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.producers.workload import Workload
from kafkaviz.words import say


def render_notes(workload: Workload, config: LogConfig, run: RollSimulation) -> None:
    """In place of a traceback: what Kafka does with such settings."""
    room = index_room(config.segment_index_bytes)
    if room == IndexRoom.NONE:
        key = "rolls.no_offset_entry" if config.segment_index_bytes < 8 else "rolls.no_time_entry"
        _render_note(
            "room",
            "error",
            say("rolls.no_log"),
            say(key, room=units.size(config.segment_index_bytes), failed=run.error),
        )
    elif room == IndexRoom.ALWAYS_FULL:
        _render_note(
            "room",
            "warning",
            say("rolls.every_append"),
            say("rolls.always_full", room=units.size(config.segment_index_bytes)),
        )
    elif run.error:
        _render_note(
            "refused", "error", say("rolls.refused"), say("rolls.refused_below", failed=run.error)
        )
    if config.segment_bytes < cast(
        int, config_def.setting("segment.bytes").topic_minimum(workload.release)
    ):
        _render_note(
            "toy_size",
            "info",
            say("rolls.toy_size"),
            say("rolls.toy_size_below", version=workload.kafka_version),
        )
    if run.is_cut:
        counts = {
            "batches": units.group(len(run.appended_batches)),
            "segments": units.group(len(run.history.segments)),
        }
        _render_note("cut", "info", say("rolls.cut", **counts), say("rolls.cut_below"))


def _render_note(name: str, mark: str, finding: str, reason: str) -> None:
    """A sentence in its place. name: its own on this page: two of one mark may stand together."""
    with elements.state(f"note_{name}", mark, finding, reason):
        pass
    st.space(16)
