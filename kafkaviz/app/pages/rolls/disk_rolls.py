"""The rolls of a topic-partition on disk, its settings, and where each setting was found."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from kafkaviz.analysis.rolls import roll_history
from kafkaviz.analysis.rolls.limits import WriteLoad
from kafkaviz.analysis.rolls.roll_history import RollHistory
from kafkaviz.app.cache.broker_cache import HASH_FUNCS, BrokerSnapshot
from kafkaviz.app.cache.simulation_cache import load_of
from kafkaviz.app.pages.rolls.controls import MIB, PANEL_SETTINGS, SETTINGS
from kafkaviz.app.widgets import elements
from kafkaviz.app.widgets.choice import broker_names_text
from kafkaviz.app.workloads import format_setting
from kafkaviz.log import settings as log_settings
from kafkaviz.log.partition import Partition
from kafkaviz.log.settings import Origin
from kafkaviz.messages import say, say_count
from kafkaviz.simulate.config import log_config
from kafkaviz.units import MISSING, format_count

CACHE_ENTRIES = 24


@dataclass(frozen=True)
class RollsOnDisk:
    """The roll history of a topic-partition on disk.

    Attributes:
        load: the mean size of its batches.
        origins: the source of each setting; history.inferred_limits has those inferred from rolls.
    """

    history: RollHistory
    load: WriteLoad
    key: str
    origins: Mapping[str, Origin]


def rolls_on_disk(snapshot: BrokerSnapshot, directory: str) -> RollsOnDisk:
    """Returns the roll history of a topic-partition.

    Raises:
        KafkavizError: the topic-partition cannot be read.
    """
    return _rolls_on_disk(snapshot, os.fsencode(directory))


@st.cache_resource(max_entries=CACHE_ENTRIES, show_spinner=False, hash_funcs=HASH_FUNCS)
def _rolls_on_disk(snapshot: BrokerSnapshot, directory: bytes) -> RollsOnDisk:
    partition = snapshot.broker.partition(os.fsdecode(directory))
    settings = log_settings.open_settings(snapshot.broker).topic_settings(partition.topic)
    config = log_config({name: setting.value for name, setting in settings.items()})
    explicit_names = [name for name, setting in settings.items() if setting.is_given]
    history = roll_history.history_of_partition(partition, config, explicit_names)
    return RollsOnDisk(
        history,
        _load_on_disk(partition),
        f"{snapshot.key}|{snapshot.broker.partition_name(partition)!r}",
        {name: settings[name].origin for name in SETTINGS if name in settings},
    )


def _load_on_disk(partition: Partition) -> WriteLoad:
    """Returns the mean batch size at the start of the last segment, for curves on log axes."""
    last_segment = next(
        (segment for segment in reversed(partition.live) if segment.log.size_bytes),
        None,
    )
    if last_segment is None:
        return WriteLoad(1)
    for rows in last_segment.scan(0, 4 * MIB):
        return load_of(rows["size_bytes"], rows["record_count"])
    return WriteLoad(1)


def _origin_text(rolls: RollsOnDisk, name: str) -> str:
    """Returns where a setting was found, "" if that is not known."""
    bounds = rolls.history.inferred_limits.get(name)
    if bounds:
        return say("rolls.inferred", low=format_count(bounds.low), high=format_count(bounds.high))
    origin = rolls.origins.get(name)
    if origin is Origin.UNKNOWN:
        return say("setting_source.metadata_log_elsewhere")
    return say(f"rolls.origin_{origin.name.lower()}") if origin else ""


def render_settings(rolls: RollsOnDisk, count: int) -> None:
    on_disk = say_count("rolls.segments_on_disk", count)
    cells = [
        (
            f'<div><div class="kv-lab">{say("rolls.found_in")}</div>'
            f'<b class="kv-sm">{on_disk}</b></div>'
        )
    ]
    for name in PANEL_SETTINGS:
        value = format_setting(name, getattr(rolls.history.config, name.replace(".", "_")))
        is_inferred = bool(rolls.history.inferred_limits.get(name))
        if rolls.origins.get(name) is Origin.UNKNOWN and not is_inferred:
            value = MISSING
        source = (
            '<div class="kv-fnt" style="font-size:12px">'
            f"{elements.escape(_origin_text(rolls, name))}</div>"
        )
        label = elements.label(name, value, broker_names_text(name))
        cells.append(f"<div>{label}{source}</div>")
    with st.container(key="kv_set"):
        st.html(f'<div class="kv-found">{"".join(cells)}</div>')
    st.space(16)
