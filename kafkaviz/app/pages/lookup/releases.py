"""As which release a lookup searches: one of three that differ, with Kafka's warm section or, of a
lesson, a smaller one.
"""

from dataclasses import replace

import streamlit as st

from kafkaviz import versions
from kafkaviz.analysis.inference.version import AssumedRelease, assumed_version
from kafkaviz.app.pages.lookup.targets import TIMESTAMP
from kafkaviz.app.state.page_location import BrokerLocation
from kafkaviz.errors import KafkavizError
from kafkaviz.search import index, slots
from kafkaviz.search.index import ENTRY_BYTES
from kafkaviz.search.profile import SearchProfile, profile
from kafkaviz.search.slots import PAGE_BYTES, PLAIN, WARM

VERSIONS = {versions.NEWEST: "newest", "3.9": "middle", "2.0": "oldest"}
# 2.0 goes neither way
FIRST_BEHAVIOURS = {versions.NEWEST: versions.BASE_OFFSET_SCAN, "3.9": versions.WARM_SEARCH}
KAFKAS_WARM = slots.warm_entries(ENTRY_BYTES[index.OFFSET])  # entries of the offset index
WARM_ENTRIES = (2, 4, 8, 16, 64, 256, KAFKAS_WARM)  # to choose from for a lesson
SMALL_PAGE_SLOTS, SMALL_WARM = 4, 64  # slots of a page where fewer entries than that are warm


def assumed_release(location: BrokerLocation) -> AssumedRelease:
    """The release that the open directory looks like."""
    return _assumed_release(location.snapshot.key, location)


@st.cache_resource(max_entries=8, show_spinner=False)
def _assumed_release(key: str, _location: BrokerLocation) -> AssumedRelease:
    return assumed_version(_location.broker)


def equivalent_version(version: str) -> str | None:
    """Which of VERSIONS searches as this one does: 3.9 for 3.6; None for what is no release.

    Also plain and warm are taken.
    """
    if version in (PLAIN, WARM):
        return "2.0" if version == PLAIN else versions.NEWEST
    try:
        release = versions.parse(version)
        return next(
            (name for name, behaviour in FIRST_BEHAVIOURS.items() if behaviour.applies_to(release)),
            "2.0",
        )
    except KafkavizError:
        return None


def search_profile(version: str, warm_entries: int, target_kind: str) -> SearchProfile:
    """What a release does; warm_entries: of the index that is searched first, Kafka's are 8 KiB of
    them.
    """
    release_profile = profile(version)
    if warm_entries == KAFKAS_WARM:
        return release_profile
    return replace(release_profile, warm_bytes=warm_entries * entry_bytes(target_kind))


def other_search(search: SearchProfile) -> SearchProfile:
    """The other search: plain for warm, warm for plain."""
    return replace(search, search=PLAIN if search.is_warm else WARM)


def page_bytes(search: SearchProfile, target_kind: str) -> int:
    """The pages that are drawn: 4 KiB, or of a lesson with a small warm section four slots."""
    return (
        SMALL_PAGE_SLOTS * entry_bytes(target_kind)
        if search.warm_bytes < SMALL_WARM * ENTRY_BYTES[index.OFFSET]
        else PAGE_BYTES
    )


def entry_bytes(target_kind: str) -> int:
    """Of the index that is searched first."""
    return ENTRY_BYTES[index.TIME if target_kind == TIMESTAMP else index.OFFSET]
