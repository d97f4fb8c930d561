"""Texts about the use of disk space and the time of a recovery, for the page and the command.

A read rate is the bytes per second that one thread reads.
"""

from collections.abc import Mapping, Sequence

from kafkaviz.analysis.disk import Use
from kafkaviz.analysis.freeing import FreeingKind, IndexPrice
from kafkaviz.analysis.restart.restart_forecast import RecoveryReads
from kafkaviz.messages import say, say_count
from kafkaviz.units import duration

ASSUMED_RATE = 100_000_000  # bytes per second per thread; about what a spinning disk reads


def use_text(use: Use) -> str:
    """Returns the name of a use of bytes, such as "batch headers"."""
    return say(f"disk.use_{use.replace('-', '_')}")


def sorted_uses(uses: Mapping[Use, int]) -> Sequence[tuple[Use, int]]:
    """Returns the uses and their bytes, the largest first."""
    return sorted(uses.items(), key=lambda item: -item[1])


def freeing_text(kind: FreeingKind) -> str:
    """Names a kind of files that may be deleted, in words such as "waiting for deletion"."""
    if kind == FreeingKind.RETENTION:
        return say("disk.freeing_retention")
    return use_text(Use(kind.value))


def index_price_text(price: IndexPrice, rate: int = ASSUMED_RATE) -> str:
    """Says what deleting all .index files frees, and what broker start-up then reads.

    `rate`: bytes per second that one thread reads.
    """
    return say_count(
        "disk.index_price",
        price.files,
        freed=price.allocated_bytes,
        size=price.reads.log_bytes,
        segments=say_count("common.n_segments", price.reads.segments),
        time=reading_time(price.reads, rate),
        rate=rate,
    )


def reading_time(reads: RecoveryReads, rate: int) -> str:
    """Returns how long the reads of a recovery take, such as "12 min to 24 min".

    `rate`: bytes per second that one thread reads.
    """
    shortest, longest = (duration(seconds * 1000) for seconds in reads.seconds(rate))
    if shortest == longest:
        return shortest
    return say("disk.time_range", shortest=shortest, longest=longest)


def recovery_text(reads: RecoveryReads, rate: int) -> str:
    """Says how much the recovery of a log directory reads, and how long that takes.

    `rate`: bytes per second that one thread reads.
    """
    shortest, longest = (duration(seconds * 1000) for seconds in reads.seconds(rate))
    return say_count(
        "disk.recovery" if shortest == longest else "disk.recovery_range",
        reads.segments,
        size=reads.log_bytes,
        logs=say_count("common.n_logs", reads.logs),
        shortest=shortest,
        longest=longest,
    )


def recovery_sentence(recovery: Sequence[RecoveryReads]) -> str:
    """Says how long the recovery of the slowest log directory takes; "" without a recovery.

    Kafka recovers all log directories at the same time.
    """
    if not recovery:
        return ""
    times = [reads.seconds(ASSUMED_RATE) for reads in recovery]
    shortest, longest = (duration(max(seconds) * 1000) for seconds in zip(*times, strict=True))
    return say_count(
        "disk.recovery_total" if shortest == longest else "disk.recovery_total_range",
        sum(reads.segments for reads in recovery),
        size=sum(reads.log_bytes for reads in recovery),
        shortest=shortest,
        longest=longest,
        rate=ASSUMED_RATE,
    )


def rate_text(rate: int, threads: int | None, *, is_assumed: bool) -> str:
    """Says for which read rate and how many threads the recovery time was computed."""
    return say(
        "disk.rate_assumed" if is_assumed else "disk.rate_given",
        rate=rate,
        threads=threads_text(threads),
    )


def threads_text(threads: int | None) -> str:
    """Says how many recovery threads a log directory has."""
    return say("disk.threads_unknown") if threads is None else say_count("disk.threads", threads)
