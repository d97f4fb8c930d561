"""What a log is run with: the settings that shape its indexes, and what differs from one release of Kafka to the next."""

from dataclasses import dataclass

from kafkaviz import config_def
from kafkaviz.config_def import Release
from kafkaviz.format import offset_index, time_index


@dataclass(frozen=True)
class IndexConfig:
    """The two settings of a topic that decide what its indexes hold.

    index_interval_bytes: index.interval.bytes, the .log between two entries; segment_index_bytes: segment.index.bytes, the room
    for one index.
    """

    index_interval_bytes: int = config_def.TOPIC_SETTINGS["index.interval.bytes"].default(config_def.ANY)
    segment_index_bytes: int = config_def.TOPIC_SETTINGS["segment.index.bytes"].default(config_def.ANY)

    @property
    def offset_slots(self) -> int:
        """The slots of an offset index: whole entries alone."""
        return self.segment_index_bytes // offset_index.ENTRY.itemsize

    @property
    def time_slots(self) -> int:
        """The slots of a time index; the last is kept for the entry of the segment's end."""
        return self.segment_index_bytes // time_index.ENTRY.itemsize


@dataclass(frozen=True)
class Profile:
    """What a release does in its own way when it loads a log.

    first_offset_keys: an entry of the offset index holds the first offset of its batch, not the last (KAFKA-6530).
    checks_indexes: offset and time indexes are checked at the start, and rebuilt where they fail (KAFKA-7283).
    swaps_indexes: the indexes of a finished .swap segment are renamed with it; before, they were deleted and rebuilt.
    """

    release: Release
    first_offset_keys: bool
    checks_indexes: bool
    swaps_indexes: bool


def profile(release: Release) -> Profile:
    """The switches of a release such as (4, 3) or (3, 9, 0)."""
    return Profile(release, first_offset_keys=release < (2, 0), checks_indexes=release < (2, 3), swaps_indexes=release >= (3, 0))
