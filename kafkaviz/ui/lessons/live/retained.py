"""What a retention check deletes of a real topic-partition, so many days after its newest record,
by the rules of analyse.retention.
"""

import streamlit as st

from kafkaviz import units
from kafkaviz.analyse import health, retention
from kafkaviz.analyse.retention import Aged, Limits, LogRetention
from kafkaviz.config_def import DAY_MS
from kafkaviz.figures import retention_words
from kafkaviz.ui import parts, state
from kafkaviz.ui.lessons.grammar import Block, NoValue
from kafkaviz.ui.lessons.live import places
from kafkaviz.ui.lessons.live.figure import Live, Onward
from kafkaviz.ui.pick import InSegment
from kafkaviz.ui.tables import table
from kafkaviz.words import say


def _made(block: Block) -> LogRetention:
    """The check of a block. Raises NoValue where no segment tells a time."""
    here = places.place(block)
    aged = _aged(here.listed.key, here.partition.directory, here)
    times = [one.timestamp_ms for one in aged if one.timestamp_ms is not None]
    if not times:
        raise NoValue(f"{block['tp']} has no record with a time")
    limits = Limits(True, "", retention_ms=block["retention-days"] * DAY_MS)
    return retention.of_log(
        here.partition.directory, aged, limits, max(times) + block["days"] * DAY_MS
    )


@st.cache_resource(max_entries=8, show_spinner=False)
def _aged(key: str, directory: str, _here: InSegment) -> tuple[Aged, ...]:
    return tuple(
        one.aged
        for log in health.check(_here.broker, partition=directory).retention
        for one in log.segments
    )


def _draw(log: LogRetention, block: Block, key: str) -> None:
    parts.figure_head(
        f"{log.partition}, {block['data']}",
        say("workshop.retention_below", when=retention_words.when(log.now_ms)),
    )
    st.space(8)
    heads = [say(f"workshop.{name}") for name in ("segment", "newest_record", "at_the_check")]
    rows = (
        (
            units.group(one.aged.base_offset),
            retention_words.newest(one.aged),
            retention_words.reason(log, one),
        )
        for one in log.segments
    )
    table(heads, rows, "rlw")


def _onward(block: Block) -> Onward:
    return "Health", state.address(places.sample(block["data"]))


RETENTION = Live(_made, _draw, _onward)
