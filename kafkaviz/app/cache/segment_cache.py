"""Segments that were read completely, shared by all tabs and kept until a file changes."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import streamlit as st

from kafkaviz.analysis import roll_history
from kafkaviz.analysis.checks.plan import CheckPlan, plan_check
from kafkaviz.analysis.retention import LogRetention, SegmentRetention, segment_retention
from kafkaviz.analysis.segment import anatomy
from kafkaviz.analysis.segment.anatomy import Anatomy
from kafkaviz.analysis.segment.selection import Selection
from kafkaviz.analysis.transactions.coordinator import CoordinatorState
from kafkaviz.analysis.transactions.read_committed import CommittedFetch, explain_committed_fetch
from kafkaviz.app.cache import broker_cache
from kafkaviz.app.cache.broker_cache import BrokerSnapshot, HashFuncs
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.figures.segment import segment_facts, segment_ruler
from kafkaviz.figures.segment.segment_facts import FactGroups
from kafkaviz.log import file
from kafkaviz.log.file import FileInfo
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import LogSegment, Segment
from kafkaviz.messages import language
from kafkaviz.simulate.writer.roll_reason import RollCause

MAX_SEGMENTS = 4  # 1 GiB in batches of 100 bytes takes up to 0.1 GiB of memory (docs/serve.md)


def key(segment: Segment) -> str:
    facts = [(os.fsencode(info.path), info.size_bytes, info.mtime_ns) for info in segment.files]
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]


HASH_FUNCS: HashFuncs = {
    **broker_cache.HASH_FUNCS,
    Segment: key,
    LogSegment: key,
    Anatomy: lambda anatomy: key(anatomy.segment),
}


def read(segment: LogSegment) -> Anatomy:
    """Reads a segment, or returns the kept result if no file has changed.

    Raises CannotOpen if the .log cannot be read.
    """
    current = replace(
        segment,
        **{
            name: _current_info(getattr(segment, name), is_required=name == "log")
            for name in ("log", "index", "timeindex", "txnindex")
        },
    )
    return _read(current)


def forget() -> None:
    _read.clear()


def has_lost_bytes(anatomy: Anatomy) -> bool:
    """Returns whether a file is gone or has become shorter since it was read."""
    return any(_size_on_disk(info.path) < info.size_bytes for info in anatomy.segment.files)


def _size_on_disk(path: Path) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return -1


@st.cache_resource(max_entries=MAX_SEGMENTS, show_spinner=False, hash_funcs=HASH_FUNCS)
def _read(segment: LogSegment) -> Anatomy:
    return anatomy.read(segment)


def _current_info(info: FileInfo | None, *, is_required: bool) -> FileInfo | None:
    if info is None:
        return None
    try:
        return file.info(info.path)
    except CannotOpen as fault:
        if is_required or fault.kind != "missing":
            raise
        return None


def browser_payload(
    anatomy: Anatomy,
    selection: Selection,
    shade: str,
    centre_row: int | None,
    address: dict[str, str],
) -> bytes:
    """Returns the data that the browser needs to draw the ruler of the segment, as bytes."""
    # the address as JSON text, because Streamlit cannot hash a str that is not valid UTF-8
    return _browser_payload(
        anatomy, selection, shade, centre_row, address=json.dumps(address), language_code=language()
    )


@st.cache_data(max_entries=16, show_spinner=False, hash_funcs=HASH_FUNCS)
def _browser_payload(
    anatomy: Anatomy,
    selection: Selection,
    shade: str,
    centre_row: int | None,
    *,
    address: str,
    language_code: str,
) -> bytes:
    ruler_view = segment_ruler.view(anatomy, selection, shade, centre_row)
    return segment_ruler.browser_payload(ruler_view, key(anatomy.segment), json.loads(address))


def facts(snapshot: BrokerSnapshot, partition: Partition, anatomy: Anatomy) -> FactGroups:
    return _facts(snapshot, partition, anatomy, language())


@st.cache_resource(max_entries=256, show_spinner=False, hash_funcs=HASH_FUNCS)
def _facts(
    snapshot: BrokerSnapshot, partition: Partition, anatomy: Anatomy, language_code: str
) -> FactGroups:
    reason = roll_reason(snapshot, partition, anatomy.segment)
    retention = _retention(snapshot, partition, anatomy)
    return segment_facts.file_facts(anatomy, reason, partition.state, retention)


def _retention(
    snapshot: BrokerSnapshot, partition: Partition, anatomy: Anatomy
) -> tuple[LogRetention, SegmentRetention] | None:
    try:
        plan = _plan(snapshot)
        limits = plan.limits(partition)
        is_clean = plan.is_partition_clean(partition)
        return segment_retention(partition, anatomy, limits, clean=is_clean, now_ms=plan.now_ms)
    except KafkavizError:
        return None


@st.cache_resource(max_entries=4, show_spinner=False, hash_funcs=HASH_FUNCS)
def _plan(snapshot: BrokerSnapshot) -> CheckPlan:
    return plan_check(snapshot.broker)


def transactional_ids(snapshot: BrokerSnapshot) -> Mapping[int, str]:
    """Returns the transactional ids by producer id. Empty if a file of the broker is unreadable."""
    try:
        return _plan(snapshot).transactional_ids
    except KafkavizError:
        return {}


def coordinator_states(snapshot: BrokerSnapshot) -> Mapping[int, CoordinatorState] | None:
    """Returns the transaction states by producer id. None if they are missing or unreadable."""
    try:
        return _plan(snapshot).coordinator_states
    except KafkavizError:
        return None


def newest_ms(snapshot: BrokerSnapshot) -> int | None:
    """Returns the newest modification time of the broker's files. None if one is unreadable."""
    try:
        return _plan(snapshot).now_ms
    except KafkavizError:
        return None


@st.cache_resource(max_entries=16, show_spinner=False, hash_funcs=HASH_FUNCS)
def committed_fetch(snapshot: BrokerSnapshot, partition: Partition, offset: int) -> CommittedFetch:
    """Returns one fetch of a read_committed consumer, from `offset` on.

    Raises KafkavizError if a file cannot be read, or if `offset` is outside the log.
    """
    return explain_committed_fetch(partition, offset, broker=snapshot.broker)


@st.cache_data(max_entries=256, show_spinner=False, hash_funcs=HASH_FUNCS)
def roll_reason(
    snapshot: BrokerSnapshot, partition: Partition, segment: Segment
) -> RollCause | None:
    """Infers why a segment was rolled. None: the segment is not closed, or no cause fits."""
    if segment.state == "closed":
        return roll_history.roll_reason(partition, segment.base_offset)
    return None
