"""What the address points at: a broker directory, a topic-partition of it, a segment of that; and
what else could be chosen.
"""

import os
from bisect import bisect_right
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import cast

import streamlit as st

from kafkaviz.errors import CannotOpen
from kafkaviz.log import archive
from kafkaviz.log.broker import Broker
from kafkaviz.log.file import absolute
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.ui import access, cache, faults, state, unpack_progress
from kafkaviz.ui.cache import Listed
from kafkaviz.units import encodable, legible
from kafkaviz.words import say

RECENT = 8  # directories that are remembered


@dataclass(frozen=True)
class Place:
    """Where the address points, as far as it could be followed; fault says why not further."""

    directory: str  # as it was given; "" where nothing is open
    listed: Listed | None = None
    partition: Partition | None = None
    segment: Segment | None = None
    fault: CannotOpen | None = None

    @property
    def broker(self) -> Broker | None:
        """The open broker directory."""
        return self.listed.broker if self.listed else None

    @property
    def address(self) -> dict[str, str]:
        """The address parameters of this place, nothing left to a default."""
        base = self.segment.base_offset if self.segment else None
        return (
            state.address(self.directory, self.partition.directory if self.partition else "", base)
            if self.directory
            else {}
        )


@dataclass(frozen=True)
class InBroker(Place):
    """A place whose broker directory is open: what a page has behind listed(place)."""

    listed: Listed

    @property
    def broker(self) -> Broker:
        """The open broker directory."""
        return self.listed.broker


@dataclass(frozen=True)
class InPartition(InBroker):
    """The same, and its topic-partition is there: what a page has behind partition(place)."""

    partition: Partition


@dataclass(frozen=True)
class InSegment(InPartition):
    """The same, and its segment is there: what a page has behind segment(place)."""

    segment: Segment


def place(depth: int) -> Place:
    """What the address says, down to the broker (depth 1), the topic-partition (2) or the segment
    (3).
    """
    directory = st.query_params.get(state.DIRECTORY) or default_directory()
    if not directory:
        return Place("")
    listed = chosen = None
    try:
        unpack_progress.unpack(directory)
        listed = cache.listed(directory)
        chosen = _partition(listed.broker) if depth > 1 else None
        return Place(
            directory, listed, chosen, _segment(cast(Partition, chosen)) if depth > 2 else None
        )
    except CannotOpen as fault:
        return Place(directory, listed, chosen, fault=fault)


def _partition(opened: Broker) -> Partition:
    """The topic-partition of the address, else the largest."""
    asked = st.query_params.get(state.TOPIC_PARTITION)
    if asked:
        as_sent = {
            one.directory: (legible(one.directory), encodable(one.directory))
            for one in opened.partitions
        }
        odd = (
            one
            for one in opened.partitions
            if one.directory != asked and asked in as_sent[one.directory]
        )
        found = next(odd, None) or next(
            (one for one in opened.partitions if one.directory == asked), None
        )
        if not found:
            raise _refused("faults.no_partition_named", opened.path, asked)
        return found
    if not opened.partitions:
        raise _refused("faults.no_partition", opened.path, opened.path.name)
    return max(opened.partitions, key=attrgetter("log_bytes"))


def _segment(chosen: Partition) -> Segment:
    """The segment of the address, else the one that holds the pinned offset, else the largest."""
    asked = st.query_params.get(state.SEGMENT)
    if asked is not None:
        base_offset = state.number(asked)
        found = next((one for one in chosen.segments if one.base_offset == base_offset), None)
        if not found:
            raise _refused("faults.no_segment_named", chosen.path, asked)
        return found
    pin = state.number(st.query_params.get(state.PIN))
    return segment_of(chosen, pin) if pin is not None else largest(chosen)


def segment_of(chosen: Partition, offset: int) -> Segment:
    """The segment a broker would look in: the greatest base offset not above the offset, else the
    first.
    """
    below = bisect_right(chosen.live, offset, key=attrgetter("base_offset"))
    return chosen.live[below - 1] if below else largest(chosen)


def largest(chosen: Partition) -> Segment:
    """The segment with the longest log; of equal ones the first.

    Raises CannotOpen where there is none.
    """
    if not chosen.segments:
        raise _refused("faults.no_segment", chosen.path)
    return max(
        chosen.live or chosen.segments,
        key=lambda segment: segment.log.size_bytes if segment.log else 0,
    )


def _refused(key: str, path: Path, name: str = "") -> CannotOpen:
    """What is not there, as a whole sentence in the reader's language."""
    return CannotOpen(path, say(key, path=archive.given(path), name=name), kind="missing")


def default_directory() -> str:
    """What is open without a word: the directory the server was started with, else the first
    sample.
    """
    given = os.environ.get("KAFKAVIZ_DIR")
    return given or next((str(path) for path in access.samples()), "")


def cleaned(typed: str | None) -> str:
    """A path as people paste it: without blanks and quotes around it, and absolute where it can be.

    Of several people nobody is told in which directory, or as which user, the server runs.
    """
    path = (typed or "").strip().strip("'\"")
    if access.is_shared():
        return path
    try:
        return str(absolute(path)) if path else ""
    except CannotOpen:
        return path


def broker(here: Place) -> Broker:
    """The open broker directory; where there is none the page says why and stops here."""
    return listed(here).broker


def listed(here: Place) -> Listed:
    """The same, with the key of its listing for the cached doors."""
    if here.listed is None:
        faults.cannot_open(here.fault) if here.fault else faults.nothing_open()
        st.stop()
    remember(here.directory)
    return here.listed


def partition(here: Place) -> Partition:
    """The chosen topic-partition; where there is none the page says why and stops here."""
    opened = broker(here)
    if here.partition is None:
        if opened.partitions:
            faults.not_in_broker(cast(CannotOpen, here.fault), here.directory)
        else:
            faults.no_partition(opened.path, opened.problems)
        st.stop()
    return here.partition


def segment(here: Place) -> Segment:
    """The chosen segment; where there is none the page says why and stops here."""
    partition(here)
    if here.segment is None:
        faults.not_in_broker(cast(CannotOpen, here.fault), here.directory)
        st.stop()
    return here.segment


def recent() -> list[str]:
    """Broker directories that were opened before, newest first, such as may be opened; of this user
    in all sessions.

    Where visitors are several people, of this session alone: what others opened or uploaded is
    theirs.
    """
    return [line for line in _remembered() if _may_open(line)][:RECENT]


def _remembered() -> list[str]:
    if access.is_shared():
        return st.session_state.get(state.OWN_RECENT, [])
    try:
        return _recent_file().read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeError):
        return []


def _may_open(directory: str) -> bool:
    try:
        return bool(access.allowed(Path(directory)))
    except CannotOpen:
        return False


def remember(directory: str) -> None:
    """Puts a directory at the head of the recent ones.

    That the cache folder cannot be written is no reason to stop.
    """
    if st.session_state.get(state.REMEMBERED) == directory or "\n" in directory:
        return
    st.session_state[state.REMEMBERED] = directory
    lines = [directory, *(one for one in recent() if one != directory)][:RECENT]
    if access.is_shared():
        st.session_state[state.OWN_RECENT] = lines
        return
    with suppress(OSError, UnicodeError):
        _recent_file().parent.mkdir(parents=True, exist_ok=True)
        _recent_file().write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _recent_file() -> Path:
    return archive.cache_folder() / "recent.txt"
