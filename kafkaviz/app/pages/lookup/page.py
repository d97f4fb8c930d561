"""The Lookup page: follows one offset or timestamp through the indexes to its record."""

from typing import cast

import streamlit as st

from kafkaviz import units, versions
from kafkaviz.analysis.page_cache.page_replay import COLD_AFTER_BYTES
from kafkaviz.app import frontend, page_state
from kafkaviz.app.cache import lookup_cache, lookup_source
from kafkaviz.app.cache.lookup_source import (
    OFFSET,
    OWN_SET,
    PRACTICE,
    SETS,
    TIMESTAMP,
    LookupSource,
)
from kafkaviz.app.frame import frame
from kafkaviz.app.pages.lookup import controls, result_sections
from kafkaviz.app.pages.lookup.controls import LookupQuery, open_source
from kafkaviz.app.run_queue import in_turn
from kafkaviz.app.state.page_location import Location, PartitionLocation, SegmentLocation
from kafkaviz.app.widgets import choice, elements, faults, projector
from kafkaviz.app.widgets.elements import apply_print_style
from kafkaviz.errors import CorruptFile, KafkavizError
from kafkaviz.figures.page_cache.fault_bars import turnover_text
from kafkaviz.figures.stepper import LookupContext
from kafkaviz.figures.text.sentences import describe_error, describe_error_sentence
from kafkaviz.messages import say
from kafkaviz.search.fetch import OffsetOutOfRange
from kafkaviz.search.scan import FailedRead

LABEL_CHARACTERS = 20


@in_turn
def render_page() -> None:
    """Draws the page, or why the address cannot be opened."""
    location = frame("Lookup", tools=projector.render_button)
    apply_print_style()
    projector.apply()
    own = (
        {
            OWN_SET: elements.cut_middle(
                units.escape_controls(location.partition.directory), LABEL_CHARACTERS
            )
        }
        if isinstance(location, SegmentLocation) and location.segment.log is not None
        else {}
    )
    sets = own | {name: say(f"lookup.set_{name}") for name in SETS}
    chosen_set = choice.take_from_address(page_state.SET, sets.keys(), OWN_SET, controls.parse_set)
    if chosen_set == OWN_SET or (not own and _asks_for_location(location)):
        return _render_partition(location, sets)
    _render_lookup(
        lookup_source.practice_source(chosen_set) if chosen_set in PRACTICE else open_source(),
        sets,
        versions.NEWEST,
    )


def _asks_for_location(location: Location) -> bool:
    """Returns whether the address names a place that cannot be opened, and no practice log."""
    return bool(location.fault or location.segment) and page_state.SET not in st.query_params


def _render_partition(location: Location, sets: dict[str, str]) -> None:
    location_of_segment = faults.require_segment(location)
    if location_of_segment.segment.log is None:
        with elements.state(
            "no_log", "warning", say("common.no_log"), say("lookup.no_log_below"), level=1
        ):
            st.page_link(
                "app.py",
                label=say("common.show_broker"),
                icon=":material/dns:",
                query_params=page_state.address(location.directory),
            )
        return
    try:
        source = lookup_source.open_partition(
            location_of_segment.snapshot,
            location_of_segment.partition,
            location_of_segment.segment,
        )
    except KafkavizError as fault:
        return _render_damage(fault)
    _render_lookup(
        source, sets, lookup_cache.default_version(location_of_segment.snapshot), location
    )


def _render_lookup(
    source: LookupSource, sets: dict[str, str], assumed: str, location: Location | None = None
) -> None:
    """Draws the controls and the lookup.

    Args:
        assumed: the release that searches unless another is chosen.
        location: None for a practice log or typed keys.
    """
    _render_title(source)
    query = controls.render_controls(source, sets, assumed)
    is_projected = projector.is_on()
    sought_target = controls.require_target(source, query.target_kind)
    if sought_target is None:
        return
    try:
        context = lookup_cache.lookup_context(
            source, query.target_kind, sought_target, query.search_profile, query.isolation
        )
    except KafkavizError as fault:
        return _render_damage(fault)
    _render_context(
        source,
        query,
        context,
        f"{source.key}|{sought_target}|{query}",
        location,
        is_projected=is_projected,
    )


def _render_context(
    source: LookupSource,
    query: LookupQuery,
    context: LookupContext,
    key: str,
    location: Location | None,
    *,
    is_projected: bool,
) -> None:
    """Draws the lookup step by step and, except on a projector, the sections around it.

    A lookup that ends in damaged bytes has the steps up to there.

    Args:
        key: the cache key of the source, target and query.
    """
    if isinstance(context.result.error, OffsetOutOfRange):
        return controls.render_out_of_range(
            source, cast(int, context.result.offset), context.result.error
        )
    is_failed = isinstance(context.result.error, FailedRead)
    if isinstance(context.result.error, FailedRead):
        _render_damage(context.result.error)
    target_kind = query.target_kind
    first_kind = OFFSET if context.special_timestamp else target_kind
    above_steps = st.container(gap=None, key="kv_race")
    view, payload = lookup_cache.steps(context, key)
    frontend.stepper(
        payload,
        lambda: controls.set_from_slot(key, context, target_kind),
        is_compact=is_projected,
    )
    if context.result.searches:
        with above_steps:
            result_sections.render_race(source, context, first_kind, query.search_profile, key)
    if is_projected:
        return
    if isinstance(location, PartitionLocation) and context.result.record:
        result_sections.render_segment_link(location, context)
    cost = (
        result_sections.remote_cost(location, context)
        if isinstance(location, PartitionLocation)
        else None
    )
    if cost:
        result_sections.render_remote_reads(cost)
    if context.result.searches and not is_failed:
        result_sections.render_distribution(source, context, first_kind, query.search_profile, key)
    if target_kind == TIMESTAMP and not context.special_timestamp and not is_failed:
        result_sections.render_why_offset(source, context, query.search_profile, key)
    result_sections.render_steps(view, context, cost)


def _render_title(source: LookupSource) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", key="kv_head"):
        lead = say(
            "common.titled" if source.note else "lookup.alone",
            title=source.title,
            below=source.note,
        )
        elements.title(say("common.page_lookup"), lead, gap=0)
        with st.popover(
            say("lookup.how_to_read"), type="tertiary", icon=":material/help:", width="content"
        ):
            st.markdown(say("lookup.help", cold=turnover_text(COLD_AFTER_BYTES)))


def _render_damage(fault: KafkavizError) -> None:
    """Draws why the lookup failed: damaged bytes on its way, or a log it cannot search at all."""
    is_damage = isinstance(fault, CorruptFile)
    why = describe_error_sentence(fault)
    if isinstance(fault, FailedRead):
        name = fault.class_name.rpartition(".")[2]
        why = say("lookup.kafka_answers", name=name, fault=describe_error(fault))
    with elements.state(
        "damaged", "error", say("lookup.damaged" if is_damage else "lookup.refused"), why
    ):
        st.button(say("common.try_again"), key="kv_again")
