"""kafkaviz key: lists the records of a key in a compacted topic, and why each is still there."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from kafkaviz.cli.common import add_json_option, add_setting_option, add_version_option, output
from kafkaviz.messages import Text, message, say

if TYPE_CHECKING:
    from kafkaviz.analysis.compaction.record_fates import KeyRecord, KeyStory

SHOWN_RECORDS = 100
EPILOG = """\
A record stays or goes as in Kafka's Cleaner, if its map takes all keys of the part that is cleaned;
kafkaviz compaction shows whether it does. A key is given as text, in UTF-8, or with --hex.

--json prints one object; [] marks a list of objects:
  directory      the path
  kafka_version  the release
  now_ms         the time of the decision
  partition      its directory
  key, key_hex   the key as text and in hex
  limits         last_stable_offset, active_segment, min_compaction_lag
  record_count   the number of records with this key
  records[]      the last 10000, by offset: offset, timestamp_ms, segment, position, bytes,
                 value_bytes, aborted, delete_horizon_ms, replaced_by, fate
  unread_from    null, or segment and position from which the active segment cannot be read

limits is part of the decision about the log. The object also has its other fields, as kafkaviz
compaction documents them: checkpointed, first_dirty_offset, force_update_checkpoint,
first_uncleanable_offset, held_by, first_uncleanable_segment, clean_bytes, cleanable_bytes,
cleanable_ratio, max_compaction_delay_ms, eligible, reason.

In records, segment is a base offset, and position that of the batch. value_bytes is null for a
tombstone. replaced_by is the next offset with this key.

fate is the result of a cleaning at this moment, whether the cleaner would do it or not. These stay:
"latest"; "latest-tombstone", which gets a delete horizon; "tombstone-waits" for its delete horizon;
"replaced-later", by a record in a segment that cannot be cleaned yet; "replaced-uncleanable" and
"aborted-uncleanable", which are in such a segment themselves; "neither-is-dirty", if the cleaner
takes the record and its replacement for clean. These go: "replaced", "tombstone-due" and "aborted".

Example: kafkaviz key /var/lib/kafka/data/profiles-0 anna"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    parser = subparsers.add_parser(
        "key",
        help="show why each record of a key is still in a compacted topic",
        description="Shows every record of one key in the log of a compacted topic-partition: "
        "which one stays, and why each of the others is still there. The directory is never "
        "changed.",
        epilog=EPILOG,
    )
    what = "a partition directory, a .tar, .tar.gz or .zip of one, or its path in one of a broker"
    parser.add_argument("path", metavar="TP_DIR", type=Path, help=what)
    parser.add_argument("key", metavar="KEY", help="the key")
    parser.add_argument("--hex", action="store_true", help="read KEY as hexadecimal digits")
    help_text = "the time of the cleaning in ms since 1970 (default: the time of the newest file)"
    parser.add_argument("--now", metavar="MS", type=int, help=help_text)
    help_text = "the high watermark of the log (default: the checkpointed one, or the log's end)"
    parser.add_argument("--high-watermark", metavar="N", type=int, help=help_text)
    add_setting_option(parser, "a setting of the topic, such as delete.retention.ms=0")
    add_version_option(parser, "the release of the cleaner (default: inferred)")
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    from kafkaviz.analysis.checks.plan import cleaner_offsets, plan_check
    from kafkaviz.analysis.compaction.compaction import compacted_partitions, decide_log
    from kafkaviz.analysis.compaction.record_fates import key_story
    from kafkaviz.analysis.json_objects import to_json_object
    from kafkaviz.analysis.opened_path import open_log_path
    from kafkaviz.errors import CannotOpen, KafkavizError
    from kafkaviz.log.archives import archive
    from kafkaviz.log.broker import open_broker
    from kafkaviz.simulate.cleaner.batch_chunks import CleaningFailed

    key = _parse_key(args.key, is_hex=args.hex)
    opened = open_log_path(args.path, args.kafka_version)
    broker = opened.broker or open_broker(args.path)
    plan = plan_check(
        broker,
        args.kafka_version,
        args.now,
        opened.partition.directory,
        opened.open_settings(dict(args.overrides)),
    )
    partitions = compacted_partitions(plan)
    if not partitions:
        path = archive.display_text(opened.partition.path)
        raise CannotOpen(path, message("key_story.never_cleaned"))
    [partition] = partitions
    log = decide_log(
        plan,
        partition,
        checkpointed=cleaner_offsets(broker).get((partition.topic, partition.partition)),
        high_watermark=args.high_watermark,
    )
    try:
        story = key_story(log, key, plan.now_ms)
    except CleaningFailed as failure:
        text = message("key_story.unreadable", partition=partition.directory, error=str(failure))
        raise KafkavizError(text) from None
    if args.json:
        answer = {
            "directory": broker.sources_text,
            "kafka_version": plan.assumed_release.version,
            "now_ms": plan.now_ms,
            "partition": partition.directory,
        }
        output.say_json("key", answer | to_json_object(story))
    else:
        output.say(_render(story, partition.directory))
    return 0


def _parse_key(text: str, *, is_hex: bool) -> bytes:
    from kafkaviz.errors import KafkavizError

    if not is_hex:
        return text.encode("utf-8", "surrogateescape")
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise KafkavizError(message("key_story.no_hex", text=text)) from None


def _render(story: "KeyStory", partition: str) -> Iterator[Text]:
    from kafkaviz.analysis.compaction.record_fates import GOES
    from kafkaviz.messages import say_count
    from kafkaviz.render import log_text

    if not story.records:
        yield message("key_story.none", partition=partition)
        yield from _render_unread(story)
        return
    removed_count = sum(record.fate in GOES for record in story.records)
    yield say_count(
        "key_story.title", story.record_count, partition=partition, removed=removed_count
    )
    shown_records = story.records[-SHOWN_RECORDS:]
    if story.record_count > len(shown_records):
        yield f"  {say_count('key_story.more', story.record_count - len(shown_records))}"
    for record in shown_records:
        yield f"  {output.to_one_line(_describe_record(story, record))}"
    yield from _render_unread(story)
    decision = story.log.decision
    yield message(
        "key_story.decision",
        reason=log_text.describe_reason(decision, story.log.settings),
        stop=decision.first_uncleanable_segment,
        barrier=log_text.describe_barrier(decision, story.log.state.oldest_transaction),
    )


def _render_unread(story: "KeyStory") -> Iterator[Text]:
    if end := story.unread_from:
        yield message("key_story.unread_from", segment=end.segment, position=end.position)


def _describe_record(story: "KeyStory", record: "KeyRecord") -> str:
    from kafkaviz import units
    from kafkaviz.render import log_text

    return say(
        "key_story.record",
        offset=record.offset,
        time=units.moment(record.timestamp_ms),
        segment=record.segment,
        fate=log_text.describe_fate(record, story.log),
    )
