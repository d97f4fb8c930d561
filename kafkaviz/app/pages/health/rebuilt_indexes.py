"""Rebuilds the indexes of a topic-partition, compares them with the disk, and offers a download.

The indexes are rebuilt as a broker's recovery does it.
"""

import io
import os
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

import streamlit as st

from kafkaviz import units
from kafkaviz.analysis.findings.finding import Finding
from kafkaviz.app import page_state
from kafkaviz.app.cache.broker_cache import HASH_FUNCS, MAX_BROKERS, BrokerSnapshot
from kafkaviz.app.widgets import elements, tables
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.figures.text.sentences import describe_error, end_sentence
from kafkaviz.format.names import natural_sort_key
from kafkaviz.html import tag
from kafkaviz.log import file
from kafkaviz.log.partition import Partition
from kafkaviz.messages import say, say_count

SUFFIXES = (".index", ".timeindex", ".txnindex")
MAX_LOG_BYTES = 1 << 30  # of a topic-partition; recovery reads all of it while the page waits


@dataclass(frozen=True)
class IndexFileComparison:
    """A rebuilt index file and the file on disk."""

    name: str
    on_disk_bytes: int | None  # None if the file is missing
    rebuilt_bytes: int
    difference: str  # describes the first difference; "" if the files are equal


@st.fragment
def render_rebuilt_indexes(
    snapshot: BrokerSnapshot, findings: Sequence[Finding], version: str
) -> None:
    """Draws the menu of topic-partitions and, on request, the rebuilt indexes of the chosen one."""
    names = offer_partitions(snapshot, findings)
    if not names:
        return
    with st.expander(say("health.rebuilt"), key="kv_rebuilt_indexes"):
        elements.paragraph(end_sentence(say("health.rebuilt_as", release=version)))
        with st.container(horizontal=True, vertical_alignment="bottom", key="kv_rebuild_of"):
            directory = st.selectbox(
                say("common.topic_partition"),
                names,
                format_func=units.escape_controls,
                key="kv_rebuild",
                width=320,
            )
            partition = snapshot.broker.partition(directory)
            is_requested = _is_requested(partition, (snapshot.key, directory, version))
            download_slot = st.container(width="content")
        if is_requested:
            _render_indexes(download_slot, snapshot, partition, version=version)


def _is_requested(partition: Partition, request: tuple[str, str, str]) -> bool:
    if partition.live_log_bytes > MAX_LOG_BYTES:
        size = units.format_bytes(partition.live_log_bytes)
        st.html(tag("p", say("health.too_much", size=size), class_="kv-sm kv-fnt"))
        return False
    requests = st.session_state.setdefault(page_state.REBUILT_INDEXES, set())
    if st.button(say("health.build"), icon=":material/build:", key="kv_build"):
        requests.add(request)
    return request in requests


def _render_indexes(
    download_slot: "st.delta_generator.DeltaGenerator",
    snapshot: BrokerSnapshot,
    partition: Partition,
    *,
    version: str,
) -> None:
    try:
        with st.spinner(say("health.recovering")):
            rebuilt_files = _rebuild(
                snapshot, os.fsencode(snapshot.broker.partition_name(partition)), version
            )
    except KafkavizError as fault:
        with elements.state(
            "rebuild",
            "error",
            say("health.not_through"),
            say("common.nothing_changed", error=describe_error(fault)),
        ):
            return
    name = f"{units.escape_controls(partition.directory)}-rebuilt.tar.gz"
    download_slot.download_button(
        say("health.download_indexes"),
        lambda: pack(rebuilt_files, partition),
        name,
        "application/gzip",
        on_click="ignore",
        icon=":material/download:",
        key="kv_rebuilt",
    )
    _render_table(compare_files(rebuilt_files, partition))


def _render_table(rows: Sequence[IndexFileComparison]) -> None:
    changed_text, count_text = (
        units.format_count(number)
        for number in (sum(bool(comparison.difference) for comparison in rows), len(rows))
    )
    summary = say("health.differ", changed=changed_text, all=count_text)
    st.html(tag("p", summary, class_="kv-sm", style="color:var(--kv-ink-2);margin:4px 0 8px"))
    with st.container(key="kv_rebuilt_table"):
        names = ("file", "on_disk", "rebuilt", "differ")
        tables.table([say(f"health.column_{name}") for name in names], map(_cells, rows), "lrrl")


def _cells(comparison: IndexFileComparison) -> tuple[str, ...]:
    on_disk = (
        units.MISSING
        if comparison.on_disk_bytes is None
        else f"{units.format_count(comparison.on_disk_bytes)} B"
    )
    return (
        elements.mono(comparison.name),
        on_disk,
        f"{units.format_count(comparison.rebuilt_bytes)} B",
        comparison.difference or tag("span", say("health.same_bytes"), class_="kv-fnt"),
    )


def offer_partitions(snapshot: BrokerSnapshot, findings: Sequence[Finding]) -> list[str]:
    """Returns the topic-partitions with a .log. Partitions with index findings come first."""
    broker = snapshot.broker
    live = [partition for partition in broker.partitions if partition.live]
    damaged = {
        (finding.log_directory, finding.partition)
        for finding in findings
        if finding.severity != "info" and finding.file and finding.file.endswith(SUFFIXES)
    }
    damaged_names = {
        broker.partition_name(partition)
        for partition in live
        if (broker.directory_of(partition).text, partition.directory) in damaged
        or (None, partition.directory) in damaged
    }
    return sorted(
        map(broker.partition_name, live),
        key=lambda name: (name not in damaged_names, natural_sort_key(name)),
    )


@st.cache_resource(max_entries=MAX_BROKERS, show_spinner=False, hash_funcs=HASH_FUNCS)
def _rebuild(snapshot: BrokerSnapshot, directory: bytes, version: str) -> dict[str, bytes]:
    from kafkaviz.analysis.opened_path import OpenedPath
    from kafkaviz.analysis.rebuild import open_rebuild_source

    partition = snapshot.broker.partition(os.fsdecode(directory))
    opened = OpenedPath(
        path=partition.path, partition=partition, broker=snapshot.broker, typed_version=version
    )
    return {
        name: data
        for segment_indexes in open_rebuild_source(opened, {}).rebuild_segments()
        for name, data in segment_indexes.files().items()
    }


def compare_files(
    rebuilt_files: Mapping[str, bytes], partition: Partition
) -> list[IndexFileComparison]:
    return [_compare_file(name, data, partition) for name, data in rebuilt_files.items()]


def _compare_file(name: str, data: bytes, partition: Partition) -> IndexFileComparison:
    path = partition.path / name
    try:
        size_bytes = file.info(path).size_bytes
        disk_data = file.read(path, 0, min(size_bytes, len(data)))
    except CannotOpen:
        return IndexFileComparison(name, None, len(data), say("health.not_on_disk"))
    return IndexFileComparison(name, size_bytes, len(data), difference(disk_data, size_bytes, data))


def difference(disk_data: bytes, disk_bytes: int, data: bytes) -> str:
    """Describes the first difference between a file and `data`. "" if they are equal."""
    same_bytes = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(disk_data, data, strict=False))
    )
    if same_bytes < min(len(disk_data), len(data)):
        return say("health.from_byte_on", byte=units.format_count(same_bytes))
    if disk_bytes == len(data):
        return ""
    return say_count(
        f"health.{'more' if disk_bytes > len(data) else 'fewer'}_on_disk",
        abs(disk_bytes - len(data)),
    )


def pack(rebuilt_files: Mapping[str, bytes], partition: Partition) -> bytes:
    """Returns the files as a .tar.gz with one folder per topic-partition."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, data in rebuilt_files.items():
            member = tarfile.TarInfo(f"{partition.directory}/{name}")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return out.getvalue()
