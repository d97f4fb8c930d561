"""Uploads: an archive or segment files in the cache folder, removed a week after the last use.

An upload is three things in the cache folder: the archive, the unpacked folder, and the catalog.
The archive has a folder of its own. Each use sets the modification time of that folder, not the
archive's: the name of the unpacked folder depends on the archive's time.
"""

import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from io import BufferedIOBase
from pathlib import Path, PurePath

from kafkaviz.log import lone_files
from kafkaviz.log.archives import archive

EXPIRY_DAYS = 7
DAY_S = 24 * 60 * 60
COPY_BYTES = 1 << 20
UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def folder() -> Path:
    """Returns the folder of uploads. Each archive has its own folder, named after its content."""
    return archive.cache_folder() / "uploads"


def keep_private() -> None:
    """Makes the folder of uploads readable only for the user who runs the server."""
    with suppress(OSError):
        folder().chmod(0o700)


def catalogs() -> Path:
    return archive.cache_folder() / "catalogs"


def catalog_suffix(*sources: Path) -> str:
    """Returns the suffix of a catalog's name: a hash of the opened paths, whatever their order.

    If a path is inside an archive, a hash of the archive's path follows. With this second hash,
    `sweep` finds all catalogs of an archive.
    """
    archive_path = next(filter(None, map(archive.enclosing_archive, sources)), None)
    suffix = hashlib.sha256(b"\0".join(sorted(map(os.fsencode, sources)))).hexdigest()[:12]
    return f"{suffix}-{catalog_suffix(archive_path)}" if archive_path else suffix


def touch_upload(path: Path) -> None:
    """Sets the time of last use of the upload that contains `path`. Ignores other paths."""
    upload = next((parent for parent in path.parents if parent.parent == folder()), None)
    if upload:
        with suppress(OSError):
            os.utime(upload)


def sweep(now_s: float | None = None) -> None:
    """Removes uploads that were not opened for EXPIRY_DAYS, with all files made from them.

    The next call retries files that could not be removed.
    """
    keep_private()
    archive.sweep_unfinished()
    cutoff_s = (time.time() if now_s is None else now_s) - EXPIRY_DAYS * DAY_S
    for upload in folder().glob("*"):
        with suppress(OSError):
            if upload.stat().st_mtime < cutoff_s:
                _remove(upload)


def _remove(upload: Path) -> None:
    for archive_path in upload.iterdir():
        shutil.rmtree(archive.unpack_target(archive_path), ignore_errors=True)
        for catalog in catalogs().glob(f"*-{catalog_suffix(archive_path)}"):
            shutil.rmtree(catalog, ignore_errors=True)
    shutil.rmtree(upload)


def save(content: BufferedIOBase, name: str) -> Path:
    """Saves an uploaded archive in the cache folder and returns its path.

    The path contains a hash of the content, so only visitors with the archive or a link know it.
    """
    sweep()
    digest = hashlib.file_digest(content, "sha256").hexdigest()[:32]
    target = folder() / digest / safe_name(name)
    _write(target, content, target.parent)
    return target


def save_files(contents: Mapping[str, BufferedIOBase]) -> Path:
    """Saves segment files as a topic-partition under their Kafka names. Returns its path."""
    sweep()
    digest = hashlib.sha256()
    for name, content in sorted(contents.items()):
        digest.update(f"{name} {hashlib.file_digest(content, 'sha256').hexdigest()}\n".encode())
    upload = folder() / digest.hexdigest()[:32]
    for name, content in contents.items():
        _write(upload / lone_files.UNNAMED / name, content, upload)
    return upload / lone_files.UNNAMED


def _write(target: Path, content: BufferedIOBase, upload: Path) -> None:
    """Writes a file atomically. Only the user who runs the server can read the file."""
    if target.exists():
        return
    for folder in (upload, target.parent):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    keep_private()
    content.seek(0)
    # one folder per call, because two visitors may upload the same file at once
    with tempfile.TemporaryDirectory(dir=upload) as temporary_folder:
        with open(Path(temporary_folder) / target.name, "wb", opener=_open_private) as out:
            shutil.copyfileobj(content, out, COPY_BYTES)
        Path(out.name).replace(target)


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def safe_name(name: str) -> str:
    """Returns a safe file name for an upload. "archive.tar" if `name` has no archive suffix."""
    file_name = UNSAFE.sub("-", PurePath(name.replace("\\", "/")).name).lstrip(".-")
    return file_name if archive.is_archive(Path(file_name)) else "archive.tar"
