"""kafkaviz commits: lists the offsets that consumer groups committed, and the lag of each group."""

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kafkaviz.cli.common import add_json_option, add_paths_argument, output
from kafkaviz.cli.common.output import ByteProgress
from kafkaviz.messages import Text, message, say, say_count

if TYPE_CHECKING:
    from kafkaviz.analysis.commits import Commit, Commits, CommittedPartition, GroupCommits

SHOWN_COMMITS = 10
EPILOG = """\
Compaction has left these commits in __consumer_offsets. The group continues from the last one that
counts: commits of an aborted transaction do not, and those of an open one not yet.
The directories must hold the partition of __consumer_offsets that keeps the group; the logs of its
topics are optional. Without --group, all groups are listed.

--json prints one object; [] marks a list of objects:
  directory         the path
  groups[]          group, type, kept_in, record_count
    partitions[]    partition, state, commit_count, committed (a commit or null), log_start_offset,
                    log_end_offset, last_stable_offset, lag, next_offset, next_committed_offset,
                    problem
      commits[]     the last 1000: at_offset, timestamp_ms, offset, leader_epoch, topic_id,
                    metadata, fate
  problems[]        partition, message

Some of these values:
  at_offset              the offset of the commit's own record in __consumer_offsets
  fate                   current, replaced, pending, aborted or deletion
  lag                    the end of the log in this copy minus the committed offset; markers and
                         removed records count too
  last_stable_offset     a read_committed consumer gets no further
  next_offset            the first record that a consumer gets
  next_committed_offset  the first record that a consumer with read_committed gets
  offset                 of a commit; null for a deletion
  state                  at-end or behind; only-markers, where no record but only transaction
                         markers follow, so that the lag stays; no-record, where compaction removed
                         the rest; only-uncommitted, where all that follow are in aborted or open
                         transactions; below-start and beyond-end, where auto.offset.reset decides;
                         other-topic, where the log belongs to a later topic with the same name;
                         no-commit, no-log or unreadable
  type                   classic, consumer, share or streams; null if no record says so

Example: kafkaviz commits /var/lib/kafka/data --group billing"""


def add_parser(subparsers: argparse._SubParsersAction) -> None:
    parser = subparsers.add_parser(
        "commits",
        help="show the offsets that a consumer group committed",
        description="Shows the commits of a consumer group that __consumer_offsets still has, "
        "which of them counts, and what follows it in the log. The directory is never changed.",
        epilog=EPILOG,
    )
    add_paths_argument(parser, "a broker directory, or a .tar, .tar.gz or .zip of one")
    parser.add_argument("--group", metavar="G", help="the consumer group (default: list all)")
    add_json_option(parser)


def run(args: argparse.Namespace) -> int:
    from kafkaviz.analysis.commits import CONSUMER_OFFSETS, read_commits
    from kafkaviz.analysis.json_objects import to_json_object
    from kafkaviz.errors import CannotOpen, KafkavizError
    from kafkaviz.log.broker import open_broker

    broker = open_broker(*args.paths)
    offsets_partitions = [
        partition for partition in broker.partitions if partition.topic == CONSUMER_OFFSETS
    ]
    if not offsets_partitions:
        raise CannotOpen(broker.sources_text, message("commits.no_offsets_topic"))
    progress = ByteProgress()
    progress.expect({partition.directory: partition.log_bytes for partition in offsets_partitions})
    commits = read_commits(broker, args.group, progress.show)
    progress.clear()
    if args.group is not None and not commits.groups and not commits.problems:
        names = [partition.directory for partition in offsets_partitions]
        raise KafkavizError(message("commits.no_group", group=args.group, partitions=tuple(names)))
    if args.json:
        answer = {"directory": broker.sources_text, "groups": commits.groups}
        problems = [{"partition": name, "message": str(what)} for name, what in commits.problems]
        output.say_json("commits", to_json_object(answer) | {"problems": problems})
    else:
        output.say(_render(commits, is_list=args.group is None))
    return 0


def _render(commits: "Commits", *, is_list: bool) -> Iterator[Text]:
    for group in commits.groups:
        yield _describe_group(group)
        if not is_list:
            yield from _render_partitions(group)
    for partition, what in commits.problems:
        yield message("errors.of_path", path=partition, problem=what)


def _describe_group(group: "GroupCommits") -> str:
    from kafkaviz import units

    times = [part.commits[-1].timestamp_ms for part in group.partitions if part.commits]
    return say(
        "commits.group",
        group=output.to_one_line(group.group),
        type=say(f"commits.type_{group.type or 'unknown'}"),
        kept_in=group.kept_in,
        partitions=say_count("commits.partitions", len(group.partitions)),
        last=units.moment(max(times)) if times else say("commits.never"),
    )


def _render_partitions(group: "GroupCommits") -> Iterator[Text]:
    for part in group.partitions:
        yield say("commits.partition", partition=part.partition, state=_describe_state(part))
        if part.has_open_transaction:
            yield "  " + say("commits.held", offset=part.last_stable_offset)
        last_commits = part.commits[-SHOWN_COMMITS:]
        if part.commit_count > len(last_commits):
            yield f"  {say_count('commits.more', part.commit_count - len(last_commits))}"
        for commit in last_commits:
            yield f"  {_describe_commit(commit, group.kept_in)}"


def _describe_state(part: "CommittedPartition") -> str:
    values: dict[str, object] = {
        "offset": part.committed.offset if part.committed else None,
        "start": part.log_start_offset,
        "end": part.log_end_offset,
        "lag": part.lag,
        "next": part.next_offset,
        "problem": part.problem,
    }
    known = {name: value for name, value in values.items() if value is not None}
    key = part.state.value.replace("-", "_")
    return say(f"commits.state_{key}", **known)


def _describe_commit(commit: "Commit", kept_in: str) -> str:
    what = say("commits.deletion")
    if commit.offset is not None:
        what = say("commits.committed", offset=commit.offset)
    if commit.leader_epoch is not None:
        what = say("commits.with_epoch", commit=what, epoch=commit.leader_epoch)
    return say(
        "commits.commit",
        at_offset=commit.at_offset,
        kept_in=kept_in,
        time=commit.timestamp_ms,
        commit=what,
        fate=say(f"commits.fate_{commit.fate.value}"),
    )
