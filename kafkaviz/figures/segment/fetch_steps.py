"""One fetch of a read_committed consumer, as numbered sentences and two tables.

The first table has the .txnindex entries that the broker reads, the second the batches that it
sends. Consecutive batches with the same fate share a row. Consecutive entries share a row if their
transactions ended before the fetched offset.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from kafkaviz.analysis.transactions.listing import Outcome, PartitionTransactions, name_producer
from kafkaviz.analysis.transactions.read_committed import (
    BatchFate,
    CommittedFetch,
    EntryDecision,
    FetchedBatch,
    IndexStep,
    OffsetFate,
)
from kafkaviz.messages import render, say, say_count
from kafkaviz.render.sentences import count_range, join_comma, join_sentences
from kafkaviz.units import MISSING, file_stem, format_count

MAX_ROWS = 200  # most rows of each table
FATES = {
    BatchFate.DELIVERED: OffsetFate.DELIVERED,
    BatchFate.ABORTED: OffsetFate.SKIPPED,
    BatchFate.CONTROL: OffsetFate.MARKER,
}
ENTRY_HEADS = (
    "common.segment", "segment.head_slot", "transaction_lanes.head_producer",
    "fetch_steps.head_first", "transaction_lanes.head_marker", "fetch_steps.head_stable",
    "fetch_steps.head_decision",
)  # fmt: skip
BATCH_HEADS = (
    "common.offsets", "common.batches", "transaction_lanes.head_producer", "fetch_steps.head_fate",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class FetchStepsView:
    """A fetch in sentences and tables."""

    title: str
    caption: str
    request: tuple[str, ...] = ()  # sentences on what the broker reads; () for nothing
    response: tuple[str, ...] = ()  # sentences on the response and on the consumer
    entry_rows: tuple[tuple[str, ...], ...] = ()
    more_entries: int = 0  # the number of entries left out
    batch_rows: tuple[tuple[str, ...], ...] = ()
    more_batches: int = 0  # the number of batches left out
    end: str = ""  # says where the next fetch begins, or which exception the consumer throws


def default_offset(transactions: PartitionTransactions, first_offset: int, end_offset: int) -> int:
    """Returns the first offset of the last aborted transaction in a segment.

    A fetch from there skips records. If no transaction is aborted, returns the start of the segment
    or the log start offset, whichever is larger.
    """
    stable_offset = transactions.last_stable_offset
    aborted = [
        each
        for each in transactions.transactions
        if each.outcome == Outcome.ABORTED
        and first_offset <= each.first_offset < end_offset
        and (stable_offset is None or each.first_offset < stable_offset)
    ]
    if aborted:
        return max(aborted, key=lambda each: each.marker_offset or 0).first_offset
    return max(first_offset, transactions.log_start_offset or 0)


def view(fetch: CommittedFetch, transactional_ids: Mapping[int, str]) -> FetchStepsView:
    """Returns the fetch in words. `transactional_ids` maps producer ids to transactional ids."""
    if fetch.segment_base_offset is None:
        return _view_of_nothing(fetch)
    entry_rows = [row for run in _entry_runs(fetch, transactional_ids) for row in run]
    batch_rows = [_batch_row(batches, transactional_ids) for batches in _batch_runs(fetch.batches)]
    skipped = sum(last - first + 1 for first, last in fetch.skipped)
    title_key = "fetch_steps.title" if skipped else "fetch_steps.title_all"
    returned = len(fetch.returned)
    caption = [_counts(fetch)]
    if fetch.batch_count > len(fetch.batches):
        caption.append(say("fetch_steps.below_part", n=len(fetch.batches)))
    return FetchStepsView(
        title=say_count(title_key, returned, offset=fetch.offset, skipped=skipped),
        caption=join_sentences(caption),
        request=_request(fetch, fetch.segment_base_offset),
        response=(say_count("fetch_steps.returns", returned), say("fetch_steps.consumes")),
        entry_rows=tuple(entry_rows[-MAX_ROWS:]),
        more_entries=fetch.step_count - len(fetch.steps) + max(0, len(entry_rows) - MAX_ROWS),
        batch_rows=tuple(batch_rows[:MAX_ROWS]),
        more_batches=max(0, len(batch_rows) - MAX_ROWS),
        end=_end(fetch),
    )


def _view_of_nothing(fetch: CommittedFetch) -> FetchStepsView:
    end = fetch.last_stable_offset
    key = "at_end" if end == fetch.log_end else "stable"
    return FetchStepsView(
        title=say("fetch_steps.title_nothing", offset=fetch.offset),
        caption=say(f"fetch_steps.nothing_{key}", offset=end),
    )


def _request(fetch: CommittedFetch, base_offset: int) -> tuple[str, ...]:
    reads_text = say(
        "fetch_steps.reads",
        size=fetch.size_bytes,
        file=f"{file_stem(base_offset)}.log",
        position=fetch.position,
    )
    end_text = say(f"fetch_steps.end_{_word(fetch.end)}", offset=fetch.last_stable_offset)
    bound_text = say(
        f"fetch_steps.bound_{_word(fetch.bound_source)}",
        offset=fetch.upper_bound_offset,
        slot=fetch.bound_slot,
    )
    key = "none"
    if fetch.steps:
        key = "bound" if fetch.steps[-1].ends_search else "all"
    entries_text = say_count(
        f"fetch_steps.entries_{key}", fetch.step_count, offset=fetch.upper_bound_offset
    )
    return join_sentences([reads_text, end_text]), bound_text, entries_text


def _counts(fetch: CommittedFetch) -> str:
    if not fetch.batches:
        return ""
    total = fetch.batches[-1].last_offset + 1 - fetch.offset
    counts = dict.fromkeys(FATES.values(), 0)
    for batch in fetch.batches:
        counts[FATES[batch.fate]] += batch.last_offset + 1 - batch.first_offset
    counts[OffsetFate.EMPTY] = total - sum(counts.values())
    words = (
        say_count(f"transaction_lanes.n_{fate}", count) for fate, count in counts.items() if count
    )
    return say("fetch_steps.below", counts=tuple(words), total=total)


def _end(fetch: CommittedFetch) -> str:
    if fetch.error:
        return say("fetch_steps.fails", error=fetch.error)
    return say("fetch_steps.next", offset=fetch.next_offset)


def _word(value: object) -> str:
    return str(value).replace("-", "_")


def _entry_runs(
    fetch: CommittedFetch, transactional_ids: Mapping[int, str]
) -> Iterator[list[tuple[str, ...]]]:
    """Yields the table rows of each run of entries with the same segment and decision.

    A run of `ENDED_BEFORE` entries has a single row. Any other run has one row per entry.
    """
    for (base_offset, decision, _), group in groupby(
        fetch.steps, lambda step: (step.segment_base_offset, step.decision, step.ends_search)
    ):
        steps = list(group)
        segment = format_count(base_offset)
        if decision == EntryDecision.ENDED_BEFORE and len(steps) > 1:
            first, *_, last = steps
            slots = count_range(first.slot, last.slot)
            marker = count_range(first.last_offset, last.last_offset)
            text = say("fetch_steps.ended_before", offset=fetch.offset)
            yield [(segment, slots, MISSING, MISSING, marker, MISSING, text)]
            continue
        yield [_entry_row(fetch, step, transactional_ids) for step in steps]


def _entry_row(
    fetch: CommittedFetch, step: IndexStep, transactional_ids: Mapping[int, str]
) -> tuple[str, ...]:
    key = f"fetch_steps.{_word(step.decision)}"
    decision = say(key, offset=fetch.offset, bound=fetch.upper_bound_offset)
    if step.ends_search:
        decision = say("fetch_steps.ends_search", decision=decision)
    return (
        format_count(step.segment_base_offset),
        format_count(step.slot),
        _name(step.producer_id, transactional_ids),
        format_count(step.first_offset),
        format_count(step.last_offset),
        format_count(step.last_stable_offset),
        decision,
    )


def _batch_runs(batches: Sequence[FetchedBatch]) -> Iterator[list[FetchedBatch]]:
    def key(batch: FetchedBatch) -> tuple:
        producer_id = None if batch.fate == BatchFate.DELIVERED else batch.producer_id
        return batch.fate, producer_id, batch.ends

    for _, group in groupby(batches, key):
        yield list(group)


def _name(producer_id: int, transactional_ids: Mapping[int, str]) -> str:
    return render(name_producer(producer_id, transactional_ids.get(producer_id)))


def _batch_row(
    batches: Sequence[FetchedBatch], transactional_ids: Mapping[int, str]
) -> tuple[str, ...]:
    batch = batches[0]
    offsets = count_range(batch.first_offset, batches[-1].last_offset)
    producers = sorted({each.producer_id for each in batches if each.producer_id >= 0})
    names = join_comma(_name(producer_id, transactional_ids) for producer_id in producers)
    fate = f"fetch_steps.{batch.fate}"
    if batch.fate == BatchFate.CONTROL:
        fate = f"fetch_steps.marker_{batch.ends or 'other'}"
    return offsets, format_count(len(batches)), names or MISSING, say(fate)
