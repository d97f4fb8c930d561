"""How a release of Kafka searches: what differs in a lookup from one release to the next."""

from dataclasses import dataclass

from kafkaviz import versions
from kafkaviz.errors import KafkavizError
from kafkaviz.messages import message
from kafkaviz.search.slots import PLAIN, WARM, WARM_BYTES

LAST_OFFSET, BASE_OFFSET = "last_offset", "base_offset"
REQUESTED, BATCH_BASE = "requested", "batch_base"
SHALLOW, DEEP = "shallow", "deep"


@dataclass(frozen=True)
class SearchProfile:
    """What a release does when it looks for an offset or a timestamp.

    Attributes:
        search: "plain", or "warm" from 2.1 on (KAFKA-6432).
        scan: what a step through the batches compares, "last_offset", which takes a second read a
            batch, or "base_offset" from 4.1 on (KAFKA-18989).
        metadata_offset: of a fetch's result, the "requested" one, or from 4.0 on that of the batch
            found, "batch_base" (KAFKA-17803).
        max_timestamp: how the record with the largest timestamp is found: "shallow", as the offset
            that is remembered with it; "deep" from 3.8 on, by reading its batch (KAFKA-16310).
        warm_bytes: of the warm section; only lessons differ from Kafka's.
    """

    version: str
    search: str
    scan: str
    metadata_offset: str
    max_timestamp: str
    warm_bytes: int = WARM_BYTES

    @property
    def release(self) -> tuple[int, ...]:
        """The version as numbers."""
        return versions.parse(self.version)

    @property
    def is_warm(self) -> bool:
        """Whether a search tries the warm section first."""
        return self.search == WARM


def profile(version: str = versions.NEWEST, search: str | None = None) -> SearchProfile:
    """The profile of a version such as "3.9" or "4.3.1".

    Args:
        search: "plain" or "warm" in place of the version's own.

    Raises:
        KafkavizError: as versions.parse.
    """
    release = versions.parse(version)
    if search not in (None, PLAIN, WARM):
        raise KafkavizError(
            message("lookup_request.unknown_search", plain=PLAIN, warm=WARM, search=search)
        )
    return SearchProfile(
        version,
        search=search or (WARM if versions.WARM_SEARCH.applies_to(release) else PLAIN),
        scan=BASE_OFFSET if versions.BASE_OFFSET_SCAN.applies_to(release) else LAST_OFFSET,
        metadata_offset=BATCH_BASE
        if versions.BATCH_BASE_METADATA.applies_to(release)
        else REQUESTED,
        max_timestamp=DEEP if versions.DEEP_MAX_TIMESTAMP.applies_to(release) else SHALLOW,
    )
