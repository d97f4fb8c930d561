"""Listings and catalogs of broker directories, kept between reruns and shared by all tabs.

A directory is listed again when a file in it changes. This module only reads catalogs. The
pipeline writes each catalog into the user's cache folder (see state/ingests.py).
"""

import hashlib
import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import streamlit as st

from kafkaviz import messages
from kafkaviz.analysis import overview as overview_table
from kafkaviz.analysis.inferred_release import InferredRelease, infer_release
from kafkaviz.analysis.overview import BrokerOverview
from kafkaviz.analysis.segment.anatomy import Tail, read_tail
from kafkaviz.app import access, page_state, scheduling, uploads
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.format.names import OWN_FILES, SERVER_PROPERTIES
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import Broker, open_broker, open_root
from kafkaviz.log.file import FileInfo
from kafkaviz.log.partition import Partition
from kafkaviz.units import escape_controls

if TYPE_CHECKING:
    from kafkaviz.analysis.badges import Badge
    from kafkaviz.analysis.broker_health import Health
    from kafkaviz.figures.broker.broker_map import MapFigure
    from kafkaviz.pipeline.catalog.catalog import Catalog
    from kafkaviz.pipeline.catalog.catalog_info import CatalogInfo

MAX_BROKERS = 8  # directories
# columns about segments that are in the catalog's table `stamps` and not in `segments`
STAMP_FIELDS = ("directory", "suffix", "codecs", "problems")
MAX_QUICK_FILES = 20_000  # with at most this many files, each click compares all, in 60 ms
# seconds per file between two comparisons of all files of a larger directory; a comparison takes
# only 3 µs per file, a seventeenth of this pause
PAUSE_S = 50e-6


class Fingerprint:
    """The state of a directory when it was listed."""

    def __init__(self, broker: Broker) -> None:
        self._quick = _quick_state(broker)
        self._files = sum(1 for _ in _files(broker))
        self._checked_s = time.monotonic()
        self._looked_s = -math.inf  # monotonic time of the last comparison that found no change

    def is_current(self, broker: Broker) -> bool:
        """Returns whether the directory is unchanged since `broker` was listed.

        Folders and active logs are compared at every call. If the directory has more than
        MAX_QUICK_FILES files, the other files are compared less often.
        """
        if scheduling.is_later_than_request(self._looked_s):
            return True
        looked_s = time.monotonic()
        if _quick_state(broker) != self._quick:
            return False
        if (
            self._files > MAX_QUICK_FILES
            and time.monotonic() - self._checked_s < self._files * PAUSE_S
        ):
            self._looked_s = looked_s
            return True
        is_unchanged = all(map(_is_same, _files(broker)))
        self._checked_s = time.monotonic()
        if is_unchanged:
            self._looked_s = looked_s
        return is_unchanged

    def key(self, broker: Broker, directory: bytes) -> str:
        """Returns a hash that changes if a file, folder, size or modification time changes."""
        numbers = chain.from_iterable((info.size_bytes, info.mtime_ns) for info in _files(broker))
        facts = repr((directory, self._quick)).encode() + np.fromiter(numbers, np.int64).tobytes()
        return hashlib.sha256(facts).hexdigest()[:16]


def _quick_state(broker: Broker) -> tuple:
    """Returns modification times of folders and small files, and sizes of active logs."""
    folders = [
        *(archive.enclosing_archive(source) or source for source in broker.sources),
        *(directory.path for directory in broker.log_directories),
        *(partition.path for partition in broker.partitions),
    ]
    own_files = [
        directory.path / name
        for directory in broker.log_directories
        for name in (*OWN_FILES, SERVER_PROPERTIES, f"../{SERVER_PROPERTIES}")
    ]
    active_logs = [partition.active.log.path for partition in broker.partitions if partition.active]
    return (
        tuple(map(mtime_ns, folders)),
        tuple(map(mtime_ns, own_files)),
        tuple(status and status.st_size for status in map(_stat, active_logs)),
    )


def _files(broker: Broker) -> Iterator[FileInfo]:
    for partition in broker.partitions:
        for segment in partition.segments:
            yield from segment.files
        yield from partition.other_files


def _is_same(info: FileInfo) -> bool:
    try:
        status = os.stat(f"{info.directory}/{info.name}")
    except OSError:
        return False
    return status.st_size == info.size_bytes and status.st_mtime_ns == info.mtime_ns


def mtime_ns(path: Path) -> int | None:
    status = _stat(path)
    return status.st_mtime_ns if status else None


def _stat(path: Path) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None


class BrokerSnapshot(NamedTuple):
    """A listed broker directory, and the fingerprint that shows whether it is still current."""

    broker: Broker
    fingerprint: Fingerprint
    key: str  # changes with the listing; caches of derived values use it

    @property
    def directory(self) -> str:
        """The log directories as one text, made by `page_state.join_directories`."""
        return page_state.join_directories(self.broker.sources)


# how Streamlit's caches hash an argument of each type
HashFuncs = dict[str | type[Any], Callable[[Any], object]]
HASH_FUNCS: HashFuncs = {
    BrokerSnapshot: attrgetter("key"),
    # used together with the snapshot, whose key changes with the files
    Partition: lambda partition: os.fsencode(partition.path),
}


def broker(directory: str | Path) -> Broker:
    return open_snapshot(directory).broker


def open_snapshot(directory: str | Path) -> BrokerSnapshot:
    """Returns the current listing of a broker directory.

    Raises CannotOpen if the directory cannot be read.
    """
    paths = tuple(map(access.resolve_typed_path, page_state.split_directories(directory)))
    for path in paths:
        archive.refresh(path)  # the fingerprint of a remote directory comes from its local mirror
    # Streamlit cannot hash a str that is not valid UTF-8, so the paths are passed as bytes
    with access.translate_corrupt_files():
        return _open_snapshot(tuple(map(os.fsencode, paths)))


@st.cache_resource(
    max_entries=MAX_BROKERS,
    show_spinner=False,
    validate=lambda snapshot: snapshot.fingerprint.is_current(snapshot.broker),
)
def _open_snapshot(directories: tuple[bytes, ...]) -> BrokerSnapshot:
    paths = [Path(os.fsdecode(directory)) for directory in directories]
    for path in paths:
        uploads.touch_upload(path)
        if access.roots() is not None:
            # one level deeper than the default: the path may be a folder of several log directories
            access.refuse_links(open_root(path), depth=3)
    broker = open_broker(*paths)
    fingerprint = Fingerprint(broker)
    return BrokerSnapshot(broker, fingerprint, fingerprint.key(broker, b"\0".join(directories)))


@st.cache_resource(max_entries=MAX_BROKERS, show_spinner=False, hash_funcs=HASH_FUNCS)
def inferred_release(snapshot: BrokerSnapshot) -> InferredRelease:
    return infer_release(snapshot.broker)


@st.cache_resource(max_entries=MAX_BROKERS, show_spinner=False, hash_funcs=HASH_FUNCS)
def _quick_overview(snapshot: BrokerSnapshot) -> BrokerOverview:
    rows = overview_table.inventory(snapshot.broker)
    is_readable = overview_table.is_readable(snapshot.broker)
    return overview_table.with_entries(rows) if is_readable else rows


@st.cache_resource(max_entries=MAX_BROKERS, show_spinner=False, hash_funcs=HASH_FUNCS)
def _full_overview(snapshot: BrokerSnapshot, stamp: int | None) -> BrokerOverview:
    quick = _quick_overview(snapshot)
    catalog = _open_catalog(snapshot)
    if catalog is None:
        return quick
    try:
        return overview_table.with_batches(quick, _segments(catalog))
    except CannotOpen:  # then is_fresh is False too, and the next ingest replaces the catalog
        return quick


def overview(snapshot: BrokerSnapshot) -> BrokerOverview:
    """Returns numbers about the topic-partitions and segments of a directory, as far as known.

    The sources are the listing, the index files if they are small, and the catalog if it exists.
    """
    return _full_overview(snapshot, catalog_stamp(snapshot.broker))


def _segments(catalog: "Catalog") -> dict[str, list]:
    names = dict.fromkeys((*overview_table.CATALOG_KEY, *overview_table.COUNT_COLUMNS))
    segments, rows = catalog.segments([name for name in names if name not in STAMP_FIELDS])
    stamps = {name: [getattr(segment, name) for segment in segments] for name in STAMP_FIELDS}
    return stamps | rows.to_pydict()


@st.cache_resource(max_entries=4 * MAX_BROKERS, show_spinner=False, hash_funcs=HASH_FUNCS)
def _broker_map(
    snapshot: BrokerSnapshot, stamp: int | None, order: str, *, page: int, mode: str, language: str
) -> "MapFigure":
    # importing plotly takes half a second; the elements above the map are drawn before that
    from kafkaviz.figures.broker import broker_map as chart

    tails = {log_key: chart.tail_text(tail) for log_key, tail in torn_tails(snapshot).items()}
    return chart.draw(chart.view(overview(snapshot), order, page, tails, badges(snapshot)), mode)


def broker_map(snapshot: BrokerSnapshot, order: str, page: int, mode: str) -> "MapFigure":
    """Returns one page of the broker map. The first page is 0."""
    stamp = catalog_stamp(snapshot.broker)
    language = messages.language()
    return _broker_map(snapshot, stamp, order, page=page, mode=mode, language=language)


@st.cache_resource(max_entries=MAX_BROKERS, show_spinner=False, hash_funcs=HASH_FUNCS)
def _torn_tails(snapshot: BrokerSnapshot, stamp: int | None) -> dict[tuple[str, int], Tail]:
    return dict(_tails(overview(snapshot)))


def torn_tails(snapshot: BrokerSnapshot) -> dict[tuple[str, int], Tail]:
    """Returns the torn end of each .log, by partition and base offset. {} without a catalog."""
    return _torn_tails(snapshot, catalog_stamp(snapshot.broker))


def badges(snapshot: BrokerSnapshot) -> dict[str, tuple["Badge", ...]]:
    """Returns the findings of each topic-partition as badges. {} without an up-to-date catalog."""
    return _badges(snapshot, catalog_stamp(snapshot.broker))


@st.cache_resource(max_entries=MAX_BROKERS, show_spinner=False, hash_funcs=HASH_FUNCS)
def _badges(snapshot: BrokerSnapshot, stamp: int | None) -> dict[str, tuple["Badge", ...]]:
    catalog = _fresh_catalog(snapshot)
    if catalog is None:
        return {}
    from kafkaviz.analysis import badges

    columns = list(badges.FINDING_COLUMNS)
    try:
        rows = catalog.table("findings", columns=columns, filters=[("severity", "!=", "info")])
    except CannotOpen:
        return {}
    values = zip(*(rows[name].to_pylist() for name in columns), strict=True)
    return badges.badges_from_rows(values, snapshot.broker)


def _tails(overview: BrokerOverview) -> Iterator[tuple[tuple[str, int], Tail]]:
    for number in np.flatnonzero(overview_table.torn_mask(overview.segments)):
        row = overview.segments[number]
        partition = overview.broker.partitions[row["partition"]]
        segment = partition.segments[number - overview.starts[row["partition"]]]
        with suppress(CannotOpen):
            last_offset = int(row["last_offset"]) if row["batches"] else None
            if torn_tail := read_tail(segment.log, int(row["valid_bytes"]), last_offset):
                name = escape_controls(overview.broker.partition_name(partition))
                yield (name, segment.base_offset), torn_tail


def clear_all() -> None:
    """Forgets the content of every directory.

    Needed after a file permission has changed. Such a change leaves file sizes and times as they
    were, so a kept listing looks current.
    """
    for cached_function in (
        _open_snapshot,
        inferred_release,
        _quick_overview,
        _full_overview,
        _torn_tails,
        _badges,
        _broker_map,
        _is_fresh,
        _catalog_error_count,
    ):
        cached_function.clear()


def catalog_path(broker: Broker) -> Path:
    name = f"{escape_controls(broker.name)}-{uploads.catalog_suffix(*broker.sources)}"
    return uploads.catalogs() / name


def catalog_stamp(broker: Broker) -> int | None:
    """Returns the catalog's modification time in ns, for cache keys. None without a catalog."""
    return mtime_ns(catalog_path(broker) / "_catalog.json")


@st.cache_resource(max_entries=MAX_BROKERS, show_spinner=False)
def _catalog(path: bytes, stamp: int) -> "Catalog | None":
    from kafkaviz.pipeline.catalog import catalog

    try:
        return catalog.read(os.fsdecode(path))
    except KafkavizError:
        return None


def _open_catalog(snapshot: BrokerSnapshot) -> "Catalog | None":
    stamp = catalog_stamp(snapshot.broker)
    path = os.fsencode(catalog_path(snapshot.broker))
    return None if stamp is None else _catalog(path, stamp)


@st.cache_resource(max_entries=MAX_BROKERS, show_spinner=False, hash_funcs=HASH_FUNCS)
def _is_fresh(snapshot: BrokerSnapshot, stamp: int | None) -> bool:
    catalog = _open_catalog(snapshot)
    if catalog is None:
        return False
    from kafkaviz.pipeline.read import inventory

    return inventory.is_fresh(catalog, [snapshot.broker])


def is_fresh(snapshot: BrokerSnapshot) -> bool:
    """Returns whether the catalog describes the current state of the directory."""
    return _is_fresh(snapshot, catalog_stamp(snapshot.broker))


def _fresh_catalog(snapshot: BrokerSnapshot) -> "Catalog | None":
    return _open_catalog(snapshot) if is_fresh(snapshot) else None


def catalog_info(snapshot: BrokerSnapshot) -> "CatalogInfo | None":
    """Returns the description of the catalog, or None if it cannot be read."""
    catalog = _open_catalog(snapshot)
    return catalog.info if catalog else None


def catalog_health(snapshot: BrokerSnapshot) -> "Health | None":
    """Returns the catalog's findings. None if the catalog is out of date or has no findings."""
    from kafkaviz.analysis.broker_health import Health, with_unstored_facts

    catalog = _fresh_catalog(snapshot)
    if catalog is None:
        return None
    try:
        stored = catalog.health(catalog.info.sources[0].broker)
        return with_unstored_facts(Health(broker=snapshot.broker, **stored._asdict()))
    except CannotOpen:
        return None


def catalog_error_count(snapshot: BrokerSnapshot) -> int:
    return _catalog_error_count(snapshot, catalog_stamp(snapshot.broker))


@st.cache_resource(max_entries=MAX_BROKERS, show_spinner=False, hash_funcs=HASH_FUNCS)
def _catalog_error_count(snapshot: BrokerSnapshot, stamp: int | None) -> int:
    catalog = _fresh_catalog(snapshot)
    try:
        # reads a single column: every page shows this number, and few show the findings
        return catalog.severities()["error"] if catalog else 0
    except CannotOpen:
        return 0
