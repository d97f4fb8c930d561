"""Inference of settings, causes of rolls and the Kafka version from the files of a directory."""

from kafkaviz.analysis.inference.evidence import ChunkedEvidence, entries_between
from kafkaviz.analysis.inference.interval import (
    IntervalBounds,
    IntervalEvidence,
    interval_bounds,
    interval_evidence,
)
from kafkaviz.analysis.inference.limit import InferredLimit, inferred_limits
from kafkaviz.analysis.inference.roll import SegmentFacts, roll_reasons
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
