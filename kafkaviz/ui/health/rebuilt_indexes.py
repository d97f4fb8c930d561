"""The indexes that recovery would build of a topic-partition, beside those on disk, and an archive
of them to take along.

Nothing is written where the broker's files are: what is built stays in memory until it is
downloaded.
"""

import io
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import streamlit as st

from kafkaviz import units, versions
from kafkaviz.analyse.finding import Finding
from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.figures import fault_words
from kafkaviz.format.names import counting
from kafkaviz.log import file
from kafkaviz.log.partition import Partition
from kafkaviz.ui import parts, state
from kafkaviz.ui.cache import KEPT, Listed
from kafkaviz.words import say

SUFFIXES = (".index", ".timeindex", ".txnindex")
MOST_LOG_BYTES = 1 << 30  # of one topic-partition: recovery reads all of it while the page waits


@dataclass(frozen=True)
class Compared:
    """A rebuilt index file, and the one on disk. on_disk_bytes: None where there is none;
    difference: "" of the same bytes.
    """

    name: str
    on_disk_bytes: int | None
    rebuilt_bytes: int
    difference: str


@st.fragment
def rebuilt_indexes(here: Listed, found: Sequence[Finding], version: str) -> None:
    """A topic-partition to choose, those with a finding about an index first; what recovery makes
    of it, and the archive.
    """
    names = offered(here, found)
    if not names:
        return
    st.space(28)
    parts.heading(say("health.rebuilt"), say("health.rebuilt_as", release=version))
    st.space(8)
    with st.container(horizontal=True, vertical_alignment="bottom", key="kv_rebuild_of"):
        directory = st.selectbox(
            say("common.topic_partition"),
            names,
            format_func=units.legible,
            key="kv_rebuild",
            width=320,
        )
        partition = here.broker.partition(directory)
        is_asked = _asked(partition, (here.key, directory, version))
        place = st.container(width="content")
    if is_asked:
        shown(place, partition, here.key, version)


def _asked(partition: Partition, of: tuple[str, str, str]) -> bool:
    """Whether its indexes were asked for, now or before; of too large a log nobody can. of: the
    listing, the directory, the release.
    """
    log_bytes = sum(one.log.size_bytes for one in partition.live if one.log)
    if log_bytes > MOST_LOG_BYTES:
        st.html(f'<p class="kv-sm kv-fnt">{say("health.too_much", size=units.size(log_bytes))}</p>')
        return False
    known = st.session_state.setdefault(state.BUILT, set())
    if st.button(say("health.build"), icon=":material/build:", key="kv_build"):
        known.add(of)
    return of in known


def shown(
    place: "st.delta_generator.DeltaGenerator", partition: Partition, key: str, version: str
) -> None:
    """The files in a table, or why recovery does not get through; the archive goes into `place`."""
    try:
        with st.spinner(say("health.recovering")):
            built = _built(f"{key} {partition.directory!r} {version}", partition, version)
    except KafkavizError as fault:
        with parts.state(
            "rebuild",
            "error",
            say("health.not_through"),
            say("health.not_through_why", error=fault_words.told(fault)),
        ):
            return
    name = f"{units.legible(partition.directory)}-rebuilt.tar.gz"
    look: dict[str, Any] = {
        "on_click": "ignore",
        "icon": ":material/download:",
        "key": "kv_rebuilt",
    }
    place.download_button(
        say("health.download_indexes"),
        lambda: packed(built, partition),
        name,
        "application/gzip",
        **look,
    )
    _table(compared(built, partition))


def _table(rows: Sequence[Compared]) -> None:
    """How many of the files differ, and each beside its own on disk."""
    changed, count = (
        units.group(number) for number in (sum(bool(one.difference) for one in rows), len(rows))
    )
    differ = parts.escape(say("health.differ", changed=changed, all=count))
    st.html(f'<p class="kv-sm" style="color:var(--kv-ink-2);margin:4px 0 8px">{differ}</p>')
    with st.container(key="kv_rebuilt_table"):
        names = (("file", ""), ("on_disk", ' class="r"'), ("rebuilt", ' class="r"'), ("differ", ""))
        parts.table(
            "".join(f"<th{look}>{say(f'health.column_{name}')}</th>" for name, look in names),
            map(row, rows),
        )


def row(one: Compared) -> str:
    """A file as a row of the table."""
    on_disk = units.MISSING if one.on_disk_bytes is None else f"{units.group(one.on_disk_bytes)} B"
    quiet, words = (
        "" if one.difference else ' class="kv-fnt"',
        one.difference or say("health.same_bytes"),
    )
    return (
        f'<tr><td class="kv-mono">{parts.escape(one.name)}</td><td class="r">{on_disk}</td>'
        f'<td class="r">{units.group(one.rebuilt_bytes)} B</td>'
        f"<td{quiet}>{parts.escape(words)}</td></tr>"
    )


def offered(here: Listed, found: Sequence[Finding]) -> list[str]:
    """The topic-partitions with a .log, those first whose index files have a finding."""
    live = [one.directory for one in here.broker.partitions if one.live]
    damaged = {
        one.partition
        for one in found
        if one.severity != "info" and one.file and one.file.endswith(SUFFIXES)
    }
    return sorted(live, key=lambda one: (one not in damaged, counting(one)))


@st.cache_resource(max_entries=KEPT, show_spinner=False)
def _built(key: str, _partition: Partition, version: str) -> dict[str, bytes]:
    from kafkaviz.analyse.rebuilt import open_source

    release = versions.parse(version)
    return {
        name: data
        for one in open_source(_partition.path, release, {}).rebuilt(release)
        for name, data in one.files().items()
    }


def compared(built: Mapping[str, bytes], partition: Partition) -> list[Compared]:
    """Each rebuilt file beside its own on disk."""
    return [_beside(name, data, partition) for name, data in built.items()]


def _beside(name: str, data: bytes, partition: Partition) -> Compared:
    path = partition.path / name
    try:
        size_bytes = file.info(path).size_bytes
        now = file.read(path, 0, min(size_bytes, len(data)))
    except CannotOpen:
        return Compared(name, None, len(data), say("health.not_on_disk"))
    return Compared(name, size_bytes, len(data), difference(now, size_bytes, data))


def difference(now: bytes, now_bytes: int, data: bytes) -> str:
    """In words, "" of the same bytes. now: as much of the file on disk as there is of the rebuilt
    one; now_bytes: how long it is.
    """
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(now, data, strict=False)))
    if same < min(len(now), len(data)):
        return say("health.from_byte_on", byte=units.group(same))
    if now_bytes == len(data):
        return ""
    return say(
        f"health.{'more' if now_bytes > len(data) else 'fewer'}_on_disk",
        n=units.group(abs(now_bytes - len(data))),
    )


def packed(built: Mapping[str, bytes], partition: Partition) -> bytes:
    """The files as a .tar.gz, in a folder named as the topic-partition."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, data in built.items():
            member = tarfile.TarInfo(f"{partition.directory}/{name}")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return out.getvalue()
