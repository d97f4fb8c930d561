"""The indexes that recovery would build of a topic-partition, beside those on disk, and an archive of them to take along.

Nothing is written where the broker's files are: what is built stays in memory until it is downloaded.
"""

import io
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

import streamlit as st

from kafkaviz import units, versions
from kafkaviz.analyse.finding import Finding
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.log import file
from kafkaviz.log.partition import Partition
from kafkaviz.ui import parts, state
from kafkaviz.ui.cache import KEPT, Listed

SUFFIXES = (".index", ".timeindex", ".txnindex")
MOST_LOG_BYTES = 1 << 30  # of one topic-partition: recovery reads all of it while the page waits
HEAD = '<th>File</th><th class="r">On disk</th><th class="r">Rebuilt</th><th>How they differ</th>'


@dataclass(frozen=True)
class Compared:
    """A rebuilt index file, and the one on disk. on_disk_bytes: None where there is none."""

    name: str
    on_disk_bytes: int | None
    rebuilt_bytes: int
    difference: str


@st.fragment
def rebuilt_indexes(here: Listed, found: Sequence[Finding], version: str) -> None:
    """A topic-partition to choose, those with a finding about an index first; what recovery makes of it, and the archive."""
    names = offered(here, found)
    if not names:
        return
    st.space(28)
    parts.heading("Indexes built anew", f"as the recovery of Kafka {version} builds them from the .log alone; nothing here is changed")
    st.space(8)
    with st.container(horizontal=True, vertical_alignment="bottom", key="kv_rebuild_of"):
        directory = st.selectbox("Topic-partition", names, format_func=units.legible, key="kv_rebuild", width=320)
        partition = here.broker.partition(directory)
        log_bytes = sum(one.log.size_bytes for one in partition.live if one.log)
        if log_bytes > MOST_LOG_BYTES:
            st.html(f'<p class="kv-sm kv-fnt">{units.size(log_bytes)} of .log are too much for a page: kafkaviz rebuild writes them.</p>')
            return
        asked = st.button("Build them", icon=":material/build:", key="kv_build")
        known = st.session_state.setdefault(state.BUILT, set())
        if asked:
            known.add((here.key, directory, version))
        place = st.container(width="content")
    if (here.key, directory, version) in known:
        shown(place, partition, here.key, version)


def shown(place: "st.delta_generator.DeltaGenerator", partition: Partition, key: str, version: str) -> None:
    """The files in a table, or why recovery does not get through; the archive goes into `place`."""
    try:
        built = _built(f"{key} {partition.directory} {version}", partition, version)
    except KafkavizError as fault:
        with parts.state("rebuild", "error", "Recovery does not get through this topic-partition", f"{fault}. Nothing was changed."):
            return
    name = f"{units.legible(partition.directory)}-rebuilt.tar.gz"
    look = {"on_click": "ignore", "icon": ":material/download:", "key": "kv_rebuilt"}
    place.download_button("Download the indexes", lambda: packed(built, partition), name, "application/gzip", **look)
    rows = compared(built, partition)
    changed = sum(one.difference != "the same bytes" for one in rows)
    st.html(
        '<p class="kv-sm" style="color:var(--kv-ink-2);margin:4px 0 8px">'
        f"{units.group(changed)} of {units.group(len(rows))} files differ from "
        "those on disk. Unwritten slots behind the last entry are cut off, as a broker does when it closes a segment.</p>"
    )
    with st.container(key="kv_rebuilt_table"):
        parts.table(HEAD, map(row, rows))


def row(one: Compared) -> str:
    """A file as a row of the table."""
    on_disk = units.MISSING if one.on_disk_bytes is None else f"{units.group(one.on_disk_bytes)} B"
    quiet = ' class="kv-fnt"' if one.difference == "the same bytes" else ""
    return (
        f'<tr><td class="kv-mono">{parts.escape(one.name)}</td><td class="r">{on_disk}</td>'
        f'<td class="r">{units.group(one.rebuilt_bytes)} B</td><td{quiet}>{parts.escape(one.difference)}</td></tr>'
    )


def offered(here: Listed, found: Sequence[Finding]) -> list[str]:
    """The topic-partitions with a .log, those first whose index files have a finding."""
    live = [one.directory for one in here.broker.partitions if one.live]
    damaged = {one.partition for one in found if one.severity != "info" and one.file and one.file.endswith(SUFFIXES)}
    return sorted(live, key=lambda one: (one not in damaged, one))


@st.cache_resource(max_entries=KEPT, show_spinner="Recovering the segments")
def _built(key: str, _partition: Partition, version: str) -> dict[str, bytes]:
    from kafkaviz.analyse.rebuilt import open_source
    from kafkaviz.simulate.config import profile
    from kafkaviz.simulate.starting.rebuilding import Refused, rebuild

    release = versions.parse(version)
    source = open_source(_partition.path, release, {})
    try:
        return {name: data for one in rebuild(source.log(), source.base_offsets, profile(release)) for name, data in one.files().items()}
    except Refused as refused:
        raise KafkavizError(str(refused)) from None


def compared(built: Mapping[str, bytes], partition: Partition) -> list[Compared]:
    """Each rebuilt file beside its own on disk."""
    return [_beside(name, data, partition) for name, data in built.items()]


def _beside(name: str, data: bytes, partition: Partition) -> Compared:
    path = partition.path / name
    try:
        size_bytes = file.info(path).size_bytes
        now = file.read(path, 0, min(size_bytes, len(data)))
    except CannotOpen:
        return Compared(name, None, len(data), "not on disk")
    return Compared(name, size_bytes, len(data), difference(now, size_bytes, data))


def difference(now: bytes, now_bytes: int, data: bytes) -> str:
    """In words. now: as much of the file on disk as there is of the rebuilt one; now_bytes: how long it is."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(now, data, strict=False)))
    if same < min(len(now), len(data)):
        return f"from byte {units.group(same)} on"
    if now_bytes == len(data):
        return "the same bytes"
    return f"{units.group(abs(now_bytes - len(data)))} B {'more' if now_bytes > len(data) else 'fewer'} on disk"


def packed(built: Mapping[str, bytes], partition: Partition) -> bytes:
    """The files as a .tar.gz, in a folder named as the topic-partition."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, data in built.items():
            member = tarfile.TarInfo(f"{partition.directory}/{name}")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return out.getvalue()
