"""Shows a remote directory as a local one with the same names, sizes and times, but no bytes yet.

Opening s3://bucket/brokers/17 lists it once and creates the same folders and files locally. The
directory around a partition or a broker is listed too, because it has checkpoints and
server.properties. The bytes are fetched block by block (block_cache.py).

A listing expires after ten seconds, or later if listing took long. A directory with an
expired listing is listed again when it is opened. If a remote file has changed, its blocks are
dropped. A Spark worker uses a mirror that was listed within the last ten minutes. Without one, the
worker requests only the file that it reads.
"""

import hashlib
import os
import shutil
import threading
import time
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from kafkaviz.errors import CannotOpen, translate_os_errors
from kafkaviz.format.names import (
    METADATA_DIRECTORY,
    OWN_FILES,
    PARTITION_METADATA,
    parse_directory,
    parse_file,
)
from kafkaviz.log.remote import address, block_cache, file_system
from kafkaviz.log.remote.address import RemotePath
from kafkaviz.log.remote.file_system import Entry

LISTING_S = 10.0  # a listing is valid for this long
LISTING_SHARE = 20  # or for this many times as long as it took, if that is longer
TRUST_S = 600  # how long the listing of another process is trusted
THREADS = 16  # the threads that fetch small files
PREFETCH_FILES = 8  # if there are fewer, each is fetched when it is read

_LOCK = threading.Lock()
_TREES: dict[Path, float] = {}  # until when the listing of a directory and all in it is valid
_FILES: dict[Path, float] = {}  # until when the listing of a single file is valid
_KNOWN: dict[Path, float] = {}  # until when a file is read without a new request


def refresh(path: Path) -> None:
    """Lists the remote directory of a mirror path, unless its last listing is still valid.

    Ignores any other path. Raises CannotOpen if nothing is there or the store denies access.
    """
    remote = address.remote_path(path)
    if remote is None or _is_current(path):
        return
    start_s = time.monotonic()
    with translate_os_errors(path):
        Path(address.files_root()).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        is_directory = _mirror(path, remote)
    now_s = time.monotonic()
    until_s = now_s + max(LISTING_S, LISTING_SHARE * (now_s - start_s))
    with _LOCK:
        (_TREES if is_directory else _FILES)[path] = until_s
        _KNOWN[path] = _trust_end()


def prepare(path: Path) -> None:
    """Ensures that the local copy of a remote file has the remote size and time.

    Raises CannotOpen if the remote file does not exist.
    """
    remote = address.remote_path(path)
    if remote is None or _is_known(path):
        return
    with translate_os_errors(path):
        if not (path.exists() and _is_stamped(path)):
            entry = file_system.find(remote)
            if entry is None or entry.is_directory:
                block_cache.remove_file(path)
                raise file_system.missing(remote)
            path.parent.mkdir(parents=True, exist_ok=True)
            _mirror_file(path, entry)
    with _LOCK:
        _KNOWN[path] = _trust_end()


def list_names(path: Path) -> list[str]:
    """Returns the names in the remote directory of a mirror path.

    Raises CannotOpen if the remote directory cannot be listed.
    """
    remote = address.remote_path(path)
    if remote is None:
        return []
    return [entry.key for entry in file_system.list_directory(remote, is_recursive=False)]


def forget() -> None:
    """Forgets all listings, so that each directory is listed again when it is next opened."""
    with _LOCK:
        _TREES.clear()
        _FILES.clear()
        _KNOWN.clear()


def _is_current(path: Path) -> bool:
    now_s = time.monotonic()
    folders = (path, *path.parents)
    with _LOCK:
        is_listed = any(_TREES.get(folder, 0.0) > now_s for folder in folders)
        return is_listed or _FILES.get(path, 0.0) > now_s


def _is_known(path: Path) -> bool:
    with _LOCK:
        is_known = _KNOWN.get(path, 0.0) > time.monotonic() or any(
            folder in _TREES for folder in path.parents
        )
    return is_known and path.exists()


def _mirror(path: Path, remote: RemotePath) -> bool:
    is_file_name = "." in path.name and (parse_file(path.name) is not None or "tar" in path.name)
    entry = file_system.find(remote) if is_file_name else None
    if entry is None or entry.is_directory:
        entries = file_system.list_directory(remote, is_recursive=True)
        if entries:
            _mirror_tree(path, entries)
            _stamp(path)
            _mirror_parent_files(path, remote)
            _prefetch(path)
            return True
        entry = entry or file_system.find(remote)
        if entry is not None and entry.is_directory:
            _mirror_tree(path, [])
            return True
    if entry is None:
        with suppress(OSError):
            shutil.rmtree(path)
        block_cache.remove_file(path)
        raise file_system.missing(remote)
    path.parent.mkdir(parents=True, exist_ok=True)
    _mirror_file(path, entry)
    if parse_file(path.name) is not None:
        _mirror_parent_files(path, remote)
        _mirror_parent_files(path.parent, remote.parent)
    return False


def _mirror_tree(root: Path, entries: Iterable[Entry]) -> None:
    files: dict[Path, dict[str, Entry]] = defaultdict(dict)
    folders = {root}
    for entry in entries:
        *parents, name = entry.key.strip("/").split("/")
        if not all(map(address.is_name, (*parents, name))):
            continue
        folder = root.joinpath(*parents)
        if entry.is_directory:
            folder /= name
        else:
            files[folder][name] = entry
        while folder not in folders:
            folders.add(folder)
            folder = folder.parent
    for folder in sorted(folders):
        if not folder.is_dir():
            block_cache.remove_file(folder)
            folder.mkdir(parents=True, exist_ok=True)
        _mirror_files(folder, files[folder])
        with os.scandir(folder) as children:
            vanished = [
                Path(child.path)
                for child in children
                if child.is_dir() and folder / child.name not in folders
            ]
        for child in vanished:
            blocks = Path(block_cache.blocks_root(), child.relative_to(address.files_root()))
            shutil.rmtree(child, ignore_errors=True)
            shutil.rmtree(blocks, ignore_errors=True)


def _prefetch(root: Path) -> None:
    """Fetches a broker's small files in parallel. Ignores failures: reading a file reports them."""
    paths = [root / name for name in OWN_FILES]
    with os.scandir(root) as children:
        paths += [Path(child.path, PARTITION_METADATA) for child in children if child.is_dir()]
    small_paths = [path for path in paths if path.is_file()]
    if len(small_paths) < PREFETCH_FILES:
        return
    from concurrent.futures import ThreadPoolExecutor  # slow: it loads logging

    with ThreadPoolExecutor(THREADS) as pool:
        pool.map(_try_fetch, small_paths)


def _try_fetch(path: Path) -> None:
    with suppress(CannotOpen, OSError):
        if os.stat(path).st_size <= block_cache.POINT_BYTES:
            with block_cache.CachedFile(path) as file:
                file.fetch(0, file.size_bytes)


def _mirror_parent_files(path: Path, remote: RemotePath) -> None:
    """Mirrors the files in the directory that contains a path, without its subdirectories.

    If the path is a partition, mirrors the directory of the metadata log too. Mirrors nothing if
    access is denied.
    """
    if not remote.key:
        return
    try:
        entries = file_system.list_directory(remote.parent, is_recursive=False)
    except CannotOpen:
        return
    files = {entry.key: entry for entry in entries if not entry.is_directory}
    with suppress(OSError):
        _mirror_files(path.parent, {name: files[name] for name in files if address.is_name(name)})
        # the metadata log has the partition's settings
        if parse_directory(path.name) and METADATA_DIRECTORY in {entry.key for entry in entries}:
            metadata = remote.parent.child(METADATA_DIRECTORY)
            metadata_entries = file_system.list_directory(metadata, is_recursive=True)
            _mirror_tree(path.parent / METADATA_DIRECTORY, metadata_entries)
            with _LOCK:
                _TREES.setdefault(path.parent / METADATA_DIRECTORY, 0.0)
    with _LOCK:
        _KNOWN.update(dict.fromkeys((path.parent / name for name in files), _trust_end()))


def _mirror_files(folder: Path, entries: dict[str, Entry]) -> None:
    with os.scandir(folder) as children:
        for child in children:
            if child.name not in entries and child.is_file(follow_symlinks=False):
                block_cache.remove_file(folder / child.name)
    for name, entry in entries.items():
        if not (folder / name).is_dir():  # this key is also the prefix of other keys
            _mirror_file(folder / name, entry)


def _mirror_file(path: Path, entry: Entry) -> None:
    """Creates a file. If size or time have changed, replaces the file and drops its blocks."""
    with suppress(FileNotFoundError):
        status = os.stat(path)
        if (status.st_size, status.st_mtime_ns) == (entry.size_bytes, entry.mtime_ns):
            return
    block_cache.make_file(path, entry.size_bytes, entry.mtime_ns)


def _trust_end() -> float:
    return time.monotonic() + TRUST_S


# ---- what other processes have listed


def _stamp(path: Path) -> None:
    stamp = _stamp_path(path)
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.touch()


def _is_stamped(path: Path) -> bool:
    oldest_s = time.time() - TRUST_S
    for folder in path.parents:
        if not address.is_mirrored(folder):
            return False
        with suppress(OSError):
            if os.stat(_stamp_path(folder)).st_mtime > oldest_s:
                return True
    return False


def _stamp_path(path: Path) -> Path:
    name = hashlib.sha256(os.fsencode(path)).hexdigest()[:32]
    return Path(address.files_root().removesuffix("files/"), "listed", name)
