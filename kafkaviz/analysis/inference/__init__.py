"""Inference of settings, causes of rolls and the Kafka version from the files of a directory."""

from kafkaviz.analysis.inference.interval import (
    ChunkedEvidence,
    IntervalBounds,
    IntervalEvidence,
    entries_between,
    interval_bounds,
    interval_evidence,
)
from kafkaviz.analysis.inference.roll import (
    InferredLimit,
    SegmentFacts,
    inferred_limits,
    roll_reasons,
)
from kafkaviz.analysis.inference.version import InferredRelease, infer_release

__all__ = [
    "ChunkedEvidence",
    "InferredLimit",
    "InferredRelease",
    "IntervalBounds",
    "IntervalEvidence",
    "SegmentFacts",
    "entries_between",
    "infer_release",
    "inferred_limits",
    "interval_bounds",
    "interval_evidence",
    "roll_reasons",
]
