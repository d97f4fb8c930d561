"""Retention in words: which record keeps a segment, by which rule, and until when; the page and the
command say it in the same ones.
"""

from collections.abc import Sequence
from typing import cast

import numpy as np

from kafkaviz.analyse.checks.summary import unit_suspect
from kafkaviz.analyse.retention import Aged, Kept, LogRetention
from kafkaviz.config_def import DAY_MS
from kafkaviz.units import duration, group, moment, size
from kafkaviz.words import counted, say
from kafkaviz.words.retold import retold

DEFAULT = "default of Kafka "  # how log.settings tells that nobody set a value; the release follows


def held(state: str) -> str:
    """What keeps a segment of one of retention.HELD."""
    return say(f"retention.held_{state}")


def newest(one: Aged) -> str:
    """The time that counts, and what it is of: 2026-11-21 09:29:44.123, offset 7 304."""
    if one.timestamp_ms is None:
        return held("unknown")
    of = (
        _of_offset(one.offset)
        if one.counted_by == "record"
        else say(f"retention.of_{one.counted_by}")
    )
    time = moment(one.timestamp_ms) if one.timestamp_ms >= 0 else str(one.timestamp_ms)
    return say(
        "retention.newest_unit" if is_of_another_unit(one) else "retention.newest", time=time, of=of
    )


def _of_offset(offset: int | None) -> str:
    return (
        say("retention.of_record")
        if offset is None
        else say("retention.of_offset", offset=group(offset))
    )


def is_of_another_unit(one: Aged) -> bool:
    """Whether the time cannot be meant in milliseconds."""
    return one.counted_by == "record" and bool(unit_suspect(np.array([one.timestamp_ms]))[0])


def reason(log: LogRetention, one: Kept) -> str:
    """What keeps a segment, and until when, or what takes it."""
    if one.is_due:
        return _due(log, one)
    match one.state:
        case "until":
            last = "_last" if log.segments[-1] is one else ""
            return _or_sooner(say(f"retention.until{last}", when=when(one.gone_ms)), one)
        case "behind":
            waits = {
                "waits": duration(cast(int, one.gone_ms) - cast(int, one.until_ms)),
                "segment": group(one.blocked_by),
            }
            return _or_sooner(say("retention.behind", when=when(one.gone_ms), **waits), one)
        case "bytes":
            return say("retention.bytes", size=size(one.more_bytes))
        case "high-watermark":
            is_old = one.until_ms is not None and log.now_ms > one.until_ms
            return (
                say("retention.watermark_old", when=when(one.until_ms))
                if is_old
                else say("retention.watermark")
            )
        case state:
            return say("retention.kept", why=held(state))


def _or_sooner(words: str, one: Kept) -> str:
    """The same, and how much must be written until retention.bytes takes it before that."""
    is_limited = one.more_bytes is not None and one.gone_ms is not None
    return (
        say("retention.or_sooner", until=words, size=size(one.more_bytes)) if is_limited else words
    )


def _due(log: LogRetention, one: Kept) -> str:
    values = {"size": {"size": size(log.over_bytes)}, "time": {"when": when(one.until_ms)}}.get(
        one.state, {}
    )
    words = say(f"retention.due_{one.state}", **values)
    words = say("retention.after_roll", goes=words) if log.segments[-1] is one else words
    return (
        say("retention.once_copied", goes=words)
        if log.limits.is_tiered and one.state != "log-start"
        else words
    )


def headline(logs: Sequence[LogRetention]) -> str:
    """How many segments the next pass takes and how many are kept, in a sentence without a full
    stop; "" of no log.
    """
    every = [one for log in logs for one in log.segments]
    if not every:
        return ""
    due, behind = (
        sum(one.is_due for one in every),
        sum(
            one.state == "behind" and cast(int, one.gone_ms) - cast(int, one.until_ms) > DAY_MS
            for one in every
        ),
    )
    all_ = counted("common.n_segments", len(every), n=group(len(every)))
    told = say(
        "retention.headline" if due else "retention.headline_none",
        when=when(logs[0].now_ms),
        n=group(due),
        all=all_,
    )
    return counted("retention.some_wait", behind, n=group(behind), told=told) if behind else told


def counted_are() -> str:
    """Which segments the headline is of."""
    return say("retention.counted")


def basis(log: LogRetention) -> str:
    """The settings a log is kept by, and where they come from."""
    limits = log.limits
    if not limits.deletes:
        return say("retention.compacted_alone", source=source(limits.policy_source))
    ms = say("retention.no_limit") if limits.retention_ms < 0 else duration(limits.retention_ms)
    most = say("retention.no_limit") if limits.retention_bytes < 0 else size(limits.retention_bytes)
    sources = {"ms_source": source(limits.ms_source), "bytes_source": source(limits.bytes_source)}
    return say("retention.basis", ms=ms, bytes=most, **sources)


def source(told: str) -> str:
    """Where a setting came from."""
    return (
        say("retention.default", release=told.removeprefix(DEFAULT))
        if told.startswith(DEFAULT)
        else retold("findings", told)
    )


def when(ms: int | None) -> str:
    """A moment to the second; what is none, as a number."""
    return moment(ms, fraction=False) if ms is not None and ms >= 0 else f"{ms} ms"
