"""The Lookup page: follows one offset or timestamp through the indexes to its record."""

import json
from functools import partial
from typing import cast

import streamlit as st

from kafkaviz import units, versions
from kafkaviz.analysis.cost import remote_reads
from kafkaviz.analysis.cost.remote_reads import RemoteCost, RemoteRead
from kafkaviz.analysis.json_objects import to_json_object
from kafkaviz.analysis.lookup.json_object import lookup_object
from kafkaviz.analysis.lookup.lookup_targets import TIMESTAMP, LookupSource
from kafkaviz.app import frontend, page_state
from kafkaviz.app.cache import lookup_cache
from kafkaviz.app.cache.lookup_cache import EXAMPLE, OWN_LOG, PRACTICE, SOURCES
from kafkaviz.app.frame import frame
from kafkaviz.app.pages import lookup_controls
from kafkaviz.app.pages.lookup_controls import LookupQuery, open_source
from kafkaviz.app.registry import PAGES
from kafkaviz.app.scheduling import in_turn
from kafkaviz.app.state.page_location import Location, PartitionLocation, SegmentLocation
from kafkaviz.app.widgets import charts, choice, elements, faults, projector
from kafkaviz.app.widgets.tables import download, table, to_csv
from kafkaviz.errors import CorruptFile, KafkavizError
from kafkaviz.figures.lookup import LookupContext, stepper
from kafkaviz.figures.lookup import why_offset as why_figure
from kafkaviz.figures.tokens import page_legend
from kafkaviz.html import join, tag
from kafkaviz.log.tiered import tiered_view
from kafkaviz.messages import say, say_count
from kafkaviz.render.sentences import describe_error, describe_error_sentence
from kafkaviz.search.consumer import ConsumerRecord
from kafkaviz.search.fetch import OffsetOutOfRange
from kafkaviz.search.scan import FailedRead
from kafkaviz.versions import SearchProfile

LABEL_CHARACTERS = 20
VIEW_PARAMETERS = {"steps": (page_state.STEP,)}
# an address with one of these parameters opens the reader's own log or a certain practice log; any
# other address opens the example
ASKS_FOR_OTHER = (
    page_state.TOPIC_PARTITION,
    page_state.SEGMENT,
    page_state.PIN,
    page_state.SET,
    page_state.KEYS,
    page_state.TARGET,
    page_state.BY,
)
PHASE_SUFFIXES = {"time": ".timeindex", "offset": ".index", "log": ".log", "record": ".log"}
WHY_COLUMNS = ("segment", "offsets", "newest", "largest", "fate")


@in_turn
def render_page() -> None:
    location = frame("Lookup", get_subject=_practice_name)
    elements.apply_print_style()
    choice.open_by_address(VIEW_PARAMETERS)
    source_name, labels = _choose_source(location)
    if source_name == OWN_LOG:
        return _render_partition(location, labels)
    source = lookup_cache.practice_source(source_name) if source_name in PRACTICE else open_source()
    _render_lookup(source, labels, versions.NEWEST)


def _choose_source(location: Location) -> tuple[str, dict[str, str]]:
    labels = {name: say(f"lookup.set_{name}") for name in SOURCES}
    is_log_missing = False
    if isinstance(location, SegmentLocation) and location.segment.files:
        name = units.escape_controls(location.partition.directory)
        labels = {OWN_LOG: elements.cut_middle(name, LABEL_CHARACTERS)} | labels
        is_log_missing = location.segment.log is None
    if not (location.fault or is_log_missing):
        _begin_with_example()
    source_name = choice.take_from_address(
        page_state.SET, labels.keys(), OWN_LOG, lookup_controls.parse_source
    )
    if OWN_LOG not in labels and page_state.SET not in st.query_params:
        source_name = OWN_LOG if location.fault or location.segment else source_name
    return source_name, labels


def _practice_name(location: Location) -> str:
    source_name, labels = _choose_source(location)
    return "" if source_name == OWN_LOG else say("lookup.practice", name=labels[source_name])


def _begin_with_example() -> None:
    """Opens the example, unless this is a later visit or the address asks for something else."""
    is_first_visit = page_state.SET not in st.session_state
    if is_first_visit and not any(name in st.query_params for name in ASKS_FOR_OTHER):
        st.query_params[page_state.SET] = EXAMPLE


def _render_partition(location: Location, labels: dict[str, str]) -> None:
    location_of_segment = faults.require_segment(location)
    segment = location_of_segment.segment
    if segment.log is None and (segment.index or segment.timeindex):
        source = lookup_cache.open_index_only(segment)
        return _render_lookup(source, labels, versions.NEWEST)
    if segment.log is None:
        reason = say("lookup.no_log_below")
        with elements.state("no_log", "warning", say("common.no_log"), reason, level=1):
            faults.broker_link(location.directory)
        return
    try:
        source = lookup_cache.open_partition(
            location_of_segment.snapshot, location_of_segment.partition, segment
        )
    except KafkavizError as fault:
        return _render_damage(fault)
    _render_lookup(
        source, labels, lookup_cache.default_version(location_of_segment.snapshot), location
    )


def _render_lookup(
    source: LookupSource, labels: dict[str, str], assumed: str, location: Location | None = None
) -> None:
    _render_title(source, labels)
    query = lookup_controls.render_controls(source, labels, assumed)
    sought_target = lookup_controls.require_target(source, query.target_kind)
    if sought_target is None:
        return
    try:
        context = lookup_cache.lookup_context(
            source,
            query.target_kind,
            sought_target,
            query.search_profile,
            query.isolation,
            lagging_target=query.lagging_target,
        )
    except KafkavizError as fault:
        return _render_damage(fault)
    _render_context(source, query, context, f"{source.key}|{sought_target}|{query}", location)


def _render_context(
    source: LookupSource,
    query: LookupQuery,
    context: LookupContext,
    key: str,
    location: Location | None,
) -> None:
    """Draws the lookup as a figure and, except in the projector view, the details below it."""
    error = context.result.error
    if isinstance(error, OffsetOutOfRange):
        return lookup_controls.render_out_of_range(source, cast(int, context.result.offset), error)
    if isinstance(error, FailedRead):
        _render_damage(error)
    target_kind = query.target_kind
    view, payload = lookup_cache.steps(context, key)
    race_payload = charts.view(("race", key), lambda: lookup_cache.race_payload(context, key))
    with st.container(gap=None, key="kv_views"):
        labels = PAGES["Lookup"].tab_labels
        if not race_payload:
            labels.pop("race")
        st.html(page_legend())
        word, tab = choice.render_tabs(labels, VIEW_PARAMETERS)
        with tab:
            if word == "race":
                frontend.search_race(race_payload)
            else:
                data = charts.view(
                    ("memory", key), lambda: lookup_cache.memory_payload(context, key, payload)
                )
                frontend.stepper(
                    data, lambda: lookup_controls.set_from_slot(key, context, target_kind)
                )
    if projector.is_on():
        return
    if isinstance(location, PartitionLocation) and context.result.record:
        render_segment_link(location, context)
    cost = remote_cost(location, context) if isinstance(location, PartitionLocation) else None
    if cost:
        render_remote_reads(cost)
    has_log = not (isinstance(error, FailedRead) or context.is_index_only)
    if target_kind == TIMESTAMP and not context.special_timestamp and has_log:
        render_why_offset(source, context, query.search_profile, key)
    render_steps(view, context, cost)


def _render_title(source: LookupSource, labels: dict[str, str]) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", key="kv_head"):
        key = "common.titled" if source.note else "lookup.alone"
        lead = say(key, title=source.title, below=source.note)
        elements.title(say("common.page_lookup"), lead, gap=0)
        lookup_controls.render_sources(labels)


def _render_damage(fault: KafkavizError) -> None:
    finding = say("lookup.damaged" if isinstance(fault, CorruptFile) else "lookup.refused")
    why = describe_error_sentence(fault)
    if isinstance(fault, FailedRead):
        name = fault.class_name.rpartition(".")[2]
        why = say("lookup.kafka_answers", name=name, fault=describe_error(fault))
    with elements.state("damaged", "error", finding, why):
        st.button(say("common.try_again"), key="kv_again")


def render_segment_link(location: PartitionLocation, context: LookupContext) -> None:
    record = cast(ConsumerRecord, context.result.record)
    label = say(
        "lookup.onward",
        offset=record.offset,
        segment=units.file_stem(record.segment_base_offset),
        position=record.batch_position,
    )
    address = page_state.address(
        location.directory, location.partition_name, record.segment_base_offset, record.offset
    )
    st.space(8)
    with st.container(key="kv_onward"):
        elements.page_link("Segment", label, address)


def remote_cost(location: PartitionLocation, context: LookupContext) -> RemoteCost | None:
    """Returns the cost of reading tiered or object storage. None without such reads."""
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
                _read_time_text(cost, read),
            )
            for read in cost.reads
        ]
        table(heads, rows, "lrrr")
    st.space(16)


def _read_time_text(cost: RemoteCost, read: RemoteRead) -> str:
    is_modelled = read.measured_ms is None
    key = "lookup.remote_modelled" if is_modelled else "lookup.remote_measured"
    return say(key, ms=f"{round(cost.read_ms(read), 1):g}")


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


def render_why_offset(
    source: LookupSource, context: LookupContext, search_profile: SearchProfile, key: str
) -> None:
    """Draws all segments of the partition, and why a lookup by timestamp returns its offset."""
    view = lookup_cache.explain_offset(source, context, search_profile)
    st.space(32)
    elements.heading(say("lookup.why"), gap=10)
    with st.container(key="kv_fig_why"):
        charts.render_titled(key, why_figure.figure, view, "kv_why")
        st.html(join(tag("p", note) for note in view.notes or [say("lookup.why_same")]))
    st.space(8)
    table([say(f"lookup.why_{name}") for name in WHY_COLUMNS], view.rows, "lllll")
    download(say("common.csv"), lambda: to_csv(WHY_COLUMNS, view.rows), "why.csv", "kv_why_csv")


def _phase_text(phase: str, cost: RemoteCost | None) -> str:
    text = say(f"lookup.phase_{phase}")
    suffix = PHASE_SUFFIXES.get(phase)
    is_remote = bool(cost and suffix and any(read.file.endswith(suffix) for read in cost.reads))
    return say("cli_lookup.remote_segment", why=text) if is_remote else text


def render_steps(
    view: stepper.StepperView, context: LookupContext, cost: RemoteCost | None
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
            steps_csv = partial(to_csv, ("step", "phase", "text"), values)
            download(say("lookup.steps_csv"), steps_csv, "lookup.csv", "kv_steps_csv")
            if context.result.choices:
                remote = {"remote": to_json_object(cost)} if cost else {}
                data = lambda: json.dumps(lookup_object(context.result) | remote, indent=2)  # noqa: E731 - the button calls it on click
                label = say("lookup.lookup_json")
                download(label, data, "lookup.json", "kv_lookup_json", "application/json")
