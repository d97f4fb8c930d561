"""How far an ingest is, in words: what is read of how much, how fast, how long still."""

import math
from html import escape
from typing import TYPE_CHECKING

from kafkaviz import units
from kafkaviz.figures import fault_words
from kafkaviz.ui import parts
from kafkaviz.words import say

if TYPE_CHECKING:
    from kafkaviz.pipeline.job import Progress

ENDED = ("done", "fresh")
MARKS = {"failed": "error", "done": "ok", "fresh": "ok"}


def html(progress: "Progress", owed: tuple[str, str] | None = None) -> str:
    """The strip of an ingest, as HTML.

    owed: what a page says of the wait, and of an ingest that ended without its numbers; where it
    says nothing, what Broker says.
    """
    mark = (
        parts.severity(MARKS[progress.state])
        if progress.state in MARKS
        else parts.icon("bolt", True)
    )
    share = progress.done_bytes / progress.total_bytes if progress.total_bytes else 0
    bar = (
        f'<div class="kv-prog"><i style="width:{100 * share:.0f}%"></i></div>'
        if progress.state in ("reading", "writing")
        else ""
    )
    words, quiet = escape(text(progress)), escape(aside(progress, owed))
    return (
        f'<div class="kv-work" role="status">{mark}<span>{words}</span>{bar}'
        f'<span class="kv-fnt">{quiet}</span></div>'
    )


def text(progress: "Progress") -> str:
    """What it does now."""
    whole = units.size(progress.total_bytes)
    if progress.state == "failed":
        return say(
            "progress.stopped",
            error=fault_words.what(progress.error) if progress.error else say("progress.no_reason"),
        )
    if progress.state == "cancelled":
        return say("progress.cancelled")
    if progress.state in ENDED and not progress.total_bytes:
        return say("progress.unchanged")
    if progress.state in ENDED:
        return say("progress.all_read", size=whole)
    if progress.state == "writing":
        return say("progress.writing", size=whole)
    if progress.state == "reading" and not progress.done_bytes:
        return say("progress.reading", size=whole)
    if progress.state == "reading":
        return say("progress.part_read", done=units.size(progress.done_bytes), size=whole)
    return say("progress.starting")


def aside(progress: "Progress", owed: tuple[str, str] | None = None) -> str:
    """How fast and how long still, while that is known; else what the wait does not hold up."""
    waiting, without = owed or (say("progress.owed_broker"), say("progress.missed_broker"))
    if progress.state in ("failed", "cancelled"):
        return without
    if progress.state in ENDED:
        return say("progress.final")
    if progress.state == "reading" and progress.bytes_per_s:
        left_s = (progress.total_bytes - progress.done_bytes) / progress.bytes_per_s
        rate, left = units.rate(progress.bytes_per_s), units.duration(1000 * math.ceil(left_s))
        return say("progress.left", rate=rate, time=left) if left_s else rate
    return waiting
