"""The reads that a lookup makes in tiered storage or an object store, and their cost.

A broker fetches the complete indexes of a remote segment (RemoteIndexCache of Kafka 4.3.1). Then it
reads the .log from the position that the index gives (RemoteLogManager.read). The bytes of the .log
are counted up to the end of the batch that is looked up. The broker's cache is assumed to be empty.
For example:

    00000000000000000041.index       1 request      32 B
    00000000000000000041.timeindex   1 request      36 B
    00000000000000000041.log         1 request   1 336 B    from byte 2990 on

In Aiven's layout the manifest is read first, then the .log with one request per compressed chunk.

If kafkaviz itself reads a log in an object store, the requests, bytes and time of this process are
counted per file. If a file was already in kafkaviz's block cache, the requests and bytes are those
that an empty cache would need. Their time is unknown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kafkaviz.binary.file_view import ON_DISK, FileView
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import remote_segment
from kafkaviz.format.remote_segment import AIVEN
from kafkaviz.log import file
from kafkaviz.log.remote import address, block_cache, file_system
from kafkaviz.log.remote.address import RemotePath, Store
from kafkaviz.log.tiered.segment_store import MAX_MANIFEST_BYTES
from kafkaviz.log.tiered.tiered_view import RemoteFile
from kafkaviz.search.index_search import ENTRY_BYTES, OFFSET, IndexSearch
from kafkaviz.search.log_view import SegmentView
from kafkaviz.search.lookup import Lookup
from kafkaviz.search.scan import ForwardScan
from kafkaviz.units import file_stem

REQUEST_MS = 50.0  # assumed latency of a request


@dataclass(frozen=True)
class RemoteRead:
    """The requests for one file of a remote segment, and the bytes fetched."""

    segment: int  # base offset of the segment
    file: str
    requests: int
    size_bytes: int
    measured_ms: float | None = None  # None if this process made no request


@dataclass(frozen=True)
class RemoteCost:
    """All reads of a lookup, in the order of its steps."""

    reads: tuple[RemoteRead, ...]
    request_ms: float = REQUEST_MS  # latency of a request
    measured_requests: int = 0  # request_ms is the mean of these; 0: it was given or assumed
    is_tiered: bool = True  # a broker reads tiered storage; else kafkaviz reads an object store

    @property
    def requests(self) -> int:
        return sum(read.requests for read in self.reads)

    @property
    def size_bytes(self) -> int:
        return sum(read.size_bytes for read in self.reads)

    @property
    def modelled_ms(self) -> float:
        return self.requests * self.request_ms

    @property
    def measured_ms(self) -> float | None:
        """The total measured time of all reads; None unless every read was measured."""
        if not self.reads or any(read.measured_ms is None for read in self.reads):
            return None
        return sum(self.read_ms(read) for read in self.reads)

    def read_ms(self, read: RemoteRead) -> float:
        modelled_ms = read.requests * self.request_ms
        return modelled_ms if read.measured_ms is None else read.measured_ms

    def reads_of(self, file: str) -> list[RemoteRead]:
        return [read for read in self.reads if read.file == file]


def remote_cost(
    lookup: Lookup,
    segments: Sequence[SegmentView],
    remote_files: Mapping[int, RemoteFile],
    request_ms: float | None = None,
    store: Store | None = None,
) -> RemoteCost:
    """Returns the requests of a lookup to tiered storage or an object store, and their cost.

    Args:
        segments: all segments of the searched log.
        remote_files: the segments that are only in tiered storage, by base offset.
        request_ms: None: the mean that this process measured for the store. If it measured none,
            REQUEST_MS.
        store: the store of tiered storage. None: not tiered, or the address is unknown.
    """
    views = {segment.base_offset: segment for segment in segments}
    reads: list[RemoteRead] = []
    opened: set[int] = set()
    for step in lookup.path:
        remote_file = remote_files.get(step.base_offset)
        if remote_file is None:
            segment = views[step.base_offset]
            view = segment.log
            if isinstance(step, IndexSearch):
                view = (segment.index if step.kind == OFFSET else segment.timeindex) or view
            remote = _remote_path(view)
            if remote and view.name not in [read.file for read in reads]:
                reads.append(_stored_read(step, view, remote))
                store = store or remote.store
            continue
        if step.base_offset not in opened:
            opened.add(step.base_offset)
            reads += _index_reads(views[step.base_offset], remote_file)
        if not isinstance(step, IndexSearch):
            end = max((read.position + read.size for read in step.reads), default=0)
            if step.batch:
                end = step.batch.position + step.batch.size_bytes
            reads += _log_reads(step.base_offset, remote_file, step.from_position, end)
    measured = file_system.store_time(store) if store and request_ms is None else None
    stated_ms = REQUEST_MS if request_ms is None else request_ms
    return RemoteCost(
        tuple(reads),
        measured.elapsed_ms / measured.requests if measured else stated_ms,
        measured.requests if measured else 0,
        is_tiered=bool(remote_files),
    )


def _remote_path(view: FileView) -> RemotePath | None:
    """Returns the path in the store that a file is read from; None: not read from a store."""
    if not view.path or view.source != ON_DISK:
        return None
    mirrored_path = address.mirrored_file(view.path)
    return address.remote_path(mirrored_path) if mirrored_path else address.parse(view.path)


def _stored_read(step: IndexSearch | ForwardScan, view: FileView, remote: RemotePath) -> RemoteRead:
    """Returns the requests for a file: as measured, or if not measured, as with an empty cache."""
    if measured := file_system.object_time(remote):
        return RemoteRead(
            step.base_offset, view.name, measured.requests, measured.read_bytes, measured.elapsed_ms
        )
    if block_cache.is_fetched_whole(Path(view.name), view.size_bytes):
        starts = {0}
        size_bytes = view.size_bytes
    else:
        if isinstance(step, IndexSearch):
            probes = step.slot_search.probes
            positions = [probe.slot * ENTRY_BYTES[step.kind] for probe in probes]
        else:
            positions = [read.position for read in step.reads]
        starts = {position // block_cache.POINT_BYTES for position in positions}
        size_bytes = len(starts) * block_cache.POINT_BYTES
    return RemoteRead(
        step.base_offset, view.name, 1 + len(starts), min(size_bytes, view.size_bytes)
    )


def _index_reads(segment: SegmentView, remote_file: RemoteFile) -> list[RemoteRead]:
    base = segment.base_offset
    reads = []
    if remote_file.layout == AIVEN and remote_file.manifest:
        size_bytes = file.info(remote_file.manifest).size_bytes
        reads.append(RemoteRead(base, remote_file.manifest.name, 1, size_bytes))
    indexes = (segment.index, segment.timeindex, segment.txnindex)
    return reads + [RemoteRead(base, index.name, 1, index.size_bytes) for index in indexes if index]


def _log_reads(base: int, remote_file: RemoteFile, start: int, end: int) -> list[RemoteRead]:
    name = f"{file_stem(base)}.log"
    if end <= start:
        return []
    if remote_file.layout != AIVEN or remote_file.manifest is None:
        return [RemoteRead(base, name, 1, end - start)]
    try:
        manifest = remote_segment.parse_manifest(
            file.read(remote_file.manifest, limit_bytes=MAX_MANIFEST_BYTES)
        )
    except CorruptBytes as fault:
        raise fault.in_file(remote_file.manifest) from None
    chunks = manifest.chunks
    is_read = (chunks["position"] < end) & (chunks["position"] + chunks["size_bytes"] > start)
    size_bytes = int(chunks["object_size_bytes"][is_read].sum())
    return [RemoteRead(base, name, int(is_read.sum()), size_bytes)]
