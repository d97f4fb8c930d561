"""The Compare page: how two directories differ, and which records a follower would drop."""

import json
from functools import partial
from typing import Any, cast

import pandas as pd
import streamlit as st

from kafkaviz import units
from kafkaviz.analysis.comparison.comparison import BrokerComparison, PartitionComparison
from kafkaviz.analysis.comparison.start_changes import StartComparison
from kafkaviz.analysis.json_objects import to_json_object
from kafkaviz.app import page_state
from kafkaviz.app.cache import broker_cache
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.app.frame import frame
from kafkaviz.app.pages.compare_logs import render_logs
from kafkaviz.app.scheduling import in_turn
from kafkaviz.app.state import comparisons, page_location
from kafkaviz.app.state.comparisons import SnapshotPair, compare_again
from kafkaviz.app.state.page_location import Location
from kafkaviz.app.widgets import charts, elements, faults, go_to, progress_strip, tables
from kafkaviz.errors import CannotOpen
from kafkaviz.figures.comparison import partition_map
from kafkaviz.html import tag
from kafkaviz.messages import render, say
from kafkaviz.render.comparison_text import offsets_text, outcome_text
from kafkaviz.render.sentences import describe_error_sentence, to_sentence

TABLE = "kv_compared_table"  # the key of the table
MAX_CHANGES = 400
MAX_PAPER_ROWS = 400
COLUMNS = (  # the message key of each heading
    "common.topic_partition",
    "compare.column_relation",
    "compare.column_offsets_a",
    "compare.column_offsets_b",
    "compare.relation_only_in_a",
    "compare.relation_only_in_b",
    "compare.column_drops_b",
    "compare.column_drops_a",
)
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


@in_turn
def render_page() -> None:
    location = frame("Compare")
    elements.apply_print_style()
    snapshot = faults.require_snapshot(location)
    other = second_snapshot()
    if other is None:
        return render_head(location, None, None)
    pair = snapshot, other
    job = comparisons.get_or_start(pair)
    is_over = job.wait_until_over(progress_strip.QUICK_S)
    render_head(location, pair, job.result if is_over else None)
    if not is_over:
        get_job = partial(comparisons.get_or_start, pair)
        return progress_strip.render_read_partition(get_job, "compare", "kv_compare_cancel")
    if job.error is not None:
        return _render_failure(pair, job.error)
    _render_body(location, pair, cast(BrokerComparison, job.result))


def _render_body(location: Location, pair: SnapshotPair, comparison: BrokerComparison) -> None:
    if not comparison.partitions:
        elements.empty("compare", say("compare.of_nothing"), say("compare.of_nothing_why"))
        return
    with st.container(gap=None, key="kv_compare"):
        render_partition_map(location, comparison)
        st.space(28)
        render_logs(location, pair, comparison)
        st.space(28)
        render_partition_table(location, comparison)
        if comparison.start and not comparison.start.is_swapped:
            st.space(28)
            render_changes(comparison.start)
        if comparison.problems:
            st.space(28)
            count = units.format_count(len(comparison.problems))
            elements.heading(say("compare.not_compared", count=count))
            faults.problem_table(pair[0].broker.path, comparison.problems)
        st.space(28)
        elements.heading(say("compare.command"), gap=8)
        sources = (page_location.shell_paths(snapshot.broker, ",") for snapshot in pair)
        st.code(f"kafkaviz compare {' '.join(sources)}", language="bash", wrap_lines=True)


def _render_failure(pair: SnapshotPair, error: Exception) -> None:
    reason = say("common.nothing_changed", error=progress_strip.failure_text(error))
    label = say("compare.again")
    with elements.state("compare", "error", say("compare.not_ended"), reason):
        st.button(label, key="kv_compare_again", on_click=compare_again, args=(pair,))


def second_snapshot() -> BrokerSnapshot | None:
    """Returns the second directory in the address. None if it is missing or cannot be opened."""
    directory = page_location.compared_directory()
    if not directory:
        return None
    try:
        progress_strip.unpack(directory, "_second")
        return broker_cache.open_snapshot(directory)
    except CannotOpen:
        return None


def render_head(
    location: Location, pair: SnapshotPair | None, comparison: BrokerComparison | None
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
            st.html(tag("p", text, class_="kv-sm"))
            st.space(12)
    elif pair is None:
        st.space(24)
        _render_no_second()


def _lead(comparison: BrokerComparison | None) -> str:
    if comparison is None:
        return say("compare.lead")
    if comparison.has_equal_records:
        return say("compare.lead_equal")
    equal = sum(item.relation.has_equal_records for item in comparison.partitions)
    total = units.format_count(len(comparison.partitions))
    return say("compare.lead_other", equal=units.format_count(equal), total=total)


def _chips(comparison: BrokerComparison) -> list[tuple[str, str]]:
    counts = sorted(comparison.counts.items(), key=lambda item: item[0].display_rank)
    chips = []
    for relation, count in counts:
        label = partition_map.relation_label(relation)
        text = say("compare.chip", n=units.format_count(count), relation=label)
        chips.append((partition_map.severity(relation), text))
    return chips


def _render_path_form(location: Location) -> None:
    second = page_location.compared_directory()
    with st.container(horizontal=True, key="kv_path", vertical_alignment="bottom"):
        count = st.session_state.get(page_state.COMPARED_COUNT, 0)
        # a new key for each directory, as on the Broker page, because the browser keeps typed text
        # per key
        second_text = units.escape_controls(page_location.directory_text(second))
        key = f"kv_compared {count} {second_text}"
        st.text_input(
            say("compare.field"), second_text, key=key, width=520, on_change=_request, args=(key,)
        )
        label = say("compare.compare")
        st.button(label, type="primary", key="kv_compare_open", on_click=_request, args=(key,))
        known = [directory for directory in go_to.directories(location) if directory != second]
        chosen = known and st.menu_button(
            say("compare.known"), known, key="kv_compare_known", format_func=_directory_label
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
        _open(page_state.address(first or location.directory), str(other))


def _directory_label(directory: str) -> str:
    text = units.escape_controls(page_location.short_directory_text(directory))
    return elements.escape_markdown(elements.cut_middle(text, DIRECTORY_CHARACTERS))


def _request(key: str) -> None:
    _request_address("", page_location.clean_path(st.session_state.get(key, "")))


def _request_address(first: str, second: str) -> None:
    st.session_state[page_state.COMPARED_REQUEST] = first, second


def _render_no_second() -> None:
    directory = page_location.compared_directory()
    if not directory:
        elements.empty("compare", say("compare.no_second"), say("compare.no_second_why"))
        return
    try:
        broker_cache.open_snapshot(directory)
    except CannotOpen as fault:
        reason = describe_error_sentence(fault)
        elements.state("second", "error", say("compare.second_fault"), reason)


def _render_downloads(comparison: BrokerComparison) -> None:
    tables.download("CSV", lambda: partitions_csv(comparison), "comparison.csv", "kv_compare_csv")
    data = partial(comparison_json, comparison)
    tables.download(
        "JSON", data, "comparison.json", "kv_compare_json", "application/json", kind="secondary"
    )


def comparison_json(comparison: BrokerComparison) -> str:
    return json.dumps(to_json_object(comparison), ensure_ascii=False, indent=2)


def partitions_csv(comparison: BrokerComparison) -> str:
    return tables.to_csv(CSV_COLUMNS, map(_csv_row, comparison.partitions))


def _csv_row(comparison: PartitionComparison) -> list[object]:
    epochs = comparison.leader_epochs_there or (None, None)
    walks = comparison.truncations or (None, None)
    return [
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


def render_partition_map(location: Location, comparison: BrokerComparison) -> None:
    """Draws the map. A click on a row shows the topic-partition in detail below the map."""
    with st.container(key="kv_fig_compared"):
        head = st.container()
        middle = st.container()
        foot = st.container(horizontal=True)
        page = _choose_page(foot, len(comparison.partitions))
        view = partition_map.view(comparison, page)
        with head:
            elements.figure_head(view.title, view.caption)
        swatches = (("both", "closed"), ("alone", "scan"), ("other", "torn"))
        foot.html(elements.key((swatch, say(f"compare.key_{kind}")) for kind, swatch in swatches))
        with middle:
            key = f"kv_compared_map_{page}"
            charts.plot(
                partition_map.figure(view, charts.mode()),
                key,
                view.alt,
                on_select=charts.keep_click(key, charts.first_point),
                selection_mode="points",
            )
    if (clicked := charts.take_click(key)) is not None:
        _open_partition(location, clicked)


def _choose_page(foot: Any, count: int) -> int:
    page_count = -(-count // partition_map.ROWS_PER_PAGE)
    if page_count <= 1:
        return 0
    return foot.pagination(page_count, key=page_state.ROWS, bind="query-params") - 1


def render_partition_table(location: Location, comparison: BrokerComparison) -> None:
    """Draws a table with one row per topic-partition.

    A click on a row opens the details of the topic-partition, in a section above this table.
    """
    elements.heading(say("compare.table"), say("compare.table_below"), gap=8)
    partitions = comparison.worst_first
    heads = [say(key) for key in COLUMNS]
    rows = [_table_row(partition) for partition in partitions]
    with st.container(key="kv_table", gap=None):
        # ty: ignore[invalid-argument-type] - pandas' type of a sequence admits no list
        data = pd.DataFrame(rows, columns=heads)
        names = [item.partition for item in partitions]
        alt = say("compare.table_alt", count=units.format_count(len(partitions)))
        tables.clickable_list(data, names, TABLE, alt)
        elements.hidden_count("common.more_scroll", len(rows) - tables.ROWS_IN_VIEW)
    with st.container(key="kv_paper_rows"):  # printed instead, because paper cannot scroll
        paper_rows = (
            [cell if isinstance(cell, str) else units.format_count(cell) for cell in row]
            for row in rows[:MAX_PAPER_ROWS]
        )
        tables.table(heads, paper_rows, "llllrrrr")
        elements.hidden_count("common.n_more", len(rows) - MAX_PAPER_ROWS)
    if (clicked := charts.take_click(TABLE)) is not None:
        _open_partition(location, clicked)


def _table_row(comparison: PartitionComparison) -> list[str | int | None]:
    offsets = [
        render(offsets_text(replica, units.format_count)) if replica else None
        for replica in comparison.replicas
    ]
    drops = [walk.drop_count for walk in comparison.truncations or ()] or [None, None]
    return [
        units.escape_controls(comparison.partition),
        partition_map.describe_row(comparison),
        *offsets,
        *(records.records for records in comparison.only_in),
        *drops,
    ]


def _open_partition(location: Location, partition: str) -> None:
    address = page_state.address(location.directory, partition)
    _open(address, page_location.compared_directory())


def _open(address: dict[str, Any], compared: str) -> None:
    address[page_state.COMPARED_DIRECTORY] = page_state.parameter(compared)
    elements.open_page("Compare", address)


def render_changes(start: StartComparison) -> None:
    """Draws the files that differ between two states of a broker directory."""
    elements.heading(say("compare.changes"), say("compare.changes_below"), gap=8)
    st.html(tag("p", outcome_text(start), class_="kv-sm"))
    if not start.changes:
        return
    heads = [
        say("common.file"),
        say("compare.column_change"),
        say("segment.size_bytes"),
        say("compare.column_foretold"),
    ]
    rows = []
    for change in start.changes[:MAX_CHANGES]:
        kind = say(f"comparison.change_{change.kind.value.replace('-', '_')}")
        before, after = map(units.format_count, change.sizes)
        sizes = say("compare.sizes", before=before, after=after)
        prediction = units.MISSING
        if start.is_started:
            is_known = change.is_predicted
            prediction = say("compare.what_foretold" if is_known else "compare.what_unforetold")
        rows.append((change.file, kind, sizes, prediction))
    tables.table(heads, rows, "clrl")
    elements.hidden_count("common.n_more", len(start.changes) - MAX_CHANGES)
