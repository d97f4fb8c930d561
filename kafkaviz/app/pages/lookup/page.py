"""The Lookup page: follows one offset or timestamp through the indexes to its record."""

import json
from typing import Any, cast

import numpy as np
import streamlit as st

from kafkaviz import units, versions
from kafkaviz.analysis.cost import lookup_cost, remote_reads
from kafkaviz.analysis.cost.lookup_cost import HEADERS, PROBES, LookupCounts
from kafkaviz.analysis.cost.remote_reads import RemoteCost
from kafkaviz.analysis.json_objects import to_json_object
from kafkaviz.analysis.lookup import search_race
from kafkaviz.analysis.lookup.lookup_object import lookup_object
from kafkaviz.analysis.lookup.search_race import SearchRace
from kafkaviz.analysis.page_cache.page_replay import COLD_AFTER_BYTES
from kafkaviz.app import frontend, page_state
from kafkaviz.app.cache import lookup_cache, lookup_source
from kafkaviz.app.cache.lookup_source import (
    OFFSET,
    OWN_SET,
    PRACTICE,
    SETS,
    SOURCE_HASH_FUNCS,
    TIMESTAMP,
    LookupSource,
)
from kafkaviz.app.frame import frame
from kafkaviz.app.pages.lookup import controls
from kafkaviz.app.pages.lookup.controls import LookupQuery, open_source
from kafkaviz.app.run_queue import in_turn
from kafkaviz.app.state.page_location import Location, PartitionLocation, SegmentLocation
from kafkaviz.app.widgets import charts, choice, elements, faults, projector
from kafkaviz.app.widgets.elements import apply_print_style
from kafkaviz.app.widgets.tables import download, table, to_csv
from kafkaviz.errors import CorruptFile, KafkavizError
from kafkaviz.figures.lookup import search_race as race_figure
from kafkaviz.figures.lookup import why_offset as why_figure
from kafkaviz.figures.page_cache import probe_histogram
from kafkaviz.figures.stepper import LookupContext, stepper
from kafkaviz.figures.text.sentences import describe_error, describe_error_sentence
from kafkaviz.html import join, tag
from kafkaviz.log.tiered import tiered_view
from kafkaviz.messages import say, say_count
from kafkaviz.search import slots
from kafkaviz.search.fetch import OffsetOutOfRange
from kafkaviz.search.index import ENTRY_BYTES
from kafkaviz.search.lookup import ConsumerRecord
from kafkaviz.search.scan import FailedRead
from kafkaviz.versions import SearchProfile

LABEL_CHARACTERS = 20
COUNTS = ("probes", "pages", "headers")
PHASE_SUFFIXES = {"time": ".timeindex", "offset": ".index", "log": ".log", "record": ".log"}
WHY_COLUMNS = ("segment", "offsets", "newest", "largest", "fate")


@in_turn
def render_page() -> None:
    location = frame("Lookup")
    apply_print_style()
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
    return bool(location.fault or location.segment) and page_state.SET not in st.query_params


def _render_partition(location: Location, sets: dict[str, str]) -> None:
    location_of_segment = faults.require_segment(location)
    if location_of_segment.segment.log is None:
        with elements.state(
            "no_log", "warning", say("common.no_log"), say("lookup.no_log_below"), level=1
        ):
            faults.broker_link(location.directory)
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
    """Draws the controls and the lookup. A practice log and typed keys have no location."""
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
    """Draws the lookup step by step and, except on a projector, the sections around it."""
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
            render_race(source, context, first_kind, query.search_profile, key)
    if is_projected:
        return
    if isinstance(location, PartitionLocation) and context.result.record:
        render_segment_link(location, context)
    cost = remote_cost(location, context) if isinstance(location, PartitionLocation) else None
    if cost:
        render_remote_reads(cost)
    if context.result.searches and not is_failed:
        render_distribution(source, context, first_kind, query.search_profile, key)
    if target_kind == TIMESTAMP and not context.special_timestamp and not is_failed:
        render_why_offset(source, context, query.search_profile, key)
    render_steps(view, context, cost)


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
            st.markdown(say("lookup.help", cold=units.format_megabytes(COLD_AFTER_BYTES)))


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


def render_segment_link(location: PartitionLocation, context: LookupContext) -> None:
    record = cast(ConsumerRecord, context.result.record)
    offset = units.format_count(record.offset)
    position = units.format_count(record.batch_position)
    label = say(
        "lookup.onward",
        offset=offset,
        segment=units.file_stem(record.segment_base_offset),
        position=position,
    )
    address = page_state.address(
        location.directory, location.partition_name, record.segment_base_offset, record.offset
    )
    st.space(8)
    with st.container(key="kv_onward"):
        st.page_link(
            "pages/segment.py", label=label, icon=":material/straighten:", query_params=address
        )


def remote_cost(location: PartitionLocation, context: LookupContext) -> RemoteCost | None:
    """Returns the cost of reads from tiered storage or an object store, None if there are none."""
    path = location.partition.path
    cost = remote_reads.remote_cost(
        context.result,
        context.log.segments,
        tiered_view.remote_files(path),
        store=tiered_view.remote_store(path),
    )
    return cost if cost.reads else None


def render_remote_reads(cost: RemoteCost) -> None:
    st.space(12)
    with st.container(key="kv_remote"):
        heading = "lookup.remote_reads" if cost.is_tiered else "lookup.remote_objects"
        elements.heading(say(heading), _remote_total(cost))
        heads = [say(f"lookup.remote_{name}") for name in ("file", "requests", "bytes", "price")]
        rows = [
            (
                read.file,
                units.format_count(read.requests),
                units.format_count(read.size_bytes),
                say(
                    "lookup.remote_modelled"
                    if read.measured_ms is None
                    else "lookup.remote_measured",
                    ms=f"{round(cost.read_ms(read), 1):g}",
                ),
            )
            for read in cost.reads
        ]
        table(heads, rows, "lrrr")
    st.space(16)


def _remote_total(cost: RemoteCost) -> str:
    if cost.measured_ms is not None:
        key = "lookup.remote_objects_total"
        total_ms = cost.measured_ms
    elif not cost.is_tiered:
        key = "lookup.remote_objects_modelled"
        total_ms = cost.modelled_ms
    else:
        key = "lookup.remote_total_mean" if cost.measured_requests else "lookup.remote_total"
        total_ms = cost.modelled_ms
    return say(
        key,
        requests=say_count("lookup.n_requests", cost.requests),
        size=units.format_bytes(cost.size_bytes),
        each=f"{round(cost.request_ms, 1):g}",
        n=cost.measured_requests,
        total=f"{round(total_ms, 1):g}",
    )


def render_race(
    source: LookupSource,
    context: LookupContext,
    target_kind: str,
    search_profile: SearchProfile,
    key: str,
) -> None:
    """Draws the race of both searches, and a button to where they differ if they do the same."""
    race, payload = charts.view(
        ("race", key), lambda: _race(context, search_profile.warm_bytes, key)
    )
    if not race.entries:
        return
    frontend.search_race(payload)
    if race.is_even or race.is_hot:
        warm_entries = lookup_cache.warm_entries(search_profile, target_kind)
        st.space(12)
        has_target = race.is_even
        controls.render_where_it_differs(source, target_kind, warm_entries, has_target=has_target)
    st.space(16)


def _race(context: LookupContext, warm_bytes: int, key: str) -> tuple[SearchRace, dict[str, Any]]:
    """Returns the race and its payload for the browser, which is empty if the index is empty."""
    first = context.result.searches[0]
    segment = context.find_segment(first.base_offset)
    target = first.slot_search.target
    race = search_race.race(
        segment, first.kind, target, warm_bytes=warm_bytes, page_bytes=context.page_bytes
    )
    if not race.entries:
        return race, {}
    views = race_figure.views(race, search_race.race_before_jump(segment, target, race))
    return race, race_figure.browser_payload(views, key)


@st.fragment
def render_distribution(
    source: LookupSource,
    context: LookupContext,
    target_kind: str,
    search_profile: SearchProfile,
    key: str,
) -> None:
    """Draws how many targets of this segment take how many probes, pages or headers."""
    quantity = choice.draw_bound(
        st.segmented_control,
        say("lookup.count"),
        COUNTS,
        COUNTS[0],
        page_state.DISTRIBUTION,
        format_func=_quantity_text,
        required=True,
        label_visibility="collapsed",
    )
    own_costs = _costs(source, context, target_kind, search_profile)
    if own_costs is None:
        return
    other_costs = _costs(source, context, target_kind, search_profile.other_search())
    view = probe_histogram.view(
        own_costs,
        other_costs,
        quantity,
        _count(context, quantity),
        "millisecond" if target_kind == TIMESTAMP else "offset",
    )
    charts.render_titled((key, quantity), probe_histogram.figure, view, "kv_spread")
    with st.expander(say("common.as_table")):
        rows = probe_histogram.rows(view)
        table((_quantity_text(quantity), say("lookup.share"), say("lookup.other")), rows, "rrr")
        download(
            say("common.csv"),
            lambda: to_csv((quantity, "share", "other_search"), rows),
            f"{quantity}.csv",
            "kv_spread_csv",
        )


def _costs(
    source: LookupSource, context: LookupContext, target_kind: str, search_profile: SearchProfile
) -> LookupCounts | None:
    segment = context.searched_segment
    if segment:
        return _segment_costs(source, segment.base_offset, target_kind, search_profile, context)
    return None


@st.cache_resource(max_entries=32, show_spinner=False, hash_funcs=SOURCE_HASH_FUNCS)
def _segment_costs(
    source: LookupSource,
    base_offset: int,
    target_kind: str,
    search_profile: SearchProfile,
    _context: LookupContext,
) -> LookupCounts | None:
    segment = _context.find_segment(base_offset)
    batches = _context.batches(base_offset)
    count_lookups = (
        lookup_cost.timestamp_lookup_counts
        if target_kind == TIMESTAMP
        else lookup_cost.offset_lookup_counts
    )
    slot_rows = _entry_rows(source, base_offset, _context)
    return count_lookups(segment, batches, search_profile, _context.page_bytes, slot_rows=slot_rows)


@st.cache_resource(max_entries=4, show_spinner=False, hash_funcs=SOURCE_HASH_FUNCS)
def _entry_rows(source: LookupSource, base_offset: int, _context: LookupContext) -> np.ndarray:
    return lookup_cost.entry_rows(_context.find_segment(base_offset), _context.batches(base_offset))


def _count(context: LookupContext, quantity: str) -> int:
    if quantity == HEADERS:
        return len({header.position for scan in context.result.scans[:1] for header in scan.reads})
    first = context.result.searches[0]
    probe_pages = (
        slots.pages_of(probe.slot, ENTRY_BYTES[first.kind], context.page_bytes)
        for probe in first.slot_search.probes
    )
    if quantity == PROBES:
        return len(first.slot_search.probes)
    return len({page for pages in probe_pages for page in pages})


def _quantity_text(quantity: str) -> str:
    return say(f"lookup.count_{quantity}")


def render_why_offset(
    source: LookupSource, context: LookupContext, search_profile: SearchProfile, key: str
) -> None:
    """Draws all segments of the partition, and why the timestamp leads to this offset."""
    view = lookup_cache.explain_offset(source, context, search_profile)
    st.space(32)
    elements.heading(say("lookup.why"))
    st.space(10)
    with st.container(key="kv_fig_why"):
        charts.render_titled(key, why_figure.figure, view, "kv_why")
        st.html(join(tag("p", note) for note in view.notes or [say("lookup.why_same")]))
    st.space(8)
    table([say(f"lookup.why_{name}") for name in WHY_COLUMNS], view.rows, "lllll")
    download(say("common.csv"), lambda: to_csv(WHY_COLUMNS, view.rows), "why.csv", "kv_why_csv")


def _phase_text(phase: str, cost: RemoteCost | None) -> str:
    """Returns the phase of a step, with a note if the file it reads is remote."""
    text = say(f"lookup.phase_{phase}")
    suffix = PHASE_SUFFIXES.get(phase)
    is_remote = bool(cost and suffix and any(read.file.endswith(suffix) for read in cost.reads))
    return say("cli_lookup.remote_segment", why=text) if is_remote else text


def render_steps(
    view: stepper.StepperView, context: LookupContext, cost: RemoteCost | None = None
) -> None:
    st.space(16)
    with st.expander(say_count("lookup.n_steps", len(view.steps))):
        rows = [
            (str(number), _phase_text(step.phase, cost), step.text)
            for number, step in enumerate(view.steps, 1)
        ]
        table((say("lookup.step"), say("lookup.phase"), say("lookup.what_happens")), rows, "lll")
        with st.container(horizontal=True):
            values = [(number, step.phase, step.text) for number, step in enumerate(view.steps, 1)]
            download(
                say("lookup.steps_csv"),
                lambda: to_csv(("step", "phase", "text"), values),
                "lookup.csv",
                "kv_steps_csv",
            )
            if context.result.choices:
                remote = {"remote": to_json_object(cost)} if cost else {}
                data = lambda: json.dumps(lookup_object(context.result) | remote, indent=2)  # noqa: E731 - the button calls it on click
                label = say("lookup.lookup_json")
                download(label, data, "lookup.json", "kv_lookup_json", "application/json")
