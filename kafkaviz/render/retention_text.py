"""Retention in words, for the page and the command: what keeps a segment, and until when."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, cast

import numpy as np

from kafkaviz.analysis.checks.summary import has_suspect_unit
from kafkaviz.analysis.metadata_retention import MetadataRetention
from kafkaviz.analysis.retention import LogRetention, RetentionLimits, SegmentAge, SegmentRetention
from kafkaviz.messages import say, say_count
from kafkaviz.units import MISSING, duration, format_bytes, format_count, moment

if TYPE_CHECKING:
    from kafkaviz.analysis.tiering.remote_retention import RemoteRetention, RemoteSegmentRetention


def held_text(state: str) -> str:
    """Says what keeps a segment. `state` is a state of analysis.retention."""
    return say(f"retention.held_{state}")


def newest_text(segment: SegmentAge) -> str:
    """Returns the timestamp by which retention judges a segment, and its source.

    For example: "2026-11-21 09:29:44.123, offset 7 304".
    """
    if segment.timestamp_ms is None:
        return held_text("unknown")
    origin = say(f"retention.of_{segment.counted_by}")
    if segment.counted_by == "record" and segment.offset is not None:
        origin = say("common.offset", offset=format_count(segment.offset))
    time = moment(segment.timestamp_ms) if segment.timestamp_ms >= 0 else str(segment.timestamp_ms)
    key = "retention.newest_unit" if is_of_another_unit(segment) else "retention.newest"
    return say(key, time=time, batch=origin)


def is_of_another_unit(segment: SegmentAge) -> bool:
    """Returns whether the timestamp of a segment cannot be in milliseconds."""
    return segment.counted_by == "record" and bool(
        has_suspect_unit(np.array([segment.timestamp_ms]))[0]
    )


def reason_text(log: LogRetention, segment: SegmentRetention) -> str:
    """Says what keeps a segment and until when, or which rule deletes it."""
    if segment.is_due:
        return _due_reason(log, segment)
    match segment.state:
        case "until":
            key = "retention.until_last" if log.segments[-1] is segment else "retention.until"
            return _with_size_limit(say(key, when=moment_text(segment.gone_ms)), segment)
        case "behind":
            text = say(
                "retention.behind",
                when=moment_text(segment.gone_ms),
                waits=duration(cast(int, segment.gone_ms) - cast(int, segment.until_ms)),
                segment=format_count(segment.blocked_by),
            )
            return _with_size_limit(text, segment)
        case "bytes":
            return say("retention.bytes", size=format_bytes(segment.more_bytes))
        case "high-watermark":
            if segment.until_ms is not None and log.now_ms > segment.until_ms:
                return say("retention.watermark_old", when=moment_text(segment.until_ms))
            return say("retention.watermark")
        case "not-uploaded" if segment.why:
            return say("retention.not_uploaded_because", why=segment.why)
        case "not-uploaded":
            return say("retention.not_uploaded")
        case "unknown" if not log.limits.is_known:
            return say("retention.limits_unknown")
        case state:
            return say("retention.kept", why=held_text(state))


def _with_size_limit(text: str, segment: SegmentRetention) -> str:
    """Adds the number of new bytes after which retention.bytes deletes the segment sooner."""
    if segment.more_bytes is None or segment.gone_ms is None:
        return text
    return say("retention.or_sooner", until=text, size=format_bytes(segment.more_bytes))


def _due_reason(log: LogRetention, segment: SegmentRetention) -> str:
    text = say(
        f"retention.due_{segment.state}",
        size=format_bytes(log.over_bytes),
        when=moment_text(segment.until_ms),
    )
    text = say("retention.after_roll", goes=text) if log.segments[-1] is segment else text
    is_upload_unknown = log.limits.is_tiered and log.highest_remote_offset is None
    if is_upload_unknown and segment.state != "log-start":
        return say("retention.once_copied", goes=text)
    return text


def headline_text(logs: Sequence[LogRetention]) -> str:
    """Says how many segments the next retention pass deletes and keeps; "" without segments."""
    segments = [segment for log in logs for segment in log.segments]
    if not segments:
        return ""
    due_sizes = [segment.age.size_bytes for segment in segments if segment.is_due]
    waiting_count = sum(segment.is_waiting_long for segment in segments)
    segments_text = say_count("common.n_segments", len(segments))
    if not due_sizes and not any(log.limits.is_known for log in logs):
        return say("retention.headline_unknown", all=segments_text)
    text = say_count(
        "retention.headline" if due_sizes else "retention.headline_none",
        len(due_sizes),
        when=moment_text(logs[0].now_ms),
        all=segments_text,
        size=format_bytes(sum(due_sizes)),
    )
    return say_count("retention.some_wait", waiting_count, state=text) if waiting_count else text


def metadata_text(retention: MetadataRetention) -> str:
    """Says what the next retention pass deletes from the metadata log, and under which limits."""
    limits = retention.limits
    values = {
        "total": format_bytes(retention.total_bytes),
        "max_bytes": _limit_text(limits.max_bytes, format_bytes),
        "max_ms": _limit_text(limits.max_ms, duration),
    }
    if not retention.deleted_snapshots:
        return say("retention.metadata_kept", **values)
    return say_count(
        "retention.metadata_due",
        len(retention.deleted_snapshots),
        segments=say_count("common.n_segments", len(retention.deleted_segments)),
        freed=format_bytes(retention.freed_bytes),
        **values,
    )


def upload_text(logs: Sequence[LogRetention]) -> str:
    """Says how many bytes of tiered logs are not in remote storage yet; "" without tiered logs."""
    tiered_logs = [log for log in logs if log.limits.is_tiered]
    if not tiered_logs:
        return ""
    known = [log for log in tiered_logs if log.not_uploaded_bytes is not None]
    count_text = say_count("retention.tiered_logs", len(tiered_logs))
    if not known:
        return say("retention.upload_unknown", logs=count_text)
    kept_bytes = sum(log.bytes_by_state().get("not-uploaded", 0) for log in known)
    return say(
        "retention.upload_known",
        logs=count_text,
        size=format_bytes(sum(cast(int, log.not_uploaded_bytes) for log in known)),
        total=format_bytes(sum(log.log_bytes for log in known)),
        due=format_bytes(kept_bytes),
    )


def basis_text(limits: RetentionLimits) -> str:
    """Returns the retention settings of a log and where they are from."""
    if limits.deletes is None:
        return say("retention.policy_unknown", source=limits.policy_source)
    if not limits.deletes:
        return say("retention.compacted_alone", source=limits.policy_source)
    return say(
        "retention.basis",
        ms=_limit_text(limits.retention_ms, duration),
        bytes=_limit_text(limits.retention_bytes, format_bytes),
        ms_source=limits.ms_source or "",
        bytes_source=limits.bytes_source or "",
    )


def basis_notes(logs: Sequence[LogRetention]) -> tuple[str, ...]:
    """Returns sentences that name the most common retention settings.

    If Kafka's default is assumed for a retention time, another sentence says so.
    """
    commonest = Counter(
        say("retention.basis_compacted") if log.limits.deletes is False else basis_text(log.limits)
        for log in logs
    ).most_common()
    basis_texts = [
        say("retention.logs_by", logs=say_count("common.n_logs", count), basis=basis)
        for basis, count in commonest[:3]
    ]
    other_count = sum(count for _, count in commonest[3:])
    other_texts = [say_count("retention.own_settings", other_count)] if other_count else []
    if any(log.limits.is_time_assumed for log in logs):
        other_texts.append(say("retention.may_be_another"))
    return (*basis_texts, *other_texts, say("retention.counted"))


def _limit_text(limit: int | None, format_limit: Callable[[int], str]) -> str:
    if limit is None:
        return MISSING
    return say("retention.no_limit") if limit < 0 else format_limit(limit)


def moment_text(ms: int | None) -> str:
    """Returns a time as text, to the second. A value that cannot be a time stays a number."""
    return moment(ms, fraction=False) if ms is not None and ms >= 0 else f"{ms} ms"


def remote_lines(retention: "RemoteRetention") -> Iterator[str]:
    """Says which segments of a remote log the next retention pass deletes or keeps, and why.

    Consecutive segments with the same reason share a line.
    """
    from kafkaviz.analysis.tiering.remote_retention import RemoteState

    basis = basis_text(retention.limits) if retention.limits.deletes else ""
    yield say("remote_retention.pass", when=moment_text(retention.now_ms), basis=basis)
    due = [segment for segment in retention.segments if segment.is_due]
    text = say("remote_retention.deletes_none")
    if due:
        size = format_bytes(sum(item.segment.log_bytes or 0 for item in due))
        text = say_count("remote_retention.deletes", len(due), size=size)
    if retention.next_log_start is not None:
        offset = format_count(retention.next_log_start)
        text = say("remote_retention.log_start", text=text, offset=offset)
    yield f"  {text}"
    for _, run in groupby(
        retention.segments,
        key=lambda item: RemoteState.UNTIL if item.state == RemoteState.BEHIND else item.state,
    ):
        yield f"  {_run_text(retention, list(run))}"
    if retention.doubled_segments:
        yield "  " + say_count("remote_retention.doubled", len(retention.doubled_segments))


def _run_text(retention: "RemoteRetention", run: Sequence["RemoteSegmentRetention"]) -> str:
    return say(
        "remote_retention.run",
        first=format_count(run[0].segment.start_offset),
        last=format_count(run[-1].segment.end_offset),
        segments=say_count("common.n_segments", len(run)),
        why=_run_reason(retention, run),
    )


def _run_reason(retention: "RemoteRetention", run: Sequence["RemoteSegmentRetention"]) -> str:
    from kafkaviz.analysis.tiering.remote_retention import RemoteState

    state = run[0].state
    key = f"remote_retention.{state}"
    match state:
        case RemoteState.TIME:
            return say(key, when=moment_text(run[-1].until_ms))
        case RemoteState.SIZE:
            return say(key, size=format_bytes(retention.over_bytes))
        case RemoteState.UNTIL | RemoteState.BEHIND:
            when = moment_text(run[0].gone_ms)
            if run[0].gone_ms != run[-1].gone_ms:
                when = say("remote_retention.range", first=when, last=moment_text(run[-1].gone_ms))
            text = say("remote_retention.until", when=when)
            waiting = sum(item.state == RemoteState.BEHIND for item in run)
            return say_count("remote_retention.waiting", waiting, text=text) if waiting else text
        case RemoteState.BYTES:
            size = format_bytes(run[0].more_bytes)
            if run[0].more_bytes != run[-1].more_bytes:
                last = format_bytes(cast(int, run[-1].more_bytes))
                size = say("remote_retention.range", first=size, last=last)
            return say(key, size=size)
        case _:
            return say(key)
