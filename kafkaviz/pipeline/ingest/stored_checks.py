"""Stores the results of a segment's checks as JSON, for the next ingest.

    {"findings": [["batch-crc-mismatch", "error", "orders-0", ...]], "summary": [3, 30, 0, 29, ...]}

A stored result is valid while the segment's bytes and the facts for its checks, such as
retention.ms, stay the same. `digest` covers all facts except the current time. `is_still_valid`
compares the time.
"""

import json
from collections.abc import Iterable
from dataclasses import astuple, fields, replace
from functools import cache
from hashlib import sha256
from typing import Any, cast, get_type_hints

from kafkaviz.analysis import finding_rows
from kafkaviz.analysis.checks.facts import PartitionFacts
from kafkaviz.analysis.checks.segment import SegmentFindings
from kafkaviz.analysis.checks.summary import CheckSummary, has_suspect_unit
from kafkaviz.analysis.serialization import from_plain, to_plain
from kafkaviz.log.segment import LogSegment, Segment
from kafkaviz.units import HOUR_MS

DIGITS = 32  # hex digits of a digest


def to_json(result: SegmentFindings) -> str:
    summary = result.summary and [
        to_plain(getattr(result.summary, name)) for name, _ in _summary_fields()
    ]
    findings = to_plain(result.findings)
    return json.dumps({"findings": findings, "summary": summary}, separators=(",", ":"))


def from_json(segment: LogSegment, text: str) -> SegmentFindings:
    """Parses what `to_json` returned for this segment. Raises ValueError for other texts."""
    try:
        document = json.loads(text)
        findings = finding_rows.findings_from_plain(document["findings"])
        summary = document["summary"]
        if summary is None:
            return SegmentFindings(findings, None)
        stored_fields = zip(_summary_fields(), summary, strict=True)
        values = {name: from_plain(kind, value) for (name, kind), value in stored_fields}
    except (LookupError, TypeError, RecursionError) as fault:
        raise ValueError(f"no findings of a segment: {fault}") from None
    return SegmentFindings(findings, CheckSummary(segment=segment, **values))


def digest(segment: Segment, facts: PartitionFacts) -> str:
    """Returns a digest of everything, except the time, that a segment's check results depend on."""
    may_be_stale = facts.may_hold_stale_entries(segment)
    used_facts = replace(facts, now_ms=0, may_be_running=may_be_stale)
    return digest_of(segment.state, *astuple(used_facts))


def digest_of(*values: Any) -> str:
    return sha256(repr(values).encode("utf-8", "surrogateescape")).hexdigest()[:DIGITS]


def is_still_valid(result: SegmentFindings, now_ms: int) -> bool:
    """Returns whether a stored result still holds at the time `now_ms`.

    Only the finding timestamp-in-future depends on the time. It reports timestamps that are more
    than an hour in the future. A result with this finding holds while the latest timestamp is
    still more than an hour in the future. A result without the finding holds while no timestamp
    is that far in the future. So a segment with a date in 2099 is not read in every ingest.
    """
    if result.summary is None:
        return True
    latest_ms = now_ms + HOUR_MS
    ahead = result.summary.times.get("future")
    if ahead:
        return ahead.timestamp_ms > latest_ms
    newest_ms = result.summary.newest[0] if result.summary.newest else -1
    return newest_ms <= latest_ms or bool(has_suspect_unit(cast(Any, newest_ms)))


def is_independent_of_clock(texts: Iterable[str], now_ms: int) -> bool:
    """Returns whether a log's findings are independent of the clock.

    They depend on the clock if a timestamp is more than an hour in the future, or a transaction is
    open at the end of the log. Returns False if a text is invalid. `texts` are the results of
    `to_json` for the segments of the log.
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
