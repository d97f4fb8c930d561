"""Computes what a different segment.bytes costs in tiered storage: objects, requests and records.

Each closed segment becomes a few objects in the store and two records in __remote_log_metadata. Its
deletion writes two more records. Larger segments mean fewer objects and fewer records of this kind,
but newly written data waits longer for its upload. For a partition that grows by 10 GiB per day:

    segment.bytes    segments per day    objects per day    waits for its upload
    64 MiB                        160                480    9 min
    1 GiB                          10                 30    2.4 h

The growth and the objects per segment are measured on uploaded segments. The rest is modelled.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

from kafkaviz.analysis.checks.plan import CheckPlan
from kafkaviz.analysis.tiering.remote_retention import remote_limits
from kafkaviz.config_def import Value
from kafkaviz.errors import KafkavizError
from kafkaviz.format.remote_segment import AIVEN
from kafkaviz.log.tiered.tiered_partition import TieredPartition, TieredSegment
from kafkaviz.log.tiered.tiered_view import TieredState
from kafkaviz.units import DAY_MS, MIB

MAX_SEGMENT_BYTES = (1 << 31) - 1  # segment.bytes is a 32-bit integer
CANDIDATES = (64 * MIB, 128 * MIB, 256 * MIB, 512 * MIB, 1024 * MIB, MAX_SEGMENT_BYTES)
COPY_EVENTS = 2  # COPY_SEGMENT_STARTED and COPY_SEGMENT_FINISHED
DELETE_EVENTS = 2  # DELETE_SEGMENT_STARTED and DELETE_SEGMENT_FINISHED
# the default of s3.multipart.upload.part.size in Aiven's plugin: a larger object has several parts
PART_BYTES = 25 * MIB
MULTIPART_REQUESTS = 2  # one begins the upload and one completes it


@dataclass(frozen=True, kw_only=True)
class StoredSegments:
    """How the segments of a topic-partition are stored."""

    layout: str
    objects: float  # mean number per segment
    log_share: float  # the size of stored logs divided by the size of the .log files


@dataclass(frozen=True, kw_only=True)
class RollSize:
    """The modelled cost of one value of segment.bytes.

    Attributes:
        rolled_bytes: the size of a closed segment: `segment_bytes`, or less if segment.ms rolls it.
        fill_ms: the time from a segment's first record to its roll, after which it is uploaded.
        put_requests_per_day: upload requests: one per object, or more for a large object in
            Aiven's layout.
        objects_kept: the number of objects once retention deletes as many per day as are uploaded.
            None: retention has no limit, or the number is unknown.
    """

    segment_bytes: int
    rolled_bytes: int
    fill_ms: int
    is_current: bool
    is_time_bound: bool
    segments_per_day: float
    objects_per_day: float | None
    put_requests_per_day: float | None
    metadata_events_per_day: float
    objects_kept: float | None


@dataclass(frozen=True, kw_only=True)
class RollSizes:
    """The cost of several values of segment.bytes for one topic-partition."""

    partition: str
    topic_id: str | None
    bytes_per_day: float  # of .log files, measured on the uploaded segments
    stored: StoredSegments | None  # None: the store has no complete segment
    segment_ms: int | None
    sizes: tuple[RollSize, ...]


@dataclass(frozen=True, kw_only=True)
class RollLimits:
    """The settings that decide when segments roll and are deleted. None: unknown. -1: no limit."""

    segment_bytes: int | None = None
    segment_ms: int | None = None
    retention_ms: int | None = None
    retention_bytes: int | None = None


def roll_sizes(plan: CheckPlan | None, state: TieredState) -> tuple[RollSizes, ...]:
    """Returns RollSizes where the growth is known. Settings are unknown if `plan` is None."""
    results = []
    for partition in state.partitions:
        limits = RollLimits()
        if plan and partition.has_directory:
            limits = _limits(plan, plan.broker.partition(partition.directory).topic)
        result = partition_roll_sizes(partition, limits)
        if result:
            results.append(result)
    return tuple(results)


def _limits(plan: CheckPlan, topic: str) -> RollLimits:
    remote = remote_limits(plan.settings, topic)
    return RollLimits(
        segment_bytes=_positive_or_none(plan.settings.find(topic, "segment.bytes").value),
        segment_ms=_positive_or_none(plan.settings.find(topic, "segment.ms").value),
        retention_ms=remote.retention_ms,
        retention_bytes=remote.retention_bytes,
    )


def _positive_or_none(value: Value) -> int | None:
    number = 0 if value is None else int(value)
    return number if number > 0 else None


def partition_roll_sizes(partition: TieredPartition, limits: RollLimits) -> RollSizes | None:
    """Returns the cost of today's segment.bytes and of CANDIDATES; None if growth is unknown."""
    bytes_per_day = growth(partition.segments)
    if not bytes_per_day:
        return None
    stored = _stored(partition.segments)
    values = {*CANDIDATES} | ({limits.segment_bytes} if limits.segment_bytes else set())
    return RollSizes(
        partition=partition.directory,
        topic_id=partition.topic_id,
        bytes_per_day=bytes_per_day,
        stored=stored,
        segment_ms=limits.segment_ms,
        sizes=tuple(_cost(value, bytes_per_day, stored, limits) for value in sorted(values)),
    )


def growth(segments: Sequence[TieredSegment]) -> float | None:
    """Returns the .log bytes written per day. Counts only uploaded segments.

    The bytes of all segments but the first are divided by the time between the newest records of
    the first and the last segment. Returns None if fewer than two segments have a time and a size,
    or if the last segment is not newer than the first.
    """
    copied: dict[int, TieredSegment] = {}
    for segment in segments:
        is_timed = segment.max_timestamp_ms is not None and segment.max_timestamp_ms >= 0
        has_bytes = segment.log_bytes is not None and segment.log_bytes > 0
        if is_timed and has_bytes and segment.start_offset not in copied:
            copied[segment.start_offset] = segment
    if len(copied) < 2:
        return None
    ordered = [copied[start] for start in sorted(copied)]
    span_ms = cast(int, ordered[-1].max_timestamp_ms) - cast(int, ordered[0].max_timestamp_ms)
    written_bytes = sum(cast(int, segment.log_bytes) for segment in ordered[1:])
    return written_bytes * DAY_MS / span_ms if span_ms > 0 else None


def _stored(segments: Sequence[TieredSegment]) -> StoredSegments | None:
    complete = [
        segment.stored for segment in segments if segment.stored and segment.stored.is_complete
    ]
    if not complete:
        return None
    log_bytes = 0
    object_bytes = 0
    for stored in complete:
        with suppress(KafkavizError):
            if stored.log_bytes:
                log_bytes += stored.log_bytes
                object_bytes += stored.files["log"].size_bytes
    return StoredSegments(
        layout=complete[0].layout,
        objects=sum(len(stored.files) for stored in complete) / len(complete),
        log_share=object_bytes / log_bytes if log_bytes else 1.0,
    )


def _cost(
    segment_bytes: int, bytes_per_day: float, stored: StoredSegments | None, limits: RollLimits
) -> RollSize:
    fill_ms = segment_bytes / bytes_per_day * DAY_MS
    is_time_bound = limits.segment_ms is not None and limits.segment_ms < fill_ms
    if is_time_bound:
        fill_ms = limits.segment_ms
    rolled_bytes = bytes_per_day * fill_ms / DAY_MS
    segments_per_day = DAY_MS / fill_ms
    kept_segments = _kept_segments(rolled_bytes, fill_ms, limits)
    is_limited = kept_segments is not None
    return RollSize(
        segment_bytes=segment_bytes,
        rolled_bytes=round(rolled_bytes),
        fill_ms=round(fill_ms),
        is_current=segment_bytes == limits.segment_bytes,
        is_time_bound=is_time_bound,
        segments_per_day=segments_per_day,
        objects_per_day=stored.objects * segments_per_day if stored else None,
        put_requests_per_day=(
            _put_requests(rolled_bytes, stored) * segments_per_day if stored else None
        ),
        metadata_events_per_day=segments_per_day
        * (COPY_EVENTS + (DELETE_EVENTS if is_limited else 0)),
        objects_kept=stored.objects * kept_segments if stored and is_limited else None,
    )


def _kept_segments(rolled_bytes: float, fill_ms: float, limits: RollLimits) -> float | None:
    """Returns how many segments retention keeps; None if no limit is known."""
    counts = []
    if limits.retention_ms is not None and limits.retention_ms >= 0:
        counts.append(limits.retention_ms / fill_ms)
    if limits.retention_bytes is not None and limits.retention_bytes >= 0:
        counts.append(limits.retention_bytes / rolled_bytes)
    return min(counts, default=None)


def _put_requests(rolled_bytes: float, stored: StoredSegments) -> float:
    object_bytes = round(rolled_bytes * stored.log_share)
    if stored.layout != AIVEN or object_bytes <= PART_BYTES:
        return stored.objects
    parts = -(-object_bytes // PART_BYTES)
    return stored.objects - 1 + parts + MULTIPART_REQUESTS
