"""What the checks of a segment found, as text that can be kept beside the segment's name and read
back when nothing has changed.

    {"findings": [["batch-crc-mismatch", "error", "orders-0", ...]], "summary": [3, 30, 0, 29, ...]}

What is kept holds for the same bytes and the same facts around them; `digest` tells facts apart.
The time that counts as now is no part of it, since it moves whenever a broker writes anything: see
`still_holds`.
"""

import json
from dataclasses import astuple, fields, replace
from functools import cache
from hashlib import sha256
from typing import Any, cast, get_type_hints

from kafkaviz.analyse.checks.facts import Facts
from kafkaviz.analyse.checks.segment import Checked
from kafkaviz.analyse.checks.summary import Summary, unit_suspect
from kafkaviz.analyse.finding import Finding
from kafkaviz.analyse.plain import plain_of, value_of
from kafkaviz.config_def import HOUR_MS
from kafkaviz.log.segment import Segment
from kafkaviz.simulate.steps import Step

DIGITS = 32  # of a digest


def to_json(checked: Checked) -> str:
    """The text; the segment itself is not in it."""
    summary = checked.summary and [
        plain_of(getattr(checked.summary, name)) for name, _ in _kept_fields()
    ]
    return _text({"findings": plain_of(checked.findings), "summary": summary})


def from_json(segment: Segment, text: str) -> Checked:
    """What to_json was given, about this segment; ValueError where the text is no such thing."""
    try:
        found = json.loads(text)
        findings, summary = value_of(tuple[Finding, ...], found["findings"]), found["summary"]
        told = {
            name: value_of(kind, one)
            for (name, kind), one in zip(_kept_fields(), summary or (), strict=summary is not None)
        }
    except (LookupError, TypeError, RecursionError) as fault:
        raise ValueError(f"no findings of a segment: {fault}") from None
    return Checked(findings, None if summary is None else Summary(segment, **told))


def steps_to_json(steps: tuple[Step, ...]) -> str:
    """What a start does to one partition directory, as text."""
    return _text(plain_of(steps))


def steps_from_json(text: str) -> tuple[Step, ...]:
    """What steps_to_json was given; ValueError where the text is no such thing."""
    try:
        return value_of(tuple[Step, ...], json.loads(text))
    except RecursionError:
        raise ValueError("no steps of a start") from None


def digest(segment: Segment, facts: Facts) -> str:
    """A text that is another one when the checks of the same bytes would go by other facts."""
    return digest_of(segment.state, *astuple(replace(facts, now_ms=0)))


def digest_of(*known: Any) -> str:
    """The same of any plain values."""
    return sha256(repr(known).encode("utf-8", "surrogateescape")).hexdigest()[:DIGITS]


def still_holds(checked: Checked, now_ms: int) -> bool:
    """Whether what was found at another time may be kept now.

    Only one code asks for the time, timestamp-in-future, and its words are made anew. What was kept
    is right where nothing lay ahead of the clock then and nothing does now. Where something did, it
    is kept as long as the farthest is still ahead: how many batches there are, and which of the
    others came late, is then told by the clock of the reading, so that one segment with a date of
    2099 is not read again in every run.
    """
    if checked.summary is None:
        return True
    latest_ms, ahead = now_ms + HOUR_MS, checked.summary.times.get("future")
    if ahead:
        return ahead.timestamp_ms > latest_ms
    newest_ms = checked.summary.newest[0] if checked.summary.newest else -1
    return newest_ms <= latest_ms or bool(unit_suspect(cast(Any, newest_ms)))


@cache
def _kept_fields() -> tuple[tuple[str, Any], ...]:
    """The fields of a summary but the segment."""
    hints = get_type_hints(Summary)
    return tuple((one.name, hints[one.name]) for one in fields(Summary) if one.name != "segment")


def _text(plain: Any) -> str:
    return json.dumps(plain, separators=(",", ":"))
