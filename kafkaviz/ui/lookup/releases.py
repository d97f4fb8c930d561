"""As which release a lookup searches: one of three that differ, with Kafka's warm section or, of a
lesson, a smaller one.
"""

from dataclasses import replace

import streamlit as st

from kafkaviz import versions
from kafkaviz.analyse.infer.version import Assumed, assumed_version
from kafkaviz.errors import KafkavizError
from kafkaviz.search import index, slots
from kafkaviz.search.index import ENTRY_BYTES
from kafkaviz.search.profile import SearchProfile, profile
from kafkaviz.search.slots import PAGE_BYTES, PLAIN, WARM
from kafkaviz.ui.lookup.targets import TIMESTAMP
from kafkaviz.ui.pick import InBroker

VERSIONS = {versions.NEWEST: "newest", "3.9": "middle", "2.0": "oldest"}
# 2.0 goes neither way
FIRST_WAYS = {versions.NEWEST: versions.BASE_OFFSET_SCAN, "3.9": versions.WARM_SEARCH}
KAFKAS_WARM = slots.warm_entries(ENTRY_BYTES[index.OFFSET])  # entries of the offset index
WARM_ENTRIES = (2, 4, 8, 16, 64, 256, KAFKAS_WARM)  # to choose from for a lesson
SMALL_PAGE_SLOTS, SMALL_WARM = 4, 64  # slots of a page where fewer entries than that are warm


def assumed(place: InBroker) -> Assumed:
    """The release that the open directory looks like."""
    return _assumed(place.listed.key, place)


@st.cache_resource(max_entries=8, show_spinner=False)
def _assumed(key: str, _place: InBroker) -> Assumed:
    return assumed_version(_place.broker)


def like(version: str) -> str | None:
    """Which of VERSIONS searches as this one does: 3.9 for 3.6; None for what is no release.

    Also plain and warm are taken.
    """
    if version in (PLAIN, WARM):
        return "2.0" if version == PLAIN else versions.NEWEST
    try:
        release = versions.parse(version)
        return next((name for name, way in FIRST_WAYS.items() if way.of(release)), "2.0")
    except KafkavizError:
        return None


def release(version: str, warm_entries: int, by: str) -> SearchProfile:
    """What a release does; warm_entries: of the index that is searched first, Kafka's are 8 KiB of
    them.
    """
    of = profile(version)
    if warm_entries == KAFKAS_WARM:
        return of
    return replace(of, warm_bytes=warm_entries * entry_bytes(by))


def other(of: SearchProfile) -> SearchProfile:
    """The other search: plain for warm, warm for plain."""
    return replace(of, search=PLAIN if of.warm else WARM)


def page_bytes(of: SearchProfile, by: str) -> int:
    """The pages that are drawn: 4 KiB, or of a lesson with a small warm section four slots."""
    return (
        SMALL_PAGE_SLOTS * entry_bytes(by)
        if of.warm_bytes < SMALL_WARM * ENTRY_BYTES[index.OFFSET]
        else PAGE_BYTES
    )


def entry_bytes(by: str) -> int:
    """Of the index that is searched first."""
    return ENTRY_BYTES[index.TIME if by == TIMESTAMP else index.OFFSET]
