"""kafkaviz transactions: shows transactions, and what a read_committed consumer gets."""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from kafkaviz import units
from kafkaviz.cli.common import add_json_option, add_paths_argument, output
from kafkaviz.cli.common.output import ByteProgress
from kafkaviz.messages import Text, message, render, say, say_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from enum import StrEnum

    from kafkaviz.analysis.transactions.coordinator import CoordinatorState
    from kafkaviz.analysis.transactions.listing import PartitionTransactions, Transaction
    from kafkaviz.analysis.transactions.read_committed import (
        CommittedFetch,
        FetchedBatch,
        IndexStep,
    )
    from kafkaviz.log.broker import Broker
    from kafkaviz.log.partition import Partition

SHOWN_ROWS = 20
WIDTHS = (21, 9, 11, 26, 26)
# the moment to run the abort command, by the verdict on the transaction
ABORT_MOMENTS = {"ongoing": "after_that", "hanging": "now", "overdue": "now"}
EPILOG = """\
A consumer with isolation.level=read_committed gets no record from the last stable offset on, which
is the first offset of the oldest open transaction. The command names that transaction, and the
kafka-transactions.sh line that aborts it. Use that line only for a transaction that hangs: the
coordinator aborts others after transaction.timeout.ms. Whether it hangs, and its transactional id,
come from __transaction_state, if the directories hold it; for one partition, from the directories
next to it. Of a broker, first come the partitions that hold consumers back, then one line for each
other one; --all adds their last transactions.

--fetch explains one fetch of such a consumer, in one partition: the bytes that the broker sends,
the .txnindex entries that it reads to find aborted transactions, and the batches that the consumer
skips.

--json prints one object; [] marks a list of objects:
  directory         the path
  partitions[]      partition, log_start_offset, log_end, last_stable_offset, held_by (a transaction
                    or null), markers_alone, may_go_on, problem
    hold            what is known about held_by: verdict, open_ms, coordinator_state, timeout_ms,
                    coordinator_start_ms, until_ms
    transactions[]  the open ones and the last 10000 others: producer_id, producer_epoch,
                    transactional_id, first_offset, last_offset, outcome, start_ms, end_ms,
                    marker_offset, begins_before_log
    counts          of all transactions: committed, aborted, open
  fetch             only with --fetch: partition, offset, log_start_offset, log_end,
                    last_stable_offset, segment_base_offset, position, size_bytes, end,
                    upper_bound_offset, bound_source, bound_slot, step_count, batch_count,
                    may_go_on, next_offset, error
    steps[]         the last 1000 of step_count: segment_base_offset, slot, producer_id,
                    first_offset, last_offset, last_stable_offset, decision, ends_search
    returned[]      producer_id, first_offset
    batches[]       the first 10000 of batch_count: base_offset, first_offset, last_offset,
                    position, size_bytes, producer_id, is_transactional, fate, newly_aborted, ends

Some of these values:
  begins_before_log  null if nothing shows whether the transaction began below the log start
  bound_source       index-entry, next-segment or log-end
  decision           returned, ended-before or begins-after
  end                max-bytes, segment-end or last-stable-offset
  fate               delivered, aborted or control
  first_offset       of a batch: above its base_offset if it begins below the fetch offset
  markers_alone      the number of markers whose records are all gone
  may_go_on          true if the active segment is not here: an open transaction may have ended, and
                     last_stable_offset and held_by are null
  open_ms            ends at the newest time in the directories
  outcome            committed, aborted or open
  problem            why some of this is unknown or wrong: a .log or a .txnindex could not be read
                     to its end, there is no .log, or a start of the broker would cut the log
  start_ms           the time of the first batch that is here
  verdict            ongoing, overdue, ending, hanging, absent or unknown

The log end and the last stable offset are those after the next start of the broker, as if every
record were replicated: the high watermark, which may be lower, is not taken into account. It is in
the last_stable_offset of `kafkaviz tiered --json`.

Exit status: 0, even if some partitions have a problem; 2 wrong usage, a fetch that is refused, or
no partition with a .log.

Example: kafkaviz transactions /var/lib/kafka/data/payments-0 --fetch 300"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    parser = subparsers.add_parser(
        "transactions",
        help="show the transactions of each partition, and which one holds consumers back",
        description="Shows the committed, aborted and open transactions of each partition, and "
        "which open one sets the last stable offset. The directory is never changed.",
        epilog=EPILOG,
    )
    add_paths_argument(parser, "a broker or partition directory, or a .tar, .tar.gz or .zip of one")
    help_text = "explain a read_committed fetch from this offset; PATH must be one partition"
    parser.add_argument("--fetch", metavar="OFFSET", type=int, help=help_text)
    help_text = "max.partition.fetch.bytes of that fetch (default: 1048576)"
    parser.add_argument("--max-bytes", metavar="N", type=_parse_bytes, help=help_text)
    help_text = "also list the last transactions of each partition of a broker"
    parser.add_argument("--all", action="store_true", help=help_text)
    add_json_option(parser)


def _parse_bytes(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text[:20]) < 1 << 31:
        raise argparse.ArgumentTypeError(say("transactions.no_size", text=text))
    return int(text)


def run(args: argparse.Namespace) -> int:
    """Shows the transactions of each partition; with --fetch, a single fetch."""
    from kafkaviz.analysis.checks.plan import is_lone
    from kafkaviz.analysis.json_objects import to_json_object
    from kafkaviz.analysis.transactions.coordinator import read_states
    from kafkaviz.analysis.transactions.read_committed import explain_committed_fetch
    from kafkaviz.errors import CannotOpen, KafkavizError
    from kafkaviz.log.broker import open_broker
    from kafkaviz.search.fetch import MAX_BYTES

    if args.max_bytes and args.fetch is None:
        raise KafkavizError(message("transactions.max_bytes_of_fetch"))
    broker = open_broker(*args.paths)
    partitions = list(broker.partitions)
    if not is_lone(broker):
        partitions = [partition for partition in partitions if partition.state == "current"]
    readable = [partition for partition in partitions if partition.live]
    if not readable:
        raise CannotOpen(broker.sources_text, message("errors.holds_no_log"), kind="missing")
    fetch = None
    if args.fetch is not None:
        if len(readable) > 1:
            raise CannotOpen(broker.sources_text, message("transactions.fetch_of_one"))
        most_bytes = args.max_bytes or MAX_BYTES
        fetch = explain_committed_fetch(readable[0], args.fetch, most_bytes, broker=broker)
    states = read_states(broker)
    transactions = _read(broker, partitions, states)
    if args.json:
        answer: dict = {"directory": broker.sources_text, "partitions": transactions}
        answer |= {"fetch": fetch} if fetch else {}
        output.say_json("transactions", to_json_object(answer))
    elif fetch:
        output.say(_render_fetch(fetch))
    else:
        output.say(_render(transactions, is_single=len(partitions) == 1, is_all=args.all))
    return 0


def _read(
    broker: "Broker", partitions: "list[Partition]", states: "Mapping[int, CoordinatorState] | None"
) -> "Iterator[PartitionTransactions]":
    from kafkaviz.analysis.checks.plan import newest_ms
    from kafkaviz.analysis.inferred_release import assume_release
    from kafkaviz.analysis.transactions.coordinator import judge, transactional_ids
    from kafkaviz.analysis.transactions.listing import PartitionTransactions, list_transactions
    from kafkaviz.errors import KafkavizError
    from kafkaviz.format.names import parse_directory
    from kafkaviz.log.broker import Problem
    from kafkaviz.log.settings import open_settings

    ids = transactional_ids(states)
    assumed_release = assume_release(broker)
    settings = open_settings(broker, assumed_release.release)
    now_ms = newest_ms(broker)
    progress = ByteProgress()
    progress.expect({partition.directory: partition.live_log_bytes for partition in partitions})
    problems = list(broker.problems)
    for partition in partitions:
        try:
            answer = list_transactions(
                partition,
                ids,
                progress.show,
                version=assumed_release.version,
                broker=broker,
                settings=settings,
            )
        except KafkavizError as fault:
            problems.append(Problem.from_fault(partition.path, fault))
            continue
        if answer.held_by:
            hold = judge(partition.label, answer.held_by, states, now_ms)
            answer = replace(answer, hold=hold)
        yield answer
    for problem in problems:
        name = parse_directory(problem.path.name)
        if name and name.state == "current":
            yield PartitionTransactions(partition=problem.path.name, problem=problem.what)
    progress.clear()


def _render(
    transactions: "Iterable[PartitionTransactions]", *, is_single: bool, is_all: bool
) -> Iterator[Text]:
    """Yields the partitions' lines. Partitions that hold consumers back come first."""
    without = 0
    later: list[Text] = []
    for partition in transactions:
        lines = _render_partition(partition, is_long=is_single or is_all)
        if partition.held_by or is_single:
            yield from lines
        elif partition.transaction_count or partition.problem:
            later.extend(lines)
        else:
            without += 1
    yield from later
    if without:
        yield say_count("transactions.without", without)


def _render_partition(partition: "PartitionTransactions", *, is_long: bool) -> Iterator[Text]:
    from kafkaviz.analysis.transactions.listing import Outcome
    from kafkaviz.render.log_text import describe_verdict, start_cell

    if partition.problem and partition.log_end is None and not partition.transactions:
        yield say("errors.of_path", path=partition.partition, problem=partition.problem)
        return
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
        yield "  " + say(
            "transactions.held_by",
            who=held_by.producer_name,
            epoch=held_by.producer_epoch,
            offset=held_by.first_offset,
            since=_describe_start(held_by),
        )
        hold = partition.hold
        if hold:
            if hold.open_ms is not None:
                yield "  " + say("transactions.open_for", time=hold.open_ms)
            yield "  " + describe_verdict(hold)
        if held_by.begins_before_log is None:
            yield "  " + say("transactions.abort_unknown")
        elif hold and hold.verdict != "ending":
            when = ABORT_MOMENTS.get(hold.verdict, "if_it_hangs")
            command = held_by.abort_command(partition.partition)
            yield "  " + say(f"transactions.abort_{when}", command=command)
    if partition.may_go_on and partition.counts[Outcome.OPEN]:
        yield "  " + say("transactions.may_go_on")
    if partition.problem:
        yield f"  {output.to_one_line(partition.problem)}"
    if not is_long:
        return
    if partition.markers_alone:
        yield "  " + say_count("transactions.markers_alone", partition.markers_alone)
    last_ones = partition.transactions[-SHOWN_ROWS:]
    if last_ones:
        heads = ("outcome", "began", "ended", "producer")
        yield "  " + _row(
            say("cli_tiered.offsets"),
            say("transaction_lanes.marker"),
            *(say(f"transactions.head_{head}") for head in heads),
        )
    for transaction in last_ones:
        yield "  " + _row(
            _describe_offsets(transaction),
            _text(transaction.marker_offset, ""),
            say(f"transaction_lanes.{transaction.outcome.value}"),
            start_cell(transaction),
            "" if transaction.end_ms is None else units.moment(transaction.end_ms),
            render(transaction.producer_name),
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


def _describe_start(transaction: "Transaction") -> str:
    if transaction.start_ms is None:
        return say("common.unknown")
    moment = units.moment(transaction.start_ms)
    if transaction.begins_before_log is False:
        return moment
    known = "before" if transaction.begins_before_log else "maybe_before"
    return say(f"transactions.since_{known}", moment=moment)


def _render_fetch(fetch: "CommittedFetch") -> Iterator[Text]:
    if fetch.end is None:
        yield say(
            "transactions.fetch_nothing",
            partition=fetch.partition,
            offset=fetch.offset,
            stable=fetch.last_stable_offset,
            end=fetch.log_end,
        )
        if fetch.may_go_on:
            yield "  " + say("transactions.fetch_of_copy")
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
    if fetch.may_go_on:
        yield "  " + say("transactions.fetch_of_copy")
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
        first=batch.first_offset,
        last=batch.last_offset,
        producer=batch.producer_id if batch.producer_id >= 0 else "–",
        fate=fate,
    )
    for producer, offset in batch.newly_aborted:
        line = say("transactions.newly_aborted", batch=line, producer=producer, offset=offset)
    return line
