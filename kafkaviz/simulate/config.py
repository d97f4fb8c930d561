"""The settings that shape a log and its indexes, and what differs between releases of Kafka."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from kafkaviz import config_def, versions
from kafkaviz.config_def import Value
from kafkaviz.format import offset_index, time_index
from kafkaviz.versions import Release

Ints = TypeVar("Ints", int, np.ndarray)


def _default(name: str, release: Release = config_def.ANY) -> Any:
    """Kafka's default of a setting, of its own type.

    Args:
        release: without it the default must be the same in all releases.
    """
    return config_def.TOPIC_SETTINGS[name].default(release)


@dataclass(frozen=True)
class IndexConfig:
    """The two settings of a topic that decide what its indexes hold.

    Attributes:
        index_interval_bytes: index.interval.bytes, the .log between two entries.
        segment_index_bytes: segment.index.bytes, the space for one index.
        is_known: False where a setting is unknown and stands here for want of a better one: then
            nobody knows how large a rebuilt index is.
    """

    index_interval_bytes: int = _default("index.interval.bytes")
    segment_index_bytes: int = _default("segment.index.bytes")
    is_known: bool = field(default=True, kw_only=True)

    @property
    def offset_slots(self) -> int:
        """The slots of an offset index: only complete entries count."""
        return self.segment_index_bytes // offset_index.ENTRY.itemsize

    @property
    def time_slots(self) -> int:
        """The slots of a time index; the last is kept for the entry of the segment's end."""
        return self.segment_index_bytes // time_index.ENTRY.itemsize

    @property
    def usable_time_slots(self) -> int:
        """The entries with which a time index counts as full, while its segment is written to."""
        return max(0, self.time_slots - 1)


@dataclass(frozen=True, kw_only=True)
class LogConfig(IndexConfig):
    """The settings of a topic that decide its indexes, and when a segment is full or too old.

    Each field is the topic's setting with its dots as underscores.

    Attributes:
        segment_bytes: internal.segment.bytes (4.1 and later), if set.
    """

    segment_bytes: int = _default("segment.bytes")
    segment_ms: int = _default("segment.ms")
    segment_jitter_ms: int = _default("segment.jitter.ms")
    max_message_bytes: int = _default("max.message.bytes", versions.NEWEST_RELEASE)
    preallocate: bool = _default("preallocate")
    cleanup_policy: str = _default("cleanup.policy")
    max_compaction_lag_ms: int = _default("max.compaction.lag.ms")
    message_timestamp_type: str = _default("message.timestamp.type")

    @property
    def most_segment_ms(self) -> int:
        """How long a segment may be written to (LogConfig.maxSegmentMs).

        A compacted topic must be cleaned in time (KIP-354).
        """
        return (
            min(self.max_compaction_lag_ms, self.segment_ms)
            if "compact" in self.cleanup_policy.split(",")
            else self.segment_ms
        )

    def jitter_ms(self, random_int: Ints) -> Ints:
        """How much earlier one segment rolls by time (randomSegmentJitter).

        Args:
            random_int: a random Java int drawn when the segment is opened; or those of many.
        """
        most_ms = min(self.segment_jitter_ms, self.segment_ms) if self.segment_jitter_ms else 1
        return abs(random_int) % most_ms


def log_config(
    settings: Mapping[str, Value], release: Release = versions.NEWEST_RELEASE
) -> LogConfig:
    """The settings of a log; those without a value have the release's default.

    Args:
        settings: values by topic name (config_def.TOPIC_SETTINGS).
    """
    known_values = config_def.defaults(release) | {
        name: value for name, value in settings.items() if value is not None
    }
    if known_values.get("internal.segment.bytes") is not None:
        known_values["segment.bytes"] = known_values["internal.segment.bytes"]
    fields: dict[str, Any] = {name.replace(".", "_"): value for name, value in known_values.items()}
    return LogConfig(
        **{name: fields[name] for name in LogConfig.__dataclass_fields__ if name in fields}
    )


@dataclass(frozen=True, kw_only=True)
class ReleaseBehaviour:
    """What a release does differently when it writes a log, or loads one.

    Attributes:
        first_offset_keys: an entry of the offset index holds the first offset of what is indexed,
            not the last (KAFKA-6530).
        per_append: an append gets one entry at most, however many batches it holds (KAFKA-806).
        deep_time_offsets: a leader writes the offset of the record itself into the time index where
            nothing is compressed; later ones write the last offset of its batch.
        checks_indexes: offset and time indexes are checked at the start, and rebuilt where they
            fail (KAFKA-7283).
        swaps_indexes: the indexes of a finished .swap segment are renamed with it; before, they
            were deleted and rebuilt.
        close_trims: closing a segment writes its last time entry and trims its indexes; later a
            clean stop does that before, for the active segment alone.
    """

    release: Release
    first_offset_keys: bool
    per_append: bool
    deep_time_offsets: bool
    checks_indexes: bool
    swaps_indexes: bool
    close_trims: bool


def release_behaviour(release: Release) -> ReleaseBehaviour:
    """The behaviour of a release such as (4, 3) or (3, 9, 0)."""
    return ReleaseBehaviour(
        release=release,
        first_offset_keys=not versions.LAST_OFFSET_KEYS.applies_to(release),
        per_append=not versions.ENTRY_PER_BATCH.applies_to(release),
        deep_time_offsets=not versions.SHALLOW_TIME_OFFSETS.applies_to(release),
        checks_indexes=not versions.INDEXES_TRUSTED.applies_to(release),
        swaps_indexes=versions.SWAPPED_INDEXES.applies_to(release),
        close_trims=not versions.TRIMMED_BEFORE_CLOSE.applies_to(release),
    )
