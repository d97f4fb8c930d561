"""Shows a store of remote segments as a broker directory, alone or joined with a real one.

The view is a folder in kafkaviz's cache with links to the broker's files and to the remote
segments, under the names that they had on the broker. For example, orders-0 may hold:

    00000000000000000000.log -> …/orders-0-goH9on…/00000000000000000000-JvhShY….log
    00000000000000000335.log -> /var/lib/kafka/orders-0/00000000000000000335.log

A small part of a local file, such as an index in .indexes, is copied. A part that is compressed,
large or of a remote file becomes a file in the block cache (remote/). Nothing is written into the
store or the broker directory. The view is updated whenever it is opened. The parent folder of the
view has a VIEW_FILE, which lists the remote segments.
"""

import hashlib
import json
import os
import time
from collections.abc import Collection, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, cast

from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.format import checkpoint, names, offset_index, time_index
from kafkaviz.format.names import LEADER_EPOCHS, PARTITION_METADATA
from kafkaviz.format.remote_segment import LEADER_EPOCHS as STORED_EPOCHS
from kafkaviz.format.remote_segment import MANIFEST, TopicIdPartition
from kafkaviz.format.walk import Walk
from kafkaviz.log import file
from kafkaviz.log.cache_folder import make_link, remove_others, temporary_path
from kafkaviz.log.partition import CheckpointOffsets, Partition, RemoteGap, open_partition
from kafkaviz.log.remote import address, block_cache, mirror
from kafkaviz.log.remote.address import Store
from kafkaviz.log.remote.block_cache import Extent
from kafkaviz.log.tiered.remote_log_metadata import read_metadata
from kafkaviz.log.tiered.segment_store import FilePart, RemoteSegmentFiles, find_root, list_store
from kafkaviz.log.tiered.tiered_partition import TieredPartition, TieredSegment, join_partition
from kafkaviz.messages import Message, message
from kafkaviz.units import file_stem

FETCHED_FOLDER = "tiered"  # the folder in the block cache
VIEW_FILE = "tiered.json"
REFRESH_S = 2.0  # a view is compared with its sources at most this often
PIECE_BYTES = 1 << 20

_REFRESHED: dict[Path, float] = {}  # when this process last updated a view, by its parent folder


@dataclass(frozen=True)
class TieredState:
    """Everything in a store and its broker directory."""

    store: Path | None  # None if only a broker directory was given
    local: Path | None  # the broker directory, or None for a store alone
    # the partitions with remote segments or metadata, and those in the `directories` that
    # `read_state` was given, sorted by directory name
    partitions: tuple[TieredPartition, ...]
    problems: tuple[KafkavizError, ...] = ()
    # whether all partitions of __remote_log_metadata were read to their ends
    is_metadata_whole: bool = True


@dataclass(frozen=True)
class TieredOffsets:
    """Two offsets that only a partition with tiered storage has."""

    # the base offset of the first local segment; None without a broker directory
    local_log_start: int | None
    latest_tiered: int | None  # the last copied offset, or None if nothing was copied


@dataclass(frozen=True)
class RemoteFile:
    """Facts about a remote segment, recorded in the view."""

    layout: str  # of the store: LOCAL_TIERED_STORAGE or AIVEN
    manifest: Path | None = None  # the path of the segment's manifest in Aiven's layout


def open_directory(path: Path) -> Path:
    """Returns the directory to read: the updated view if `path` is a store, else `path` itself."""
    home = _home_of(path)
    if home:
        _refresh(home)
        return path
    return open_view(path) if find_root(path) else path


def locate(path: Path) -> Path:
    """Converts a path in a store (STORE/orders-0) to the path in its view. Keeps other paths."""
    if file.is_there(path):
        return path
    for parent in path.parents:
        if file.is_there(parent):
            return open_view(parent) / path.relative_to(parent) if find_root(parent) else path
    return path


def open_view(store: Path, local: Path | None = None) -> Path:
    """Creates or updates the view of a store, alone or with a broker directory.

    Raises:
        CannotOpen: `store` is not a store, or a segment in it cannot be read.
        CorruptFile: a manifest is invalid.
    """
    for directory in filter(None, (store, local)):
        mirror.refresh(directory)
    state = read_state(store, local)
    root = cast("Path", state.store)
    home = views_folder() / _identity(root, local)
    folder = home / (local or root).name
    folder.mkdir(parents=True, exist_ok=True)
    views = _sync(folder, state)
    gaps = [gap for partition in views.values() for gap in partition.gaps]
    if gaps and local is None and not any(partition.remote for partition in views.values()):
        next_step = message("tiered.decrypt_it") if gaps[0].kind == "encrypted" else None
        raise CannotOpen(gaps[0].path, gaps[0].what, next_step, kind=gaps[0].kind or "file")
    description = {
        "store": os.fspath(root),
        "given_store": os.fspath(store),
        "local": local and os.fspath(local),
        "partitions": {name: partition.remote for name, partition in views.items()},
        "gaps": {
            name: [_gap_object(gap) for gap in partition.gaps] for name, partition in views.items()
        },
        "offsets": {
            name: (partition.local_log_start, partition.latest_tiered)
            for name, partition in _current_partitions(state).items()
        },
    }
    _write(home / VIEW_FILE, json.dumps(description, sort_keys=True).encode())
    _REFRESHED[home] = time.monotonic()
    return folder


def _gap_object(gap: RemoteGap) -> dict[str, Any]:
    return vars(gap) | {"path": os.fspath(gap.path), "what": gap.what.to_json()}


def sources(path: Path) -> tuple[Path, Path | None] | None:
    """Returns (store, broker directory or None) of the view that contains a path, else None."""
    description = _description_of(path)
    if description is None:
        return None
    local = description["local"]
    return Path(description["store"]), Path(local) if local else None


def remote_store(path: Path) -> Store | None:
    """Returns the remote store of the view that contains `path`. None: no view or a local store."""
    both = sources(path)
    remote = address.remote_path(both[0]) if both else None
    return remote.store if remote else None


def given_store(path: Path) -> Path | None:
    """Returns the store as the user gave it. None: `path` is not in the view of a store."""
    description = _description_of(path)
    return Path(description.get("given_store", description["store"])) if description else None


def is_store_alone(path: Path) -> bool:
    """Returns whether a path is in the view of a store without a broker directory."""
    both = sources(path)
    return both is not None and both[1] is None


def view_folder(path: Path) -> Path | None:
    """Returns the view that contains a path, or None. The path may be the view itself."""
    home = _home_of(path)
    return home / path.relative_to(home).parts[0] if home and path != home else None


def own_folders(path: Path) -> tuple[Path, ...]:
    """Returns the parent folder of the view that contains `path`, and the folder of fetched files.

    Returns () if `path` is not in a view.
    """
    home = _home_of(path)
    return (home, fetched_folder(home)) if home else ()


def remote_files(partition_path: Path) -> dict[int, RemoteFile]:
    """Returns the segments of a partition directory that are in a store, by base offset."""
    description = _description_of(partition_path)
    segments = description["partitions"].get(partition_path.name, {}) if description else {}
    return {
        int(base): RemoteFile(layout, Path(manifest) if manifest else None)
        for base, (layout, manifest) in segments.items()
    }


def remote_gaps(partition_path: Path) -> tuple[RemoteGap, ...]:
    """Returns a partition's offsets that should be in the store but cannot be read there."""
    description = _description_of(partition_path) or {}
    gaps = description.get("gaps", {}).get(partition_path.name, ())
    return tuple(
        RemoteGap(
            first_offset=gap["first_offset"],
            last_offset=gap["last_offset"],
            path=Path(gap["path"]),
            what=Message.from_json(gap["what"]),
            kind=gap["kind"],
        )
        for gap in gaps
    )


def tiered_offsets(partition_path: Path) -> TieredOffsets | None:
    """Returns the TieredOffsets of a partition, or None if its view has none."""
    description = _description_of(partition_path)
    offsets = description["offsets"].get(partition_path.name) if description else None
    return TieredOffsets(*offsets) if offsets else None


def highest_remote_offset(partition_path: Path) -> int | None:
    """Returns the partition's last copied offset: -1 if nothing was copied, None outside a view."""
    if _home_of(partition_path) is None:
        return None
    offsets = tiered_offsets(partition_path)
    return -1 if offsets is None or offsets.latest_tiered is None else offsets.latest_tiered


def read_state(
    store: Path | None, local: Path | None = None, directories: Collection[str] = ()
) -> TieredState:
    """Returns where the segments of each topic-partition are.

    Raises CannotOpen if `store` is not a store of remote segments, or a directory cannot be read.

    Args:
        store: the store, or None to trust the metadata in the broker directory alone.
        local: the broker directory to which the store belongs.
        directories: names of partition directories. They are in the result even if nothing was
            copied.
    """
    root = find_root(store) if store else None
    if store and root is None:
        raise CannotOpen(
            store, message("tiered.no_store"), message("tiered.give_store"), kind="not-kafka"
        )
    stored = list_store(root) if root else {}
    problems: list[KafkavizError] = []
    local_partitions = _local_partitions(local, problems) if local else {}
    metadata = read_metadata(local_partitions.values())
    by_id = {
        (partition.directory, partition.topic_id): partition
        for partition in local_partitions.values()
    }
    requested = {
        TopicIdPartition(partition.topic, partition.partition, partition.topic_id or "")
        for directory, partition in local_partitions.items()
        if directory in directories
    }
    names_of_all = sorted(
        {*stored, *metadata.caches, *metadata.deletions, *requested},
        key=lambda name: (names.natural_sort_key(name.directory), name.topic_id),
    )
    partitions = tuple(
        join_partition(
            name,
            stored.get(name, ()),
            metadata,
            by_id.get((name.directory, name.topic_id or None)),
            has_store=root is not None,
        )
        for name in names_of_all
    )
    problems += metadata.problems
    return TieredState(
        root, local, partitions, tuple(problems), is_metadata_whole=not metadata.problems
    )


def _local_partitions(local: Path, problems: list[KafkavizError]) -> dict[str, Partition]:
    with file.scan(local) as entries:
        partition_names = {
            entry.name: name
            for entry in entries
            if (name := names.parse_directory(entry.name))
            and name.state == "current"
            and file.is_directory(entry)
        }
    starts = _log_starts(local, problems)
    partitions = {}
    for directory, name in partition_names.items():
        checkpoints = CheckpointOffsets(log_start=starts.get((name.topic, name.partition)))
        partitions[directory] = open_partition(local / directory, name, checkpoints)
    return partitions


def _log_starts(local: Path, problems: list[KafkavizError]) -> dict[tuple[str, int], int]:
    path = local / names.LOG_START_CHECKPOINT
    try:
        if file.is_there(path):
            return file.parse(path, checkpoint.parse_offsets, file.TEXT_BYTES)
    except KafkavizError as fault:
        problems.append(fault)
    return {}


# ---- the folder


@dataclass(frozen=True)
class _PartitionView:
    """The view of one partition."""

    remote: dict[str, list[str | None]]  # layout and manifest by base offset
    gaps: tuple[RemoteGap, ...]  # the offsets that are not shown


def _sync(folder: Path, state: TieredState) -> dict[str, _PartitionView]:
    views: dict[str, _PartitionView] = {}
    current = _current_partitions(state)
    tiered_partitions = {name: current[name] for name in current if _has_remote(current[name])}
    wanted_names = {*tiered_partitions}
    if state.local:
        with file.scan(state.local) as entries:
            wanted_names |= {entry.name for entry in entries}
    for name in wanted_names:
        if name not in tiered_partitions:
            make_link(folder / name, cast("Path", state.local) / name)
            continue
        local = state.local / name if state.local and (state.local / name).is_dir() else None
        views[name] = _sync_partition(folder / name, tiered_partitions[name], local)
    remove_others(folder, wanted_names)
    return views


def _current_partitions(state: TieredState) -> dict[str, TieredPartition]:
    """Returns the current partition for each directory name.

    If a topic was deleted and created again, the store has a folder for each topic id. The
    folder with the topic id of the local directory is current. If only the store exists, the folder
    that was written last is current.
    """
    current: dict[str, TieredPartition] = {}
    for partition in sorted(state.partitions, key=_newest_ns):
        is_local = state.local is not None and (state.local / partition.directory).is_dir()
        if partition.has_directory or (_has_remote(partition) and not is_local):
            current[partition.directory] = partition
    return current


def _has_remote(partition: TieredPartition) -> bool:
    return bool(partition.serving_segments or partition.gaps(Path(partition.directory), {}))


def _newest_ns(partition: TieredPartition) -> int:
    stored = [segment.stored for segment in partition.segments if segment.stored]
    return max((info.mtime_ns for files in stored for info in files.files.values()), default=0)


def _sync_partition(folder: Path, partition: TieredPartition, local: Path | None) -> _PartitionView:
    """Updates a partition's folder. Returns its view, with unreadable remote segments as gaps."""
    if folder.is_symlink():
        folder.unlink()
    folder.mkdir(exist_ok=True)
    expected: set[str] = set()
    if local:
        for info in file.list_files(local):
            make_link(folder / info.name, local / info.name)
            expected.add(info.name)
    remote: dict[str, list[str | None]] = {}
    faults: dict[str, KafkavizError] = {}
    last_stored = None
    for segment in partition.serving_segments:
        stored = cast("RemoteSegmentFiles", segment.stored)
        try:
            parts = _view_parts(folder, segment)
            for name, part in parts.items():
                if name not in expected:
                    _place(folder / name, part)
        except KafkavizError as fault:
            faults[stored.segment_id] = fault
            continue
        expected |= parts.keys()
        last_stored = stored
        manifest = stored.files.get(MANIFEST)
        manifest_path = os.fspath(manifest.path) if manifest else None
        remote[str(segment.start_offset)] = [stored.layout, manifest_path]
    if local is None:
        expected |= _write_own_files(folder, partition.topic_id, last_stored)
    remove_others(folder, expected)
    return _PartitionView(remote, partition.gaps(folder, faults))


def _view_parts(folder: Path, segment: TieredSegment) -> dict[str, FilePart]:
    stored = cast("RemoteSegmentFiles", segment.stored)
    end_offset = segment.end_offset
    parts = stored.parts()
    parts.pop(STORED_EPOCHS, None)
    snapshot = parts.pop("snapshot", None)
    if segment.served_end_offset != end_offset:
        parts = _cut(folder, parts, stored.start_offset, cast("int", segment.served_end_offset))
        snapshot = None
    view_parts = {f"{file_stem(stored.start_offset)}.{kind}": part for kind, part in parts.items()}
    if snapshot and end_offset is not None:
        view_parts[f"{file_stem(end_offset + 1)}.snapshot"] = snapshot
    return view_parts


def _write_own_files(
    folder: Path, topic_id: str | None, last: RemoteSegmentFiles | None
) -> set[str]:
    """Writes partition.metadata and leader-epoch-checkpoint, each only if its content is known.

    `last` is the last readable segment in the store. Returns the names of the written files.
    """
    contents = {}
    if topic_id:
        contents[PARTITION_METADATA] = f"version: 0\ntopic_id: {topic_id}"
    epochs = []
    if last:
        with suppress(KafkavizError):  # the epochs are in a separate file, which may be bad
            epochs = last.leader_epochs()
    if epochs:
        lines = "".join(f"{epoch} {start}\n" for epoch, start in epochs)
        contents[LEADER_EPOCHS] = f"0\n{len(epochs)}\n{lines}"
    for name, text in contents.items():
        _write(folder / name, text.encode())
    return set(contents)


# ---- one file


def _place(target: Path, part: FilePart) -> None:
    """Puts a file of a remote segment into the view.

    A complete file of the store is linked, and a small part of a file is copied. A compressed
    part, a part longer than PIECE_BYTES and a part of a remote file become a file in the block
    cache.
    """
    if part.chunks is None and (part.position, part.size_bytes) == (0, part.info.size_bytes):
        make_link(target, part.info.path)
        return
    is_large = part.size_bytes > PIECE_BYTES
    if part.chunks is not None or is_large or address.is_mirrored(part.info.path):
        make_link(target, _fetched_file(target, part))
        return
    if _is_current(target, part):
        return
    with _temporary(target) as (temporary, out):
        for piece in _pieces(part):
            out.write(piece)
        out.flush()
        os.utime(temporary, ns=(part.info.mtime_ns, part.info.mtime_ns))


def _fetched_file(target: Path, part: FilePart) -> Path:
    """Returns the local file that caches `part`. Creates the file if it is missing or outdated."""
    path = fetched_folder(target)
    if not _is_current(path, part):
        path.parent.mkdir(parents=True, exist_ok=True)
        block_cache.make_file(path, part.size_bytes, part.info.mtime_ns, _extents(part))
    return path


def _is_current(path: Path, part: FilePart) -> bool:
    with suppress(OSError):
        status = path.lstat()
        return (status.st_size, status.st_mtime_ns) == (part.size_bytes, part.info.mtime_ns)
    return False


def _extents(part: FilePart) -> list[Extent]:
    source = address.display(part.info.path)
    ranges = [(0, part.size_bytes, 0, part.size_bytes)]
    if part.chunks is not None:
        ranges = part.chunks[part.chunks["position"] < part.size_bytes].tolist()
    return [
        Extent(
            position=position,
            length=length,
            object=source,
            object_position=part.position + object_position,
            object_length=object_length,
            codec=None if part.chunks is None else "zstd",
            object_bytes=part.info.size_bytes,
        )
        for position, length, object_position, object_length in ranges
    ]


def _pieces(part: FilePart) -> Iterator[bytes]:
    end = part.position + part.size_bytes
    for position in range(part.position, end, PIECE_BYTES):
        yield file.read(part.info.path, position, min(PIECE_BYTES, end - position))


def _cut(
    folder: Path, parts: Mapping[str, FilePart], base_offset: int, last_offset: int
) -> dict[str, FilePart]:
    """Returns the parts of a segment, without the batches and index entries after `last_offset`."""
    log = parts["log"]
    start = 0
    cut = {kind: parts[kind] for kind in ("txnindex",) if kind in parts}
    for kind, layout in (("index", offset_index), ("timeindex", time_index)):
        entries = layout.parse(b"".join(_pieces(parts[kind])))
        entries = entries[entries["relative_offset"] <= last_offset - base_offset]
        cut[kind] = replace(parts[kind], size_bytes=len(entries) * layout.ENTRY.itemsize)
        if kind == "index" and len(entries):
            start = int(entries["position"][-1])
    size_bytes = log.size_bytes
    path = log.info.path
    if log.chunks is not None:
        path = _fetched_file(folder / f"{file_stem(base_offset)}.uncut", log)
    with file.reader(path) as read:
        for batches in Walk(read, start, size_bytes):
            behind = batches["position"][batches["base_offset"] > last_offset]
            if len(behind):
                size_bytes = int(behind[0])
                break
    return cut | {"log": replace(log, size_bytes=size_bytes)}


def _write(target: Path, content: bytes) -> None:
    with suppress(OSError):
        if target.read_bytes() == content:
            return
    with _temporary(target) as (_, out):
        out.write(content)


@contextmanager
def _temporary(target: Path) -> Generator[tuple[Path, IO[bytes]]]:
    temporary = temporary_path(target)
    try:
        with open(temporary, "wb") as out:
            yield temporary, out
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


# ---- which view


def fetched_folder(path: Path) -> Path:
    """Returns the local path at which the data of `path`, a file or folder in a view, is cached."""
    return Path(address.files_root(), FETCHED_FOLDER, path.relative_to(views_folder()))


def views_folder() -> Path:
    return Path(address.views_root())


def _identity(store: Path, local: Path | None) -> str:
    text = f"{store.resolve()}\0{local.resolve() if local else ''}"
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _home_of(path: Path) -> Path | None:
    views = address.views_root()
    name, _, _ = str(path).removeprefix(views).partition("/")
    if not name or not str(path).startswith(views):
        return None
    home = Path(views, name)
    return home if (home / VIEW_FILE).exists() else None


def _description_of(path: Path) -> dict[str, Any] | None:
    """Returns the content of VIEW_FILE for the view that contains a path, or None."""
    home = _home_of(path)
    return json.loads((home / VIEW_FILE).read_bytes()) if home else None


def _refresh(home: Path) -> None:
    if time.monotonic() - _REFRESHED.get(home, -REFRESH_S) >= REFRESH_S:
        both = cast("tuple[Path, Path | None]", sources(home))
        open_view(cast("Path", given_store(home)), both[1])
