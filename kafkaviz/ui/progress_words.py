"""How far an ingest is, in words: what is read of how much, how fast, how long still."""

import math
from html import escape
from typing import TYPE_CHECKING

from kafkaviz import units
from kafkaviz.ui import parts

if TYPE_CHECKING:
    from kafkaviz.pipeline.job import Progress

ENDED = ("done", "fresh")
OWED = (  # what the wait does not hold up, and what is not known without it
    "sizes and states above are final; batches, records and torn ends still arrive",
    "batches, records and torn ends are not known without it",
)  # fmt: skip
MARKS = {"failed": "error", "done": "ok", "fresh": "ok"}


def html(progress: "Progress", owed: tuple[str, str] = OWED) -> str:
    """The strip of an ingest, as HTML. owed: what a page says of the wait, and of an ingest that ended without its numbers."""
    mark = parts.severity(MARKS[progress.state]) if progress.state in MARKS else parts.icon("bolt", True)
    share = progress.done_bytes / progress.total_bytes if progress.total_bytes else 0
    bar = f'<div class="kv-prog"><i style="width:{100 * share:.0f}%"></i></div>' if progress.state in ("reading", "writing") else ""
    words, quiet = escape(text(progress)), escape(aside(progress, owed))
    return f'<div class="kv-work" role="status">{mark}<span>{words}</span>{bar}<span class="kv-fnt">{quiet}</span></div>'


def text(progress: "Progress") -> str:
    """What it does now."""
    if progress.state == "failed":
        return f"Spark stopped: {progress.error or 'no reason was given'}"
    if progress.state == "cancelled":
        return "Spark was cancelled"
    if progress.state in ENDED and not progress.total_bytes:
        return "Spark: nothing has changed since it was read"
    if progress.state in ENDED:
        return f"Spark: all of {units.size(progress.total_bytes)} read"
    if progress.state == "writing":
        return f"Spark: all of {units.size(progress.total_bytes)} read, writing the catalog"
    if progress.state == "reading" and not progress.done_bytes:
        return f"Spark: reading {units.size(progress.total_bytes)}"
    if progress.state == "reading":
        return f"Spark: {units.size(progress.done_bytes)} of {units.size(progress.total_bytes)} read"
    return "Spark is starting"


def aside(progress: "Progress", owed: tuple[str, str] = OWED) -> str:
    """How fast and how long still, while that is known; else what the wait does not hold up."""
    if progress.state in ("failed", "cancelled"):
        return owed[1]
    if progress.state in ENDED:
        return "every figure on this page is final"
    if progress.state == "reading" and progress.bytes_per_s:
        left_s = (progress.total_bytes - progress.done_bytes) / progress.bytes_per_s
        return units.rate(progress.bytes_per_s) + (f", about {units.duration(1000 * math.ceil(left_s))}" if left_s else "")
    return owed[0]
