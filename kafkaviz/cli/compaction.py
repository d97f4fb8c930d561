"""kafkaviz compaction: shows which logs the cleaner would clean now, and the result of cleaning."""

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kafkaviz.cli.common import (
    add_json_option,
    add_paths_argument,
    add_setting_option,
    add_tiered_option,
    add_version_option,
    join_tiered_paths,
    output,
    parse_number,
)
from kafkaviz.cli.common.output import ByteProgress
from kafkaviz.messages import Text, message, say

if TYPE_CHECKING:
    from kafkaviz.analysis.compaction.compaction import Compaction, PartitionCompaction
    from kafkaviz.simulate.cleaner.cleaner import Cleaning

EPILOG = """\
Kafka's LogCleanerManager and Cleaner would answer the same after the next start of the broker.
A topic counts as compacted if its cleanup.policy contains compact. If nothing sets the policy,
Kafka's own compacted topics count, and the logs in cleaner-offset-checkpoint.

--json prints one object; [] marks a list of objects:
  directory       the path
  kafka_version   the release
  now_ms          the time of the decisions
  map             the offset map of one cleaner thread: bytes, load_factor, threads, most_keys
  order           the partitions that the cleaner takes now, the first one first
  partitions[]    partition, log_directory, checkpointed, first_dirty_offset,
                  force_update_checkpoint, first_uncleanable_offset, held_by,
                  first_uncleanable_segment, clean_bytes, cleanable_bytes, cleanable_ratio,
                  max_compaction_delay_ms, eligible, reason, error (the exception that ends a
                  cleaning)
    limits        last_stable_offset, active_segment, min_compaction_lag
    transaction   producer_id, first_offset
    settings      each setting as {value, source}
    cleaned       next_first_dirty_offset, passes, map_keys, removed, removed_records,
                  removed_ranges, kept, kept_records, kept_ranges, replaced_records,
                  aborted_records, keyless_records, expired_tombstones, removed_markers,
                  tombstones_left, tombstones_before, tombstone_records, markers_left,
                  markers_before, marker_records, bytes_before, bytes_after, bytes_freed,
                  superseded_bytes; null if the cleaner does not take the log
      segments[]  segment, replaces, log_bytes, index_bytes, timeindex_bytes
  unread[]        partition, log_directory, message

Some of these values:
  bytes_freed       with bytes_before and bytes_after, the bytes of .log files alone. With snappy, a
                    batch may be a byte or two smaller than Kafka's
  held_by           the limit that sets first_uncleanable_offset: "active segment",
                    "min.compaction.lag.ms", "open transaction", "high watermark", or "checkpoint"
                    if the log was cleaned further than that
  passes            the number of cleanings until the map, which takes most_keys, has held every key
                    of the part that is cleaned
  reason            "ratio", "max compaction lag" or "max compaction lag and ratio" if eligible;
                    otherwise "ratio not above min.cleanable.dirty.ratio" or "nothing below the
                    first uncleanable offset"
  removed, kept     lists of the first and last offset of a range of records
  removed_records   the sum of the five counts after kept_ranges
  superseded_bytes  the part of bytes_freed that were records, without those of aborted
                    transactions, batch headers and markers
  tombstones_left   a list of [offset, delete horizon] after the cleaning, as markers_left is;
                    tombstones_before and markers_before are those before it

A list of ranges, tombstones or markers has up to 100000 items; its count has no limit.

Example: kafkaviz compaction /var/lib/kafka/data --set min.cleanable.dirty.ratio=0.1"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    parser = subparsers.add_parser(
        "compaction",
        help="show what the log cleaner takes, and what one cleaning leaves",
        description="Shows for each compacted log which part the log cleaner would clean now, what "
        "holds it back, and the records, segments and bytes after one cleaning. The directory is "
        "never changed.",
        epilog=EPILOG,
    )
    add_paths_argument(
        parser,
        "a broker or partition directory, a .tar, .tar.gz or .zip of one, or the path of a "
        "partition in one",
    )
    help_text = "the time of the cleaning in ms since 1970 (default: the time of the newest file)"
    parser.add_argument("--now", metavar="MS", type=int, help=help_text)
    help_text = "the high watermark of each log (default: the checkpointed one, or the log's end)"
    parser.add_argument("--high-watermark", metavar="N", type=int, help=help_text)
    help_text = (
        "the size of the offset map of one thread (default: log.cleaner.dedupe.buffer.size "
        "divided by log.cleaner.threads)"
    )
    parser.add_argument("--map-bytes", metavar="N", type=_parse_map_bytes, help=help_text)
    help_text = "the share of the map that is used (default: log.cleaner.io.buffer.load.factor)"
    parser.add_argument("--load-factor", metavar="F", type=_parse_load_factor, help=help_text)
    add_setting_option(
        parser, "a setting of topics or of the cleaner, such as delete.retention.ms=0"
    )
    add_version_option(parser, "the release of the cleaner (default: inferred)")
    add_tiered_option(parser)
    add_json_option(parser)


def _parse_map_bytes(text: str) -> int:
    from kafkaviz.simulate.cleaner.offset_map import BYTES_PER_KEY

    if not text.isascii() or not text.isdigit() or int(text) < BYTES_PER_KEY:
        raise argparse.ArgumentTypeError(say("cli_compaction.bad_map", least=BYTES_PER_KEY))
    return int(text)


def _parse_load_factor(text: str) -> float:
    problem = say("cli_compaction.bad_load_factor", text=text)
    return parse_number(text, lambda factor: 0 < factor <= 1, problem)


def run(args: argparse.Namespace) -> int:
    from kafkaviz.analysis.compaction.compaction import compaction
    from kafkaviz.analysis.inferred_release import assume_release
    from kafkaviz.analysis.json_objects import to_json_object
    from kafkaviz.log.broker import open_broker
    from kafkaviz.log.settings import open_settings

    broker = open_broker(*join_tiered_paths(args.paths, args.tiered))
    release = assume_release(broker, args.kafka_version).release
    progress = ByteProgress()
    progress.expect({partition.directory: partition.log_bytes for partition in broker.partitions})
    result = compaction(
        broker,
        args.kafka_version,
        args.now,
        settings=open_settings(broker, release, dict(args.overrides)),
        high_watermark=args.high_watermark,
        map_bytes=args.map_bytes,
        load_factor=args.load_factor,
        on_partition=progress.show,
    )
    progress.clear()
    if args.json:
        output.say_json("compaction", to_json_object(result))
    else:
        output.say(_render(result))
    return 0


def _render(result: "Compaction") -> Iterator[Text]:
    size = result.map
    yield message(
        "cli_compaction.map", bytes=size.size_bytes, load_factor=size.load_factor, n=size.most_keys
    )
    if result.order:
        yield message("cli_compaction.order", names=result.order)
    else:
        yield message("cli_compaction.no_order")
    idle_partitions: dict[str, list[int]] = {}
    for partition in result.partitions:
        if _has_only_active_segment(partition):
            topic, _, number = partition.partition.rpartition("-")
            idle_partitions.setdefault(topic, []).append(int(number))
        else:
            yield from _render_partition(partition)
    for topic, numbers in idle_partitions.items():
        yield message(
            "cli_compaction.only_active", topic=topic, n=len(numbers), numbers=sorted(numbers)
        )
    for log in result.unread:
        yield message("cli_compaction.unread", partition=log.partition, problem=log.message)


def _has_only_active_segment(partition: "PartitionCompaction") -> bool:
    from kafkaviz.analysis.compaction.decision import Barrier

    decision = partition.decision
    return (
        decision.held_by == Barrier.ACTIVE_SEGMENT
        and not decision.total_bytes
        and not decision.force_update_checkpoint
        and not partition.error
    )


def _render_partition(partition: "PartitionCompaction") -> Iterator[Text]:
    from kafkaviz.render import log_text

    decision = partition.decision
    reason = log_text.describe_reason(decision, partition.settings)
    yield message("cli_compaction.partition", name=partition.partition, reason=reason)
    if decision.total_bytes:
        yield _indent(
            "cli_compaction.parts",
            clean=decision.clean_bytes,
            dirty_offset=decision.first_dirty_offset,
            dirty=decision.cleanable_bytes,
            stop=decision.first_uncleanable_segment,
        )
    if decision.force_update_checkpoint:
        yield _indent(
            "cli_compaction.forced",
            checkpoint=decision.checkpointed,
            offset=decision.first_dirty_offset,
        )
    barrier = log_text.describe_barrier(decision, partition.oldest_transaction)
    yield _indent("cli_compaction.held", barrier=barrier)
    if partition.error:
        yield _indent("cli_compaction.error", error=partition.error)
    if partition.cleaned:
        yield from _render_cleaning(partition.cleaned)


def _render_cleaning(cleaning: "Cleaning") -> Iterator[str]:
    yield _indent(
        "cli_compaction.records",
        removed=message("cleaning.title_removal", n=cleaning.removed.records),
        retained=message("cli_compaction.n_kept", n=cleaning.retained.records),
    )
    if cleaning.aborted_records:
        yield _indent("cli_compaction.aborted", n=cleaning.aborted_records)
    if cleaning.tombstone_count or cleaning.marker_count:
        yield _indent(
            "cli_compaction.left",
            tombstones=message("cli_compaction.n_tombstones", n=cleaning.tombstone_count),
            markers=message("cli_compaction.n_markers", n=cleaning.marker_count),
        )
    source_count = sum(len(segment.sources) for segment in cleaning.segments)
    yield _indent(
        "cli_compaction.freed",
        before=cleaning.source_bytes,
        after=cleaning.log_bytes,
        segments=message("report.segments", n=source_count),
        into=message("cli_compaction.n_written", n=len(cleaning.segments)),
        offset=cleaning.next_first_dirty_offset,
    )
    if cleaning.passes is None:
        yield _indent("cli_compaction.endless")
    elif cleaning.passes > 1:
        yield _indent("cli_compaction.passes", n=cleaning.passes)


def _indent(key: str, **values: object) -> str:
    return f"  {output.to_one_line(message(key, **values))}"
