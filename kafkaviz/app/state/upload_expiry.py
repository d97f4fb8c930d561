"""What is kept of an archive that a visitor uploaded, and until when.

A week after it was opened last all of it goes.

An upload is three things in the cache folder: the archive, the folder it was unpacked into, and its
catalog. When it was opened last is the time of the archive's own folder, so that the archive's time
stays, by which its unpacked folder is found.
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
    """Where uploads lie: each archive in a folder of its own, named by its content."""
    return archive.cache_folder() / "uploads"


def keep_private() -> None:
    """Lets only the server's own user look into what visitors uploaded.

    Also where an earlier release let others.
    """
    with suppress(OSError):
        folder().chmod(0o700)


def catalogs() -> Path:
    """Where the catalogs lie that this server made."""
    return archive.cache_folder() / "catalogs"


def catalog_suffix(*sources: Path) -> str:
    """How the name of a directory's catalog ends; of several log directories, in any order.

    That of one in an archive ends as the archive's own, to go with it.
    """
    archive_path = next(filter(None, map(archive.enclosing_archive, sources)), None)
    suffix = hashlib.sha256(b"\0".join(sorted(map(os.fsencode, sources)))).hexdigest()[:12]
    return f"{suffix}-{catalog_suffix(archive_path)}" if archive_path else suffix


def touch_upload(path: Path) -> None:
    """Notes that an upload is opened now, or what is in it; of any other path nothing."""
    upload = next((parent for parent in path.parents if parent.parent == folder()), None)
    if upload:
        with suppress(OSError):
            os.utime(upload)


def sweep(now_s: float | None = None) -> None:
    """Removes all that is kept of uploads that nobody has opened for EXPIRY_DAYS.

    What cannot be removed stays for the next time.
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
