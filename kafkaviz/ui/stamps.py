"""By what a broker directory is known to be still the same: the times of its folders, the size and
time of every file.

Files are overwritten in place too, as by `cp rebuilt/*.index orders-0/`, and that changes no
folder. To look at one takes 3 µs: every click looks at all of an ordinary directory. Of one with
100 000 segments, 300 000 files and 1 s, it looks at its folders and at the logs that grow, and only
every 15 s at the rest.
"""

import hashlib
import os
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np

from kafkaviz.format.names import OWN_FILES, SERVER_PROPERTIES
from kafkaviz.log import archive
from kafkaviz.log.broker import Broker
from kafkaviz.log.file import FileInfo

AT_ONCE = 20_000  # files that every click looks at: 60 ms
# for each file of more than that, between two looks at all of them: a fifteenth of the time
PAUSE_S = 50e-6


class Stamps:
    """How a directory lay there when it was listed."""

    def __init__(self, found: Broker) -> None:
        self._quick, self._files = _quick(found), sum(1 for _ in _files(found))
        self._looked_s = time.monotonic()

    def hold(self, found: Broker) -> bool:
        """Whether the directory, listed then as `found`, lies there as it did, as far as it was
        looked at now.
        """
        if _quick(found) != self._quick:
            return False
        if self._files > AT_ONCE and time.monotonic() - self._looked_s < self._files * PAUSE_S:
            return True
        same = all(map(_is_same, _files(found)))
        self._looked_s = time.monotonic()
        return same

    def key(self, found: Broker, directory: bytes) -> str:
        """What the listing is known by: another one as soon as something has changed."""
        facts = np.fromiter(
            chain.from_iterable((one.size_bytes, one.mtime_ns) for one in _files(found)), np.int64
        )
        return hashlib.sha256(
            repr((directory, self._quick)).encode() + facts.tobytes()
        ).hexdigest()[:16]


def _quick(found: Broker) -> tuple:
    """The times of the folders, the broker's own small files, the lengths of the logs that grow."""
    folders = [
        archive.containing(found.source) or found.source,
        found.path,
        *(partition.path for partition in found.partitions),
    ]
    own = [found.path / name for name in (*OWN_FILES, SERVER_PROPERTIES)] + [
        found.path.parent / SERVER_PROPERTIES
    ]
    growing = [partition.active.log.path for partition in found.partitions if partition.active]
    return (
        tuple(map(mtime_ns, folders)),
        tuple(map(mtime_ns, own)),
        tuple(map(_size_bytes, growing)),
    )


def _files(found: Broker) -> Iterator[FileInfo]:
    """Every file of its topic-partitions, as it was listed."""
    for partition in found.partitions:
        for segment in partition.segments:
            yield from segment.files
        yield from partition.others


def _is_same(known: FileInfo) -> bool:
    try:
        now = os.stat(f"{known.directory}/{known.name}")
    except OSError:
        return False
    return now.st_size == known.size_bytes and now.st_mtime_ns == known.mtime_ns


def mtime_ns(path: Path) -> int | None:
    """When a file or folder was changed last; None where there is none."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return None


def _size_bytes(path: Path) -> int | None:
    try:
        return os.stat(path).st_size
    except OSError:
        return None
