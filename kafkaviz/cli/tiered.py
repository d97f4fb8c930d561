"""kafkaviz tiered: lists which segments are in the local directory, in tiered storage, or lost."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from kafkaviz.cli.common import output
from kafkaviz.cli.common.options import add_json_option
from kafkaviz.messages import message, say, say_count

if TYPE_CHECKING:
    from kafkaviz.log.tiered.tiered_partition import TieredPartition, TieredSegment
    from kafkaviz.log.tiered.tiered_view import TieredState

LOST_STATUS = 1
COLUMNS = ("offsets", "bytes", "epochs", "place", "state")
EPILOG = """\
PATH is a store of remote segments: a folder of LocalTieredStorage or of Aiven's plugin, or an
archive of one. Or PATH is a broker directory, and --tiered names the store. The content of
__remote_log_metadata is read from the broker directory; without it, each complete segment in the
store counts as copied.

A segment is local: only in the broker directory; both; remote: only in the store; unfinished: its
copy has begun and not ended; dangling: in the store, but unknown to readers; lost: copied according
to the metadata, but in neither place.

Exit status: 0 no segment is lost, 1 at least one is, 2 wrong usage or a store that cannot be read.

--json prints one object: store; directory, or null; partitions, a list of {partition, topic_id,
local_log_start, deleted_segments, deletion, counts, segments: [{start_offset, end_offset, bytes,
leader_epochs: {epoch: its first offset in the segment}, place, state, segment_id, layout,
stored_bytes, encrypted, max_timestamp_ms, metadata_events}], problems, metadata_events: {total,
superseded}, unannounced_segments}; problems, of __remote_log_metadata. Unknown values are null.
metadata_events counts its records about a segment, or about all segments of the partition. A record
is superseded if a later one of the same segment replaces it, or if the segment is deleted.
unannounced_segments is the number of segments that only keyed updates mention (KIP-1266); their
offsets come from the store.

Example: kafkaviz tiered /var/lib/kafka/data --tiered /mnt/kafka-tiered-storage"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    parser = subparsers.add_parser(
        "tiered",
        help="show where the segments of tiered storage are",
        description="Lists the segments of each topic-partition in tiered storage, with the place "
        "and the metadata of each. Neither place is ever changed.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "path", metavar="PATH", type=Path, help="a store of remote segments, or a broker directory"
    )
    parser.add_argument(
        "--tiered", metavar="STORE", type=Path, help="the store, if PATH is a broker directory"
    )
    add_json_option(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Lists the segments; returns 1 if one is lost."""
    from kafkaviz.analysis.json_objects import to_json_object
    from kafkaviz.log.broker import read_tiered_state
    from kafkaviz.log.tiered.tiered_partition import SegmentPlace

    state = read_tiered_state(args.tiered or args.path, args.path if args.tiered else None)
    if args.json:
        output.say_json("tiered", to_json_object(state))
    else:
        output.say(_render(state))
    is_lost = any(partition.count(SegmentPlace.LOST) for partition in state.partitions)
    return LOST_STATUS if is_lost else 0


def _render(state: "TieredState") -> Iterator[str]:
    yield say("cli_tiered.store", path=state.store)
    if state.local:
        yield say("cli_tiered.directory", path=state.local)
    for partition in state.partitions:
        yield ""
        yield from _render_partition(partition)
    for problem in state.problems:
        yield say("cli_tiered.problem", problem=problem.message)


def _render_partition(partition: "TieredPartition") -> Iterator[str]:
    counts = tuple(
        message(f"cli_tiered.n_{place}", n=count)
        for place, count in partition.counts.items()
        if count
    )
    yield say(
        "cli_tiered.partition",
        name=partition.directory,
        id=partition.topic_id,
        counts=counts or (message("cli_tiered.no_segments"),),
    )
    if partition.deleted_segments:
        yield "  " + say_count("cli_tiered.deleted", partition.deleted_segments)
    if partition.events:
        yield "  " + say_count(
            "cli_tiered.events", partition.events.total, superseded=partition.events.superseded
        )
    if partition.unannounced_segments:
        yield "  " + say_count("cli_tiered.unannounced", partition.unannounced_segments)
    if partition.deletion:
        yield "  " + say("cli_tiered.deletion", state=partition.deletion)
    if partition.segments:
        yield "  " + _row(
            *(
                say("lookup.remote_bytes" if name == "bytes" else f"cli_tiered.{name}")
                for name in COLUMNS
            )
        )
    for segment in partition.segments:
        yield "  " + _row(
            f"{segment.start_offset} – {'' if segment.end_offset is None else segment.end_offset}",
            "" if segment.log_bytes is None else str(segment.log_bytes),
            " ".join(map(str, segment.leader_epochs)),
            say(f"cli_tiered.{segment.place.value}"),
            _describe_state(segment),
        )
    for problem in partition.problems:
        yield "  " + say("cli_tiered.problem", problem=problem.message)


def _describe_state(segment: "TieredSegment") -> str:
    parts = [segment.state or ""]
    if segment.stored and segment.stored.has_encryption:
        parts.append(say("cli_tiered.encrypted"))
    return " ".join(filter(None, parts))


def _row(offsets: str, size: str, epochs: str, place: str, state: str) -> str:
    return (
        f"{output.pad(offsets, 21)}{output.pad(size, 12, '>')}  {output.pad(epochs, 8)}  "
        f"{output.pad(place, 12)}{state}"
    ).rstrip()
