"""The directories that a process may open files in: of a server that several people use.

A path is judged before it is opened, but a link on the way may be changed in between, or lie where
nobody looked: so each file is judged again once it is open, by where it really is.
"""

import json
import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from kafkaviz.errors import CannotOpen
from kafkaviz.messages import message

CONFINEMENT = "KAFKAVIZ_CONFINED_TO"  # of the environment, which Spark's workers inherit


def confine(directories: Iterable[Path] | None) -> None:
    """From now on nothing is opened outside these directories; None lifts it."""
    if directories is None:
        os.environ.pop(CONFINEMENT, None)
    else:
        os.environ[CONFINEMENT] = json.dumps(
            [os.path.realpath(directory) for directory in directories]
        )


def is_confined() -> bool:
    """Whether the process may open files in some directories alone."""
    return CONFINEMENT in os.environ


def allowed_prefixes() -> tuple[str, ...] | None:
    """How the real paths of what may be opened begin; None where everything may be."""
    allowed_json = os.environ.get(CONFINEMENT)
    return None if allowed_json is None else _prefixes(allowed_json)


def refuse_outside(descriptor: int, path: Path | str) -> None:
    """Checks that an open file or directory lies where this process may read.

    Args:
        descriptor: of the open file or directory.
        path: by what it was opened.

    Raises:
        CannotOpen: it lies outside; of kind "outside".
    """
    prefixes = allowed_prefixes()
    if prefixes is not None and not _real_path(descriptor, path).startswith(prefixes):
        raise CannotOpen(path, message("errors.outside_server"), kind="outside")


def _real_path(descriptor: int, path: Path | str) -> str:
    """Where the open file is, with a separator at the end of a directory's path.

    Without /proc, where its path leads now.
    """
    try:
        return os.path.join(os.readlink(f"/proc/self/fd/{descriptor}"), "")
    except OSError:
        return os.path.join(os.path.realpath(path), "")


@lru_cache(maxsize=8)
def _prefixes(allowed_json: str) -> tuple[str, ...]:
    return tuple(os.path.join(directory, "") for directory in json.loads(allowed_json))


def open_nonblocking(path: str, flags: int) -> int:
    """As open() does it, without waiting, and if the file lies where this process may read."""
    descriptor = os.open(path, flags | os.O_NONBLOCK)
    try:
        refuse_outside(descriptor, path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
