"""The folder for kafkaviz's own files: unpacked archives, blocks of remote files, uploads.

A scratch folder holds temporary files and is locked while its process lives. If the process is
killed, the next process removes the folder.
"""

import atexit
import fcntl
import os
import shutil
import tempfile
import threading
from collections.abc import Collection, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

PREFIX = ".unpacking-"
TEMPORARY = ".making-"  # the beginning of the name of a file that is not complete yet
LOCK = "in-use"
TRIES = 3  # retries, because a running thread may add a file during the removal
_OPEN_FOLDERS: set[Path] = set()  # the folders of this process


def cache_folder() -> Path:
    """Returns $KAFKAVIZ_CACHE, else kafkaviz's folder in the user's cache folder."""
    override = os.environ.get("KAFKAVIZ_CACHE")
    if override:
        return Path(override)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kafkaviz"


@contextmanager
def scratch_folder(parent: Path) -> Generator[Path]:
    """Creates a folder, and removes it with its content when the context ends.

    First removes the scratch folders of killed processes.
    """
    parent.mkdir(parents=True, exist_ok=True)
    sweep(parent)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        lock = _lock(folder)
        if lock:
            break
    _OPEN_FOLDERS.add(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        _OPEN_FOLDERS.discard(folder)
        lock.close()


@atexit.register
def _remove_open_folders() -> None:
    """Removes this process's scratch folders at exit.

    Tries several times, because a thread of a server may still write into a folder.
    """
    for folder in list(_OPEN_FOLDERS) * TRIES:
        shutil.rmtree(folder, ignore_errors=True)


def sweep(parent: Path) -> None:
    """Removes scratch folders that no living process holds. The next call retries failures."""
    for folder in parent.glob(f"{PREFIX}*"):
        lock = _lock(folder)
        if lock:
            shutil.rmtree(folder, ignore_errors=True)
            lock.close()


def _lock(folder: Path) -> IO[bytes] | None:
    """Locks a folder until the process ends; None if it is locked already or was removed."""
    try:
        lock = open(folder / LOCK, "ab")  # noqa: SIM115 - it is open for as long as the folder is in use
    except OSError:
        return None
    with suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(lock.fileno()).st_nlink:  # otherwise it was swept before it was locked
            return lock
    lock.close()
    return None


# ---- the files of a view


def temporary_path(target: Path) -> Path:
    """Returns a path next to `target` that no other thread or process uses."""
    return target.with_name(f"{TEMPORARY}{target.name}-{os.getpid()}-{threading.get_ident()}")


def make_link(target: Path, source: Path) -> None:
    """Makes `target` a symbolic link to `source`, in one step: others may be reading `target`."""
    try:
        if os.readlink(target) == os.fspath(source):
            return
    except OSError:
        if target.is_dir() and not target.is_symlink():
            shutil.rmtree(target)
    temporary = temporary_path(target)
    temporary.unlink(missing_ok=True)
    temporary.symlink_to(source)
    temporary.replace(target)


def remove_others(folder: Path, expected: Collection[str]) -> None:
    """Removes everything in a folder except the `expected` names and temporary files."""
    for name in set(os.listdir(folder)).difference(expected):
        if name.startswith(TEMPORARY):
            continue
        path = folder / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
