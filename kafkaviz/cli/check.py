"""kafkaviz check: finds faults in a directory and predicts broker start-up."""

import argparse

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
from kafkaviz.messages import say

FINDINGS_STATUS = 1
MEGABYTE = 1_000_000
FAIL_ON = {"error": ("error",), "warning": ("error", "warning")}
EPILOG = """\
Exit status: 0 no finding at or above --fail-on, 1 at least one, 2 wrong usage or a directory that
cannot be read.

--json prints one object; [] marks a list of objects:
  directory            the path
  kafka_version        assumed, because; value (null) and source too, if the release is unknown
  log_directories[]    path, directory_id, has_metadata_log, partitions, log_bytes
  findings[]           the worst first: code, severity, partition, file, position, length, message,
                       consequence, next_step, reference, log_directory
    evidence           found, expected, found_hex, expected_hex
  restart              the next start: clean, starts, partial, metadata_log_missing,
                       offline_directories; null if a file that a start needs cannot be read
    steps[]            log_directory, partition, segment, file, action, cause, from_position, bytes,
                       why, error, way_out
  counts               the number of findings: error, warning, info
  retention[]          one per log: partition, log_directory, now_ms, deletes, retention_ms,
                       retention_bytes, tiered, not_uploaded_bytes, log_bytes, over_bytes
    segments[]         segment, bytes, timestamp_ms, counted_by, offset, state, until_ms, gone_ms,
                       blocked_by, more_bytes
  metadata_retention   now_ms, max_bytes, max_ms, log_bytes, total_bytes, freed_bytes,
                       deleted_segments; null without a metadata log
    snapshots[]        file, end_offset, bytes, timestamp_ms, deleted_by
  topics[]             the largest first, by file length: topic, partitions, log_bytes, index_bytes
  disk                 length_bytes, allocated_bytes, uses, unreadable
    log_directories[]  path, length_bytes, allocated_bytes, uses
  recovery[]           what the next start reads: log_directory, logs, segments, log_bytes,
                       largest_log_bytes, threads
  freeing              what may be deleted by hand while the broker is stopped
    steps[]            in the order of the risk: kind, cost, check, log_directory, files,
                       length_bytes, allocated_bytes, paths
    indexes[]          the price of deleting all .index files in use: log_directory, files,
                       length_bytes, allocated_bytes, reads (as in recovery)

Some of these values:
  action                truncate, rebuild, delete, create, keep or fail
  check                 in freeing: a sentence about the check to make first
  cost                  a sentence about the loss
  counted_by            record, entry, unwritten, mtime or unknown
  deleted_by            size or time
  deletes               {value, source}, as are retention_ms and retention_bytes in retention
  error                 Kafka's exception; error and way_out are null unless the action is "fail"
  file                  relative to its log directory
  kind                  a USE, or retention for the segments that the next pass deletes under limits
                        that a file has; --set never adds one
  metadata_log_missing  true if none of the broker's log directories has the metadata log; a start
                        may then succeed and serve no partition
  not_uploaded_bytes    null unless tiered and opened with its store
  partial               true if a log directory of the broker was not read; it may prevent the start
  starts                true if the broker starts without its offline_directories
  state                 the result of a retention pass at now_ms. These delete the segment:
                        log-start, size, time. These keep it: until, behind (an older segment),
                        bytes, unlimited, compacted, high-watermark, not-uploaded (to tiered
                        storage), empty, unknown
  unreadable            the folders that cannot be listed; they are not counted
  uses                  {USE: bytes}; they add up to length_bytes. Files with holes take less space,
                        allocated_bytes. USE is records, batch-headers, control-batches, aborted,
                        damaged, unread, index-entries, preallocated, state, metadata-snapshots,
                        broker-files, waiting-for-deletion, leftover, stray, future,
                        remote-index-cache or foreign (not Kafka's)

--set takes the names of topic settings, which then apply to every topic. The broker's log... names
apply as in a server.properties: to topics without a value of their own.

A broker consists of all its log directories: give them together, in any order. Settings, release
and assignments come from the one with __cluster_metadata-0. Without it, each setting that is not
given by --set is {"value": null, "source": "unknown: ..."}.

Several log directories: kafkaviz check /data/a /data/b /data/c
Example: kafkaviz check /var/lib/kafka/data --fail-on warning"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    parser = subparsers.add_parser(
        "check",
        help="find faults, and predict the next start",
        description="Reads every batch, record and index entry of a broker directory or of one "
        "partition. Reports each fault, what Kafka does about it, what to do, and what the next "
        "start of the broker will change. The directory is never changed.",
        epilog=EPILOG,
    )
    add_paths_argument(
        parser,
        "a broker or partition directory, a .tar, .tar.gz or .zip of one, or the path of a "
        "partition in one",
    )
    help_text = "the release that reads the directory, such as 4.3.1 (default: inferred)"
    add_version_option(parser, help_text)
    add_setting_option(
        parser,
        "a setting that is not in the directory, such as log.retention.ms=-1; may be repeated",
    )
    help_text = "the lowest severity that gives exit status 1 (default: error)"
    parser.add_argument("--fail-on", choices=list(FAIL_ON), default="error", help=help_text)
    help_text = "MB per second that one thread of a recovery reads (default: 100, which is assumed)"
    parser.add_argument("--read-rate", metavar="MB", type=_read_rate, help=help_text)
    add_tiered_option(parser)
    add_json_option(parser)


def _read_rate(text: str) -> int:
    """Parses MB per second into bytes per second."""
    problem = say("cli_check.no_read_rate", text=text)
    return int(parse_number(text, lambda rate: 0.001 <= rate < 1e9, problem) * MEGABYTE)


def run(args: argparse.Namespace) -> int:
    from kafkaviz.analysis.broker_health import check, health_object
    from kafkaviz.analysis.inferred_release import assume_release
    from kafkaviz.log.broker import open_broker
    from kafkaviz.log.settings import open_settings

    broker = open_broker(*join_tiered_paths(args.paths, args.tiered))
    settings = None
    if args.overrides:
        release = assume_release(broker, args.kafka_version).release
        settings = open_settings(broker, release, dict(args.overrides))
    progress = ByteProgress()
    sizes = {
        f"{partition.directory}/{segment.name}": segment.log.size_bytes
        for partition in broker.partitions
        for segment in partition.segments
        if segment.log
    }
    progress.expect(sizes)
    health = check(
        broker,
        args.kafka_version,
        settings=settings,
        on_segment=lambda partition, segment: progress.show(
            f"{partition.directory}/{segment.name}"
        ),
    )
    progress.clear()
    if args.json:
        output.say_json("check", health_object(health))
    else:
        from kafkaviz.cli.text.check_text import render

        output.say(render(health, args.read_rate))
    has_findings = any(health.counts[severity] for severity in FAIL_ON[args.fail_on])
    return FINDINGS_STATUS if has_findings else 0
