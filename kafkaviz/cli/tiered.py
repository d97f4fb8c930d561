"""kafkaviz tiered: lists which segments are local, in tiered storage, or lost."""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kafkaviz import units
from kafkaviz.cli.common import add_json_option, add_setting_option, add_version_option, output
from kafkaviz.messages import message, render, say, say_count

if TYPE_CHECKING:
    from kafkaviz.analysis.checks.plan import CheckPlan
    from kafkaviz.analysis.tiering.remote_retention import RemoteRetention
    from kafkaviz.analysis.tiering.roll_size import RollSize, RollSizes
    from kafkaviz.analysis.tiering.upload import PartitionUpload
    from kafkaviz.log.tiered.tiered_partition import TieredPartition, TieredSegment
    from kafkaviz.log.tiered.tiered_view import TieredState

LOST_STATUS = 1
ROLL_COLUMNS = ("rolled", "fill", "objects", "puts", "events", "kept")
ROLL_WIDTH = 14
# for each column: head, width, alignment, and the text that follows it
COLUMNS = (
    ("cli_tiered.offsets", 21, "<", ""),
    ("lookup.remote_bytes", 12, ">", "  "),
    ("cli_tiered.epochs", 8, "<", "  "),
    ("cli_tiered.place", 12, "<", ""),
    ("cli_tiered.state", 21, "<", "  "),
    ("cli_tiered.upload", 0, "<", ""),
)
EPILOG = """\
PATH is a store of remote segments: a folder of LocalTieredStorage or of Aiven's plugin, or an
archive of one. Or PATH is a broker directory, and --tiered names the store. The content of
__remote_log_metadata is read from the broker directory; without it, each complete segment in the
store counts as copied. Without --tiered, a broker directory shows which segments its metadata calls
copied and what prevents the upload of the others.

A segment is local: only in the broker directory; both; remote: only in the store; unfinished: its
copy has begun and not ended; dangling: in the store, but never read, as its
deletion has begun or no metadata mentions it; lost: copied according to the metadata, but in
neither place.

The last column says of each local segment whether the leader can upload it, or what prevents it: it
is active, it does not end below the last stable offset, the producer snapshot at its end is missing
(KAFKA-16209), it has no leader epoch, remote.copy.lag (since 4.4) or remote.log.copy.disable (since
3.9) holds it, or an older segment fails first. Kafka does not check an index before its upload.
The last stable offset is here at most the checkpointed high watermark; `kafkaviz transactions`
counts every record as replicated.

The lines about remote retention say what the leader's next pass deletes from the store, at --now,
and what keeps the other segments. A pass comes every remote.log.manager.task.interval.ms. It
applies the rules of the release: the log start offset, retention.ms and retention.bytes of the
complete log, from the oldest segment on until one stays, and leader epochs that the log has lost.
This needs the metadata, the leader epochs and the end of the log from the broker directory.

--roll-sizes adds what other values of segment.bytes would cost. The growth per day, by the times of
the copied segments, and the objects per segment are measured; the rest is modelled. A closed
segment costs two metadata records, and two more when retention deletes it. A PUT request writes an
object; in the layout of Aiven's plugin, a .log above 25 MiB is written in parts.

Exit status: 0 no segment is lost, 1 at least one is, 2 wrong usage or a store that cannot be read.

--json prints one object; [] marks a list of objects:
  store               its path, or null without --tiered
  directory           the path of the broker, or null
  partitions[]        partition, topic_id, local_log_start, deleted_segments, deletion, counts,
                      problems, unannounced_segments
    segments[]        start_offset, end_offset, bytes, leader_epochs, place, state, segment_id,
                      layout, stored_bytes, encrypted, max_timestamp_ms, metadata_events
    metadata_events   total, superseded
  problems            of __remote_log_metadata
  uploads[]           of local logs: partition, log_directory, now_ms, leader, last_stable_offset,
                      highest_remote_offset, counts, kept_bytes, kept_segments
    segments[]        start_offset, end_offset, bytes, state, blocked_by, offset, until_ms, why
  remote_retention[]  partition, topic_id, now_ms, local_bytes, remote_bytes, over_bytes,
                      next_log_start, doubled_segments; and each as {value, source} enabled,
                      retention_ms, retention_bytes
    segments[]        start_offset, end_offset, segment_id, bytes, state, until_ms, gone_ms,
                      blocked_by, more_bytes
  roll_sizes[]        with --roll-sizes: partition, topic_id, bytes_per_day, segment_ms
    stored            layout, objects, log_share
    sizes[]           segment_bytes, rolled_bytes, fill_ms, current, time_bound, segments_per_day,
                      objects_per_day, put_requests_per_day, metadata_events_per_day, objects_kept

Unknown values are null. Some of the others:
  doubled_segments      the first offsets of the segments that are deleted too if the pass comes
                        before a new leader knows which offsets are copied (KAFKA-20732, up to
                        4.3.1)
  kept_segments         past local retention, and still here only because they are not uploaded
                        (KAFKA-19952)
  leader_epochs         {epoch: its first offset in the segment}
  local_bytes           with remote_bytes, the bytes that retention.bytes counts
  metadata_events       the records of __remote_log_metadata about a segment, or about all segments
                        of the partition. A record is superseded if a later one of the same segment
                        replaces it, or if the segment is deleted
  state                 of an upload: uploaded, ready, not-enabled, copy-disabled, active,
                        below-log-start, above-last-stable-offset, copy-lag, epochs-missing,
                        snapshot-missing, waiting, index-damaged, epochs-late or unknown. Of a
                        remote segment: log-start, time, size, retried or epochs if the next pass
                        deletes it; until, behind, bytes, unlimited, other-epochs, stopped, disabled
                        or unknown if not
  unannounced_segments  the number of segments that only keyed updates mention (KIP-1266); their
                        offsets come from the store

Example: kafkaviz tiered /var/lib/kafka/data --tiered /mnt/kafka-tiered-storage"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    parser = subparsers.add_parser(
        "tiered",
        help="show where the segments of tiered storage are",
        description="Lists the segments of each topic-partition in tiered storage, with the place "
        "and the metadata of each. Neither place is ever changed.",
        epilog=EPILOG,
    )
    parser.add_argument(
        "path", metavar="PATH", type=Path, help="a store of remote segments, or a broker directory"
    )
    parser.add_argument(
        "--tiered", metavar="STORE", type=Path, help="the store, if PATH is a broker directory"
    )
    help_text = "the time of the pass in ms since 1970 (default: the time of the newest file)"
    parser.add_argument("--now", metavar="MS", type=int, help=help_text)
    add_setting_option(parser, "a setting of topics, such as retention.bytes=1073741824")
    add_version_option(parser, "the release of the broker (default: inferred)")
    help_text = "show what other values of segment.bytes would cost: objects, requests and records"
    parser.add_argument("--roll-sizes", action="store_true", help=help_text)
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    """Lists the segments. Returns 1 if a segment is lost."""
    from kafkaviz.analysis.json_objects import to_json_object
    from kafkaviz.analysis.tiering.remote_retention import remote_retentions
    from kafkaviz.analysis.tiering.roll_size import roll_sizes
    from kafkaviz.analysis.tiering.upload import tiered_directories, tiered_uploads
    from kafkaviz.log.broker import is_tiered_store, read_tiered_state
    from kafkaviz.log.tiered.tiered_partition import SegmentPlace

    is_store = args.tiered is None and is_tiered_store(args.path)
    plan = None if is_store else _plan(args)
    uploads: Sequence[PartitionUpload] = ()
    retentions: Sequence[RemoteRetention] = ()
    if plan is None:
        state = read_tiered_state(args.path)
    else:
        state = read_tiered_state(args.tiered, args.path, tiered_directories(plan))
        uploads, problems = tiered_uploads(plan, state)
        state = replace(state, problems=(*state.problems, *problems))
        retentions = remote_retentions(plan, state)
    sizes = roll_sizes(plan, state) if args.roll_sizes else ()
    if args.json:
        results: dict = {"uploads": uploads, "remote_retention": retentions}
        results |= {"roll_sizes": sizes} if args.roll_sizes else {}
        output.say_json("tiered", to_json_object(state) | to_json_object(results))
    else:
        output.say(_render(state, uploads, retentions))
        if plan and not state.partitions and not state.problems:
            output.say([_explain_nothing(plan)])
        if args.roll_sizes:
            output.say(_render_roll_sizes(sizes))
    is_lost = any(partition.count(SegmentPlace.LOST) for partition in state.partitions)
    return LOST_STATUS if is_lost else 0


def _plan(args: argparse.Namespace) -> "CheckPlan":
    from kafkaviz.analysis.checks.plan import plan_check
    from kafkaviz.analysis.inferred_release import assume_release
    from kafkaviz.log.broker import open_broker
    from kafkaviz.log.settings import open_settings

    broker = open_broker(args.path)
    release = assume_release(broker, args.kafka_version).release
    settings = open_settings(broker, release, dict(args.overrides))
    return plan_check(broker, args.kafka_version, args.now, settings=settings)


def _explain_nothing(plan: "CheckPlan") -> str:
    from kafkaviz.log.tiered.remote_log_metadata import REMOTE_LOG_METADATA_TOPIC

    topics = {partition.topic for partition in plan.partitions}
    if REMOTE_LOG_METADATA_TOPIC in topics:
        return say("cli_tiered.nothing_in_metadata")
    if plan.settings.has_metadata_log:
        return say("cli_tiered.nothing_enabled")
    return say("cli_tiered.nothing_known")


def _render(
    state: "TieredState",
    uploads: "Sequence[PartitionUpload]",
    retentions: "Sequence[RemoteRetention]",
) -> Iterator[str]:
    from kafkaviz.render import retention_text

    if state.store:
        yield say("cli_tiered.store", path=state.store)
    if state.local:
        yield say("cli_tiered.directory", path=state.local)
    for problem in state.problems:
        yield say("cli_tiered.problem", problem=problem.message)
    if not state.is_metadata_whole:
        yield say("cli_tiered.retention_unknown")
    uploads_by_directory = {upload.partition: upload for upload in uploads}
    for partition in state.partitions:
        yield ""
        upload = uploads_by_directory.get(partition.directory) if partition.has_directory else None
        yield from _render_partition(partition, upload)
        ids = partition.directory, partition.topic_id
        for retention in retentions:
            if (retention.partition, retention.topic_id) == ids:
                yield from (f"  {line}" for line in retention_text.remote_lines(retention))


def _render_partition(
    partition: "TieredPartition", upload: "PartitionUpload | None"
) -> Iterator[str]:
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
    if events := partition.events:
        yield "  " + say_count("cli_tiered.events", events.total, superseded=events.superseded)
    if partition.unannounced_segments:
        yield "  " + say_count("cli_tiered.unannounced", partition.unannounced_segments)
    if partition.deletion:
        yield "  " + say("cli_tiered.deletion", state=partition.deletion)
    reasons = {}
    if upload:
        yield from (f"  {line}" for line in _summarise_upload(upload))
        reasons = {
            segment.start_offset: render(upload.reason(segment)) for segment in upload.segments
        }
    if partition.segments:
        yield "  " + _row(*(say(head) for head, *_ in COLUMNS))
    attempts = Counter(map(_copy_group, partition.segments))
    for segment in partition.segments:
        n_attempts = attempts.pop(_copy_group(segment), 0)
        if not n_attempts:
            continue
        end_offset = "" if segment.end_offset is None else segment.end_offset
        yield "  " + _row(
            f"{segment.start_offset} – {end_offset}",
            "" if segment.log_bytes is None else str(segment.log_bytes),
            " ".join(map(str, segment.leader_epochs)),
            say(f"cli_tiered.{segment.place.value}"),
            _describe_state(segment, n_attempts),
            reasons.get(segment.start_offset, "") if segment.is_local else "",
        )
    for problem in partition.problems:
        yield "  " + say("cli_tiered.problem", problem=problem.message)


def _summarise_upload(upload: "PartitionUpload") -> Iterator[str]:
    """Yields the number of segments per upload state, and whether this broker may not upload.

    Also yields the number of segments that are kept only until they are uploaded.
    """
    counts = tuple(message(f"upload.n_{state}", n=count) for state, count in upload.counts.items())
    yield say("upload.summary", counts=counts)
    if upload.is_leader is None:
        yield say("upload.leader_unknown")
    elif not upload.is_leader:
        yield say("upload.leader_no")
    if upload.kept_segments:
        size = units.format_bytes(upload.kept_bytes)
        yield say_count("upload.kept", len(upload.kept_segments), size=size)


def _copy_group(segment: "TieredSegment") -> tuple[int, int | None] | str | None:
    """Returns a key for grouping: unfinished copies of the same offsets have the same key.

    All other segments have different keys. If a local segment lacks its producer snapshot, each
    upload attempt leaves an unfinished copy.
    """
    if segment.place == "unfinished":
        return segment.start_offset, segment.end_offset
    return segment.segment_id or f"{segment.start_offset}"


def _describe_state(segment: "TieredSegment", n_attempts: int) -> str:
    parts = [segment.state or ""]
    if n_attempts > 1:
        parts.append(say("cli_tiered.attempts", n=n_attempts))
    if segment.stored and segment.stored.has_encryption:
        parts.append(say("cli_tiered.encrypted"))
    return " ".join(filter(None, parts))


def _row(*cells: str) -> str:
    return "".join(
        f"{output.pad(cell, width, align)}{gap}"
        for cell, (_, width, align, gap) in zip(cells, COLUMNS, strict=True)
    ).rstrip()


def _render_roll_sizes(partitions: "Sequence[RollSizes]") -> Iterator[str]:
    yield ""
    if not partitions:
        yield say("cli_tiered.no_roll_sizes")
    for partition in partitions:
        growth = say("cli_tiered.growth", size=round(partition.bytes_per_day))
        name = partition.partition
        if partition.stored:
            objects = f"{partition.stored.objects:.2g}"
            yield say("cli_tiered.roll_sizes_stored", name=name, growth=growth, objects=objects)
        else:
            yield say("cli_tiered.roll_sizes", name=name, growth=growth)
        heads = (say(f"cli_tiered.roll_{column}") for column in ROLL_COLUMNS)
        yield "  " + _roll_row("segment.bytes", *heads)
        for size in partition.sizes:
            yield "  " + _roll_row(*_roll_cells(size))


def _roll_cells(size: "RollSize") -> Iterator[str]:
    segment_bytes = units.format_bytes(size.segment_bytes)
    if size.is_current:
        segment_bytes = say("cli_tiered.roll_current", size=segment_bytes)
    yield segment_bytes
    yield units.format_bytes(size.rolled_bytes)
    fill_time = units.duration(size.fill_ms)
    if size.is_time_bound:
        fill_time = say("cli_tiered.roll_by_time", time=fill_time)
    yield fill_time
    for number in (
        size.objects_per_day,
        size.put_requests_per_day,
        size.metadata_events_per_day,
        size.objects_kept,
    ):
        yield units.MISSING if number is None else f"{number:,.1f}".replace(",", " ")


def _roll_row(*cells: str) -> str:
    return "  ".join(output.pad(cell, ROLL_WIDTH, ">") for cell in cells)
