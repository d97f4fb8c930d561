"""Expiry of uploads: an archive and all files made from it are removed a week after the last use.

An upload is three things in the cache folder: the archive, the unpacked folder, and the catalog.
The modification time of the archive's folder is the time of the last use. The archive's own time
must not change, because the name of the unpacked folder depends on it.
"""

import hashlib
import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

from kafkaviz.log.archives import archive

EXPIRY_DAYS = 7
DAY_S = 24 * 60 * 60


def folder() -> Path:
    """Returns the folder of uploads. Each archive has its own folder, named after its content."""
    return archive.cache_folder() / "uploads"


def keep_private() -> None:
    """Makes all uploads readable only for the server's user, also those of earlier releases."""
    with suppress(OSError):
        folder().chmod(0o700)


def catalogs() -> Path:
    return archive.cache_folder() / "catalogs"


def catalog_suffix(*sources: Path) -> str:
    """Returns the last part of a catalog's name, independent of the order of log directories.

    The suffix for a directory in an archive ends with the archive's suffix, so both catalogs are
    removed together.
    """
    archive_path = next(filter(None, map(archive.enclosing_archive, sources)), None)
    suffix = hashlib.sha256(b"\0".join(sorted(map(os.fsencode, sources)))).hexdigest()[:12]
    return f"{suffix}-{catalog_suffix(archive_path)}" if archive_path else suffix


def touch_upload(path: Path) -> None:
    """Notes that an upload, or a directory in it, is opened now. Ignores other paths."""
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
