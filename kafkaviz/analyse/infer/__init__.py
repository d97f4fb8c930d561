"""What a directory on disk tells of the settings, the rolls and the Kafka version behind it.

Inferred, and called so.
"""

from kafkaviz.analyse.infer.evidence import ChunkedEvidence, between
from kafkaviz.analyse.infer.interval import (
    IntervalBounds,
    IntervalEvidence,
    interval_bounds,
    interval_evidence,
)
from kafkaviz.analyse.infer.limit import InferredLimit, inferred_limits
from kafkaviz.analyse.infer.roll import SegmentFacts, roll_reasons
from kafkaviz.analyse.infer.version import Looks, looks_like

__all__ = [
    "ChunkedEvidence",
    "InferredLimit",
    "IntervalBounds",
    "IntervalEvidence",
    "Looks",
    "SegmentFacts",
    "between",
    "inferred_limits",
    "interval_bounds",
    "interval_evidence",
    "looks_like",
    "roll_reasons",
]
