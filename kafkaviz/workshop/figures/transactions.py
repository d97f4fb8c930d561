"""The transactions around a segment, in one lane per producer, and the last stable offset."""

from functools import partial

from kafkaviz.analysis.transactions import committed_offsets
from kafkaviz.app import page_state
from kafkaviz.app.state import transaction_jobs
from kafkaviz.app.widgets import segment_widgets
from kafkaviz.figures.segment import transaction_lanes
from kafkaviz.figures.segment.transaction_lanes import TransactionLanesView
from kafkaviz.workshop.figures import block_location
from kafkaviz.workshop.figures.figure import Destination, drawn_figure
from kafkaviz.workshop.lessons.grammar import LessonBlock


def _make(block: LessonBlock) -> TransactionLanesView:
    location = block_location.locate(block)
    transactions = transaction_jobs.get_or_start(location.snapshot, location.partition).wait()
    assert transactions is not None  # `wait` has no timeout here
    base_offsets = [segment.base_offset for segment in location.partition.live]
    first_offset = location.segment.base_offset if block["offset"] is None else block["offset"]
    return transaction_lanes.view(
        transactions,
        first_offset,
        base_offsets,
        read_runs=partial(committed_offsets.read_runs, location.segment, transactions),
    )


def _to_tab(block: LessonBlock) -> Destination:
    page, address = block_location.to_segment(block)
    return page, address | {page_state.TAB: "Transactions"}


TRANSACTIONS = drawn_figure(
    _make,
    _to_tab,
    (transaction_lanes.figure, transaction_lanes.question_figure),
    heads=transaction_lanes.HEADS,
    rows=transaction_lanes.rows,
    kinds="llrllrr",
    legend=partial(segment_widgets.lanes_legend, ("committed", "aborted", "open", "marker")),
    answer_legend=segment_widgets.transactions_legend,
)
