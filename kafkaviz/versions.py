"""The differences between Kafka's releases in how they write, search and start a log."""

from dataclasses import dataclass
from typing import Literal

from kafkaviz.errors import KafkavizError
from kafkaviz.messages import message

Release = tuple[int, ...]

NEWEST = "4.4.0"  # kafkaviz is tested against directories and classes of this release
NEWEST_RELEASE = tuple(map(int, NEWEST.split(".")))
# releases whose starts were recorded; for other releases we rely on Kafka's source
RECORDED_STARTS: tuple[Release, ...] = ((4, 3, 1), NEWEST_RELEASE)
# releases whose behaviour is known, with all their patches
KNOWN_RELEASES: tuple[Release, ...] = (
    (0, 10), (0, 11), (1, 0), (1, 1), *((2, minor) for minor in range(9)),
    *((3, minor) for minor in range(10)), *((4, minor) for minor in range(5)),
)  # fmt: skip
# the releases that a user can select: one for each behaviour that a finding distinguishes
SELECTABLE_RELEASES = (NEWEST, "4.3.1", "4.1", "4.0", "3.9", "3.6", "3.0", "2.8", "2.2", "1.1")


@dataclass(frozen=True)
class Behaviour:
    """A behaviour that some releases have and others do not."""

    description: str
    # oldest first, as pairs: the first release with it, and the next without it or None
    ranges: tuple[tuple[Release, Release | None], ...]
    reference: str = ""  # Kafka's issue or proposal for the change

    @property
    def first_release(self) -> Release:
        return self.ranges[0][0]

    def applies_to(self, release: Release) -> bool:
        return any(
            start <= release and (end is None or release < end) for start, end in self.ranges
        )


def _since(release: Release, description: str, reference: str = "") -> Behaviour:
    return Behaviour(description, ((release, None),), reference)


# one row per behaviour
# fmt: off
# How a log is written
RECORD_BATCHES = _since((0, 11), "record batches of magic 2, and transactions", "KIP-98")
ZSTD = _since((2, 1), "batches of zstd", "KIP-110")
TIME_INDEX = _since((0, 10, 1), "a .timeindex beside each .index", "KIP-33")
LAST_OFFSET_KEYS = _since(
    (2, 0), "an entry of the .index holds the last offset of what is indexed, not the first",
    "KAFKA-6530")
OFFSET_RANGE_CHECKED = _since(
    (2, 0), "an offset too far from the base offset is refused, and its segment split",
    "KAFKA-6264")
ENTRY_PER_BATCH = Behaviour(
    "each batch of an append may get an index entry, not one the whole append",
    (((3, 9, 1), (4, 0)), ((4, 0, 1), None)), "KAFKA-806")
INDEXES_UNMAPPED = Behaviour(
    "an index that is resized gives its old map back at once, not when Java collects it",
    (((3, 9, 2), (4, 0)), ((4, 0, 2), (4, 1)), ((4, 1, 1), None)), "KAFKA-19390")
SHALLOW_TIME_OFFSETS = _since(
    (3, 7), "a leader's time entry holds the last offset of its batch, not the record's own")
FUTURE_REFUSED = _since(
    (4, 0), "a record more than an hour ahead of the broker's clock is refused", "KIP-937")
MARKER_RAISES_EPOCH = _since(
    (4, 0), "a transaction marker carries the next epoch of its producer", "KIP-890")
ABORTS_BY_OFFSET = _since(
    (3, 0),
    "a broker names the producer of an open transaction, so its first offset is enough to abort it",
    "KIP-664")
# How it is searched
WARM_SEARCH = _since((2, 1), "an index is searched by warm-section-first search", "KAFKA-6432")
BATCH_BASE_METADATA = _since(
    (4, 0), "a fetch tells the base offset of the batch it found, not what was asked for",
    "KAFKA-17803")
DEEP_MAX_TIMESTAMP = _since(
    (3, 8), "the record of the largest timestamp is read from its batch", "KAFKA-16310")
BASE_OFFSET_SCAN = _since(
    (4, 1), "a scan compares base offsets, with one read a batch and not two", "KAFKA-18989")
STREAMED_TIME_SEARCH = _since(
    (4, 4),
    "a search for a timestamp decompresses a batch record by record, and stops at the one it finds")
MAX_TIMESTAMP_QUERY = _since(
    (3, 0), "list-offsets answers the record of the largest timestamp", "KIP-734")
EARLIEST_LOCAL_QUERY = _since(
    (3, 5), "list-offsets answers where the local part of a log starts", "KIP-405")
LATEST_TIERED_QUERY = _since(
    (3, 9), "list-offsets answers the last offset in the remote tier", "KIP-1005")
EARLIEST_PENDING_QUERY = _since(
    (4, 2), "list-offsets answers the first offset that is not in the remote tier yet", "KIP-1023")
# Faults that a later release fixes
OFFSETS_GIVEN_TWICE = Behaviour(
    "an append that fails at its time index entry leaves its batch in the .log, and the next one "
    "gets the same offsets", (((2, 3), (4, 0, 1)),), "KAFKA-19407")
MOVED_LOG_CLOSED = Behaviour(
    "a log is closed when its copy in another log directory replaces it, though a flush may follow",
    (((1, 1), (4, 0, 2)), ((4, 1), (4, 1, 2))), "KAFKA-19571")
# The files of a broker directory
LOG_START_CHECKPOINT = _since(
    (0, 11), "log-start-offset-checkpoint tells where a log starts", "KIP-107")
TOPIC_IDS = _since((2, 8), "partition.metadata names the id of the topic", "KIP-516")
KRAFT_READY = _since(
    (3, 3),
    "KRaft is ready for production; from here on a simulated broker has its files, not ZooKeeper's",
    "KIP-833")
DIRECTORY_IDS = _since((3, 7), "meta.properties names an id of the directory", "KIP-858")
CLEAN_SHUTDOWN_EPOCH = _since((3, 7), ".kafka_cleanshutdown holds the broker's epoch", "KIP-966")
LOCK_REMOVED = _since((3, 8), "a stop removes the .lock")
# How a follower finds where its log diverges from the leader's
TRUNCATION_ON_FETCH = _since(
    (2, 7), "a fetch says the epoch of the follower's end, and its answer where the logs part",
    "KIP-595")
# How a log is closed
TRIMMED_BEFORE_CLOSE = _since(
    (4, 4),
    "a clean stop trims the indexes of active segments before it closes any, those of "
    "__cluster_metadata-0 not; a close trims none", "KAFKA-20979")
# How a log is cleaned
EMPTY_BATCH_AT_ROUND_END = Behaviour(
    "the cleaner keeps an emptied batch that ends the cleaned part, for its offset",
    (((3, 9, 2), (4, 0)), ((4, 0), (4, 4))))
EMPTY_BATCH_AT_WATERMARK = _since(
    (4, 4), "the cleaner keeps an emptied batch for its offset if it ends at the high watermark")
# How long a log is retained
TIERED_STORAGE = _since(
    (3, 6), "segments may go to a remote tier, and local limits count", "KIP-405")
TIERED_COPY_STOPPED = _since(
    (3, 9), "remote.log.copy.disable stops it, and the whole log's limits count again", "KIP-950")
COPY_LAG = _since(
    (4, 4), "remote.copy.lag.ms and remote.copy.lag.bytes delay the upload of a segment",
    "KIP-1241")
# Which remote segments are deleted
REMOTE_VISITED_TWICE = Behaviour(
    "remote retention counts a segment once for each of its leader epochs", (((3, 6), (3, 6, 1)),),
    "KAFKA-15479")
REMOTE_OVERLAPS_FIT = _since(
    (3, 7, 1), "a remote segment fits a log that has lost the segment's first leader epochs",
    "KAFKA-16511")
REMOTE_COPIES_COUNTED = Behaviour(
    "retention.bytes counts remote segments whose copy did not finish", (((3, 6), (3, 8, 1)),),
    "KAFKA-17062")
REMOTE_LARGE_LIMIT = _since(
    (3, 9, 1),
    "a retention.ms above the current time limits nothing; before, it stops remote retention",
    "KAFKA-17995")
REMOTE_DELETIONS_RETRIED = _since(
    (4, 0),
    "a remote segment whose deletion failed is deleted again, and retention.bytes does not count "
    "it", "KAFKA-17428")
REMOTE_TIME_STRICT = _since(
    (4, 3), "a remote segment that is exactly as old as retention.ms stays", "KAFKA-20091")
REMOTE_SIZE_DOUBLED = Behaviour(
    "retention.bytes may count local segments twice until a new leader knows what was copied",
    (((3, 6), (3, 7)), ((3, 9), (4, 3, 2))), "KAFKA-20732")
# How a broker starts on a directory
INDEXES_TRUSTED = _since(
    (2, 3), "offset and time indexes are not checked at the start", "KAFKA-7283")
ABORTED_TXN_RANGE = _since(
    (4, 4),
    "an entry of the .txnindex of any version but 0 is refused; before, one whose first byte is "
    "from 1 to 127")
SWAPPED_INDEXES = _since(
    (3, 0), "the indexes of a finished .swap segment are renamed with it, not built anew")
BOOTSTRAP_CHECKPOINT = _since((3, 3), "a start reads bootstrap.checkpoint, which formatting wrote")
BOOTSTRAP_SNAPSHOT = _since(
    (4, 4),
    "formatting puts its records into the first snapshot of the metadata log, and writes no "
    "bootstrap.checkpoint", "KAFKA-19648")
STRAYS_RENAMED = _since(
    (3, 7),
    "a KRaft broker renames directories of replicas that it should not have, as it loads them",
    "KAFKA-14616")
KRAFT_ONLY = _since((4, 0), "there is no ZooKeeper", "KIP-500")
STORAGE_IN_JAVA = _since(
    (4, 0),
    "the classes of a log are Java's: its exceptions have other names, and print lists another way")
# fmt: on

# The first metadata.version of each release, from MetadataVersion.featureLevel in 4.4.0. The level
# of 4.5, which is in development, is the last that 4.4.0 knows.
METADATA_VERSION_FIRST_LEVELS: dict[Release, int] = {
    (3, 3): 4, (3, 4): 8, (3, 5): 9, (3, 6): 12, (3, 7): 15, (3, 8): 20, (3, 9): 21,
    (4, 0): 22, (4, 1): 26, (4, 2): 28, (4, 3): 30, (4, 4): 31, (4, 5): 34,
}  # fmt: skip
# the largest level that NEWEST knows of each other feature (Feature.latestTesting)
FEATURE_LEVELS = {
    "kraft.version": 1,
    "transaction.version": 2,
    "group.version": 1,
    "eligible.leader.replicas.version": 1,
    "share.version": 2,
    "streams.version": 1,
}


def release_of_metadata_version(level: int) -> Release | None:
    """Returns the first release that can write this metadata.version; None for levels before 3.3.

    For a level above all known levels, returns the newest known release.
    """
    first_levels = METADATA_VERSION_FIRST_LEVELS.items()
    return max((release for release, first in first_levels if first <= level), default=None)


def knows_level(feature: str, level: int) -> bool:
    """Returns whether the release `NEWEST` knows a level of a feature such as metadata.version."""
    if feature == "metadata.version":
        return level <= max(METADATA_VERSION_FIRST_LEVELS.values())
    return level <= FEATURE_LEVELS.get(feature, 0)


def formatting_level(release: Release) -> int:
    """Returns the metadata.version that `kafka-storage format` sets; for releases since 3.3."""
    first_levels = METADATA_VERSION_FIRST_LEVELS.items()
    return min(first for later, first in first_levels if later > release[:2]) - 1


def is_known(release: Release) -> bool:
    return release[:2] in KNOWN_RELEASES


def recorded_patch(release: Release) -> Release:
    """Returns the patch that kafkaviz is tested against: (4, 3, 1) for (4, 3)."""
    return next((candidate for candidate in RECORDED_STARTS if candidate[:2] == release), release)


def text(release: Release) -> str:
    """Returns major and minor number: 4.3."""
    return f"{release[0]}.{release[1]}"


def parse(version: str) -> Release:
    """Returns (4, 3, 1) for "4.3.1". Raises KafkavizError if the release is unknown."""
    parts = version.strip().split(".")
    if not 2 <= len(parts) <= 4 or not all(
        part.isascii() and part.isdigit() and len(part) < 4 for part in parts
    ):
        raise KafkavizError(message("release.not_a_version", version=repr(version)))
    release = tuple(map(int, parts))
    if not is_known(release):
        raise KafkavizError(
            message(
                "errors.unknown_release",
                version=version.strip(),
                first=text(KNOWN_RELEASES[0]),
                last=text(KNOWN_RELEASES[-1]),
            )
        )
    return release


# The values of a search profile
PLAIN = "plain"
WARM = "warm"
WARM_BYTES = 8192  # bytes of index entries after the first entry of the warm section
LAST_OFFSET = "last_offset"
BASE_OFFSET = "base_offset"
REQUESTED = "requested"
BATCH_BASE = "batch_base"
SHALLOW = "shallow"
DEEP = "deep"


@dataclass(frozen=True, kw_only=True)
class SearchProfile:
    """The rules by which a release searches for an offset or a timestamp."""

    version: str
    search: Literal["plain", "warm"]  # "warm" since 2.1 (KAFKA-6432)
    # the offset of a batch that a scan compares. "last_offset" takes a second read per batch.
    # "base_offset", since 4.1, takes one (KAFKA-18989).
    scan: Literal["last_offset", "base_offset"]
    # the offset in a fetch's result. "batch_base", since 4.0, is the base offset of the batch found
    # (KAFKA-17803).
    metadata_offset: Literal["requested", "batch_base"]
    # how the record with the largest timestamp is found. "shallow" uses the offset that was stored
    # with the timestamp. "deep", since 3.8, reads the batch (KAFKA-16310).
    max_timestamp: Literal["shallow", "deep"]
    warm_bytes: int = WARM_BYTES  # size of the warm section; some lessons use less

    @property
    def release(self) -> Release:
        return parse(self.version)

    @property
    def by_base_offset(self) -> bool:
        """Whether a scan compares base offsets, with one read per batch."""
        return self.scan == BASE_OFFSET

    @property
    def is_warm(self) -> bool:
        return self.search == WARM

    @property
    def streams_times(self) -> bool:
        """Whether a timestamp search decompresses a batch record by record."""
        return STREAMED_TIME_SEARCH.applies_to(self.release)


def search_profile(version: str = NEWEST, search: str | None = None) -> SearchProfile:
    """Returns how a version such as "3.9" or "4.3.1" searches.

    `search` is "plain" or "warm", to replace the version's own search. Raises KafkavizError if
    `version` or `search` is unknown.
    """
    release = parse(version)
    if search not in (None, PLAIN, WARM):
        raise KafkavizError(
            message("lookup_request.unknown_search", plain=PLAIN, warm=WARM, search=search)
        )
    return SearchProfile(
        version=version,
        search=search or (WARM if WARM_SEARCH.applies_to(release) else PLAIN),
        scan=BASE_OFFSET if BASE_OFFSET_SCAN.applies_to(release) else LAST_OFFSET,
        metadata_offset=BATCH_BASE if BATCH_BASE_METADATA.applies_to(release) else REQUESTED,
        max_timestamp=DEEP if DEEP_MAX_TIMESTAMP.applies_to(release) else SHALLOW,
    )
