"""The head of the Compare page: the second directory, counts of each relation, and downloads."""

import json
from typing import TYPE_CHECKING

import streamlit as st

from kafkaviz import units
from kafkaviz.app import page_state
from kafkaviz.app.cache import broker_cache
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.frame import pages
from kafkaviz.app.state import page_location
from kafkaviz.app.state.comparisons import SnapshotPair
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.widgets import elements, go_to, progress_strip, tables
from kafkaviz.errors import CannotOpen
from kafkaviz.figures.comparison import partition_map
from kafkaviz.figures.text.comparison_text import outcome_text
from kafkaviz.figures.text.sentences import describe_error_sentence, to_sentence
from kafkaviz.messages import say

if TYPE_CHECKING:
    from kafkaviz.analysis.comparison.comparison import BrokerComparison, PartitionComparison

CSV_COLUMNS = (
    "partition",
    "relation",
    "relations",
    "compared_from",
    "compared_to",
    "first_divergent_offset",
    "leader_epoch_a",
    "leader_epoch_b",
    "log_end_a",
    "log_end_b",
    "records_only_in_a",
    "records_only_in_b",
    "b_keeps_below_if_a_leads",
    "a_keeps_below_if_b_leads",
)
DIRECTORY_CHARACTERS = 60


def second_snapshot() -> BrokerSnapshot | None:
    """Returns the second directory of the address, None if it is missing or cannot be opened."""
    directory = page_location.compared_directory()
    if not directory:
        return None
    try:
        progress_strip.unpack(directory, "_second")
        return broker_cache.open_snapshot(directory)
    except CannotOpen:
        return None


def render_head(
    location: Location, pair: SnapshotPair | None, comparison: "BrokerComparison | None"
) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", key="kv_head"):
        with st.container(width="stretch"):
            elements.title(say("common.page_compare"), _lead(comparison), gap=0)
        if comparison:
            _render_downloads(comparison)
    st.space(16)
    _render_path_form(location)
    if comparison:
        st.space(12)
        elements.chips(_chips(comparison))
        if comparison.start and comparison.start.is_swapped:
            st.space(8)
            text = to_sentence(outcome_text(comparison.start))
            st.html(f'<p class="kv-sm">{elements.escape(text)}</p>')
            st.space(12)
    elif pair is None:
        st.space(24)
        _render_no_second()


def render_command(pair: SnapshotPair) -> None:
    elements.heading(say("compare.command"))
    st.space(8)
    sources = (page_location.shell_paths(snapshot.broker, ",") for snapshot in pair)
    st.code(f"kafkaviz compare {' '.join(sources)}", language="bash", wrap_lines=True)


def _lead(comparison: "BrokerComparison | None") -> str:
    if comparison is None:
        return say("compare.lead")
    total = len(comparison.partitions)
    equal = sum(item.relation.has_equal_records for item in comparison.partitions)
    if comparison.has_equal_records:
        return say("compare.lead_equal")
    return say(
        "compare.lead_other", equal=units.format_count(equal), total=units.format_count(total)
    )


def _chips(comparison: "BrokerComparison") -> list[tuple[str, str]]:
    """Returns how many topic-partitions have each relation, the worst first."""
    counts = sorted(comparison.counts.items(), key=lambda item: item[0].display_rank)
    return [
        (
            partition_map.severity(relation),
            elements.escape(
                say(
                    "compare.chip",
                    n=units.format_count(count),
                    relation=partition_map.relation_label(relation),
                )
            ),
        )
        for relation, count in counts
    ]


def _render_path_form(location: Location) -> None:
    second = page_location.compared_directory()
    with st.container(horizontal=True, key="kv_path", vertical_alignment="bottom"):
        count = st.session_state.get(page_state.COMPARED_COUNT, 0)
        # a new field for each directory, as on the Broker page
        second_text = units.escape_controls(page_location.directory_text(second))
        key = f"kv_compared {count} {second_text}"
        st.text_input(
            say("compare.field"), second_text, key=key, width=520, on_change=_request, args=(key,)
        )
        st.button(
            say("compare.compare"),
            type="primary",
            key="kv_compare_open",
            on_click=_request,
            args=(key,),
        )
        known = [directory for directory in go_to.directories(location) if directory != second]
        chosen = known and st.menu_button(
            say("compare.known"),
            known,
            key="kv_compare_known",
            format_func=lambda directory: elements.escape_markdown(
                elements.cut_middle(
                    units.escape_controls(page_location.short_directory_text(directory)),
                    DIRECTORY_CHARACTERS,
                )
            ),
        )
        if second:
            st.button(
                say("compare.swap"),
                icon=":material/swap_vert:",
                key="kv_compare_swap",
                type="tertiary",
                on_click=_request_address,
                args=(second, location.directory),
            )
    target = st.session_state.pop(page_state.COMPARED_REQUEST, None)
    if chosen:
        target = location.directory, chosen
    if target is not None:
        st.session_state[page_state.COMPARED_COUNT] = count + 1
        first, other = target
        address_of_first = page_state.address(first or location.directory)
        st.switch_page(
            pages()["Compare"].script,
            query_params=address_of_first
            | {page_state.COMPARED_DIRECTORY: page_state.parameter(str(other))},
        )


def _request(key: str) -> None:
    _request_address("", page_location.clean_path(st.session_state.get(key, "")))


def _request_address(first: str, second: str) -> None:
    st.session_state[page_state.COMPARED_REQUEST] = first, second


def _render_no_second() -> None:
    directory = page_location.compared_directory()
    if not directory:
        with elements.empty("compare", say("compare.no_second"), say("compare.no_second_why")):
            pass
        return
    try:
        broker_cache.open_snapshot(directory)
    except CannotOpen as fault:
        reason = describe_error_sentence(fault)
        with elements.state("second", "error", say("compare.second_fault"), reason):
            pass


def _render_downloads(comparison: "BrokerComparison") -> None:
    tables.download("CSV", lambda: partitions_csv(comparison), "comparison.csv", "kv_compare_csv")
    st.download_button(
        "JSON",
        lambda: comparison_json(comparison),
        "comparison.json",
        "application/json",
        key="kv_compare_json",
        on_click="ignore",
        icon=":material/download:",
    )


def comparison_json(comparison: "BrokerComparison") -> str:
    """Returns the output of `kafkaviz compare --json`."""
    from kafkaviz.analysis.json_objects import to_json

    return json.dumps(to_json(comparison), ensure_ascii=False, indent=2)


def partitions_csv(comparison: "BrokerComparison") -> str:
    """Returns one row per topic-partition with exact numbers."""
    return tables.to_csv(CSV_COLUMNS, map(_csv_row, comparison.partitions))


def _csv_row(comparison: "PartitionComparison") -> list[object]:
    epochs = comparison.leader_epochs_there or (None, None)
    walks = comparison.truncations or (None, None)
    values = [
        comparison.partition,
        comparison.relation.value,
        " ".join(relation.value for relation in comparison.relations),
        comparison.compared_from,
        comparison.compared_to,
        comparison.first_divergent_offset,
        *epochs,
        *(replica and replica.log_end_offset for replica in comparison.replicas),
        *(records.records for records in comparison.only_in),
        *(walk and walk.follower_keeps_below for walk in walks),
    ]
    return ["" if value is None else value for value in values]
