"""A remote directory as a local one: the same names, sizes and times, and no bytes yet.

To open s3://bucket/brokers/17 lists it once, with all that lies in it, and makes folders and files
of that. From then on everything that reads logs reads the mirror; the bytes come block by block
(block_cache.py). What lies beside a partition or a broker is listed too, as its checkpoints or its
server.properties are read from there.

A listing is good for some seconds, then it is made again when the directory is opened: a file of
another size or time loses its blocks, one that is gone is removed. Another process, such as a
worker of Spark, takes what it finds here if it was listed a few minutes ago; where there is nothing
it asks for the one file that it was told to read.
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
from kafkaviz.messages import message

LISTING_S = 10.0  # a listing is good for so long, or
LISTING_SHARE = 20  # for so many times as long as it took
TRUST_S = 600  # that of another process
THREADS = 16  # that fetch small files at once
PREFETCH_FILES = 8  # fewer are read as they come

_LOCK = threading.Lock()
_TREES: dict[Path, float] = {}  # until when a directory and all in it is as it was listed
_FILES: dict[Path, float] = {}  # the same of single files
_KNOWN: dict[Path, float] = {}  # until when a file is read without another question


def refresh(path: Path) -> None:
    """Lists what a path of a mirror is of, unless that was done a moment ago.

    Any other path is left alone.

    Raises:
        CannotOpen: there is nothing, or the store does not let this process see it.
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
    """Sees to it that the one file is there and as it is remotely, before it is read.

    Raises:
        CannotOpen: it is not there.
    """
    remote = address.remote_path(path)
    if remote is None or _is_known(path):
        return
    with translate_os_errors(path):
        if not (path.exists() and _is_stamped(path)):
            entry = file_system.find(remote)
            if entry is None or entry.is_directory:
                block_cache.remove_file(path)
                raise _missing(remote)
            path.parent.mkdir(parents=True, exist_ok=True)
            _mirror_file(path, entry)
    with _LOCK:
        _KNOWN[path] = _trust_end()


def list_names(path: Path) -> list[str]:
    """The names in what a path of a mirror is of, as they are remotely.

    What is deeper is not asked for.

    Raises:
        CannotOpen: the store does not answer, or not this process.
    """
    remote = address.remote_path(path)
    if remote is None:
        return []
    return [entry.key for entry in file_system.list_directory(remote, is_recursive=False)]


def forget() -> None:
    """Every directory is listed anew when it is opened next."""
    with _LOCK:
        _TREES.clear()
        _FILES.clear()
        _KNOWN.clear()


def _is_current(path: Path) -> bool:
    now_s = time.monotonic()
    with _LOCK:
        return _FILES.get(path, 0.0) > now_s or any(
            _TREES.get(folder, 0.0) > now_s for folder in (path, *path.parents)
        )


def _is_known(path: Path) -> bool:
    """Whether this process listed its directory, however long ago, or asked for it lately."""
    with _LOCK:
        is_known = _KNOWN.get(path, 0.0) > time.monotonic() or any(
            folder in _TREES for folder in path.parents
        )
    return is_known and path.exists()


def _mirror(path: Path, remote: RemotePath) -> bool:
    """Mirrors what an address is of, and the files beside it and beside its directory.

    Returns:
        Whether it is a directory.
    """
    is_file_name = "." in path.name and (parse_file(path.name) is not None or "tar" in path.name)
    entry = file_system.find(remote) if is_file_name else None
    if entry is None or entry.is_directory:
        entries = file_system.list_directory(remote, is_recursive=True)
        if entries:
            _mirror_tree(path, entries)
            _stamp(path)
            _mirror_beside(path, remote)
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
        raise _missing(remote)
    path.parent.mkdir(parents=True, exist_ok=True)
    _mirror_file(path, entry)
    if parse_file(path.name) is not None:
        _mirror_beside(path, remote)
        _mirror_beside(path.parent, remote.parent)
    return False


def _mirror_tree(root: Path, entries: Iterable[Entry]) -> None:
    """Makes a folder what a listing of all in it says."""
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
            shutil.rmtree(child, ignore_errors=True)
            shutil.rmtree(
                Path(block_cache.blocks_root(), child.relative_to(address.files_root())),
                ignore_errors=True,
            )


def _prefetch(root: Path) -> None:
    """Fetches the small files that opening a broker reads one after another, several at once.

    What cannot be fetched now will say so where it is read.
    """
    paths = [root / name for name in OWN_FILES]
    with os.scandir(root) as children:
        paths += [Path(child.path, PARTITION_METADATA) for child in children if child.is_dir()]
    small_paths = [path for path in paths if path.is_file()]
    if len(small_paths) < PREFETCH_FILES:
        return
    from concurrent.futures import ThreadPoolExecutor  # loads logging, which nothing else needs

    with ThreadPoolExecutor(THREADS) as pool:
        pool.map(_try_fetch, small_paths)


def _try_fetch(path: Path) -> None:
    with suppress(CannotOpen, OSError):
        if os.stat(path).st_size <= block_cache.POINT_BYTES:
            with block_cache.CachedFile(path) as file:
                file.fetch(0, file.size_bytes)


def _mirror_beside(path: Path, remote: RemotePath) -> None:
    """Mirrors the files of the directory that a path lies in, without what lies deeper.

    Beside a partition the metadata log is mirrored too. Who may not see them goes on without.
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
        # it says what a partition's settings are
        if parse_directory(path.name) and METADATA_DIRECTORY in {entry.key for entry in entries}:
            metadata = remote.parent.child(METADATA_DIRECTORY)
            metadata_entries = file_system.list_directory(metadata, is_recursive=True)
            _mirror_tree(path.parent / METADATA_DIRECTORY, metadata_entries)
            with _LOCK:
                _TREES.setdefault(path.parent / METADATA_DIRECTORY, 0.0)
    with _LOCK:
        _KNOWN.update(dict.fromkeys((path.parent / name for name in files), _trust_end()))


def _mirror_files(folder: Path, entries: dict[str, Entry]) -> None:
    """Makes the files of a folder what a listing says."""
    with os.scandir(folder) as children:
        for child in children:
            if child.name not in entries and child.is_file(follow_symlinks=False):
                block_cache.remove_file(folder / child.name)
    for name, entry in entries.items():
        if not (folder / name).is_dir():  # a key that is the start of others too
            _mirror_file(folder / name, entry)


def _mirror_file(path: Path, entry: Entry) -> None:
    """Makes a file anew where its size or time is another one; its blocks are lost then."""
    with suppress(FileNotFoundError):
        status = os.stat(path)
        if (status.st_size, status.st_mtime_ns) == (entry.size_bytes, entry.mtime_ns):
            return
    block_cache.make_file(path, entry.size_bytes, entry.mtime_ns)


def _trust_end() -> float:
    return time.monotonic() + TRUST_S


def _missing(remote: RemotePath) -> CannotOpen:
    return CannotOpen(
        str(remote), message("errors.not_there"), message("errors.check_the_path"), kind="missing"
    )


# ---- what other processes have listed


def _stamp(path: Path) -> None:
    stamp = _stamp_path(path)
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.touch()


def _is_stamped(path: Path) -> bool:
    """Whether a directory that the file lies in was listed by any process, not long ago."""
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
