"""What the checks of a segment found, as text.

It can be kept beside the segment's name and read back when nothing has changed.

    {"findings": [["batch-crc-mismatch", "error", "orders-0", ...]], "summary": [3, 30, 0, 29, ...]}

What is kept holds for the same bytes and the same facts around them; `digest` tells facts apart.
The time that counts as now is no part of it, since it moves whenever a broker writes anything: see
`is_still_valid`.
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

DIGITS = 32  # of a digest


def to_json(result: SegmentFindings) -> str:
    """The text; the segment itself is not in it."""
    summary = result.summary and [
        to_plain(getattr(result.summary, name)) for name, _ in _summary_fields()
    ]
    findings = finding_codec.findings_to_plain(result.findings)
    return json.dumps({"findings": findings, "summary": summary}, separators=(",", ":"))


def from_json(segment: LogSegment, text: str) -> SegmentFindings:
    """What to_json was given, about this segment; ValueError where the text is no such thing."""
    try:
        document = json.loads(text)
        findings, summary = (
            finding_codec.findings_from_plain(document["findings"]),
            document["summary"],
        )
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
    """A text that is another one when the checks of the same bytes would go by other facts."""
    return digest_of(segment.state, *astuple(replace(facts, now_ms=0)))


def digest_of(*values: Any) -> str:
    """The same of any plain values."""
    return sha256(repr(values).encode("utf-8", "surrogateescape")).hexdigest()[:DIGITS]


def is_still_valid(result: SegmentFindings, now_ms: int) -> bool:
    """Whether what was found at another time may be kept now.

    Only one code asks for the time, timestamp-in-future, and its words are written again. What was
    kept is right where nothing lay ahead of the clock then and nothing does now. Where something
    did, it is kept as long as the farthest is still ahead: how many batches there are, and which of
    the others came late, then depends on the clock of the reading, so that one segment with a date
    of 2099 is not read again in every run.
    """
    if result.summary is None:
        return True
    latest_ms, ahead = now_ms + HOUR_MS, result.summary.times.get("future")
    if ahead:
        return ahead.timestamp_ms > latest_ms
    newest_ms = result.summary.newest[0] if result.summary.newest else -1
    return newest_ms <= latest_ms or bool(has_suspect_unit(cast(Any, newest_ms)))


def is_steady(texts: Iterable[str], now_ms: int) -> bool:
    """Whether the clock decides nothing in a log, by the texts of its segments alone.

    Where something lies ahead of it, or a transaction is open at the end, the findings of the
    topic-partition may be others at another time.
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
    """The fields of a summary but the segment."""
    hints = get_type_hints(CheckSummary)
    return tuple(
        (field.name, hints[field.name]) for field in fields(CheckSummary) if field.name != "segment"
    )
