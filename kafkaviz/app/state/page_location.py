"""The location in the address: a broker directory, and in it a topic-partition and a segment."""

import shlex
from bisect import bisect_right
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any

import streamlit as st

from kafkaviz.app import access, page_state
from kafkaviz.app.cache import broker_cache
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.errors import CannotOpen
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import Broker
from kafkaviz.log.file import absolute_path
from kafkaviz.log.partition import Partition
from kafkaviz.log.remote import address
from kafkaviz.log.segment import LogSegment, Segment
from kafkaviz.log.tiered import tiered_view
from kafkaviz.messages import message
from kafkaviz.units import escape_controls, replace_surrogates

BETWEEN = ","  # separates log directories in text that people read or type
RECENT = 8  # number of remembered directories
MAX_TRIED = 8  # topic-partitions to choose from if the address names none
FIRST_BYTES = 4 << 10  # bytes of each .log that are read for this choice


@dataclass(frozen=True)
class Location:
    """The existing part of the location in the address. `fault` says why the rest is missing."""

    directory: str  # the given text; "" if nothing is open
    snapshot: BrokerSnapshot | None = None
    partition: Partition | None = None
    segment: Segment | None = None
    fault: CannotOpen | None = None

    @property
    def broker(self) -> Broker | None:
        return self.snapshot.broker if self.snapshot else None

    @property
    def directory_text(self) -> str:
        return directory_text(self.directory)

    @property
    def partition_name(self) -> str:
        """The topic-partition's name: "disk-b/orders-0" if two log directories have orders-0."""
        if self.partition is None or self.broker is None:
            return ""
        return self.broker.partition_name(self.partition)

    @property
    def address(self) -> dict[str, Any]:
        """The complete address parameters of this location, including defaults."""
        base = self.segment.base_offset if self.segment else None
        if self.directory:
            return page_state.address(self.directory, self.partition_name, base)
        return {}


@dataclass(frozen=True)
class BrokerLocation(Location):
    snapshot: BrokerSnapshot

    @property
    def broker(self) -> Broker:
        return self.snapshot.broker


@dataclass(frozen=True)
class PartitionLocation(BrokerLocation):
    """A location whose topic-partition exists. `require_partition` returns such a location."""

    partition: Partition


@dataclass(frozen=True)
class SegmentLocation(PartitionLocation):
    """A location whose segment exists. `require_segment` returns such a location."""

    segment: Segment


def parse_address(
    depth: int, unpack: Callable[[str], None], *, prefers_full_batches: bool = False
) -> Location:
    """Reads the location from the address.

    Args:
        depth: 1 for the broker, 2 for the topic-partition, 3 for the segment.
        unpack: called with the directory before it is listed, to unpack its archives.
        prefers_full_batches: if the address has no topic-partition, choose the largest
            topic-partition with several records per batch.

    Returns:
        A SegmentLocation, PartitionLocation, BrokerLocation or plain Location. The type shows how
            much of the location exists.
    """
    directories = st.query_params.get_all(page_state.DIRECTORY)
    directory = page_state.join_directories(filter(None, directories)) or default_directory()
    location = Location(directory)
    if not directory:
        return location
    try:
        if access.TIERED in directory:  # the joined view replaces both
            directory = str(access.resolve_typed_path(directory))
            st.query_params[page_state.DIRECTORY] = directory
        unpack(directory)
        snapshot = broker_cache.open_snapshot(directory)
        location = BrokerLocation(directory, snapshot)
        if depth > 1:
            partition = _partition(snapshot.broker, prefers_full_batches=prefers_full_batches)
            location = PartitionLocation(directory, snapshot, partition)
            if depth > 2:
                location = SegmentLocation(directory, snapshot, partition, _segment(partition))
    except CannotOpen as fault:
        return replace(location, fault=fault)
    return location


def _partition(broker: Broker, *, prefers_full_batches: bool) -> Partition:
    """Returns the topic-partition in the address, else the largest.

    If `prefers_full_batches`, one of the MAX_TRIED largest with several records per batch is
    returned instead of the largest.
    """
    name = st.query_params.get(page_state.TOPIC_PARTITION)
    if name and "/" in name:  # the name is in two log directories, so it includes the log directory
        return broker.partition(name)
    if name:
        matches = [
            candidate for candidate in broker.partitions if name in _spellings(candidate.directory)
        ]
        if not matches:
            raise _missing_error("faults.no_partition_named", broker.path, name)
        # prefer a directory whose name is escaped in the address
        return max(matches, key=lambda candidate: candidate.directory != name)
    if not broker.partitions:
        raise _missing_error("faults.no_partition", broker.path, broker.path.name)
    by_size = sorted(broker.partitions, key=attrgetter("log_bytes"), reverse=True)
    tried = by_size[:MAX_TRIED] if prefers_full_batches else []
    return next(filter(_has_full_batches, tried), by_size[0])


def _spellings(directory: str) -> tuple[str, str, str]:
    return directory, escape_controls(directory), replace_surrogates(directory)


def _has_full_batches(partition: Partition) -> bool:
    """Returns whether the default segment begins with a batch of several records.

    Only the first kilobytes of its .log are read.
    """
    if not partition.segments:
        return False
    segment = largest_segment(partition)
    if not isinstance(segment, LogSegment):
        return False
    with suppress(CannotOpen):
        for rows in segment.scan(0, FIRST_BYTES):
            return len(rows) > 0 and bool(rows["record_count"][0] > 1)
    return False


def _segment(partition: Partition) -> Segment:
    """Returns the segment in the address, else the one with the pinned offset, else the largest."""
    text = st.query_params.get(page_state.SEGMENT)
    if text is not None:
        base_offset = page_state.number(text)
        segment = next(
            (candidate for candidate in partition.segments if candidate.base_offset == base_offset),
            None,
        )
        if not segment:
            raise _missing_error("faults.no_segment_named", partition.path, text)
        return segment
    pin = page_state.number(st.query_params.get(page_state.PIN))
    return find_segment(partition, pin) if pin is not None else largest_segment(partition)


def find_segment(partition: Partition, offset: int) -> Segment:
    """Returns the live segment in which a broker would look for an offset.

    Returns the first live segment for a lower offset, and `largest_segment` if none is live.
    """
    below = bisect_right(partition.live, offset, key=attrgetter("base_offset"))
    return partition.live[max(below - 1, 0)] if partition.live else largest_segment(partition)


def largest_segment(partition: Partition) -> Segment:
    """Returns the largest live segment, else the largest. Raises CannotOpen without segments."""
    if not partition.segments:
        raise _missing_error("faults.no_segment", partition.path)
    return max(
        partition.live or partition.segments,
        key=lambda segment: segment.log.size_bytes if segment.log else 0,
    )


def _missing_error(key: str, path: Path, name: str = "") -> CannotOpen:
    return CannotOpen(
        path, message(key, path=archive.display_path(path), name=name), kind="missing"
    )


def default_directory() -> str:
    """Returns the directory the server was started with, else the first sample, else ""."""
    configured = page_state.join_directories(access.configured_directories())
    return configured or next((str(path) for path in access.samples()), "")


def compared_directory() -> str:
    """Returns the second directory in the Compare page's address, or ""."""
    directories = st.query_params.get_all(page_state.COMPARED_DIRECTORY)
    return page_state.join_directories(filter(None, directories))


def shell_paths(broker: Broker, between: str = " ") -> str:
    """Returns the broker's paths quoted for a shell; as one argument if `between` is ","."""
    paths = [escape_controls(address.display(source)) for source in broker.sources]
    return " ".join(map(shlex.quote, paths)) if between == " " else shlex.quote(between.join(paths))


def directory_text(directory: str) -> str:
    """Returns a directory as visitors know it, without paths in kafkaviz's cache.

    A tiered view becomes `DIR --tiered STORE`. The local copy of a remote directory becomes the
    remote address. Several log directories are separated by commas, as in log.dirs.
    """
    directories = page_state.split_directories(directory)
    if len(directories) > 1:
        return f"{BETWEEN} ".join(map(directory_text, directories))
    sources = tiered_view.sources(Path(directory)) if directory else None
    if sources is None:
        return address.display(directory) if directory else ""
    paths = sources[1], tiered_view.given_store(Path(directory))
    return access.TIERED.join(str(archive.display_path(path)) for path in paths if path)


def short_directory_text(directory: str) -> str:
    """Returns `directory_text`, with /data/{a,b} for two directories in the same folder."""
    paths = [directory_text(part) for part in page_state.split_directories(directory)]
    parents = {path.rpartition("/")[0] for path in paths}
    if len(paths) == 1 or len(parents) > 1:
        return directory_text(directory)
    names = BETWEEN.join(path.rpartition("/")[2] for path in paths)
    return f"{parents.pop()}/{{{names}}}"


def clean_path(text: str | None) -> str:
    """Returns a pasted path without surrounding blanks and quotes, and absolute if possible.

    Cleans each of several directories, and both paths in `DIR --tiered STORE`. On a server with
    several visitors a path stays relative, so that it does not show the server's working
    directory.
    """
    directories = _typed_directories(text or "")
    if len(directories) > 1:
        return page_state.join_directories(map(clean_path, directories))
    directory, separator, store = (text or "").partition(access.TIERED)
    if separator:
        return access.TIERED.join(map(clean_path, (directory, store)))
    path = directory.strip().strip("'\"")
    if access.is_shared():
        return path
    try:
        return address.display(absolute_path(path)) if path else ""
    except CannotOpen:
        return path


def _typed_directories(text: str) -> list[str]:
    """Returns the directories in a text, separated by commas as in log.dirs.

    An existing path is not split, because its name may contain a comma.
    """
    directories = page_state.split_directories(text)
    if len(directories) > 1 or BETWEEN not in text or _is_there(text.strip()):
        return directories
    return [part for part in text.split(BETWEEN) if part.strip()]


def _is_there(text: str) -> bool:
    try:
        path = access.resolve_typed_path(text)
        return address.parse(text) is not None or path.exists()
    except (CannotOpen, OSError):
        return False


def recent() -> list[str]:
    """Returns the recently opened directories that visitors may still open, newest first.

    On a server with several visitors, returns only the directories of this session.
    """
    return [line for line in _read_recent() if _may_open(line)][:RECENT]


def _read_recent() -> list[str]:
    if access.is_shared():
        return st.session_state.get(page_state.OWN_RECENT, [])
    try:
        return _recent_file().read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeError):
        return []


def _may_open(directory: str) -> bool:
    try:
        return all(map(access.resolve_typed_path, page_state.split_directories(directory)))
    except CannotOpen:
        return False


def remember(directory: str) -> None:
    """Puts a directory first in the list of recent ones, if the list can be saved."""
    if st.session_state.get(page_state.LAST_RECENT) == directory or "\n" in directory:
        return
    st.session_state[page_state.LAST_RECENT] = directory
    lines = [directory, *(earlier for earlier in recent() if earlier != directory)][:RECENT]
    if access.is_shared():
        st.session_state[page_state.OWN_RECENT] = lines
        return
    with suppress(OSError, UnicodeError):
        _recent_file().parent.mkdir(parents=True, exist_ok=True)
        _recent_file().write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _recent_file() -> Path:
    return archive.cache_folder() / "recent.txt"
