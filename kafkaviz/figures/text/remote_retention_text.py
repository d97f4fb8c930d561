"""Remote retention in words: which remote segments are deleted next, and what keeps the others."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import cast

from kafkaviz.analysis.tiering.remote_retention import RemoteRetention, RemoteSegmentRetention
from kafkaviz.figures.text.retention_text import basis_text, moment_text
from kafkaviz.messages import say, say_count
from kafkaviz.units import format_bytes, format_count


def lines(retention: RemoteRetention) -> Iterator[str]:
    """Says what the next retention pass deletes, then why each run of segments goes or stays."""
    basis = basis_text(retention.limits) if retention.limits.deletes else ""
    yield say("remote_retention.pass", when=moment_text(retention.now_ms), basis=basis)
    due = [segment for segment in retention.segments if segment.is_due]
    if due:
        text = say_count(
            "remote_retention.deletes",
            len(due),
            size=format_bytes(sum(item.segment.log_bytes or 0 for item in due)),
        )
    else:
        text = say("remote_retention.deletes_none")
    if retention.next_log_start is not None:
        text = say(
            "remote_retention.log_start", text=text, offset=format_count(retention.next_log_start)
        )
    yield f"  {text}"
    for _, run in groupby(
        retention.segments, key=lambda item: "until" if item.state == "behind" else item.state
    ):
        yield f"  {_run_text(retention, list(run))}"
    if retention.doubled_segments:
        yield "  " + say_count("remote_retention.doubled", len(retention.doubled_segments))


def _run_text(retention: RemoteRetention, run: Sequence[RemoteSegmentRetention]) -> str:
    """Says why a run of consecutive segments goes or stays.

    All segments of the run are in the same state, or all wait until a time, their own or that of an
    older segment.
    """
    return say(
        "remote_retention.run",
        first=format_count(run[0].segment.start_offset),
        last=format_count(run[-1].segment.end_offset),
        segments=say_count("common.n_segments", len(run)),
        why=_reason(retention, run),
    )


def _reason(retention: RemoteRetention, run: Sequence[RemoteSegmentRetention]) -> str:
    state = run[0].state
    key = f"remote_retention.{state}"
    match state:
        case "time":
            return say(key, when=moment_text(run[-1].until_ms))
        case "size":
            return say(key, size=format_bytes(retention.over_bytes))
        case "until" | "behind":
            when = moment_text(run[0].gone_ms)
            if run[0].gone_ms != run[-1].gone_ms:
                when = say("remote_retention.range", first=when, last=moment_text(run[-1].gone_ms))
            text = say("remote_retention.until", when=when)
            waiting = sum(item.state == "behind" for item in run)
            return say_count("remote_retention.waiting", waiting, text=text) if waiting else text
        case "bytes":
            size = format_bytes(run[0].more_bytes)
            if run[0].more_bytes != run[-1].more_bytes:
                last = format_bytes(cast(int, run[-1].more_bytes))
                size = say("remote_retention.range", first=size, last=last)
            return say(key, size=size)
        case _:
            return say(key)
