"""A folder of remote segments, in the layout of LocalTieredStorage or of Aiven's plugin.

The folder can be opened like a broker directory. Its segments then appear in topic-partitions (see
tiered_view.py).
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path

import numpy as np

from kafkaviz.errors import CannotOpen, CorruptBytes, KafkavizError, too_large
from kafkaviz.format import checkpoint, remote_segment
from kafkaviz.format.names import META_PROPERTIES
from kafkaviz.format.remote_segment import (
    AIVEN,
    AIVEN_KINDS,
    INDEXES,
    LEADER_EPOCHS,
    LOCAL_KINDS,
    LOCAL_ROOT,
    LOCAL_TIERED_STORAGE,
    MANIFEST,
    SegmentManifest,
    TopicIdPartition,
)
from kafkaviz.log import file
from kafkaviz.log.file import FileInfo
from kafkaviz.messages import message

MAX_MANIFEST_BYTES = 16 << 20
MAX_PREFIX_FOLDERS = 8  # nested prefix folders, one per level, above the topics
MAX_CANDIDATES = 16  # folders that are examined to recognise a layout
# the files that a broker needs to read a segment
NEEDED = {LOCAL_TIERED_STORAGE: ("log", "index", "timeindex"), AIVEN: AIVEN_KINDS}


@dataclass(frozen=True)
class FilePart:
    """A file of a segment, as a range of bytes in a stored file."""

    info: FileInfo
    position: int
    size_bytes: int
    # rows of remote_segment.CHUNK if the range is compressed in chunks, else None
    chunks: np.ndarray | None = field(default=None, compare=False)


@dataclass(frozen=True)
class RemoteSegmentFiles:
    """The files of a remote segment in the store."""

    partition: TopicIdPartition
    start_offset: int
    segment_id: str
    layout: str
    files: Mapping[str, FileInfo]  # by kind, such as INDEXES (format/remote_segment.py)

    @property
    def is_complete(self) -> bool:
        """Whether the store has all files that a broker needs to read the segment."""
        return all(kind in self.files for kind in NEEDED[self.layout])

    @cached_property
    def manifest(self) -> SegmentManifest | None:
        """The manifest in Aiven's layout; None without one. Raises CorruptFile if it is invalid."""
        info = self.files.get(MANIFEST)
        if info is None:
            return None
        return file.parse(info.path, remote_segment.parse_manifest, MAX_MANIFEST_BYTES)

    @property
    def is_encrypted(self) -> bool:
        return self.manifest is not None and self.manifest.is_encrypted

    @property
    def has_encryption(self) -> bool | None:
        """Whether the segment is encrypted. None if its manifest cannot be read."""
        try:
            return self.is_encrypted
        except KafkavizError:
            return None

    @property
    def log_bytes(self) -> int | None:
        """The size that the .log had on the broker, or None if unknown."""
        if self.layout == AIVEN:
            return self.manifest.log_bytes if self.manifest else None
        return self.files["log"].size_bytes if "log" in self.files else None

    @property
    def stored_bytes(self) -> int:
        return sum(info.size_bytes for info in self.files.values())

    def parts(self) -> dict[str, FilePart]:
        """Returns the segment's files, by kind, as they would be in a partition directory.

        An empty .txnindex is left out, because a broker does not keep one. Raises CannotOpen if the
        segment is incomplete, cut or encrypted, CorruptFile if its manifest is invalid.
        """
        if not self.is_complete:
            missing = next(kind for kind in NEEDED[self.layout] if kind not in self.files)
            what = message("tiered.incomplete", segment=self.segment_id, kind=missing)
            raise CannotOpen(next(iter(self.files.values())).path, what, kind="missing")
        if self.layout == LOCAL_TIERED_STORAGE:
            return {
                kind: FilePart(info, 0, info.size_bytes)
                for kind, info in self.files.items()
                if info.size_bytes or kind in NEEDED[LOCAL_TIERED_STORAGE]
            }
        if self.is_encrypted:
            path = self.files["log"].path
            what = message("tiered.encrypted")
            raise CannotOpen(path, what, message("tiered.decrypt_it"), kind="encrypted")
        manifest = self.manifest
        assert manifest is not None
        log = self.files["log"]
        indexes = self.files[INDEXES]
        log_end = manifest.object_bytes
        index_end = max((start + size for start, size in manifest.indexes.values()), default=0)
        for info, end in ((log, log_end), (indexes, index_end)):
            if info.size_bytes < end:
                what = message("tiered.too_short", size=info.size_bytes, expected=end)
                raise CannotOpen(info.path, what)
        parts = {
            kind: FilePart(indexes, position, size)
            for kind, (position, size) in manifest.indexes.items()
            if size or kind in NEEDED[LOCAL_TIERED_STORAGE]
        }
        chunks = manifest.chunks if manifest.is_compressed else None
        return parts | {"log": FilePart(log, 0, manifest.log_bytes, chunks)}

    def leader_epochs(self) -> list[tuple[int, int]]:
        """Returns (leader epoch, first offset) per epoch of the log up to the segment's end."""
        part = self.parts().get(LEADER_EPOCHS)
        if part is None:
            return []
        if part.size_bytes > file.TEXT_BYTES:
            raise too_large(part.info.path, part.size_bytes, file.TEXT_BYTES)
        text = file.read(part.info.path, part.position, part.size_bytes)
        try:
            return checkpoint.parse_leader_epochs(text)
        except CorruptBytes as fault:
            raise fault.in_file(part.info.path, part.position) from None


def may_be_store(names: Collection[str]) -> bool:
    """Returns whether a folder with these files may be or contain a store of remote segments."""
    if META_PROPERTIES in names:
        return False
    return len(names) == 1 or LOCAL_ROOT in names or any(map(_is_topic_folder, names))


def find_root(path: Path) -> Path | None:
    """Returns the folder that contains the topics. None if `path` is not a store.

    The result may be `path` itself, the folder of LocalTieredStorage in `path`, or a folder some
    levels below.
    """
    for _ in range(MAX_PREFIX_FOLDERS):
        if file.is_there(path / META_PROPERTIES):
            return None
        if (path / LOCAL_ROOT).is_dir():
            path = path / LOCAL_ROOT
        folders = _folders(path)
        if _has_segments(path, folders):
            return path
        if len(folders) != 1:
            return None
        path = path / folders[0]
    return None


def list_store(root: Path) -> dict[TopicIdPartition, list[RemoteSegmentFiles]]:
    """Returns the segments in a store by topic-partition, sorted by start offset.

    Only names, sizes and Aiven's manifests are read. `root` comes from `find_root`.
    """
    segments: dict[TopicIdPartition, list[RemoteSegmentFiles]] = {}
    for partition, folder, layout in _partition_folders(root):
        kinds = LOCAL_KINDS if layout == LOCAL_TIERED_STORAGE else AIVEN_KINDS
        groups: dict[tuple[int, str], dict[str, FileInfo]] = defaultdict(dict)
        for info in file.list_files(folder):
            name = remote_segment.parse_segment_file(info.name)
            if name and name.kind in kinds:
                groups[name.start_offset, name.segment_id][name.kind] = info
        partition_segments = [
            RemoteSegmentFiles(partition, start_offset, segment_id, layout, files)
            for (start_offset, segment_id), files in sorted(groups.items())
        ]
        true_partition = _named_by_manifest(partition, partition_segments)
        segments.setdefault(true_partition, []).extend(
            replace(segment, partition=true_partition) for segment in partition_segments
        )
    return segments


def _named_by_manifest(
    partition: TopicIdPartition, segments: list[RemoteSegmentFiles]
) -> TopicIdPartition:
    """Returns the topic-partition that a manifest names, else `partition` (the folder's name)."""
    for segment in segments:
        try:
            manifest = segment.manifest
        except KafkavizError:
            continue
        if manifest and manifest.metadata:
            return manifest.metadata.partition
    return partition


def _partition_folders(root: Path) -> Iterator[tuple[TopicIdPartition, Path, str]]:
    for name in _folders(root):
        topic_partition = remote_segment.parse_partition_folder(name)
        if topic_partition:
            yield topic_partition, root / name, LOCAL_TIERED_STORAGE
        topic = remote_segment.parse_topic_folder(name)
        for number in _folders(root / name) if topic else ():
            partition = remote_segment.parse_partition_number(number)
            if topic and partition is not None:
                topic_id_partition = TopicIdPartition(topic[0], partition, topic[1])
                yield topic_id_partition, root / name / number, AIVEN


def _has_segments(root: Path, folders: list[str]) -> bool:
    candidates = islice(filter(_is_topic_folder, folders), MAX_CANDIDATES)
    return any(_holds_segment(root / name) for name in candidates)


def _is_topic_folder(name: str) -> bool:
    """Returns whether the folder of a topic or partition in a store may have this name."""
    is_local = remote_segment.parse_partition_folder(name) is not None
    return is_local or remote_segment.parse_topic_folder(name) is not None


def _holds_segment(folder: Path) -> bool:
    folders = [folder] + [
        folder / name
        for name in islice(_folders(folder), MAX_CANDIDATES)
        if remote_segment.parse_partition_number(name) is not None
    ]
    for path in folders:
        with file.scan(path) as entries:
            if any(remote_segment.parse_segment_file(entry.name) for entry in entries):
                return True
    return False


def _folders(path: Path) -> list[str]:
    with file.scan(path) as entries:
        return sorted(entry.name for entry in entries if file.is_directory(entry))
