"""The checks of how a directory was left, and what the next start will do to it.

orders-0    recovery point 200, log end 180     recovery-point-beyond-end: records that were
flushed are gone
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from kafkaviz.analyse.checks.facts import Facts
from kafkaviz.analyse.checks.summary import Summary
from kafkaviz.analyse.checks.transactions import Begun
from kafkaviz.analyse.existing import existing
from kafkaviz.analyse.finding import Evidence, Finding, Version, finding
from kafkaviz.analyse.restart import Restart, Step
from kafkaviz.config_def import MINUTE_MS
from kafkaviz.log.broker import CHECKPOINTS, CLEAN_SHUTDOWN, Broker
from kafkaviz.log.partition import Partition
from kafkaviz.units import duration, group, moment

# transaction.max.timeout.ms, 4.3.1: no producer may leave one open for longer
HANGING_MS = 15 * MINUTE_MS
# causes that codes of their own tell
TOLD = ("leftover-cleaned", "orphan-index", "timeindex-missing")


def of_partition(
    partition: Partition, summaries: Sequence[Summary], facts: Facts
) -> Iterator[Finding]:
    """The checkpointed offsets beside the log's end, and transactions without an end."""
    end = log_end(summaries)
    start, point = partition.checkpoints.log_start, partition.checkpoints.recovery_point
    if end is not None and start is not None and start > end:
        yield _beyond("log-start-beyond-end", "log_start", "log start offset", start, end, facts)
    if end is not None and point is not None and point > end:
        yield _beyond(
            "recovery-point-beyond-end", "recovery_point", "recovery point", point, end, facts
        )
    yield from _hanging(summaries, facts)


def log_end(summaries: Sequence[Summary]) -> int | None:
    """One past the last offset, as a broker finds it; None where a file could not be read."""
    if not summaries or any(told.unreadable for told in summaries):
        return None
    last = summaries[-1]
    return last.segment.base_offset if last.end_offset is None else last.end_offset


def _beyond(code: str, which: str, words: str, offset: int, end: int, facts: Facts) -> Finding:
    message = f"the {words} is {group(offset)}, and the log ends at {group(end)}"
    evidence = Evidence(
        f"{words} {group(offset)} in {CHECKPOINTS[which]}", f"an offset up to {group(end)}"
    )
    return facts.found(code, None, message, evidence)


def _hanging(summaries: Sequence[Summary], facts: Facts) -> Iterator[Finding]:
    if any(told.unreadable for told in summaries):
        return  # what ends a transaction may be in there
    open_: dict[int, tuple[Begun, Summary]] = {}
    for told in summaries:
        for kind, producer, step in told.steps:
            if kind == "end":
                open_.pop(producer, None)
                continue
            begun = cast(Begun, step)
            if producer not in open_:
                open_[producer] = begun, told
            else:
                open_[producer] = (
                    begun if begun.last_ms > open_[producer][0].last_ms else open_[producer][0],
                    open_[producer][1],
                )
    for producer, (begun, told) in open_.items():
        age = facts.now_ms - begun.last_ms
        if age > HANGING_MS:
            message = (
                f"producer {producer} began a transaction at offset {group(begun.offset)} and "
                f"wrote to it last at {moment(begun.last_ms)}, {duration(age)} before the newest "
                "time of a file here; nothing ends it"
            )
            evidence = Evidence(
                f"no marker of producer {producer} behind offset {group(begun.offset)}",
                "a commit or abort marker",
            )
            yield facts.found(
                "hanging-transaction",
                existing(told.segment.log).name,
                message,
                evidence,
                begun.position,
            )


def of_broker(broker: Broker, version: Version) -> Iterator[Finding]:
    """Whether it was stopped cleanly."""
    if not broker.clean:
        evidence = Evidence(f"no {CLEAN_SHUTDOWN}", f"{CLEAN_SHUTDOWN}, as after a clean stop")
        yield finding(
            "unclean-shutdown",
            f"there is no {CLEAN_SHUTDOWN}",
            evidence,
            file=CLEAN_SHUTDOWN,
            version=version,
        )


def of_restart(restart: Restart, version: Version) -> Iterator[Finding]:
    """What a start will do, where it is more than what every start does."""
    rebuilt: dict[str | None, list[Step]] = defaultdict(list)
    for step in restart.steps:
        if step.action == "fail":
            yield _step(
                "recovery-will-fail",
                step,
                version,
                step.error or step.why,
                step.why,
                step.way_out or "",
            )
        elif step.cause == "becomes-stray":
            yield _step("becomes-stray", step, version, step.why, step.why)
        elif step.action == "truncate":
            message = (
                f"{group(step.size_bytes)} bytes from byte {group(step.from_position)} on will be "
                f"cut: {step.why}"
            )
            yield _step(
                "recovery-will-truncate",
                step,
                version,
                f"{group(step.size_bytes)} bytes that are no valid batch",
                message,
            )
        elif step.action == "delete" and not step.expected and step.cause not in TOLD:
            yield _step(
                "recovery-will-delete",
                step,
                version,
                step.why,
                f"{step.file or step.partition} will be deleted: {step.why}",
            )
        elif step.action == "rebuild" and not step.expected and step.cause not in TOLD:
            rebuilt[step.partition].append(step)
    for steps in rebuilt.values():
        yield _rebuilt(steps, version)


def _step(
    code: str, step: Step, version: Version, found: str, message: str, next_step: str = ""
) -> Finding:
    return finding(
        code,
        message,
        Evidence(found),
        partition=step.partition,
        file=step.file or step.partition,
        position=step.from_position,
        length=step.size_bytes if step.from_position is not None else None,
        version=version,
        next_step=next_step,
    )


def _rebuilt(steps: Iterable[Step], version: Version) -> Finding:
    """One finding a partition: of many segments it would be one each."""
    steps = list(steps)
    segments = sorted({step.segment for step in steps if step.segment is not None})
    which = (
        f"segment {group(segments[0])}"
        if len(segments) == 1
        else f"{len(segments)} segments from {group(min(segments, default=0))} on"
    )
    because = "; ".join(dict.fromkeys(step.why for step in steps))
    message = f"the indexes of {which} will be written anew: {because}" if segments else because
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
