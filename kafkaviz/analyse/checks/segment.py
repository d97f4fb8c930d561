"""All findings about one segment: its .log and its indexes in one pass, or what its leftover files
are.

A function of one Segment and of the Facts around it: a page calls it, and a task of the pipeline
does.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

from kafkaviz.analyse.checks import log, offset_index, summary, time_index
from kafkaviz.analyse.checks.facts import Facts
from kafkaviz.analyse.checks.other_files import strangers, unreadable
from kafkaviz.analyse.checks.reading import Pass
from kafkaviz.analyse.checks.summary import Summary
from kafkaviz.analyse.finding import Finding
from kafkaviz.errors import KafkavizError
from kafkaviz.log.segment import Segment


@dataclass(frozen=True)
class Checked:
    """The findings of one segment, and what the checks of its partition take of it; no summary of
    leftover files.
    """

    findings: tuple[Finding, ...]
    summary: Summary | None


def check(segment: Segment, facts: Facts) -> Checked:
    """The findings of a segment; a file that cannot be read is one of them."""
    segment = replace(segment)  # a copy, forgotten with what it has read of its indexes
    if not segment.in_use:
        return Checked(tuple(strangers.leftovers(segment, facts)), None)
    if segment.log is None:
        return Checked(tuple(strangers.orphans(segment, facts)), None)
    shut = dict(_shut(segment))
    hidden = [
        unreadable.of_file(getattr(segment, kind).name, fault, facts)
        for kind, fault in shut.items()
    ]
    try:
        found = _read(replace(segment, **dict.fromkeys(shut)) if shut else segment, facts)
    except KafkavizError as fault:
        told = Summary(segment, unreadable=str(fault), unsound=True, hidden=tuple(shut))
        return Checked((*hidden, unreadable.of_file(segment.log.name, fault, facts)), told)
    names = {one.file for one in hidden}  # they are not missing
    findings = (*hidden, *(one for one in found.findings if one.file not in names))
    told = cast(Summary, found.summary)
    return Checked(findings, replace(told, segment=segment, hidden=tuple(shut)))


def _shut(segment: Segment) -> Iterator[tuple[str, KafkavizError]]:
    """The indexes that could not be read, and why; the .log beside them is judged all the same."""
    for kind, slots in (("index", "offset_slots"), ("timeindex", "time_slots")):
        try:
            getattr(segment, slots)
        except KafkavizError as fault:
            yield kind, fault


def _read(segment: Segment, facts: Facts) -> Checked:
    summaries = summary.Watch(segment, facts)
    watches = (
        log.Watch(segment, facts),
        offset_index.Watch(segment, facts),
        time_index.Watch(segment, facts),
    )
    steps = Pass(segment)
    for chunk in steps:
        for watch in (*watches, summaries):
            watch.add(chunk)
    findings = [one for watch in watches for one in watch.findings(steps.reading)]
    return Checked(tuple(findings), summaries.finished(steps.reading))
