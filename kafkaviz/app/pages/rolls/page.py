"""The Rolls page: each roll of a simulated log or a topic-partition, and its cause."""

import numpy as np
import streamlit as st

from kafkaviz import units
from kafkaviz.analysis.rolls.limits import WriteLoad
from kafkaviz.analysis.rolls.roll_history import RollHistory
from kafkaviz.app import page_state
from kafkaviz.app.cache import simulation_cache
from kafkaviz.app.frame import frame
from kafkaviz.app.pages.rolls import disk_rolls, roll_figures, simulated_log
from kafkaviz.app.pages.rolls.controls import render_controls
from kafkaviz.app.run_queue import in_turn
from kafkaviz.app.state.page_location import Location, PartitionLocation
from kafkaviz.app.widgets import choice, elements, faults
from kafkaviz.app.widgets.elements import apply_print_style
from kafkaviz.errors import KafkavizError
from kafkaviz.figures.text.sentences import describe_error_sentence
from kafkaviz.log.broker import Broker
from kafkaviz.messages import say, say_count
from kafkaviz.simulate.config import LogConfig
from kafkaviz.simulate.producers.workload import Workload

WIDTHS = (1.15, 1)
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
    location = frame("Rolls")
    apply_print_style()
    _render_body(location, _render_head(location))


@st.fragment
def _render_body(location: Location, subject: str) -> None:
    """Draws everything below the head. A slider reruns only this part."""
    choice.carry_over(CHOICES, location.address)
    with st.container(gap=None, key="kv_rolls"):
        above = _render_simulated_log() if subject == SIMULATED else _render_partition(location)
        st.space(32)
        roll_figures.render_stories(above)


def _render_simulated_log() -> tuple[Workload, LogConfig] | None:
    """Draws a simulated log. Returns its workload and settings, or None if it cannot be made."""
    chosen = render_controls()
    if chosen is None:
        return None
    workload, config = chosen
    try:
        run = simulation_cache.simulate(workload, config)
    except KafkavizError as fault:
        with elements.state("unmade", "error", say("rolls.unmade"), describe_error_sentence(fault)):
            pass
        return None
    simulated_log.render_notes(workload, config, run)
    if not run.history.segments:
        return None
    _render_figures(run.history, run.load, run.key, run.appended_batches)
    simulated_log.render_comparison(workload, config, run.history)
    simulated_log.render_download(workload, config, run)
    return chosen


def _render_partition(location: Location) -> None:
    location = faults.require_partition(location)
    try:
        log_rolls = disk_rolls.rolls_on_disk(location.snapshot, location.partition_name)
    except KafkavizError as fault:
        with elements.state("unread", "error", say("rolls.untold"), describe_error_sentence(fault)):
            st.page_link(
                "pages/health.py",
                label=say("common.show_wrong"),
                icon=":material/ecg_heart:",
                query_params=page_state.address(location.directory),
            )
        return
    disk_rolls.render_settings(log_rolls, len(location.partition.live))
    if not log_rolls.history.segments:
        with elements.empty("rolls", say("rolls.empty"), say("rolls.empty_below")):
            pass
        return
    _render_figures(log_rolls.history, log_rolls.load, log_rolls.key, None)


def _render_figures(
    history: RollHistory, load: WriteLoad, key: str, appended: np.ndarray | None
) -> None:
    roll_figures.render_timeline(history, key, appended)
    st.space(16)
    left, right = st.columns(WIDTHS, gap=20)
    with left, st.container(key="kv_fig_limits"):
        roll_figures.render_limits(history, load, key)
    with right, st.container(gap=None):
        roll_figures.render_rolls(history)


def _render_head(location: Location) -> str:
    """Draws the title, and the choice between a simulated log and some topic-partitions.

    Returns:
        SIMULATED, or the chosen topic-partition.
    """
    labels = {
        elements.cut_middle(source, NAME_CHARACTERS): source for source in _source_names(location)
    }
    current = _current_label(list(labels))
    with st.container(horizontal=True, vertical_alignment="bottom", key="kv_head"):
        lead = st.container(width="stretch")
        label = (
            st.segmented_control(
                say("rolls.of"),
                list(labels),
                format_func=_label_text,
                default=current,
                required=True,
                label_visibility="collapsed",
                key=f"kv_rolls_of_{current}",
            )
            or current
        )
    source_name = labels[label]
    if label != current:
        st.session_state[page_state.ROLLS_ON_DISK] = source_name != SIMULATED
        parameters = (
            location.address
            if source_name == SIMULATED
            else page_state.address(location.directory, source_name)
            | {page_state.ROLLS_SUBJECT: label}
        )
        st.switch_page("pages/rolls.py", query_params=parameters)
    with lead:
        elements.title(
            say("common.page_rolls"),
            _disk_lead(location)
            if source_name != SIMULATED and isinstance(location, PartitionLocation)
            else say("rolls.lead"),
            gap=0,
        )
    return source_name


def _label_text(label: str) -> str:
    return say("rolls.simulated") if label == SIMULATED else elements.escape_markdown(label)


def _current_label(labels: list[str]) -> str:
    """Returns the choice that the address names, else the one from before, else SIMULATED.

    The control is not bound to the address, because it changes only together with the
    topic-partition.
    """
    label = st.query_params.get(page_state.ROLLS_SUBJECT)
    if label == SIMULATED or len(labels) == 1:
        return labels[0]
    if label in labels or st.session_state.get(page_state.ROLLS_ON_DISK):
        return labels[1]
    return labels[0]


def _source_names(location: Location) -> list[str]:
    """Returns SIMULATED, the open topic-partition, and the two others with the most segments."""
    if not isinstance(location, PartitionLocation):
        return [SIMULATED]
    own_directory = location.partition_name
    other_partitions = sorted(
        _segment_counts(location.broker, own_directory),
        key=lambda pair: -pair[1],
    )[:OTHER_PARTITIONS]
    return [
        SIMULATED,
        units.escape_controls(own_directory),
        *(name for name, _ in other_partitions),
    ]


def _segment_counts(broker: Broker, own_directory: str) -> list[tuple[str, int]]:
    """Returns the other topic-partitions that have rolled, with their number of segments."""
    counts = (
        (broker.partition_name(partition), len(partition.live))
        for partition in broker.partitions
        if partition.state == "current" and broker.partition_name(partition) != own_directory
    )
    return [(units.escape_controls(name), count) for name, count in counts if count > 1]


def _disk_lead(location: PartitionLocation) -> str:
    count = len(location.partition.live)
    return say_count(
        "rolls.lead_on_disk",
        count,
        partition=units.escape_controls(location.partition.label),
    )
