"""What a lookup reads from tiered storage, and a modelled cost of it.

Of a remote segment a broker first fetches the indexes, whole, and keeps them in its
remote-log-index-cache (RemoteIndexCache of Kafka 4.3.1); then the .log from the position that the
index gives (RemoteLogManager.read), here up to the end of the batch that answers. Counted is a
broker that has nothing of the segment yet:

    00000000000000000041.index       1 request      32 B
    00000000000000000041.timeindex   1 request      36 B
    00000000000000000041.log         1 request   1 336 B    from byte 2990 on

In Aiven's layout the manifest comes before, and the .log chunk by chunk, each a request for its
compressed bytes. The cost is modelled: requests one after the other, each of the same latency.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kafkaviz.errors import CorruptBytes
from kafkaviz.format import segment_manifest
from kafkaviz.format.remote_names import AIVEN
from kafkaviz.log import file
from kafkaviz.log.tiered.segment_store import MAX_MANIFEST_BYTES
from kafkaviz.log.tiered.tiered_view import RemoteFile
from kafkaviz.search.index import IndexSearch
from kafkaviz.search.log_view import SegmentView
from kafkaviz.search.lookup import Lookup
from kafkaviz.units import file_stem

REQUEST_MS = 50.0  # of a request, where nothing else is said


@dataclass(frozen=True)
class RemoteRead:
    """What is fetched of one file of a remote segment."""

    segment: int  # its base offset
    file: str
    requests: int
    size_bytes: int


@dataclass(frozen=True)
class RemoteCost:
    """All that a lookup fetches, in the order of its steps.

    Attributes:
        request_ms: the latency of a request that the cost is modelled with.
    """

    reads: tuple[RemoteRead, ...]
    request_ms: float = REQUEST_MS

    @property
    def requests(self) -> int:
        """Of all reads."""
        return sum(read.requests for read in self.reads)

    @property
    def size_bytes(self) -> int:
        """Of all reads."""
        return sum(read.size_bytes for read in self.reads)

    @property
    def modelled_ms(self) -> float:
        """The requests one after the other."""
        return self.requests * self.request_ms


def remote_cost(
    lookup: Lookup,
    segments: Sequence[SegmentView],
    remote_files: Mapping[int, RemoteFile],
    request_ms: float = REQUEST_MS,
) -> RemoteCost:
    """What a lookup fetches from the store.

    Args:
        segments: of the log it went through.
        remote_files: the segments of that log that lie in the store alone, by base offset.
    """
    views = {segment.base_offset: segment for segment in segments}
    reads: list[RemoteRead] = []
    opened: set[int] = set()
    for step in lookup.path:
        remote_file = remote_files.get(step.segment)
        if remote_file is None:
            continue
        if step.segment not in opened:
            opened.add(step.segment)
            reads += _index_reads(views[step.segment], remote_file)
        if not isinstance(step, IndexSearch):
            ends = [read.position + read.size for read in step.reads]
            end = (
                step.batch.position + step.batch.size_bytes if step.batch else max(ends, default=0)
            )
            reads += _log_reads(step.segment, remote_file, step.from_position, end)
    return RemoteCost(tuple(reads), request_ms)


def as_object(cost: RemoteCost) -> dict:
    """The object that `kafkaviz lookup --json` prints."""
    return {
        "reads": [
            {
                "segment": read.segment,
                "file": read.file,
                "requests": read.requests,
                "bytes": read.size_bytes,
            }
            for read in cost.reads
        ],
        "requests": cost.requests,
        "bytes": cost.size_bytes,
        "request_ms": cost.request_ms,
        "modelled_ms": cost.modelled_ms,
    }


def _index_reads(segment: SegmentView, remote_file: RemoteFile) -> list[RemoteRead]:
    base, reads = segment.base_offset, []
    if remote_file.layout == AIVEN and remote_file.manifest:
        size_bytes = file.info(remote_file.manifest).size_bytes
        reads.append(RemoteRead(base, remote_file.manifest.name, 1, size_bytes))
    for index in (segment.index, segment.timeindex, segment.txnindex):
        if index is not None:
            reads.append(RemoteRead(base, index.name, 1, index.size_bytes))
    return reads


def _log_reads(base: int, remote_file: RemoteFile, start: int, end: int) -> list[RemoteRead]:
    name = f"{file_stem(base)}.log"
    if end <= start:
        return []
    if remote_file.layout != AIVEN or remote_file.manifest is None:
        return [RemoteRead(base, name, 1, end - start)]
    try:
        manifest = segment_manifest.parse(
            file.read(remote_file.manifest, limit_bytes=MAX_MANIFEST_BYTES)
        )
    except CorruptBytes as fault:
        raise fault.in_file(remote_file.manifest) from None
    chunks = manifest.chunks
    is_read = (chunks["position"] < end) & (chunks["position"] + chunks["size_bytes"] > start)
    size_bytes = int(chunks["object_size_bytes"][is_read].sum())
    return [RemoteRead(base, name, int(is_read.sum()), size_bytes)]
