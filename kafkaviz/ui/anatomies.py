"""Segments that were read whole, kept between reruns and shared by all tabs until a file of theirs
changes.
"""

import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path

import streamlit as st

from kafkaviz.analyse import anatomy, health, rolled
from kafkaviz.analyse import kept as analyse_kept
from kafkaviz.analyse.anatomy import Anatomy
from kafkaviz.analyse.health import Plan
from kafkaviz.analyse.pin import Asked
from kafkaviz.analyse.retention import Kept, LogRetention
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.figures import segment_facts, segment_ruler
from kafkaviz.figures.segment_facts import FactGroups
from kafkaviz.log import file
from kafkaviz.log.broker import Broker
from kafkaviz.log.file import FileInfo
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.ui.cache import Listed
from kafkaviz.words import language

# a segment of 1 GiB takes 0.1 GiB in batches of 1 KB, 1.1 GiB in batches of 100 bytes
# (docs/serve.md)
KEPT = 2


def read(segment: Segment) -> Anatomy:
    """A segment with a .log, as its files are now. Raises CannotOpen."""
    now = replace(
        segment,
        **{
            name: _now(getattr(segment, name), name == "log")
            for name in ("log", "index", "timeindex", "txnindex")
        },
    )
    return _read(now, key(now))


def forget() -> None:
    """Reads every segment anew when it is next asked for."""
    _read.clear()


def is_lost(anatomy: Anatomy) -> bool:
    """Whether a file is gone or shorter since it was read: then the page has to be drawn anew.

    What has only grown is still there.
    """
    return any(_bytes_now(one.path) < one.size_bytes for one in anatomy.segment.files)


def _bytes_now(path: Path) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return -1


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _read(_segment: Segment, key: str) -> Anatomy:
    return anatomy.read(_segment)


def _now(found: FileInfo | None, needed: bool) -> FileInfo | None:
    """The file as it is now; one that is gone is None, unless nothing can be shown without it."""
    if found is None:
        return None
    try:
        return file.info(found.path)
    except CannotOpen as fault:
        if needed or fault.kind != "missing":
            raise
        return None


def key(segment: Segment) -> str:
    """What a segment is known by as long as it stays the same: its files, their sizes and times."""
    stamps = "|".join(f"{one.path}:{one.size_bytes}:{one.mtime_ns}" for one in segment.files)
    return hashlib.sha256(os.fsencode(stamps)).hexdigest()[:16]


def message(
    anatomy: Anatomy, asked: Asked, shade: str, centre_row: int | None, address: dict[str, str]
) -> bytes:
    """What the ruler is sent of a segment (figures.segment_ruler), put together once for as long as
    the same is asked for.
    """
    return _message(
        anatomy,
        key(anatomy.segment),
        language(),
        tuple(asked),
        shade,
        centre_row,
        json.dumps(address),
    )


@st.cache_data(max_entries=16, show_spinner=False)
def _message(
    _anatomy: Anatomy,
    key: str,
    spoken: str,
    asked: tuple,
    shade: str,
    centre_row: int | None,
    address: str,
) -> bytes:
    shown = segment_ruler.view(_anatomy, Asked(*asked), shade, centre_row)
    return segment_ruler.message(shown, key, json.loads(address))


def facts(here: Listed, partition: Partition, anatomy: Anatomy) -> FactGroups:
    """The three files of a segment in figures, in the reader's language, worked out once for as
    long as nothing changes.
    """
    return _facts(
        here,
        partition,
        anatomy,
        f"{here.key} {partition.directory!r}",
        key(anatomy.segment),
        language(),
    )


@st.cache_resource(max_entries=256, show_spinner=False)
def _facts(
    _here: Listed, _partition: Partition, _anatomy: Anatomy, directory: str, key: str, spoken: str
) -> FactGroups:
    why, kept = roll_reason(_here, _partition, _anatomy.segment), _kept(_here, _partition, _anatomy)
    return segment_facts.facts(_anatomy, why, _partition.state, kept)


def _kept(here: Listed, partition: Partition, anatomy: Anatomy) -> tuple[LogRetention, Kept] | None:
    """Until when retention keeps a segment, and its log; None of one that no limit concerns, and
    where that cannot be told.
    """
    try:
        return analyse_kept.kept(_plan(here.key, here.broker), partition, anatomy)
    except KafkavizError:
        return None


@st.cache_resource(max_entries=4, show_spinner=False)
def _plan(listing: str, _broker: Broker) -> Plan:
    return health.plan(_broker)


def roll_reason(here: Listed, partition: Partition, segment: Segment) -> str | None:
    """Why the segment was rolled, inferred from its neighbours; None for one that was not."""
    return (
        _roll_reason(partition, segment.base_offset, here.key, os.fsencode(partition.directory))
        if segment.state == "closed"
        else None
    )


@st.cache_data(max_entries=256, show_spinner=False)
def _roll_reason(
    _partition: Partition, base_offset: int, listing: str, directory: bytes
) -> str | None:
    return rolled.roll_reason(_partition, base_offset)
