"""The results of a segment's checks as text, so that the next run can reuse them.

    {"findings": [["batch-crc-mismatch", "error", "orders-0", ...]], "summary": [3, 30, 0, 29, ...]}

A stored result is valid for the same bytes and the same facts, which `digest` identifies. The
digest leaves out the current time, which would differ in every run; `is_still_valid` compares the
time instead.
"""

import json
from collections.abc import Iterable
from dataclasses import astuple, fields, replace
from functools import cache
from hashlib import sha256
from typing import Any, cast, get_type_hints

from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.analysis.checks.segment import SegmentFindings
from kafkaviz.analysis.checks.summary import CheckSummary, has_suspect_unit
from kafkaviz.analysis.findings import finding_codec
from kafkaviz.analysis.serialization import from_plain, to_plain
from kafkaviz.config_def import HOUR_MS
from kafkaviz.log.segment import LogSegment, Segment

DIGITS = 32  # hex digits of a digest


def to_json(result: SegmentFindings) -> str:
    """Returns the result of a segment's checks as JSON, without the segment itself."""
    summary = result.summary and [
        to_plain(getattr(result.summary, name)) for name, _ in _summary_fields()
    ]
    findings = to_plain(result.findings)
    return json.dumps({"findings": findings, "summary": summary}, separators=(",", ":"))


def from_json(segment: LogSegment, text: str) -> SegmentFindings:
    """Parses a text that `to_json` returned for this segment.

    Raises:
        ValueError: the text is invalid.
    """
    try:
        document = json.loads(text)
        findings = finding_codec.findings_from_plain(document["findings"])
        summary = document["summary"]
        values = {
            name: from_plain(kind, value)
            for (name, kind), value in zip(
                _summary_fields(), summary or (), strict=summary is not None
            )
        }
    except (LookupError, TypeError, RecursionError) as fault:
        raise ValueError(f"no findings of a segment: {fault}") from None
    return SegmentFindings(
        findings, None if summary is None else CheckSummary(segment=segment, **values)
    )


def digest(segment: Segment, facts: PartitionFacts) -> str:
    """Returns a digest of all facts that the checks of a segment depend on, except the time."""
    may_be_stale = facts.may_hold_stale_entries(segment)
    used_facts = replace(facts, now_ms=0, may_be_running=may_be_stale)
    return digest_of(segment.state, *astuple(used_facts))


def digest_of(*values: Any) -> str:
    return sha256(repr(values).encode("utf-8", "surrogateescape")).hexdigest()[:DIGITS]


def is_still_valid(result: SegmentFindings, now_ms: int) -> bool:
    """Returns whether an earlier result is valid at this time.

    Only the finding timestamp-in-future depends on the time. If no timestamp was in the future when
    the segment was checked, the result is valid if none is now. Otherwise, it is valid as long as
    the latest timestamp is still in the future. The number of batches in the future, and the set of
    late batches, are then those of the earlier time. So a segment with a date in 2099 is not read
    again in every run.
    """
    if result.summary is None:
        return True
    latest_ms = now_ms + HOUR_MS
    ahead = result.summary.times.get("future")
    if ahead:
        return ahead.timestamp_ms > latest_ms
    newest_ms = result.summary.newest[0] if result.summary.newest else -1
    return newest_ms <= latest_ms or bool(has_suspect_unit(cast(Any, newest_ms)))


def is_steady(texts: Iterable[str], now_ms: int) -> bool:
    """Returns whether the findings of a log do not depend on the clock.

    They depend on the clock if a timestamp is in the future, or if a transaction is open at the end
    of the log. `texts` are the results of the log's segments, as returned by `to_json`.
    """
    names = [name for name, _ in _summary_fields()]
    newest, times, steps = map(names.index, ("newest", "times", "steps"))
    open_producers: set[int] = set()
    try:
        for text in texts:
            summary = json.loads(text)["summary"]
            is_ahead = summary[newest] and summary[newest][0] > now_ms + HOUR_MS
            if len(summary) != len(names) or is_ahead or "future" in summary[times]:
                return False
            for kind, producer, _ in summary[steps]:
                (open_producers.add if kind == "begin" else open_producers.discard)(producer)
    except (ValueError, LookupError, TypeError):
        return False
    return not open_producers


@cache
def _summary_fields() -> tuple[tuple[str, Any], ...]:
    hints = get_type_hints(CheckSummary)
    return tuple(
        (field.name, hints[field.name]) for field in fields(CheckSummary) if field.name != "segment"
    )
