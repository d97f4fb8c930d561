"""Limits the directories that a process may read, for a server that several people use.

A link in a path may change after the path was checked. So the real path of each file is checked
again after the file was opened.
"""

import json
import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG

from kafkaviz.errors import CannotOpen
from kafkaviz.messages import message

CONFINEMENT = "KAFKAVIZ_CONFINED_TO"  # an environment variable, because Spark's workers inherit it


def confine(directories: Iterable[Path] | None) -> None:
    """Limits all later opens to these directories. None removes the limit."""
    if directories is None:
        os.environ.pop(CONFINEMENT, None)
    else:
        os.environ[CONFINEMENT] = json.dumps(list(map(os.path.realpath, directories)))


def is_confined() -> bool:
    return CONFINEMENT in os.environ


def allowed_prefixes() -> tuple[str, ...] | None:
    """Returns the prefixes of allowed real paths, or None if all paths are allowed."""
    allowed_json = os.environ.get(CONFINEMENT)
    return None if allowed_json is None else _prefixes(allowed_json)


def refuse_outside(descriptor: int, path: Path | str) -> None:
    """Raises CannotOpen (kind "outside") if this process may not read an open file.

    `path` is the path with which the file was opened.
    """
    prefixes = allowed_prefixes()
    if prefixes is not None and not _real_path(descriptor, path).startswith(prefixes):
        raise CannotOpen(path, message("errors.outside_server"), kind="outside")


def _real_path(descriptor: int, path: Path | str) -> str:
    try:
        return os.path.join(os.readlink(f"/proc/self/fd/{descriptor}"), "")
    except OSError:
        return os.path.join(os.path.realpath(path), "")


@lru_cache(maxsize=8)
def _prefixes(allowed_json: str) -> tuple[str, ...]:
    return tuple(os.path.join(directory, "") for directory in json.loads(allowed_json))


def open_nonblocking(path: str, flags: int) -> int:
    """Opens a file without waiting. For use as the `opener` of open().

    Raises CannotOpen if this process may not read the file.
    """
    descriptor = os.open(path, flags | os.O_NONBLOCK)
    try:
        refuse_outside(descriptor, path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def ensure_regular(path: Path | str, status: os.stat_result) -> None:
    """Raises CannotOpen (kind "special") if the status is not that of a regular file."""
    if not S_ISREG(status.st_mode):
        what = message("errors.no_regular_file")
        raise CannotOpen(path, what, message("errors.move_it_away"), kind="special")
