"""The figures of lessons, from the app's own components.

What each works out of its block, how it is drawn, and what it is on paper.

A figure is made before it is drawn, and making it fails with KafkavizError or NoValue where what
the block asks for is not there; check.py makes every figure of a lesson to find that out. figure.py
has what all share, block_location.py what a block points at.
"""

from kafkaviz.app.lessons.live.entries import ENTRIES
from kafkaviz.app.lessons.live.file_bytes import BYTES
from kafkaviz.app.lessons.live.findings import FINDINGS
from kafkaviz.app.lessons.live.growth_story import GROWTH
from kafkaviz.app.lessons.live.index_pages import PAGES, TAIL
from kafkaviz.app.lessons.live.interval_costs import SWEEP, TUNING
from kafkaviz.app.lessons.live.lookups import LANES, STEPPER, WHY
from kafkaviz.app.lessons.live.retention_check import RETENTION
from kafkaviz.app.lessons.live.roll_simulation import LIMITS, ROLLS
from kafkaviz.app.lessons.live.segments import RULER, SEGMENTS, TABLE

LIVE = {
    "entries": ENTRIES,
    "stepper": STEPPER,
    "lanes": LANES,
    "why": WHY,
    "bytes": BYTES,
    "ruler": RULER,
    "table": TABLE,
    "segments": SEGMENTS,
    "growth": GROWTH,
    "pages": PAGES,
    "tail-pages": TAIL,
    "rolls": ROLLS,
    "limits": LIMITS,
    "findings": FINDINGS,
    "retention": RETENTION,
    "tuning": TUNING,
    "sweep": SWEEP,
}
