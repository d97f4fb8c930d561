"""kafkaviz transactions: the transactions of each partition, and what read_committed gets."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from kafkaviz.cli.common import output
from kafkaviz.cli.common.options import add_json_option
from kafkaviz.cli.common.output import ByteProgress
from kafkaviz.messages import Text, message, say, say_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from enum import StrEnum

    from kafkaviz.analysis.committed_fetch import CommittedFetch, FetchedBatch, IndexStep
    from kafkaviz.analysis.transactions import PartitionTransactions, Transaction
    from kafkaviz.log.partition import Partition

SHOWN_ROWS = 20
WIDTHS = (21, 9, 11, 26, 26)
EPILOG = """\
A consumer with isolation.level=read_committed gets no record from the last stable offset on, which
is the first offset of the oldest open transaction. The command names that transaction, and the
kafka-transactions.sh line that aborts it. Use that line only for a transaction that hangs: the
coordinator aborts others after transaction.timeout.ms. Transactional ids come from
__transaction_state, if the directories hold it.

--fetch explains one fetch of such a consumer, in one partition: the bytes that the broker sends,
the .txnindex entries that it reads to find aborted transactions, and the batches that the consumer
skips.

--json prints one object: directory; partitions, a list of {partition, log_start_offset, log_end,
last_stable_offset, held_by, transactions, counts: {committed, aborted, open}, markers_alone,
problem}; and with --fetch also fetch. A transaction is {producer_id, producer_epoch,
transactional_id, first_offset, last_offset, outcome: committed|aborted|open, start_ms, end_ms,
marker_offset, begins_before_log}. The open ones and the last 10000 others are listed; counts has
all. begins_before_log is null if nothing shows whether the transaction began below the log start.
markers_alone counts markers whose records are all gone. problem says why a .log could not be read
to its end.

fetch is {partition, offset, log_start_offset, log_end, last_stable_offset, segment_base_offset,
position, size_bytes, end: max-bytes|segment-end|last-stable-offset, upper_bound_offset,
bound_source: index-entry|next-segment|log-end, bound_slot, steps: [{segment_base_offset, slot,
producer_id, first_offset, last_offset, last_stable_offset, decision: returned|ended-before|
begins-after, ends_search}], step_count, returned: [{producer_id, first_offset}], batches:
[{base_offset, last_offset, position, size_bytes, producer_id, is_transactional, fate: delivered|
aborted|control, newly_aborted, ends}], batch_count, next_offset, error}. It lists the last 1000
steps and the first 10000 batches.

Example: kafkaviz transactions /var/lib/kafka/data/payments-0 --fetch 300"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    parser = subparsers.add_parser(
        "transactions",
        help="show the transactions of each partition, and which one holds consumers back",
        description="Shows the committed, aborted and open transactions of each partition, and "
        "which open one sets the last stable offset. The directory is never changed.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = (
        "a broker or partition directory, or a .tar, .tar.gz or .zip of one; for a broker with "
        "several log directories, all of them or the folder that holds them"
    )
    parser.add_argument("paths", metavar="PATH", type=Path, nargs="+", help=what)
    parser.add_argument(
        "--fetch",
        metavar="OFFSET",
        type=int,
        help="explain a read_committed fetch from this offset; PATH must be one partition",
    )
    parser.add_argument(
        "--max-bytes",
        metavar="N",
        type=int,
        default=1 << 20,
        help="max.partition.fetch.bytes of that fetch (default: 1048576)",
    )
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Shows the transactions, or with --fetch one fetch."""
    from kafkaviz.analysis.checks.plan import is_lone, read_transactional_ids
    from kafkaviz.analysis.committed_fetch import explain_fetch
    from kafkaviz.analysis.json_objects import to_json_object
    from kafkaviz.errors import CannotOpen
    from kafkaviz.log.broker import open_broker

    broker = open_broker(*args.paths)
    partitions = [
        partition
        for partition in broker.partitions
        if partition.live and (partition.state == "current" or is_lone(broker))
    ]
    if not partitions:
        raise CannotOpen(broker.sources_text, message("errors.holds_no_log"), kind="missing")
    fetch = None
    if args.fetch is not None:
        if len(partitions) > 1:
            raise CannotOpen(broker.sources_text, message("transactions.fetch_of_one"))
        fetch = explain_fetch(partitions[0], args.fetch, args.max_bytes, broker=broker)
    transactions = _read(partitions, read_transactional_ids(broker.partitions))
    if args.json:
        answer = {"directory": broker.sources_text, "partitions": transactions}
        output.say_json(
            "transactions", to_json_object(answer | ({"fetch": fetch} if fetch else {}))
        )
    elif fetch:
        output.say(_render_fetch(fetch))
    else:
        output.say(_render(transactions, is_single=len(partitions) == 1))
    return 0


def _read(
    partitions: "list[Partition]", transactional_ids: "Mapping[int, str]"
) -> "Iterator[PartitionTransactions]":
    from kafkaviz.analysis.transactions import read_transactions

    progress = ByteProgress()
    progress.expect({partition.directory: partition.live_log_bytes for partition in partitions})
    for partition in partitions:
        yield read_transactions(partition, transactional_ids, progress.show)
    progress.clear()


def _render(transactions: "Iterable[PartitionTransactions]", *, is_single: bool) -> Iterator[Text]:
    without = 0
    for partition in transactions:
        if partition.transaction_count or partition.problem or is_single:
            yield from _render_partition(partition)
        else:
            without += 1
    if without:
        yield say_count("transactions.without", without)


def _render_partition(partition: "PartitionTransactions") -> Iterator[Text]:
    from kafkaviz import units

    yield say(
        "transactions.partition",
        partition=partition.partition,
        stable=_text(partition.last_stable_offset),
        end=_text(partition.log_end),
        counts=tuple(
            message(f"transactions.n_{outcome.value}", n=count)
            for outcome, count in partition.counts.items()
        ),
    )
    held_by = partition.held_by
    if held_by:
        since = held_by.start_ms
        yield "  " + say(
            "transactions.held_by",
            who=_describe_producer(held_by),
            epoch=held_by.producer_epoch,
            offset=held_by.first_offset,
            since=say("common.unknown") if since is None else units.moment(since),
        )
        if held_by.begins_before_log is None:
            yield "  " + say("transactions.abort_unknown")
        else:
            command = held_by.abort_command(partition.partition)
            yield "  " + say("transactions.abort", command=command)
    if partition.markers_alone:
        yield "  " + say_count("transactions.markers_alone", partition.markers_alone)
    if partition.problem:
        yield f"  {output.to_one_line(partition.problem)}"
    last_ones = partition.transactions[-SHOWN_ROWS:]
    if last_ones:
        yield "  " + _row(
            say("cli_tiered.offsets"),
            say("transaction_lanes.marker"),
            say("transactions.head_outcome"),
            say("transactions.head_began"),
            say("transactions.head_ended"),
            say("transactions.head_producer"),
        )
    for transaction in last_ones:
        yield "  " + _row(
            _describe_offsets(transaction),
            _text(transaction.marker_offset, ""),
            say(f"transaction_lanes.{transaction.outcome.value}"),
            "" if transaction.start_ms is None else units.moment(transaction.start_ms),
            "" if transaction.end_ms is None else units.moment(transaction.end_ms),
            _describe_producer(transaction),
        )
    if partition.transaction_count > len(last_ones):
        yield "  " + say_count("transactions.earlier", partition.transaction_count - len(last_ones))


def _row(*cells: str) -> str:
    padded = [output.pad(cell, width) for cell, width in zip(cells, WIDTHS, strict=False)]
    return "".join([*padded, *cells[len(WIDTHS) :]]).rstrip()


def _text(number: int | None, otherwise: str | None = None) -> str:
    if number is None:
        return say("common.unknown") if otherwise is None else otherwise
    return str(number)


def _describe_offsets(transaction: "Transaction") -> str:
    first = str(transaction.first_offset)
    if transaction.begins_before_log is None:
        first = f"≤ {first}"
    return f"{first} – {_text(transaction.last_offset, '?')}"


def _describe_producer(transaction: "Transaction") -> str:
    if transaction.transactional_id is None:
        return say("finding.producer", producer=transaction.producer_id)
    return say(
        "finding.transactional_producer",
        producer=transaction.producer_id,
        id=transaction.transactional_id,
    )


def _render_fetch(fetch: "CommittedFetch") -> Iterator[Text]:
    if fetch.end is None:
        yield say(
            "transactions.fetch_nothing",
            partition=fetch.partition,
            offset=fetch.offset,
            stable=fetch.last_stable_offset,
            end=fetch.log_end,
        )
        return
    yield say(
        "transactions.fetch",
        partition=fetch.partition,
        offset=fetch.offset,
        bytes=fetch.size_bytes,
        position=fetch.position,
        segment=fetch.segment_base_offset,
        next=fetch.next_offset,
    )
    yield "  " + say(f"transactions.end_{_key(fetch.end)}", stable=fetch.last_stable_offset)
    yield "  " + say(
        f"transactions.bound_{_key(fetch.bound_source)}",
        offset=fetch.upper_bound_offset,
        **({} if fetch.bound_slot is None else {"slot": fetch.bound_slot}),
    )
    if fetch.step_count > SHOWN_ROWS:
        yield "  " + say_count("transactions.more_steps", fetch.step_count - SHOWN_ROWS)
    for step in fetch.steps[-SHOWN_ROWS:]:
        yield f"  {_describe_step(step)}"
    if not fetch.step_count:
        yield "  " + say("transactions.no_steps")
    yield "  " + say_count("transactions.returned", len(fetch.returned))
    for batch in fetch.batches[:SHOWN_ROWS]:
        yield f"  {_describe_batch(batch)}"
    if fetch.batch_count > SHOWN_ROWS:
        yield "  " + say_count("transactions.more_batches", fetch.batch_count - SHOWN_ROWS)
    if fetch.error:
        yield "  " + say("transactions.consumer_error", error=fetch.error)


def _key(value: "StrEnum | None") -> str:
    return str(value).replace("-", "_")


def _describe_step(step: "IndexStep") -> str:
    line = say(
        "transactions.step",
        segment=step.segment_base_offset,
        slot=step.slot,
        producer=step.producer_id,
        first=step.first_offset,
        last=step.last_offset,
        decision=say(f"transactions.step_{_key(step.decision)}"),
    )
    if step.ends_search:
        line = say("transactions.step_ends", step=line, offset=step.last_stable_offset)
    return line


def _describe_batch(batch: "FetchedBatch") -> str:
    fate = say(f"transactions.fate_{batch.fate.value}")
    if batch.ends:
        fate = say(f"transactions.marker_{batch.ends.value}")
    line = say(
        "transactions.batch",
        first=batch.base_offset,
        last=batch.last_offset,
        producer=batch.producer_id if batch.producer_id >= 0 else "–",
        fate=fate,
    )
    for producer_id, first_offset in batch.newly_aborted:
        line = say(
            "transactions.newly_aborted", batch=line, producer=producer_id, offset=first_offset
        )
    return line
