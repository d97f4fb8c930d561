"""Segments that were read completely, shared by all tabs.

They are kept between reruns until a file of theirs changes.
"""

import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path

import streamlit as st

from kafkaviz.analysis.health import broker_health
from kafkaviz.analysis.health.broker_health import CheckPlan
from kafkaviz.analysis.retention import segment_retention as segment_retention
from kafkaviz.analysis.retention.policy import LogRetention, SegmentRetention
from kafkaviz.analysis.rolls import roll_inference
from kafkaviz.analysis.segment import anatomy
from kafkaviz.analysis.segment.anatomy import Anatomy
from kafkaviz.analysis.segment.selection import Selection
from kafkaviz.app.cache.broker_cache import BrokerSnapshot
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.figures.segment import segment_facts, segment_ruler
from kafkaviz.figures.segment.segment_facts import FactGroups
from kafkaviz.log import file
from kafkaviz.log.broker import Broker
from kafkaviz.log.file import FileInfo
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.messages import language

# a segment of 1 GiB takes 0.1 GiB in batches of 1 KB, 1.1 GiB in batches of 100 bytes
# (docs/serve.md)
MAX_SEGMENTS = 2


def read(segment: Segment) -> Anatomy:
    """A segment with a .log, as its files are now.

    Raises:
        CannotOpen: a file of it cannot be read.
    """
    current = replace(
        segment,
        **{
            name: _current_info(getattr(segment, name), is_required=name == "log")
            for name in ("log", "index", "timeindex", "txnindex")
        },
    )
    return _read(current, key(current))


def forget() -> None:
    """Reads every segment anew when it is next asked for."""
    _read.clear()


def has_lost_bytes(anatomy: Anatomy) -> bool:
    """Whether a file is gone or shorter since it was read: then the page has to be drawn anew.

    What has only grown is still there.
    """
    return any(_size_on_disk(info.path) < info.size_bytes for info in anatomy.segment.files)


def _size_on_disk(path: Path) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return -1


@st.cache_resource(max_entries=MAX_SEGMENTS, show_spinner=False)
def _read(_segment: Segment, key: str) -> Anatomy:
    return anatomy.read(_segment)


def _current_info(info: FileInfo | None, *, is_required: bool) -> FileInfo | None:
    """The file as it is now; one that is gone is None, unless nothing can be shown without it."""
    if info is None:
        return None
    try:
        return file.info(info.path)
    except CannotOpen as fault:
        if is_required or fault.kind != "missing":
            raise
        return None


def key(segment: Segment) -> str:
    """What a segment is known by as long as it stays the same: its files, their sizes and times."""
    stamps = "|".join(f"{info.path}:{info.size_bytes}:{info.mtime_ns}" for info in segment.files)
    return hashlib.sha256(os.fsencode(stamps)).hexdigest()[:16]


def message(
    anatomy: Anatomy,
    selection: Selection,
    shade: str,
    centre_row: int | None,
    address: dict[str, str],
) -> bytes:
    """What the ruler is sent of a segment (figures.segment.segment_ruler).

    It is put together once for as long as the same is asked for.
    """
    return _message(
        anatomy,
        key(anatomy.segment),
        language(),
        selection_values=tuple(selection),
        shade=shade,
        centre_row=centre_row,
        address=json.dumps(address),
    )


@st.cache_data(max_entries=16, show_spinner=False)
def _message(
    _anatomy: Anatomy,
    key: str,
    language_code: str,
    *,
    selection_values: tuple,
    shade: str,
    centre_row: int | None,
    address: str,
) -> bytes:
    ruler_view = segment_ruler.view(_anatomy, Selection(*selection_values), shade, centre_row)
    return segment_ruler.message(ruler_view, key, json.loads(address))


def facts(snapshot: BrokerSnapshot, partition: Partition, anatomy: Anatomy) -> FactGroups:
    """The three files of a segment in figures, in the reader's language.

    Worked out once for as long as nothing changes.
    """
    return _facts(
        snapshot,
        partition,
        anatomy,
        f"{snapshot.key} {partition.directory!r}",
        key(anatomy.segment),
        language(),
    )


@st.cache_resource(max_entries=256, show_spinner=False)
def _facts(
    _snapshot: BrokerSnapshot,
    _partition: Partition,
    _anatomy: Anatomy,
    directory: str,
    key: str,
    language_code: str,
) -> FactGroups:
    reason, retention = (
        roll_reason(_snapshot, _partition, _anatomy.segment),
        _retention(_snapshot, _partition, _anatomy),
    )
    return segment_facts.file_facts(_anatomy, reason, _partition.state, retention)


def _retention(
    snapshot: BrokerSnapshot, partition: Partition, anatomy: Anatomy
) -> tuple[LogRetention, SegmentRetention] | None:
    """Until when retention keeps a segment, and its log.

    Returns:
        None of one that no limit concerns, and where that cannot be known.
    """
    try:
        return segment_retention.segment_retention(
            _plan(snapshot.key, snapshot.broker), partition, anatomy
        )
    except KafkavizError:
        return None


@st.cache_resource(max_entries=4, show_spinner=False)
def _plan(snapshot_key: str, _broker: Broker) -> CheckPlan:
    return broker_health.plan(_broker)


def roll_reason(snapshot: BrokerSnapshot, partition: Partition, segment: Segment) -> str | None:
    """Why the segment was rolled, inferred from its neighbours.

    Returns:
        None for one that was not.
    """
    return (
        _roll_reason(partition, segment.base_offset, snapshot.key, os.fsencode(partition.directory))
        if segment.state == "closed"
        else None
    )


@st.cache_data(max_entries=256, show_spinner=False)
def _roll_reason(
    _partition: Partition, base_offset: int, snapshot_key: str, directory: bytes
) -> str | None:
    return roll_inference.roll_reason(_partition, base_offset)
