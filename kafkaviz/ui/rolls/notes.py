"""Settings of a simulated log that do not work, and what else must be said of it, in place of a
traceback.
"""

from typing import cast

import streamlit as st

from kafkaviz import config_def, units
from kafkaviz.analyse.limits import IndexRoom, index_room
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.sending.workload import Workload
from kafkaviz.ui import parts
from kafkaviz.ui.rolls.simulated import Simulated
from kafkaviz.words import say


def notes(of: Workload, config: LogConfig, run: Simulated) -> None:
    """In place of a traceback: what Kafka does with such settings."""
    room = index_room(config.segment_index_bytes)
    if room == IndexRoom.NONE:
        key = "rolls.no_offset_entry" if config.segment_index_bytes < 8 else "rolls.no_time_entry"
        _note(
            "room",
            "error",
            say("rolls.no_log"),
            say(key, room=units.size(config.segment_index_bytes), failed=run.failed),
        )
    elif room == IndexRoom.ALWAYS_FULL:
        _note(
            "room",
            "warning",
            say("rolls.every_append"),
            say("rolls.always_full", room=units.size(config.segment_index_bytes)),
        )
    elif run.failed:
        _note(
            "refused", "error", say("rolls.refused"), say("rolls.refused_below", failed=run.failed)
        )
    if config.segment_bytes < cast(int, config_def.setting("segment.bytes").smallest(of.release)):
        _note(
            "toy_size",
            "info",
            say("rolls.toy_size"),
            say("rolls.toy_size_below", version=of.kafka_version),
        )
    if run.is_cut:
        many = {
            "batches": units.group(len(run.appended)),
            "segments": units.group(len(run.lanes.lanes)),
        }
        _note("cut", "info", say("rolls.cut", **many), say("rolls.cut_below"))


def _note(name: str, mark: str, finding: str, why: str) -> None:
    """A sentence in its place. name: its own on this page: two of one mark may stand together."""
    with parts.state(f"note_{name}", mark, finding, why):
        pass
    st.space(16)
