"""The checks of a broker's state after a shutdown, and of its next start-up.

For example, orders-0 has the recovery point 200, but its log ends at 180. Flushed records are
missing: recovery-point-beyond-end.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from kafkaviz import versions
from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.analysis.checks.summary import CheckSummary
from kafkaviz.analysis.compaction.decision import NEVER_MS, read_log_state
from kafkaviz.analysis.findings import (
    INFO,
    UNCHECKED_CODES,
    WARNING,
    Evidence,
    Finding,
    Release,
    finding,
)
from kafkaviz.analysis.transactions.listing import (
    abort_command,
    abort_command_before_3_0,
    name_producer,
    start_ms,
)
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.format.deep_scan import CheckLevel
from kafkaviz.format.names import LOCK
from kafkaviz.format.open_transactions import OpenTransactions, TransactionBegin
from kafkaviz.format.walk import batch_at
from kafkaviz.log import file
from kafkaviz.log.broker import CHECKPOINTS, CLEAN_SHUTDOWN, Broker
from kafkaviz.log.partition import CheckpointOffsets, Partition
from kafkaviz.log.segment import LogSegment
from kafkaviz.messages import Message, message
from kafkaviz.simulate.startup.restart import Restart, is_stray_for_sure
from kafkaviz.simulate.steps import CAUSES, StartupStep
from kafkaviz.units import MINUTE_MS

# default of transaction.max.timeout.ms in 4.3.1: no transaction may stay open for longer
HANGING_MS = 15 * MINUTE_MS
# codes of findings that come from the predicted broker start, not from the check of a partition
RESTART_CODES = (
    "recovery-will-fail",
    "becomes-stray",
    "recovery-will-truncate",
    "recovery-will-delete",
    "recovery-will-rebuild",
)
# by checkpoint: the code for a checkpointed offset beyond the log end, and the name of the offset
BEYOND_END = {
    "log_start": ("log-start-beyond-end", message("finding.log_start_offset")),
    "recovery_point": ("recovery-point-beyond-end", message("finding.recovery_point")),
    "high_watermark": ("high-watermark-beyond-end", message("finding.high_watermark")),
}
PartitionKey = tuple[str, int]  # topic, partition
# the consequence of a failure if the broker has other log directories
OFFLINE = message("consequence.starts_without_directory")
# the steps with these causes have other findings
COVERED_CAUSES = ("leftover-cleaned", "orphan-index", "timeindex-missing")


@dataclass(frozen=True)
class Trace:
    """The highest offset in the checkpoints for a partition whose directory is missing."""

    offset: int
    checkpoint: str  # name of the checkpoint file


def check_partition(
    partition: Partition,
    summaries: Sequence[CheckSummary],
    facts: PartitionFacts,
    find_transactional_ids: Callable[[], Mapping[int, str]],
) -> Iterator[Finding]:
    end = log_end(summaries)
    checkpoints = partition.checkpoints
    if not partition.live and not partition.remote_bases:
        end = checkpoints.log_start or 0  # a starting broker creates an empty segment there
    if end is not None:
        yield from _beyond_findings(checkpoints, end, facts)
    if not partition.is_remote_alone:  # otherwise the local log may exist elsewhere
        yield from _open_transactions(partition, summaries, facts, find_transactional_ids)


def log_end(summaries: Sequence[CheckSummary]) -> int | None:
    """Returns the log end offset as a broker finds it. None: no segment, or an unreadable .log."""
    if not summaries or any(summary.read_fault for summary in summaries):
        return None
    last = summaries[-1]
    return last.segment.base_offset if last.end_offset is None else last.end_offset


def _beyond_findings(
    checkpoints: CheckpointOffsets, end: int, facts: PartitionFacts
) -> Iterator[Finding]:
    for checkpoint, (code, name) in BEYOND_END.items():
        offset = getattr(checkpoints, checkpoint)
        if offset is None or offset <= end:
            continue
        file_name = CHECKPOINTS[checkpoint]
        evidence = Evidence(
            message("evidence.checkpointed_offset", name=name, offset=offset, file=file_name),
            message("evidence.offset_up_to", offset=end),
        )
        text = message("finding.offset_beyond_end", name=name, offset=offset, end=end)
        yield facts.make_finding(code, None, text, evidence)
        if checkpoint == "recovery_point":
            # one loss gets only one finding. The recovery point is a stronger sign of a loss than
            # the high watermark, because records below it had been flushed.
            return


def _open_transactions(
    partition: Partition,
    summaries: Sequence[CheckSummary],
    facts: PartitionFacts,
    find_transactional_ids: Callable[[], Mapping[int, str]],
) -> Iterator[Finding]:
    if any(summary.read_fault for summary in summaries):
        return  # the end of a transaction may be in the unreadable file
    transactions = OpenTransactions()
    first_summaries = {}
    for summary in summaries:
        for _, producer, step in summary.steps:
            if not isinstance(step, TransactionBegin):
                transactions.end(producer)
                continue
            if producer not in transactions.begins:
                first_summaries[producer] = summary
            transactions.begin(producer, step)
    if not transactions.begins:
        return
    transactional_ids = find_transactional_ids()
    for producer, begin in transactions.begins.items():
        segment = first_summaries[producer].segment
        age = facts.now_ms - begin.last_ms
        is_hanging = age > HANGING_MS
        values: dict[str, Any] = {
            "producer": name_producer(producer, transactional_ids.get(producer)),
            "offset": begin.offset,
            "begin": _begin_ms(segment, begin.position),
            "moment": begin.last_ms,
        }
        text = message("finding.open_transaction", **values)
        if is_hanging:
            text = message("finding.hanging_transaction", age=age, **values)
        found_text = message("evidence.no_marker", producer=producer, offset=begin.offset)
        evidence = Evidence(found_text, message("evidence.a_marker"))
        code = "hanging-transaction" if is_hanging else "open-transaction"
        name = segment.log.name
        byte_range = (begin.position, None)
        next_step = _abort_step(partition, producer, begin.offset, facts, is_hanging=is_hanging)
        yield facts.make_finding(code, name, text, evidence, byte_range, next_step=next_step)


def _begin_ms(segment: LogSegment, position: int) -> int:
    """Returns the timestamp of a batch's first record; -1: the batch cannot be read."""
    with suppress(CannotOpen), file.reader(segment.log.path) as read:
        row = batch_at(read, position, segment.log.size_bytes)
        if row is not None:
            return start_ms(row)
    return -1


def _abort_step(
    partition: Partition, producer: int, offset: int, facts: PartitionFacts, *, is_hanging: bool
) -> Message | None:
    """Returns advice for the user, with the command that aborts a transaction.

    None: the broker is older than 3.0, and the files do not show the producer's epoch.
    """
    name = "abort_with" if is_hanging else "await_or_abort_with"
    if not facts.release or versions.ABORTS_BY_OFFSET.applies_to(facts.release):
        command = abort_command(partition.label, offset)
        return message(f"next_step.{name}", command=command)
    try:
        state = read_log_state(partition, now_ms=0, producer_expiration_ms=NEVER_MS)
    except KafkavizError:
        return None
    rows = state.producers[state.producers["producer_id"] == producer]
    if not len(rows):
        return None
    command = abort_command_before_3_0(partition.label, rows[0])
    return message(f"next_step.{name}_before_3_0", command=command)


def check_broker(broker: Broker, release: Release) -> Iterator[Finding]:
    """Yields a finding if the broker was not stopped cleanly, or may be running."""
    if broker.is_clean:
        return
    text = message("finding.no_file", file=CLEAN_SHUTDOWN)
    consequence = None
    if broker.may_be_running():
        text = message("finding.may_be_running", file=LOCK)
        consequence = message("consequence.may_be_running")
    name = CLEAN_SHUTDOWN
    found_text = message("evidence.without_file", file=name)
    evidence = Evidence(found_text, message("evidence.file_of_clean_stop", file=name))
    yield finding(
        "unclean-shutdown", text, evidence, file=name, release=release, consequence=consequence
    )


def check_level(level: CheckLevel, release: Release) -> Iterator[Finding]:
    """If a check of this level cannot find some codes, yields a finding that lists these codes."""
    if codes := UNCHECKED_CODES[level]:
        yield finding(
            "checks-partial",
            message("finding.checks_partial", level=level.value, codes=codes),
            Evidence(
                message("evidence.check_level", level=level.value),
                message("evidence.check_level", level=CheckLevel.RECORDS.value),
            ),
            release=release,
        )


def check_restart(restart: Restart, release: Release) -> Iterator[Finding]:
    """Yields findings about a predicted start-up, but not about steps that every start takes."""
    rebuild_steps: dict[tuple[str | None, str | None], list[StartupStep]] = defaultdict(list)
    # other_files reports the file that such a segment comes from
    named_segments = {
        (step.log_directory, step.partition, step.segment)
        for step in restart.steps
        if step.cause == "segment-by-name"
    }
    for step in restart.steps:
        is_unusual = not step.is_expected and step.cause not in COVERED_CAUSES
        place = step.log_directory, step.partition, step.segment
        if step.action == "fail":
            error = message("evidence.kafkas_text", text=step.error) if step.error else step.why
            yield _step_finding(
                "recovery-will-fail",
                step,
                release,
                found_text=error,
                text=step.why,
                next_step=step.way_out,
                consequence=OFFLINE if restart.starts else None,
            )
        elif step.cause == "becomes-stray":
            yield _stray_finding(step, release)
        elif step.action == "truncate":
            size_bytes = step.size_bytes
            start = step.from_position
            text = message("finding.will_be_cut", n=size_bytes, byte=start, why=step.why)
            found_text = message("evidence.bytes_no_valid_batch", n=size_bytes)
            code = "recovery-will-truncate"
            yield _step_finding(code, step, release, found_text=found_text, text=text)
        elif step.action == "delete" and is_unusual:
            name = step.file or step.partition
            text = message("finding.will_be_deleted", name=name, why=step.why)
            code = "recovery-will-delete"
            yield _step_finding(code, step, release, found_text=step.why, text=text)
        elif step.action == "rebuild" and is_unusual and place not in named_segments:
            rebuild_steps[step.log_directory, step.partition].append(step)
    for steps in rebuild_steps.values():
        yield _rebuild_finding(steps, release)


def _step_finding(
    code: str,
    step: StartupStep,
    release: Release,
    *,
    found_text: Message,
    text: Message,
    next_step: Message | None = None,
    consequence: Message | None = None,
) -> Finding:
    return finding(
        code,
        text,
        Evidence(found_text),
        partition=step.partition,
        file=step.file or step.partition,
        position=step.from_position,
        length=step.size_bytes if step.from_position is not None else None,
        release=release,
        next_step=next_step,
        consequence=consequence,
        log_directory=step.log_directory,
    )


def _stray_finding(step: StartupStep, release: Release) -> Finding:
    """Returns a finding about a stray partition.

    The severity is INFO if it is uncertain whether the partition is stray, because the cluster's
    metadata is missing.
    """
    stray = _step_finding("becomes-stray", step, release, found_text=step.why, text=step.why)
    if is_stray_for_sure(step):
        return stray
    next_step = message("next_step.restore_cluster_metadata")
    return replace(stray, next_step=next_step, severity=INFO)


def _rebuild_finding(steps: Sequence[StartupStep], release: Release) -> Finding:
    segments = sorted({step.segment for step in steps if step.segment is not None})
    reasons = tuple(dict.fromkeys(step.why for step in steps))
    count = len(segments)
    if count == 1:
        text = message("finding.index_rebuilt", segment=segments[0], reasons=reasons)
    elif segments:
        text = message("finding.indexes_rebuilt", n=count, segment=segments[0], reasons=reasons)
    else:
        text = message("finding.reasons", reasons=reasons)
    causes = tuple(dict.fromkeys(step.cause for step in steps))
    evidence = Evidence(message("evidence.names", names=tuple(CAUSES[cause] for cause in causes)))
    file = steps[0].file if len({step.file for step in steps}) == 1 else steps[0].partition
    return finding(
        "recovery-will-rebuild",
        text,
        evidence,
        partition=steps[0].partition,
        file=file,
        release=release,
        log_directory=steps[0].log_directory,
    )


def missing_finding(key: PartitionKey, trace: Trace, reason: Message, release: Release) -> Finding:
    name = f"{key[0]}-{key[1]}"
    text = message("finding.partition_missing", name=name, offset=trace.offset)
    evidence = Evidence(_trace_text(trace, reason), message("evidence.directory", name=name))
    return finding("partition-missing", text, evidence, partition=name, file=name, release=release)


def partial_copy_finding(
    missing_count: int, present_count: int, example: PartitionKey, trace: Trace, release: Release
) -> Finding:
    """Returns a finding about a directory that lacks most partitions that its checkpoints list.

    The directory has no metadata log, and is nearly always a copy of some partitions. `example` is
    a missing partition, and `trace` is the offset of this partition in a checkpoint.
    """
    because = message("evidence.missing_directory", name=f"{example[0]}-{example[1]}")
    evidence = Evidence(_trace_text(trace, because))
    text = message("finding.most_partitions_missing", missing=missing_count, count=present_count)
    missing_partitions = finding(
        "partition-missing", text, evidence, file=trace.checkpoint, release=release
    )
    return replace(missing_partitions, severity=WARNING)


def _trace_text(trace: Trace, because: Message) -> Message:
    return message(
        "evidence.named_in_checkpoint", file=trace.checkpoint, offset=trace.offset, because=because
    )
