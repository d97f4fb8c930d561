"""Access to the floors below, kept between reruns and shared by all tabs.

A broker directory is listed once and again when it changes. What takes reading is done by the
pipeline, see state/ingests.py, and read here from the catalog that it keeps in the user's cache
folder.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import streamlit as st

from kafkaviz import messages
from kafkaviz.analysis.broker import overview as overview_table
from kafkaviz.analysis.broker.overview import BrokerOverview
from kafkaviz.analysis.inference import InferredRelease, infer_release
from kafkaviz.analysis.segment import tail
from kafkaviz.analysis.segment.tail import Tail
from kafkaviz.app.cache.fingerprint import Fingerprint, mtime_ns
from kafkaviz.app.state import access, page_state, upload_expiry
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import Broker, open_broker, open_root
from kafkaviz.units import escape_controls

if TYPE_CHECKING:
    from kafkaviz.analysis.findings.partition_badges import Badge
    from kafkaviz.analysis.health.broker_health import Health
    from kafkaviz.figures.broker.broker_map import MapFigure
    from kafkaviz.pipeline.catalog.catalog import Catalog
    from kafkaviz.pipeline.catalog.catalog_info import CatalogInfo

MAX_BROKERS = 8  # directories
# of a segment, in a catalog's description alone
STAMP_FIELDS = ("directory", "suffix", "codecs", "problems")


# ---- the directory


class BrokerSnapshot(NamedTuple):
    """A broker directory, and by what it is known to be still the same."""

    broker: Broker
    fingerprint: Fingerprint
    key: str  # of this listing, for what is worked out from it

    @property
    def directory(self) -> str:
        """What leads to it again: its paths, as `page_state.join_directories` has them."""
        return page_state.join_directories(self.broker.sources)


# by what Streamlit's caches know a value of a type
HashFuncs = dict[str | type[Any], Callable[[Any], object]]
HASH_FUNCS: HashFuncs = {BrokerSnapshot: attrgetter("key")}


def broker(directory: str | Path) -> Broker:
    """A broker directory as it lies there now: names and sizes.

    Raises:
        CannotOpen: the directory cannot be listed.
    """
    return open_snapshot(directory).broker


def open_snapshot(directory: str | Path) -> BrokerSnapshot:
    """The same, with the key of the listing.

    Raises:
        CannotOpen: the directory cannot be listed.
    """
    paths = tuple(map(access.resolve_typed_path, page_state.split_directories(directory)))
    for path in paths:
        archive.refresh(path)  # what it is known to be the same by is the mirror of a remote one
    # Streamlit takes no text for a key that is no UTF-8
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
        upload_expiry.touch_upload(path)
        if access.roots() is not None:
            # of a folder of log directories a level deeper
            access.refuse_links(open_root(path), depth=3)
    broker = open_broker(*paths)
    fingerprint = Fingerprint(broker)
    return BrokerSnapshot(broker, fingerprint, fingerprint.key(broker, b"\0".join(directories)))


# ---- what is in it


@st.cache_resource(max_entries=MAX_BROKERS, show_spinner=False, hash_funcs=HASH_FUNCS)
def inferred_release(snapshot: BrokerSnapshot) -> InferredRelease:
    """Which Kafka wrote the directory."""
    return infer_release(snapshot.broker)


@st.cache_resource(max_entries=MAX_BROKERS, show_spinner=False, hash_funcs=HASH_FUNCS)
def _quick_overview(snapshot: BrokerSnapshot) -> BrokerOverview:
    rows = overview_table.inventory(snapshot.broker)
    return (
        overview_table.with_entries(rows) if overview_table.is_readable(snapshot.broker) else rows
    )


@st.cache_resource(max_entries=MAX_BROKERS, show_spinner=False, hash_funcs=HASH_FUNCS)
def _full_overview(snapshot: BrokerSnapshot, stamp: int) -> BrokerOverview:
    quick, catalog = (
        _quick_overview(snapshot),
        _catalog(os.fsencode(catalog_path(snapshot.broker)), stamp),
    )
    if catalog is None:
        return quick
    try:
        return overview_table.with_batches(quick, _segments(catalog))
    except CannotOpen:  # a damaged catalog is not fresh either, so the next ingest replaces it
        return quick


def overview(snapshot: BrokerSnapshot) -> BrokerOverview:
    """All that is known by now.

    The listing, the index files where they are small, and a catalog once there is one.
    """
    stamp = catalog_stamp(snapshot.broker)
    return _quick_overview(snapshot) if stamp is None else _full_overview(snapshot, stamp)


def _segments(catalog: "Catalog") -> dict[str, list]:
    """The table of segments as columns.

    With what table stamps of the same run says of each segment.
    """
    columns = [
        name
        for name in (*overview_table.CATALOG_KEY, *overview_table.COUNT_COLUMNS)
        if name not in STAMP_FIELDS
    ]
    segments, rows = catalog.segments(list(dict.fromkeys(columns)))
    return {
        name: [getattr(segment, name) for segment in segments] for name in STAMP_FIELDS
    } | rows.to_pydict()


@st.cache_resource(max_entries=4 * MAX_BROKERS, show_spinner=False, hash_funcs=HASH_FUNCS)
def _broker_map(
    snapshot: BrokerSnapshot,
    stamp: int | None,
    order: str,
    *,
    page: int,
    mode: str,
    language: str,
) -> "MapFigure":
    # plotly takes half a second to import: what stands above the map need not wait
    from kafkaviz.figures.broker import broker_map as chart

    tails = {log_key: chart.tail_text(tail) for log_key, tail in torn_tails(snapshot).items()}
    return chart.draw(chart.view(overview(snapshot), order, page, tails, badges(snapshot)), mode)


def broker_map(snapshot: BrokerSnapshot, order: str, page: int, mode: str) -> "MapFigure":
    """The map in an order, its rows page by page from 0, in the mode "light" or "dark"."""
    return _broker_map(
        snapshot,
        catalog_stamp(snapshot.broker),
        order,
        page=page,
        mode=mode,
        language=messages.language(),
    )


@st.cache_resource(max_entries=MAX_BROKERS, show_spinner=False, hash_funcs=HASH_FUNCS)
def _torn_tails(snapshot: BrokerSnapshot, stamp: int | None) -> dict[tuple[str, int], Tail]:
    return dict(_tails(overview(snapshot)))


def torn_tails(snapshot: BrokerSnapshot) -> dict[tuple[str, int], Tail]:
    """What torn logs end in, by topic-partition directory and base offset.

    Empty until the catalog says which are torn.
    """
    return _torn_tails(snapshot, catalog_stamp(snapshot.broker))


def badges(snapshot: BrokerSnapshot) -> dict[str, tuple["Badge", ...]]:
    """What was found of each topic-partition, by its directory.

    Empty until a fresh catalog says so.
    """
    stamp = catalog_stamp(snapshot.broker)
    return {} if stamp is None else _badges(snapshot, stamp)


@st.cache_resource(max_entries=MAX_BROKERS, show_spinner=False, hash_funcs=HASH_FUNCS)
def _badges(snapshot: BrokerSnapshot, stamp: int) -> dict[str, tuple["Badge", ...]]:
    from kafkaviz.analysis.findings import partition_badges

    catalog = (
        _catalog(os.fsencode(catalog_path(snapshot.broker)), stamp) if is_fresh(snapshot) else None
    )
    try:
        rows = (
            catalog.table(
                "findings",
                columns=list(partition_badges.FINDING_COLUMNS),
                filters=[("severity", "!=", "info")],
            )
            if catalog
            else None
        )
    except CannotOpen:
        return {}
    return (
        partition_badges.badges_from_rows(
            zip(*(rows[name].to_pylist() for name in partition_badges.FINDING_COLUMNS), strict=True)
        )
        if rows
        else {}
    )


def _tails(overview: BrokerOverview) -> Iterator[tuple[tuple[str, int], Tail]]:
    for number in np.flatnonzero(overview_table.torn_mask(overview.segments)):
        row = overview.segments[number]
        partition = overview.broker.partitions[row["partition"]]
        segment = partition.segments[number - overview.starts[row["partition"]]]
        with suppress(CannotOpen):
            last_offset = int(row["last_offset"]) if row["batches"] else None
            if torn_tail := tail.read(segment.log, int(row["valid_bytes"]), last_offset):
                yield (escape_controls(partition.directory), segment.base_offset), torn_tail


def clear_all() -> None:
    """Forgets what was read of every directory.

    That a file may be read now shows in no size and no time.
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


# ---- the catalog


def catalog_path(broker: Broker) -> Path:
    """Where the directory's catalog is kept."""
    return (
        upload_expiry.catalogs()
        / f"{escape_controls(broker.name)}-{upload_expiry.catalog_suffix(*broker.sources)}"
    )


def catalog_stamp(broker: Broker) -> int | None:
    """When the directory's catalog was written.

    Returns:
        None where there is none.
    """
    return mtime_ns(catalog_path(broker) / "_catalog.json")


@st.cache_resource(max_entries=MAX_BROKERS, show_spinner=False)
def _catalog(path: bytes, stamp: int) -> "Catalog | None":
    """The catalog written at that moment.

    Returns:
        None where this version cannot read it: the next ingest replaces it.
    """
    from kafkaviz.pipeline.catalog import catalog

    try:
        return catalog.read(os.fsdecode(path))
    except KafkavizError:
        return None


@st.cache_resource(max_entries=MAX_BROKERS, show_spinner=False, hash_funcs=HASH_FUNCS)
def _is_fresh(snapshot: BrokerSnapshot, stamp: int) -> bool:
    catalog = _catalog(os.fsencode(catalog_path(snapshot.broker)), stamp)
    return bool(catalog and catalog.is_fresh([snapshot.broker]))


def is_fresh(snapshot: BrokerSnapshot) -> bool:
    """Whether the catalog is of the directory as it is now."""
    stamp = catalog_stamp(snapshot.broker)
    return stamp is not None and _is_fresh(snapshot, stamp)


def catalog_info(snapshot: BrokerSnapshot) -> "CatalogInfo | None":
    """What the directory's catalog holds.

    Returns:
        None where there is none that this version can read.
    """
    stamp = catalog_stamp(snapshot.broker)
    catalog = None if stamp is None else _catalog(os.fsencode(catalog_path(snapshot.broker)), stamp)
    return catalog.info if catalog else None


def catalog_health(snapshot: BrokerSnapshot) -> "Health | None":
    """The health that the directory's catalog has.

    Returns:
        None where it is not fresh, or was made without findings.
    """
    from kafkaviz.analysis.health.broker_health import Health

    if not is_fresh(snapshot):
        return None
    stamp = cast(int, catalog_stamp(snapshot.broker))  # what is fresh is there
    catalog = cast("Catalog", _catalog(os.fsencode(catalog_path(snapshot.broker)), stamp))
    try:
        return Health(snapshot.broker, *catalog.health(catalog.info.sources[0].broker))
    except CannotOpen:
        return None


def catalog_error_count(snapshot: BrokerSnapshot) -> int:
    """How many errors that is; 0 where it has none."""
    stamp = catalog_stamp(snapshot.broker)
    return 0 if stamp is None else _catalog_error_count(snapshot, stamp)


@st.cache_resource(max_entries=MAX_BROKERS, show_spinner=False, hash_funcs=HASH_FUNCS)
def _catalog_error_count(snapshot: BrokerSnapshot, stamp: int) -> int:
    catalog = (
        _catalog(os.fsencode(catalog_path(snapshot.broker)), stamp) if is_fresh(snapshot) else None
    )
    try:
        # a column alone: every page shows it, and few look at what was found
        return catalog.severities()["error"] if catalog else 0
    except CannotOpen:
        return 0
