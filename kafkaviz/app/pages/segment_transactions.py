"""The tab Transactions of the Segment page."""

import shlex
from collections.abc import Sequence
from functools import partial

import streamlit as st

from kafkaviz import units
from kafkaviz.analysis.lookup.lookup_targets import OFFSET
from kafkaviz.analysis.transactions import read_committed
from kafkaviz.analysis.transactions.listing import PartitionTransactions
from kafkaviz.app import page_state
from kafkaviz.app.cache import segment_cache
from kafkaviz.app.frame import pages
from kafkaviz.app.pages.lookup_controls import parse_target
from kafkaviz.app.state import transaction_jobs
from kafkaviz.app.state.page_location import PartitionLocation
from kafkaviz.app.widgets import charts, elements, progress_strip, segment_widgets, tables
from kafkaviz.errors import KafkavizError
from kafkaviz.figures.segment import fetch_steps, transaction_lanes
from kafkaviz.figures.segment.transaction_lanes import TransactionLanesView
from kafkaviz.html import tag
from kafkaviz.log.archives import archive
from kafkaviz.log.segment import Segment
from kafkaviz.messages import render as render_message
from kafkaviz.messages import say
from kafkaviz.render.sentences import describe_error_sentence, to_sentence


def render(location: PartitionLocation, segment: Segment) -> None:
    restart = partial(transaction_jobs.restart, location.snapshot, location.partition)
    transactions = progress_strip.wait_for_result(
        partial(transaction_jobs.get_or_start, location.snapshot, location.partition),
        say("health.reading_partition", partition=location.partition.label),
        lambda error: progress_strip.render_failure(error, restart),
    )
    if transactions is None:
        return
    if transactions.problem:
        reason = to_sentence(render_message(transactions.problem))
        elements.state("transactions", "warning", say("transaction_lanes.unread"), reason)
    elif not transactions.transactions:
        reason = say("transaction_lanes.none_why")
        elements.empty("transactions", say("transaction_lanes.none"), reason)
    if transactions.transactions:
        _render_lanes(location, segment, transactions)


def _render_lanes(
    location: PartitionLocation, segment: Segment, transactions: PartitionTransactions
) -> None:
    base_offsets = [each.base_offset for each in location.partition.live]
    view_key = (
        "transaction lanes",
        location.snapshot.key,
        location.partition_name,
        segment.base_offset,
    )
    lanes_view = charts.view(
        view_key,
        lambda: transaction_lanes.view(
            transactions,
            segment.base_offset,
            base_offsets,
            read_runs=partial(read_committed.read_runs, segment, transactions),
            newest_ms=segment_cache.newest_ms(location.snapshot),
        ),
    )
    with st.container(key="kv_fig_transactions"):
        charts.render_titled(view_key, transaction_lanes.figure, lanes_view, "transactions")
        st.html(segment_widgets.transactions_legend(lanes_view))
    if lanes_view.stop_segment is not None:
        st.page_link(
            pages()["Segment"].script,
            label=say("transaction_lanes.show_stop", segment=lanes_view.stop_segment),
            icon=":material/swap_horiz:",
            query_params=page_state.address(
                location.directory, location.partition_name, lanes_view.stop_segment
            )
            | {page_state.TAB: "Transactions"},
        )
    if lanes_view.held_by:
        elements.paragraph(lanes_view.held_by)
    _render_rows(transaction_lanes.HEADS, transaction_lanes.rows(lanes_view), "llrllrr", "lanes")
    tables.download(
        "CSV",
        lambda: tables.to_csv(transaction_lanes.COLUMNS, transaction_lanes.values(transactions)),
        f"{units.escape_controls(location.partition.directory)}-transactions.csv",
        "kv_transactions_csv",
    )
    st.space(24)
    _render_fetch(location, lanes_view, transactions)


def _render_fetch(
    location: PartitionLocation,
    lanes_view: TransactionLanesView,
    transactions: PartitionTransactions,
) -> None:
    elements.heading(say("fetch_steps.heading"), say("fetch_steps.heading_below"))
    default = fetch_steps.default_offset(
        transactions, lanes_view.segment_offset, lanes_view.end_offset
    )
    text = st.text_input(
        say("fetch_steps.field"),
        key=page_state.FETCH,
        bind="query-params",
        placeholder=units.format_count(default),
        width=200,
    )
    try:
        offset = parse_target(text, OFFSET) if text else default
    except ValueError:
        elements.paragraph(say("lookup.no_offset", text=units.excerpt(text)))
        return
    try:
        fetch = segment_cache.committed_fetch(location.snapshot, location.partition, offset)
    except KafkavizError as fault:
        title = say("fetch_steps.unread", offset=offset)
        elements.state("fetch", "info", title, describe_error_sentence(fault))
        return
    steps = fetch_steps.view(fetch, segment_cache.transactional_ids(location.snapshot))
    elements.figure_head(steps.title, steps.caption)
    _render_numbered(steps.request, 1)
    if steps.request:
        _render_rows(fetch_steps.ENTRY_HEADS, steps.entry_rows, "rrlrrrw", "entries")
        elements.hidden_count("fetch_steps.more_entries", steps.more_entries)
        _render_numbered(steps.response, 1 + len(steps.request))
        _render_rows(fetch_steps.BATCH_HEADS, steps.batch_rows, "lrwl", "batches")
        elements.hidden_count("fetch_steps.more_rows", steps.more_batches)
        elements.paragraph(steps.end)
    path = archive.display_text(location.partition.path)
    command = shlex.join(["kafkaviz", "transactions", path, "--fetch", str(offset)])
    st.code(units.escape_controls(command), language="bash", wrap_lines=True)


def _render_numbered(sentences: Sequence[str], first: int) -> None:
    items = (tag("li", elements.escape(sentence)) for sentence in sentences)
    st.html(tag("ol", *items, class_="kv-list", start=first))


def _render_rows(
    heads: Sequence[str], rows: Sequence[Sequence[str]], kinds: str, name: str
) -> None:
    if rows:
        with st.container(key=f"kv_transactions_{name}"):
            tables.table(list(map(say, heads)), rows, kinds)
