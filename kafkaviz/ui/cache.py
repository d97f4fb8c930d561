"""The doors to the floors below, kept open between reruns and shared by all tabs.

A broker directory is listed once and again when it changes. What takes reading is done by the
pipeline, see ingests beside this, and read here from the catalog that it keeps in the user's cache
folder.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
import streamlit as st

from kafkaviz import words
from kafkaviz.analyse import overview as table
from kafkaviz.analyse import tail
from kafkaviz.analyse.infer import Looks, looks_like
from kafkaviz.analyse.overview import Overview
from kafkaviz.analyse.tail import Tail
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.log import archive
from kafkaviz.log.broker import Broker, open_broker
from kafkaviz.ui import access, leftovers
from kafkaviz.ui.stamps import Stamps, mtime_ns
from kafkaviz.units import legible

if TYPE_CHECKING:
    from kafkaviz.analyse.health import Health
    from kafkaviz.analyse.marks import Mark
    from kafkaviz.figures.broker_map import Drawn
    from kafkaviz.pipeline.catalog import Catalog
    from kafkaviz.pipeline.catalog_info import CatalogInfo

KEPT = 8  # directories
# of a segment, in a catalog's description alone
STORED = ("directory", "suffix", "codecs", "problems")


# ---- the directory


class Listed(NamedTuple):
    """A broker directory, and by what it is known to be still the same."""

    broker: Broker
    stamps: Stamps
    key: str  # of this listing, for what is worked out from it


def broker(directory: str | Path) -> Broker:
    """A broker directory as it lies there now: names and sizes. Raises CannotOpen."""
    return listed(directory).broker


def listed(directory: str | Path) -> Listed:
    """The same, with the key of the listing. Raises CannotOpen."""
    # Streamlit takes no text for a key that is no UTF-8
    return _listed(os.fsencode(access.allowed_as_typed(directory)))


@st.cache_resource(
    max_entries=KEPT, show_spinner=False, validate=lambda known: known.stamps.hold(known.broker)
)
def _listed(directory: bytes) -> Listed:
    path = Path(os.fsdecode(directory))
    leftovers.opens(path)
    if access.roots() is not None:
        access.refuse_links(archive.opened(path))
    found = open_broker(path)
    stamps = Stamps(found)
    return Listed(found, stamps, stamps.key(found, directory))


# ---- what is in it


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _looks(key: str, _broker: Broker) -> Looks:
    return looks_like(_broker)


def looks(here: Listed) -> Looks:
    """Which Kafka wrote the directory."""
    return _looks(here.key, here.broker)


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _small(key: str, _broker: Broker) -> Overview:
    rows = table.inventory(_broker)
    return table.with_entries(rows) if table.readable(_broker) else rows


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _full(key: str, stamp: int, _broker: Broker) -> Overview:
    small, read = _small(key, _broker), _catalog(os.fsencode(catalog_path(_broker)), stamp)
    if read is None:
        return small
    try:
        return table.with_batches(small, _segments(read))
    except CannotOpen:  # a damaged catalog is not fresh either, so the next ingest replaces it
        return small


def overview(here: Listed) -> Overview:
    """All that is known by now: the listing, the index files where they are small, and a catalog
    once there is one.
    """
    stamp = catalog_stamp(here.broker)
    return _small(here.key, here.broker) if stamp is None else _full(here.key, stamp, here.broker)


def _segments(read: "Catalog") -> dict[str, list]:
    """The table of segments as columns, with what the description of the same run tells of each
    segment.
    """
    wanted = [name for name in (*table.KEY, *table.COUNTED) if name not in STORED]
    info, rows = read.segments(list(dict.fromkeys(wanted)))
    return {
        name: [getattr(one, name) for one in info.segments] for name in STORED
    } | rows.to_pydict()


@st.cache_resource(max_entries=4 * KEPT, show_spinner=False)
def _broker_map(
    key: str, stamp: int | None, order: str, page: int, mode: str, language: str, _here: Listed
) -> "Drawn":
    # plotly takes half a second to import: what stands above the map need not wait
    from kafkaviz.figures import broker_map as chart

    tails = {place: chart.tail_words(tail) for place, tail in torn(_here).items()}
    return chart.drawn(chart.view(overview(_here), order, page, tails, marks(_here)), mode)


def broker_map(here: Listed, order: str, page: int, mode: str) -> "Drawn":
    """The map in an order, its rows page by page from 0, in the mode "light" or "dark"."""
    return _broker_map(
        here.key, catalog_stamp(here.broker), order, page, mode, words.language(), here
    )


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _torn(key: str, stamp: int | None, _overview: Overview) -> dict[tuple[str, int], Tail]:
    return dict(_tails(_overview))


def torn(here: Listed) -> dict[tuple[str, int], Tail]:
    """What torn logs end in, by topic-partition directory and base offset; empty until the catalog
    tells which are torn.
    """
    return _torn(here.key, catalog_stamp(here.broker), overview(here))


def marks(here: Listed) -> dict[str, tuple["Mark", ...]]:
    """What was found of each topic-partition, by its directory; empty until a fresh catalog
    tells.
    """
    stamp = catalog_stamp(here.broker)
    return {} if stamp is None else _marks(here.key, stamp, here)


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _marks(key: str, stamp: int, _here: Listed) -> dict[str, tuple["Mark", ...]]:
    from kafkaviz.analyse import marks

    read = _catalog(os.fsencode(catalog_path(_here.broker)), stamp) if is_fresh(_here) else None
    try:
        rows = (
            read.table("findings", columns=list(marks.READS), filters=[("severity", "!=", "info")])
            if read
            else None
        )
    except CannotOpen:
        return {}
    return (
        marks.of(zip(*(rows[name].to_pylist() for name in marks.READS), strict=True))
        if rows
        else {}
    )


def _tails(known: Overview) -> Iterator[tuple[tuple[str, int], Tail]]:
    for number in np.flatnonzero(table.torn(known.segments)):
        row = known.segments[number]
        partition = known.broker.partitions[row["partition"]]
        segment = partition.segments[number - known.starts[row["partition"]]]
        with suppress(CannotOpen):
            last_offset = int(row["last_offset"]) if row["batches"] else None
            if found := tail.read(segment.log, int(row["valid_bytes"]), last_offset):
                yield (legible(partition.directory), segment.base_offset), found


def read_again() -> None:
    """Forgets what was read of every directory: that a file may be read now shows in no size and no
    time.
    """
    for door in (
        _listed,
        _looks,
        _small,
        _full,
        _torn,
        _marks,
        _broker_map,
        _is_fresh,
        _told_errors,
    ):
        door.clear()


# ---- the catalog


def catalog_path(found: Broker) -> Path:
    """Where the directory's catalog is kept."""
    return leftovers.catalogs() / f"{legible(found.name)}-{leftovers.catalog_suffix(found.source)}"


def catalog_stamp(found: Broker) -> int | None:
    """When the directory's catalog was written; None where there is none."""
    return mtime_ns(catalog_path(found) / "_catalog.json")


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _catalog(path: bytes, stamp: int) -> "Catalog | None":
    """The catalog written at that moment; None where this version cannot read it: the next ingest
    replaces it.
    """
    from kafkaviz.pipeline import catalog

    try:
        return catalog.read(os.fsdecode(path))
    except KafkavizError:
        return None


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _is_fresh(key: str, stamp: int, _broker: Broker) -> bool:
    read = _catalog(os.fsencode(catalog_path(_broker)), stamp)
    return bool(read and read.is_fresh([_broker]))


def is_fresh(here: Listed) -> bool:
    """Whether the catalog tells of the directory as it is now."""
    stamp = catalog_stamp(here.broker)
    return stamp is not None and _is_fresh(here.key, stamp, here.broker)


def catalog_info(here: Listed) -> "CatalogInfo | None":
    """What the directory's catalog holds; None where there is none that this version can read."""
    stamp = catalog_stamp(here.broker)
    read = None if stamp is None else _catalog(os.fsencode(catalog_path(here.broker)), stamp)
    return read.info if read else None


def told_health(here: Listed) -> "Health | None":
    """The health that the directory's catalog tells; None where it is not fresh, or was made
    without findings.
    """
    from kafkaviz.analyse.health import Health

    if not is_fresh(here):
        return None
    stamp = cast(int, catalog_stamp(here.broker))  # what is fresh is there
    read = cast("Catalog", _catalog(os.fsencode(catalog_path(here.broker)), stamp))
    try:
        return Health(here.broker, *read.health(read.info.sources[0].broker))
    except CannotOpen:
        return None


def told_errors(here: Listed) -> int:
    """How many errors that is; 0 where it tells none."""
    stamp = catalog_stamp(here.broker)
    return 0 if stamp is None else _told_errors(here.key, stamp, here)


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _told_errors(key: str, stamp: int, _here: Listed) -> int:
    read = _catalog(os.fsencode(catalog_path(_here.broker)), stamp) if is_fresh(_here) else None
    try:
        # a column alone: every page shows it, and few look at what was found
        return read.severities()["error"] if read else 0
    except CannotOpen:
        return 0
