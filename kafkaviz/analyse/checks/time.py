"""The checks of time: records from the future or of another unit, disorder, and what keeps a segment from expiring.

    retention.ms 7 days, three segments: the newest record of the first is of 2027-11-25, of the others 2026-10-20
    a broker deletes from the oldest on and stops at the first that is too young: the first holds back both until 2027-12-02
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kafkaviz.analyse.checks.facts import RETENTION_MS, Facts
from kafkaviz.analyse.checks.summary import SECONDS, Summary, Times
from kafkaviz.analyse.finding import Evidence, Finding
from kafkaviz.config_def import DAY_MS, HOUR_MS
from kafkaviz.units import duration, group, moment

UNITS = ((10**17, "nanoseconds", 1_000_000), (10**14, "microseconds", 1000), (SECONDS[0], "seconds", None))


@dataclass(frozen=True)
class Kept:
    """Which record keeps a segment from expiring, and until when.

    timestamp_ms: the newest time, offset: the last offset of the batch that has it, None where the .log's modification time counts.
    until_ms: when the segment is old enough by itself; blocked_until_ms: when those before it are too. None: it does not expire.
    """

    base_offset: int
    timestamp_ms: int
    offset: int | None
    until_ms: int | None
    blocked_until_ms: int | None
    by: int  # the base offset of the segment that decides


def kept(summaries: Sequence[Summary], retention_ms: int = RETENTION_MS) -> list[Kept]:
    """Each segment of a log that is not compacted alone, by base offset; retention_ms -1: nothing expires."""
    found, latest, by = [], -1, 0
    for told in summaries:
        newest = told.largest_ms
        until = newest + retention_ms if retention_ms >= 0 else None
        if until is not None and until > latest:
            latest, by = until, told.segment.base_offset
        offset = told.newest[1] if told.newest and told.newest[0] == newest else None
        blocked = latest if until is not None else None
        found.append(Kept(told.segment.base_offset, newest, offset, until, blocked, by))
    return found


def of_partition(summaries: Sequence[Summary], facts: Facts) -> Iterator[Finding]:
    """The findings about time."""
    for name, made in (("future", _future), ("unit", _unit), ("late", _late), ("missing", _missing)):
        wrong = [told for told in summaries if name in told.times]
        if wrong:
            yield made(wrong, facts)
    if facts.expires and facts.retention_ms >= 0 and not any(told.unreadable or told.hidden for told in summaries):
        yield from _blocked(summaries, facts, facts.retention_ms)
        yield from _by_mtime(summaries, facts, facts.retention_ms)


def _worst(wrong: Sequence[Summary], name: str) -> tuple[Summary, Times, str]:
    """The segment that has the worst of them, that, and how many there are."""
    pick = min if name == "late" else max
    told = pick(wrong, key=lambda one: one.times[name].timestamp_ms)
    count = sum(one.times[name].count for one in wrong)
    return told, told.times[name], f"{group(count)} batch{'' if count == 1 else 'es'}"


def _place(told: Summary, one: Times) -> tuple[str, int, int]:
    return told.segment.log.name, one.position, one.size_bytes


def _future(wrong: Sequence[Summary], facts: Facts) -> Finding:
    told, one, count = _worst(wrong, "future")
    ahead = duration(one.timestamp_ms - facts.now_ms)
    which = f"the newest record is of {moment(one.timestamp_ms)}, {ahead} ahead, {one.offsets}"
    message = f"{count} of a time after the broker's last writing; {which}"
    file, *place = _place(told, one)
    digits = f"{one.timestamp_ms:016x}"
    evidence = Evidence(moment(one.timestamp_ms), f"a time up to {moment(facts.now_ms + HOUR_MS)}", digits)
    return facts.found("timestamp-in-future", file, message, evidence, *place)


def _unit(wrong: Sequence[Summary], facts: Facts) -> Finding:
    told, one, count = _worst(wrong, "unit")
    unit, divisor = next((unit, divisor) for least, unit, divisor in UNITS if one.timestamp_ms >= least)
    meant = one.timestamp_ms // divisor if divisor else one.timestamp_ms * 1000
    message = f"{count} with times that seem to be {unit}: {one.timestamp_ms} {one.offsets} would be {moment(meant)}"
    file, *place = _place(told, one)
    found = f"{one.timestamp_ms}, as milliseconds {moment(one.timestamp_ms)}"
    evidence = Evidence(found, f"{meant}", f"{one.timestamp_ms:016x}", f"{meant:016x}")
    return facts.found("timestamp-unit-suspect", file, message, evidence, *place)


def _late(wrong: Sequence[Summary], facts: Facts) -> Finding:
    told, one, count = _worst(wrong, "late")
    behind = duration(one.compared_ms - one.timestamp_ms)
    message = f"{count} more than a day older than a record before them; the newest {one.offsets} is {behind} behind"
    file, *place = _place(told, one)
    evidence = Evidence(moment(one.timestamp_ms), f"a time near {moment(one.compared_ms)}, which came before it")
    return facts.found("timestamps-out-of-order", file, message, evidence, *place)


def _missing(wrong: Sequence[Summary], facts: Facts) -> Finding:
    told, one, count = _worst(wrong, "missing")
    file, *place = _place(told, one)
    message = f"{count} without a timestamp, the first in {file}"
    return facts.found("timestamps-missing", file, message, Evidence("timestamp -1", "a time"), *place)


def _blocked(summaries: Sequence[Summary], facts: Facts, retention_ms: int) -> Iterator[Finding]:
    """Segments that hold back younger ones for more than a day longer than these would be kept by themselves."""
    all_kept = kept(summaries, retention_ms)
    newest = {told.segment.base_offset: told.newest[0] + retention_ms for told in summaries if told.newest}  # whatever an index says
    for told, one in zip(summaries, all_kept, strict=True):
        behind = [later for later in all_kept if later.by == one.base_offset]
        waits = [later.blocked_until_ms - newest.get(later.base_offset, later.until_ms) for later in behind]
        held = [wait for wait in waits if wait > DAY_MS]
        if not held or one.offset is None:
            continue
        _, offset, position = told.newest
        count = f"{len(held)} segment{'' if len(held) == 1 else 's'}"
        message = (
            f"segment {group(one.base_offset)} is kept until {moment(one.until_ms)} by the record of {moment(one.timestamp_ms)} "
            f"(batch up to offset {group(offset)}); with it {count} that would expire up to {duration(max(held))} before"
        )
        evidence = Evidence(f"newest record {moment(one.timestamp_ms)}", "one that is not much newer than those of later segments")
        yield facts.found("retention-blocked", told.segment.log.name, message, evidence, position)


def _by_mtime(summaries: Sequence[Summary], facts: Facts, retention_ms: int) -> Iterator[Finding]:
    by_mtime = [told for told in summaries if told.last_time_ms is None and told.batches and told.segment.state != "active"]
    if by_mtime:
        told = by_mtime[0]
        written = told.segment.log.mtime_ns // 1_000_000
        more = f"; {len(by_mtime) - 1} more segments are like it" if len(by_mtime) > 1 else ""
        until = moment(written + retention_ms)
        message = f"{told.segment.log.name} was written last at {moment(written)}, so it is kept until {until}{more}"
        yield facts.found("retention-by-mtime", told.segment.log.name, message, Evidence(f"modified {moment(written)}", "a time entry"))
