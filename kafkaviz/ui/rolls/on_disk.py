"""The rolls of a topic-partition on disk: its lanes, the settings it ran with, and where each of
them was found.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from kafkaviz import units
from kafkaviz.analyse import lanes
from kafkaviz.analyse.lanes import Lanes
from kafkaviz.analyse.limits import Load
from kafkaviz.log import settings as found_settings
from kafkaviz.log.partition import Partition
from kafkaviz.log.settings import Origin
from kafkaviz.simulate.config import log_config
from kafkaviz.ui import parts
from kafkaviz.ui.cache import Listed
from kafkaviz.ui.rolls.options import MIB, SETTINGS
from kafkaviz.ui.rolls.panel import PANEL
from kafkaviz.ui.rolls.simulated import load_of
from kafkaviz.ui.workloads import written
from kafkaviz.units import group
from kafkaviz.words import counted, say

KEPT = 24


@dataclass(frozen=True)
class Real:
    """The lanes of a partition on disk, and where each of its settings came from, by its name;
    lanes.inferred has those of its rolls.
    """

    lanes: Lanes
    load: Load
    key: str
    origins: Mapping[str, Origin]


def real(here: Listed, directory: str) -> Real:
    """The lanes of a topic-partition. Raises KafkavizError as reading it does."""
    return _real(f"{here.key}|{directory!r}", here, directory)


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _real(key: str, _here: Listed, directory: str) -> Real:
    partition = _here.broker.partition(directory)
    known = found_settings.open_settings(_here.broker).of_topic(partition.topic)
    config = log_config({name: one.value for name, one in known.items()})
    told = [name for name, one in known.items() if one.origin != Origin.DEFAULT]
    shown = lanes.of_partition(partition, config, told)
    return Real(
        shown,
        _load_on_disk(partition),
        key,
        {name: known[name].origin for name in SETTINGS if name in known},
    )


def _load_on_disk(partition: Partition) -> Load:
    """The batches' mean size, from the headers of a part of one segment: enough for curves that are
    drawn on log axes.
    """
    one = next(
        (segment for segment in reversed(partition.live) if segment.log and segment.log.size_bytes),
        None,
    )
    if one is None:
        return Load(1)
    for rows in one.scan(0, 4 * MIB):
        return load_of(rows["size_bytes"], rows["record_count"])
    return Load(1)


def _source(found: Real, name: str) -> str:
    """Where a setting came from, in a few words; nothing where that is not known."""
    bounds = found.lanes.inferred.get(name)
    if bounds:
        return say("rolls.inferred", low=group(bounds.low), high=group(bounds.high))
    origin = found.origins.get(name)
    return say(f"rolls.origin_{origin.name.lower()}") if origin else ""


def found_in(found: Real, count: int) -> None:
    """The settings that the partition ran with, and where each was found."""
    on_disk = counted("rolls.segments_on_disk", count, n=units.group(count))
    cells = [
        (
            f'<div><div class="kv-lab">{say("rolls.found_in")}</div>'
            f'<b class="kv-sm">{on_disk}</b></div>'
        )
    ]
    for name in PANEL:
        value = written(name, getattr(found.lanes.config, name.replace(".", "_")))
        source = (
            f'<div class="kv-fnt" style="font-size:12px">{parts.escape(_source(found, name))}</div>'
        )
        cells.append(f"<div>{parts.label(name, value)}{source}</div>")
    with st.container(key="kv_set"):
        st.html(f'<div class="kv-found">{"".join(cells)}</div>')
    st.space(16)
