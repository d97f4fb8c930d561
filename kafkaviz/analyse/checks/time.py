"""The checks of time: records from the future or of another unit, disorder, and what keeps a
segment from expiring longer than it seems.

What keeps each segment is told by analyse.retention; here is what a person should know of it.
"""

from collections.abc import Iterator, Sequence
from typing import cast

from kafkaviz.analyse import retention
from kafkaviz.analyse.checks.facts import Facts
from kafkaviz.analyse.checks.summary import SECONDS, Summary, Times
from kafkaviz.analyse.existing import existing
from kafkaviz.analyse.finding import Evidence, Finding
from kafkaviz.analyse.retention import Aged, Limits
from kafkaviz.config_def import DAY_MS, HOUR_MS
from kafkaviz.units import duration, group, moment

UNITS = (
    (10**17, "nanoseconds", 1_000_000),
    (10**14, "microseconds", 1000),
    (SECONDS[0], "seconds", None),
)
NEVER = -(2**63)  # a time at which nothing is old


def of_partition(
    summaries: Sequence[Summary], facts: Facts, recovery_point: int | None = None
) -> Iterator[Finding]:
    """The findings about time."""
    for name, made in (
        ("future", _future),
        ("unit", _unit),
        ("late", _late),
        ("missing", _missing),
    ):
        wrong = [told for told in summaries if name in told.times]
        if wrong:
            yield made(wrong, facts)
    if (
        facts.expires
        and facts.retention_ms >= 0
        and not any(told.unreadable or told.hidden for told in summaries)
    ):
        aged = retention.aged_segments(summaries, facts.clean, recovery_point, facts.version)
        yield from _blocked(summaries, aged, facts)
        yield from _by_mtime(summaries, aged, facts)


def _worst(wrong: Sequence[Summary], name: str) -> tuple[Summary, Times, str]:
    """The segment that has the worst of them, that, and how many there are."""
    pick = min if name == "late" else max
    told = pick(wrong, key=lambda one: one.times[name].timestamp_ms)
    count = sum(one.times[name].count for one in wrong)
    return told, told.times[name], f"{group(count)} batch{'' if count == 1 else 'es'}"


def _place(told: Summary, one: Times) -> tuple[str, tuple[int, int]]:
    return existing(told.segment.log).name, (one.position, one.size_bytes)


def _future(wrong: Sequence[Summary], facts: Facts) -> Finding:
    told, one, count = _worst(wrong, "future")
    ahead = duration(one.timestamp_ms - facts.now_ms)
    which = f"the newest record is of {moment(one.timestamp_ms)}, {ahead} ahead, {one.offsets}"
    message = f"{count} of a time later than that of any file here; {which}"
    file, place = _place(told, one)
    digits = f"{one.timestamp_ms:016x}"
    evidence = Evidence(
        moment(one.timestamp_ms), f"a time up to {moment(facts.now_ms + HOUR_MS)}", digits
    )
    return facts.found("timestamp-in-future", file, message, evidence, *place)


def _unit(wrong: Sequence[Summary], facts: Facts) -> Finding:
    told, one, count = _worst(wrong, "unit")
    unit, divisor = next(
        (unit, divisor) for least, unit, divisor in UNITS if one.timestamp_ms >= least
    )
    meant = one.timestamp_ms // divisor if divisor else one.timestamp_ms * 1000
    message = (
        f"{count} with times that seem to be {unit}: {one.timestamp_ms} {one.offsets} would be "
        f"{moment(meant)}"
    )
    file, place = _place(told, one)
    found = f"{one.timestamp_ms}, as milliseconds {moment(one.timestamp_ms)}"
    evidence = Evidence(found, f"{meant}", f"{one.timestamp_ms:016x}", f"{meant:016x}")
    return facts.found("timestamp-unit-suspect", file, message, evidence, *place)


def _late(wrong: Sequence[Summary], facts: Facts) -> Finding:
    told, one, count = _worst(wrong, "late")
    behind = duration(one.compared_ms - one.timestamp_ms)
    message = (
        f"{count} more than a day older than a record before them; the newest {one.offsets} is "
        f"{behind} behind"
    )
    file, place = _place(told, one)
    evidence = Evidence(
        moment(one.timestamp_ms), f"a time near {moment(one.compared_ms)}, which came before it"
    )
    return facts.found("timestamps-out-of-order", file, message, evidence, *place)


def _missing(wrong: Sequence[Summary], facts: Facts) -> Finding:
    told, one, count = _worst(wrong, "missing")
    file, place = _place(told, one)
    message = f"{count} without a timestamp, the first in {file}"
    return facts.found(
        "timestamps-missing", file, message, Evidence("timestamp -1", "a time"), *place
    )


def _blocked(summaries: Sequence[Summary], aged: Sequence[Aged], facts: Facts) -> Iterator[Finding]:
    """Segments that hold back younger ones for more than a day longer than these would be kept by
    themselves.
    """
    kept = retention.of_log(
        facts.partition, aged, Limits(True, "", facts.retention_ms), NEVER
    ).segments
    # whatever an index says
    newest = {
        told.segment.base_offset: told.newest[0] + facts.retention_ms
        for told in summaries
        if told.newest
    }
    for told, one in zip(summaries, kept, strict=True):
        behind = [later for later in kept if later.blocked_by == one.aged.base_offset]
        waits = [
            cast(int, later.gone_ms) - cast(int, newest.get(later.aged.base_offset, later.until_ms))
            for later in behind
        ]
        held = [wait for wait in waits if wait > DAY_MS]
        if not held or one.aged.counted_by != "record" or told.newest is None:
            continue
        count = f"{len(held)} segment{'' if len(held) == 1 else 's'}"
        message = (
            f"segment {group(one.aged.base_offset)} is kept until {moment(one.until_ms)} by the "
            f"record of {moment(one.aged.timestamp_ms)} at offset {group(one.aged.offset)}; with "
            f"it {count} that would expire up to {duration(max(held))} before"
        )
        evidence = Evidence(
            f"newest record {moment(one.aged.timestamp_ms)}",
            "one that is not much newer than those of later segments",
        )
        _, _, position = told.newest
        yield facts.found(
            "retention-blocked", existing(told.segment.log).name, message, evidence, position
        )


def _by_mtime(
    summaries: Sequence[Summary], aged: Sequence[Aged], facts: Facts
) -> Iterator[Finding]:
    pairs = zip(summaries, aged, strict=True)
    by_mtime = [
        (told, one)
        for told, one in pairs
        if one.counted_by == "mtime" and told.batches and told.segment.state != "active"
    ]
    if by_mtime:
        told, one = by_mtime[0]
        more = f"; {len(by_mtime) - 1} more segments are like it" if len(by_mtime) > 1 else ""
        name, written_ms = existing(told.segment.log).name, cast(int, one.timestamp_ms)
        until = moment(written_ms + facts.retention_ms)
        message = (
            f"{name} was written last at {moment(one.timestamp_ms)}, so it is kept until {until}"
            f"{more}"
        )
        evidence = Evidence(f"modified {moment(one.timestamp_ms)}", "a time entry")
        yield facts.found("retention-by-mtime", name, message, evidence)
