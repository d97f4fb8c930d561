"""The present interval and limits of a log, from its settings or from its entries and rolls."""

from collections.abc import Sequence
from functools import reduce
from itertools import islice
from typing import cast

import numpy as np

from kafkaviz import versions
from kafkaviz.analysis.inference import (
    ChunkedEvidence,
    IntervalBounds,
    IntervalEvidence,
    inferred_limits,
    roll_reasons,
)
from kafkaviz.analysis.rolls import roll_inference
from kafkaviz.analysis.tuning.log_measurement import SETTING
from kafkaviz.config_def import Value
from kafkaviz.errors import KafkavizError
from kafkaviz.format.batch_observer import BatchObserver, observe_scan
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import LogSegment, Segment
from kafkaviz.log.settings import Settings, SettingValue
from kafkaviz.messages import Message, message

TunedSegments = tuple[Partition, Sequence[LogSegment]]  # a partition and its tuned segments
# the settings that a recommendation depends on
SETTINGS = (SETTING, "segment.bytes", "segment.index.bytes", "segment.ms")
SAMPLE_SEGMENTS = 4  # number of segments from which an unknown interval is inferred


class IntervalEstimator:
    """An estimate of the interval from the largest segments with an index.

    It observes batches that are read for other purposes too.
    """

    def __init__(self, logs: Sequence[TunedSegments]) -> None:
        segments = [segment for _, segments in logs for segment in segments if segment.index]
        segments.sort(key=lambda segment: segment.log.size_bytes, reverse=True)
        largest_segments = segments[:SAMPLE_SEGMENTS]
        self._evidence_by_path = {
            segment.log.path: evidence
            for segment in largest_segments
            if (evidence := _segment_evidence(segment))
        }
        self.segments = [
            segment for segment in largest_segments if segment.log.path in self._evidence_by_path
        ]

    def observers(self, segment: LogSegment) -> tuple["_SegmentEvidence", ...]:
        evidence = self._evidence_by_path.get(segment.log.path)
        return (evidence,) if evidence else ()

    def bounds(self) -> IntervalBounds:
        return reduce(
            IntervalEvidence.merge,
            (evidence.result() for evidence in self._evidence_by_path.values()),
            IntervalEvidence(),
        ).bounds()


def estimate_interval(logs: Sequence[TunedSegments], settings: Settings) -> int:
    """Returns index.interval.bytes from the settings.

    If no setting gives it, it is inferred from the first batches of the largest segments.
    """
    setting = settings.find(logs[0][0].topic, SETTING)
    if setting.is_given:
        return int(setting.value)
    estimator = IntervalEstimator(logs)
    for segment in estimator.segments:
        try:
            observe_scan(islice(segment.full_scan(), 1), *estimator.observers(segment))
        except KafkavizError:  # the full pass reports the fault
            continue
    return current_interval(setting, estimator.bounds())[0]


def current_interval(
    setting: SettingValue, bounds: IntervalBounds
) -> tuple[int, str | Message, bool]:
    """Returns the interval that the log has today.

    A default that the entries contradict is not used: the log was probably copied without its
    settings. The interval is then inferred. It is also inferred if the setting is unknown. If
    nothing is indexed, Kafka's default is assumed.

    Args:
        bounds: the bounds that the entries give.

    Returns:
        index.interval.bytes, its source, and whether an entry covers an append of several batches.
    """
    low = bounds.low_bytes
    high = bounds.high_bytes
    if high is None:
        setting = setting.or_default(versions.NEWEST_RELEASE)
    if setting.value is not None:
        is_fitting = high is None or (low or 0) <= setting.value <= high
        if setting.is_given or is_fitting or bounds.per_append:
            return int(setting.value), setting.source, bounds.per_append
    return (
        _roundest(low or 0, cast(int, high)),
        message("tuning_answer.interval_inferred", low=low or 0, high=high),
        bounds.per_append,
    )


def infer_limits(logs: Sequence[TunedSegments]) -> dict[str, Value]:
    """Returns segment.bytes, segment.ms and segment.index.bytes as far as the rolls show them.

    They come from the first partition whose rolls bound them. An active segment's index that a
    crash left untrimmed gives segment.index.bytes by its length.
    """
    values: dict[str, Value] = {}
    for partition, segments in logs:
        try:
            segment_facts = (
                [roll_inference.segment_facts(segment) for segment in partition.live]
                if len(segments) == len(partition.live) > 1
                else []
            )
            own_limits = (
                inferred_limits(segment_facts, roll_reasons(segment_facts)) if segment_facts else {}
            )
            index_bytes = _untrimmed_bytes(segments[-1])
        except KafkavizError:
            continue
        values = {name: limit.value for name, limit in own_limits.items()} | values
        values |= {"segment.index.bytes": index_bytes} if index_bytes else {}
    return values


def _untrimmed_bytes(segment: Segment) -> int | None:
    """Returns the length of an index that still has its preallocated length, or None."""
    if (
        segment.index
        and segment.timeindex
        and segment.offset_slots.unwritten_slots
        and segment.time_slots.unwritten_slots
    ):
        return max(segment.index.size_bytes, segment.timeindex.size_bytes)
    return None


class _SegmentEvidence(BatchObserver[IntervalEvidence]):
    """The evidence of one segment.

    If its index is empty, all batches but the first came without an entry.
    """

    def __init__(self, entries: np.ndarray) -> None:
        self._gaps = ChunkedEvidence(entries[np.argsort(entries["position"], kind="stable")])
        self._is_empty = not len(entries)
        self._last_position = ()

    def observe(self, batches: np.ndarray) -> None:
        self._gaps.observe(batches)
        self._last_position = (
            (int(batches["position"][-1]),) if len(batches) else self._last_position
        )

    def result(self) -> IntervalEvidence:
        if self._is_empty:
            return IntervalEvidence(longest_unindexed_bytes=self._last_position)
        return self._gaps.result()


def _segment_evidence(segment: Segment) -> _SegmentEvidence | None:
    try:
        return _SegmentEvidence(segment.offset_index)
    except KafkavizError:
        return None


def _roundest(low: int, high: int) -> int:
    """Returns a power of two between both bounds, or else the high one.

    The entries give the high bound, and the gaps the low one.
    """
    power = 1 << (max(high, 1).bit_length() - 1)
    return power if power >= low else high
