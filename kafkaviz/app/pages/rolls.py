"""The Rolls page: when and why the segments of a simulated or real log were rolled."""

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from kafkaviz import units
from kafkaviz.analysis import roll_history
from kafkaviz.analysis.roll_history import RollHistory
from kafkaviz.analysis.roll_limits import WriteLoad
from kafkaviz.app import page_state
from kafkaviz.app.cache import simulation_cache
from kafkaviz.app.cache.broker_cache import HASH_FUNCS, BrokerSnapshot
from kafkaviz.app.frame import frame
from kafkaviz.app.pages import rolls_figures
from kafkaviz.app.pages.rolls_controls import PANEL_SETTINGS, SETTINGS, render_controls
from kafkaviz.app.registry import PAGES
from kafkaviz.app.scheduling import in_turn
from kafkaviz.app.state.page_location import Location, PartitionLocation
from kafkaviz.app.widgets import choice, elements, faults
from kafkaviz.app.workloads import format_setting
from kafkaviz.errors import KafkavizError
from kafkaviz.html import tag
from kafkaviz.log import settings as log_settings
from kafkaviz.log.broker import Broker
from kafkaviz.log.partition import Partition
from kafkaviz.log.settings import Origin
from kafkaviz.messages import say, say_count
from kafkaviz.render.sentences import describe_error_sentence
from kafkaviz.simulate.config import log_config
from kafkaviz.units import MIB, MISSING

CHART, GROWTH, LIMITS = PAGES["Rolls"].tabs
CONTROLS = {GROWTH: (page_state.STORY, page_state.STEP)}
CHOICES = (
    page_state.WORKLOAD,
    *page_state.SETTING.values(),
    page_state.SPEED,
    page_state.BATCH_SIZE,
    page_state.STORY,
)
SIMULATED = "Simulated"  # a value of page_state.ROLLS_SUBJECT
OTHER_PARTITIONS = 2
NAME_CHARACTERS = 22


@in_turn
def render_page() -> None:
    location = frame("Rolls", get_subject=_simulated_name)
    elements.apply_print_style()
    _render_body(location, _render_head(location))


@st.fragment
def _render_body(location: Location, subject: str) -> None:
    """Draws everything below the title. A slider reruns only this part."""
    choice.carry_over(CHOICES, location.address)
    choice.open_by_address(CONTROLS)
    with st.container(gap=None, key="kv_rolls"):
        tab, container = choice.render_tabs(PAGES["Rolls"].tab_labels, CONTROLS)
        with container, st.container(gap=None):
            if tab == GROWTH:
                rolls_figures.render_growth(is_simulated=subject == SIMULATED)
            elif subject == SIMULATED:
                _render_simulated_log(tab)
            else:
                _render_partition(tab, location)


def _render_simulated_log(tab: str) -> None:
    chosen = render_controls()
    if chosen is None:
        return
    try:
        run = simulation_cache.simulate(chosen.workload, chosen.config)
    except KafkavizError as fault:
        elements.state("unmade", "error", say("rolls.unmade"), describe_error_sentence(fault))
        return
    rolls_figures.render_notes(chosen.workload, chosen.config, run)
    if not run.history.segments:
        return
    if tab == LIMITS:
        rolls_figures.render_limits(run.history, run.load, run.key, chosen.workload)
        return
    rolls_figures.render_timeline(run.history, run.key, run.appended_batches)
    rolls_figures.render_comparison(chosen, run.history)
    rolls_figures.render_download(chosen.workload, chosen.config, run)


def _render_partition(tab: str, location: Location) -> None:
    location = faults.require_partition(location)
    try:
        log_rolls = rolls_on_disk(location.snapshot, location.partition)
    except KafkavizError as fault:
        return faults.unread(say("rolls.untold"), fault, location.directory)
    render_settings(log_rolls, len(location.partition.live))
    history = log_rolls.history
    if not history.segments:
        elements.empty("rolls", say("rolls.empty"), say("rolls.empty_below"))
    elif tab == LIMITS:
        rolls_figures.render_limits(history, log_rolls.load, log_rolls.key)
    else:
        rolls_figures.render_timeline(history, log_rolls.key, None)


def _render_head(location: Location) -> str:
    labels = _labels(location)
    current = _current_label(list(labels))
    with st.container(horizontal=True, vertical_alignment="bottom", key="kv_head"):
        lead = st.container(width="stretch")
        label = st.segmented_control(
            say("rolls.of"),
            list(labels),
            format_func=_label_text,
            default=current,
            required=True,
            label_visibility="collapsed",
            key=f"kv_rolls_of_{current}",
        )
        label = label or current
    source_name = labels[label]
    if label != current:
        st.session_state[page_state.ROLLS_ON_DISK] = source_name != SIMULATED
        address = location.address
        if source_name != SIMULATED:
            address = page_state.address(location.directory, source_name)
            address[page_state.ROLLS_SUBJECT] = label
        elements.open_page("Rolls", address)
    with lead:
        text = say("rolls.lead")
        if source_name != SIMULATED and isinstance(location, PartitionLocation):
            name = units.escape_controls(location.partition.label)
            text = say_count("rolls.lead_on_disk", len(location.partition.live), partition=name)
        elements.title(say("common.page_rolls"), text, gap=0)
    return source_name


def _labels(location: Location) -> dict[str, str]:
    return {
        elements.cut_middle(source, NAME_CHARACTERS): source for source in _source_names(location)
    }


def _simulated_name(location: Location) -> str:
    is_simulated = _current_label(list(_labels(location))) == SIMULATED
    return say("rolls.simulated") if is_simulated else ""


def _label_text(label: str) -> str:
    return say("workloads.workload") if label == SIMULATED else elements.escape_markdown(label)


def _current_label(labels: list[str]) -> str:
    """Returns the label that the address or session chose. The default is SIMULATED."""
    label = st.query_params.get(page_state.ROLLS_SUBJECT)
    if label == SIMULATED or len(labels) == 1:
        return labels[0]
    if label in labels or st.session_state.get(page_state.ROLLS_ON_DISK):
        return labels[1]
    return labels[0]


def _source_names(location: Location) -> list[str]:
    """Returns SIMULATED, the open topic-partition, and the two others with the most segments.

    Returns only SIMULATED if no topic-partition is open.
    """
    if not isinstance(location, PartitionLocation):
        return [SIMULATED]
    own_directory = location.partition_name
    counts = _segment_counts(location.broker, own_directory)
    others = sorted(counts, key=lambda pair: -pair[1])[:OTHER_PARTITIONS]
    return [SIMULATED, units.escape_controls(own_directory), *(name for name, _ in others)]


def _segment_counts(broker: Broker, own_directory: str) -> list[tuple[str, int]]:
    counts = (
        (broker.partition_name(partition), len(partition.live))
        for partition in broker.partitions
        if partition.state == "current" and broker.partition_name(partition) != own_directory
    )
    return [(units.escape_controls(name), count) for name, count in counts if count > 1]


@dataclass(frozen=True)
class RollsOnDisk:
    """The roll history of a topic-partition on disk."""

    history: RollHistory  # limits inferred from rolls are in its `inferred_limits`
    load: WriteLoad  # the mean batch at the beginning of the last segment
    key: str
    origins: Mapping[str, Origin]  # the source of each setting


@st.cache_resource(max_entries=24, show_spinner=False, hash_funcs=HASH_FUNCS)
def rolls_on_disk(snapshot: BrokerSnapshot, partition: Partition) -> RollsOnDisk:
    """Returns the roll history of a topic-partition.

    Raises KafkavizError if a file cannot be read.
    """
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
    """Returns the mean size and record count of the first batches in the last non-empty .log."""
    last_segment = next(
        (segment for segment in reversed(partition.live) if segment.log.size_bytes), None
    )
    if last_segment is None:
        return WriteLoad(1)
    for rows in last_segment.scan(0, 4 * MIB):
        return simulation_cache.load_of(rows["size_bytes"], rows["record_count"])
    return WriteLoad(1)


def _origin_text(rolls: RollsOnDisk, name: str) -> str:
    bounds = rolls.history.inferred_limits.get(name)
    if bounds:
        return say("rolls.inferred", low=bounds.low, high=bounds.high)
    origin = rolls.origins.get(name)
    if origin is Origin.UNKNOWN:
        return say("setting_source.metadata_log_elsewhere")
    return say(f"rolls.origin_{origin.name.lower()}") if origin else ""


def render_settings(rolls: RollsOnDisk, count: int) -> None:
    found_in = tag("div", say("rolls.found_in"), class_="kv-lab")
    on_disk = tag("b", say_count("rolls.segments_on_disk", count), class_="kv-sm")
    cells = [tag("div", found_in, on_disk)]
    for name in PANEL_SETTINGS:
        value = format_setting(name, getattr(rolls.history.config, name.replace(".", "_")))
        is_inferred = bool(rolls.history.inferred_limits.get(name))
        if rolls.origins.get(name) is Origin.UNKNOWN and not is_inferred:
            value = MISSING
        source = tag("div", _origin_text(rolls, name), class_="kv-fnt", style="font-size:12px")
        cells.append(tag("div", elements.label(name, value), source))
    with st.container(key="kv_set"):
        st.html(tag("div", *cells, class_="kv-found"))
    st.space(16)
