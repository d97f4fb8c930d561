"""The settings that shape a log and its indexes, and the differences between Kafka's releases."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kafkaviz import config_def, versions
from kafkaviz.config_def import Value
from kafkaviz.format import offset_index, time_index
from kafkaviz.versions import Release


def _default(name: str, release: Release = config_def.ANY) -> Any:
    """Returns a setting's default in `release`, or (if not given) in Kafka's oldest releases."""
    return config_def.TOPIC_SETTINGS[name].default(release)


@dataclass(frozen=True)
class IndexConfig:
    """The two topic settings that decide the entries of a log's indexes."""

    index_interval_bytes: int = _default("index.interval.bytes")  # .log bytes between entries
    segment_index_bytes: int = _default("segment.index.bytes")  # size of each index file
    # False if one of the two settings is unknown, so that its field holds a substitute; the size
    # of a rebuilt index is then unknown too
    is_known: bool = field(default=True, kw_only=True)

    @property
    def offset_slots(self) -> int:
        return self.segment_index_bytes // offset_index.ENTRY.itemsize

    @property
    def time_slots(self) -> int:
        return self.segment_index_bytes // time_index.ENTRY.itemsize

    @property
    def usable_time_slots(self) -> int:
        """The number of slots that appends may fill; the segment's last entry needs one more."""
        return max(0, self.time_slots - 1)


@dataclass(frozen=True, kw_only=True)
class LogConfig(IndexConfig):
    """The topic settings that decide a log's indexes and the rolls of its segments.

    Each field has the setting's name, with underscores instead of dots.
    """

    # internal.segment.bytes (4.1 and later) if it is set, else segment.bytes
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
        """The longest time for which a segment is active (LogConfig.maxSegmentMs).

        In a compacted topic, max.compaction.lag.ms is a second limit (KIP-354).
        """
        if "compact" in self.cleanup_policy.split(","):
            return min(self.max_compaction_lag_ms, self.segment_ms)
        return self.segment_ms

    def jitter_ms(self, random_int: int) -> int:
        """Returns how many ms before segment.ms a segment rolls (LogConfig.randomSegmentJitter).

        `random_int` is a random Java int, drawn when the segment is opened.
        """
        if not self.segment_jitter_ms:
            return 0
        return abs(random_int) % min(self.segment_jitter_ms, self.segment_ms)


def log_config(
    settings: Mapping[str, Value], release: Release = versions.NEWEST_RELEASE
) -> LogConfig:
    """Returns the settings of a log: topic settings, else the release's defaults."""
    known_values = dict(config_def.defaults(release))
    known_values |= {name: value for name, value in settings.items() if value is not None}
    if known_values.get("internal.segment.bytes") is not None:
        known_values["segment.bytes"] = known_values["internal.segment.bytes"]
    fields: dict[str, Any] = {name.replace(".", "_"): value for name, value in known_values.items()}
    own_names = fields.keys() & LogConfig.__dataclass_fields__.keys()
    return LogConfig(**{name: fields[name] for name in own_names})


@dataclass(frozen=True, kw_only=True)
class ReleaseBehaviour:
    """How a release writes and loads a log. An attribute is True if its comment applies."""

    release: Release
    # an offset index entry holds the first offset of the indexed batches, not the last (KAFKA-6530)
    first_offset_keys: bool
    per_append: bool  # an append of many batches gets at most one index entry (KAFKA-806)
    # a leader writes the offset of the record with the largest timestamp into the time index,
    # unless the batch is compressed; later releases write the batch's last offset
    deep_time_offsets: bool
    # start-up checks the offset and time indexes, and rebuilds damaged ones (KAFKA-7283)
    checks_indexes: bool
    # the indexes of a finished .swap segment are renamed with it, not deleted and rebuilt
    swaps_indexes: bool
    # closing a segment writes its last time entry and trims its indexes; later releases do so only
    # for the active segment, at a clean shutdown
    close_trims: bool


def release_behaviour(release: Release) -> ReleaseBehaviour:
    return ReleaseBehaviour(
        release=release,
        first_offset_keys=not versions.LAST_OFFSET_KEYS.applies_to(release),
        per_append=not versions.ENTRY_PER_BATCH.applies_to(release),
        deep_time_offsets=not versions.SHALLOW_TIME_OFFSETS.applies_to(release),
        checks_indexes=not versions.INDEXES_TRUSTED.applies_to(release),
        swaps_indexes=versions.SWAPPED_INDEXES.applies_to(release),
        close_trims=not versions.TRIMMED_BEFORE_CLOSE.applies_to(release),
    )
