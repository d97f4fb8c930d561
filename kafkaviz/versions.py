"""Kafka's releases, and which of them first left which trace on disk."""

from kafkaviz.errors import KafkavizError

Release = tuple[int, int]

NEWEST = "4.3.1"  # kafkaviz is held against directories and classes of it
NEWEST_RELEASE = tuple(map(int, NEWEST.split(".")))
OLDEST_CHECKED = (1, 1)
KNOWN: tuple[Release, ...] = (  # whose ways are told apart; the patches of a release go with it
    (0, 10), (0, 11), (1, 0), (1, 1), *((2, minor) for minor in range(9)), *((3, minor) for minor in range(10)),
    *((4, minor) for minor in range(4)),
)  # fmt: skip
OFFERED = (NEWEST, "4.0", "3.9", "3.6", "3.0", "2.8", "2.2", "1.1")  # one of each behaviour that a finding tells apart

# metadata.version, as MetadataVersion.featureLevel has it in 4.3.1: the first level of each release.
METADATA_VERSION_FIRST_LEVELS: dict[Release, int] = {
    (3, 3): 4, (3, 4): 8, (3, 5): 9, (3, 6): 12, (3, 7): 15, (3, 8): 20, (3, 9): 21,
    (4, 0): 22, (4, 1): 26, (4, 2): 28, (4, 3): 30, (4, 4): 31,
}  # fmt: skip


def release_of_metadata_version(level: int) -> Release | None:
    """The first release that can write this metadata.version; None below 3.3."""
    return max((release for release, first in METADATA_VERSION_FIRST_LEVELS.items() if first <= level), default=None)


def text(release: Release) -> str:
    """A release as people write it: 4.3."""
    return f"{release[0]}.{release[1]}"


def parse(given: str) -> tuple[int, ...]:
    """The numbers of a release: (3, 9) of "3.9", (4, 3, 1) of "4.3.1", (0, 11) of "0.11".

    KafkavizError for another text, and for a release that is not known.
    """
    parts = given.strip().split(".")
    if not 2 <= len(parts) <= 4 or not all(part.isascii() and part.isdigit() and len(part) < 4 for part in parts):
        raise KafkavizError(f"{given!r} is no version of Kafka; give one such as 3.9 or 4.3.1")
    release = tuple(map(int, parts))
    if release[:2] not in KNOWN:
        known = f"{text(KNOWN[0])} to {text(KNOWN[-1])}"
        raise KafkavizError(f"Kafka {given.strip()} is no release that is known; give one from {known}, such as 3.9 or 4.3.1")
    return release
