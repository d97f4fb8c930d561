"""The checks of how a directory was left, and what the next start will do to it.

orders-0    recovery point 200, log end 180     recovery-point-beyond-end: records that were
flushed are gone
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.analysis.checks.summary import CheckSummary
from kafkaviz.analysis.checks.transactions import TransactionBegin
from kafkaviz.analysis.existing_file import existing_file
from kafkaviz.analysis.finding import Evidence, Finding, Version, finding
from kafkaviz.analysis.restart import Restart, StartupStep
from kafkaviz.config_def import MINUTE_MS
from kafkaviz.log.broker import CHECKPOINTS, CLEAN_SHUTDOWN, Broker
from kafkaviz.log.partition import Partition
from kafkaviz.units import duration, group, moment

# transaction.max.timeout.ms, 4.3.1: no producer may leave one open for longer
HANGING_MS = 15 * MINUTE_MS
# causes that codes of their own tell
COVERED_CAUSES = ("leftover-cleaned", "orphan-index", "timeindex-missing")


def check_partition(
    partition: Partition, summaries: Sequence[CheckSummary], facts: PartitionFacts
) -> Iterator[Finding]:
    """The checkpointed offsets beside the log's end, and transactions without an end."""
    end = log_end(summaries)
    start, recovery_point = partition.checkpoints.log_start, partition.checkpoints.recovery_point
    if end is not None and start is not None and start > end:
        yield _beyond_finding(
            "log-start-beyond-end",
            "log_start",
            "log start offset",
            offset=start,
            end=end,
            facts=facts,
        )
    if end is not None and recovery_point is not None and recovery_point > end:
        yield _beyond_finding(
            "recovery-point-beyond-end",
            "recovery_point",
            "recovery point",
            offset=recovery_point,
            end=end,
            facts=facts,
        )
    yield from _hanging_findings(summaries, facts)


def log_end(summaries: Sequence[CheckSummary]) -> int | None:
    """One past the last offset, as a broker finds it; None where a file could not be read."""
    if not summaries or any(summary.read_fault for summary in summaries):
        return None
    last = summaries[-1]
    return last.segment.base_offset if last.end_offset is None else last.end_offset


def _beyond_finding(
    code: str, checkpoint: str, offset_name: str, *, offset: int, end: int, facts: PartitionFacts
) -> Finding:
    message = f"the {offset_name} is {group(offset)}, and the log ends at {group(end)}"
    evidence = Evidence(
        f"{offset_name} {group(offset)} in {CHECKPOINTS[checkpoint]}",
        f"an offset up to {group(end)}",
    )
    return facts.make_finding(code, None, message, evidence)


def _hanging_findings(
    summaries: Sequence[CheckSummary], facts: PartitionFacts
) -> Iterator[Finding]:
    if any(summary.read_fault for summary in summaries):
        return  # what ends a transaction may be in there
    open_transactions: dict[int, tuple[TransactionBegin, CheckSummary]] = {}
    for summary in summaries:
        for kind, producer, step in summary.steps:
            if kind == "end":
                open_transactions.pop(producer, None)
                continue
            begin = cast(TransactionBegin, step)
            if producer not in open_transactions:
                open_transactions[producer] = begin, summary
            else:
                open_transactions[producer] = (
                    begin
                    if begin.last_ms > open_transactions[producer][0].last_ms
                    else open_transactions[producer][0],
                    open_transactions[producer][1],
                )
    for producer, (begin, summary) in open_transactions.items():
        age = facts.now_ms - begin.last_ms
        if age > HANGING_MS:
            message = (
                f"producer {producer} began a transaction at offset {group(begin.offset)} and "
                f"wrote to it last at {moment(begin.last_ms)}, {duration(age)} before the newest "
                "time of a file here; nothing ends it"
            )
            evidence = Evidence(
                f"no marker of producer {producer} behind offset {group(begin.offset)}",
                "a commit or abort marker",
            )
            yield facts.make_finding(
                "hanging-transaction",
                existing_file(summary.segment.log).name,
                message,
                evidence,
                (begin.position, None),
            )


def check_broker(broker: Broker, version: Version) -> Iterator[Finding]:
    """Whether it was stopped cleanly."""
    if not broker.is_clean:
        evidence = Evidence(f"no {CLEAN_SHUTDOWN}", f"{CLEAN_SHUTDOWN}, as after a clean stop")
        yield finding(
            "unclean-shutdown",
            f"there is no {CLEAN_SHUTDOWN}",
            evidence,
            file=CLEAN_SHUTDOWN,
            version=version,
        )


def check_restart(restart: Restart, version: Version) -> Iterator[Finding]:
    """What a start will do, where it is more than what every start does."""
    rebuild_steps: dict[str | None, list[StartupStep]] = defaultdict(list)
    for step in restart.steps:
        if step.action == "fail":
            yield _step_finding(
                "recovery-will-fail",
                step,
                version,
                found_text=step.error or step.why,
                message=step.why,
                next_step=step.way_out or "",
            )
        elif step.cause == "becomes-stray":
            yield _step_finding(
                "becomes-stray", step, version, found_text=step.why, message=step.why
            )
        elif step.action == "truncate":
            message = (
                f"{group(step.size_bytes)} bytes from byte {group(step.from_position)} on will be "
                f"cut: {step.why}"
            )
            yield _step_finding(
                "recovery-will-truncate",
                step,
                version,
                found_text=f"{group(step.size_bytes)} bytes that are no valid batch",
                message=message,
            )
        elif step.action == "delete" and not step.is_expected and step.cause not in COVERED_CAUSES:
            yield _step_finding(
                "recovery-will-delete",
                step,
                version,
                found_text=step.why,
                message=f"{step.file or step.partition} will be deleted: {step.why}",
            )
        elif step.action == "rebuild" and not step.is_expected and step.cause not in COVERED_CAUSES:
            rebuild_steps[step.partition].append(step)
    for steps in rebuild_steps.values():
        yield _rebuild_finding(steps, version)


def _step_finding(
    code: str,
    step: StartupStep,
    version: Version,
    *,
    found_text: str,
    message: str,
    next_step: str = "",
) -> Finding:
    return finding(
        code,
        message,
        Evidence(found_text),
        partition=step.partition,
        file=step.file or step.partition,
        position=step.from_position,
        length=step.size_bytes if step.from_position is not None else None,
        version=version,
        next_step=next_step,
    )


def _rebuild_finding(steps: Iterable[StartupStep], version: Version) -> Finding:
    """One finding a partition: of many segments it would be one each."""
    steps = list(steps)
    segments = sorted({step.segment for step in steps if step.segment is not None})
    segments_text = (
        f"segment {group(segments[0])}"
        if len(segments) == 1
        else f"{len(segments)} segments from {group(min(segments, default=0))} on"
    )
    reasons = "; ".join(dict.fromkeys(step.why for step in steps))
    message = (
        f"the indexes of {segments_text} will be written anew: {reasons}" if segments else reasons
    )
    evidence = Evidence(", ".join(dict.fromkeys(step.cause for step in steps)))
    file = steps[0].file if len({step.file for step in steps}) == 1 else steps[0].partition
    return finding(
        "recovery-will-rebuild",
        message,
        evidence,
        partition=steps[0].partition,
        file=file,
        version=version,
    )
