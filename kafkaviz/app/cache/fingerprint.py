"""By what a broker directory is known to be still the same.

The times of its folders, the size and time of every file.

Files are overwritten in place too, as by `cp rebuilt/*.index orders-0/`, and that changes no
folder. To look at one takes 3 µs: every click looks at all of an ordinary directory. Of one with
100 000 segments, 300 000 files and 1 s, it looks at its folders and at the logs that grow, and only
every 15 s at the rest.
"""

import hashlib
import math
import os
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np

from kafkaviz.app import run_queue
from kafkaviz.format.names import OWN_FILES, SERVER_PROPERTIES
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import Broker
from kafkaviz.log.file import FileInfo

MAX_QUICK_FILES = 20_000  # files that every click looks at: 60 ms
# for each file of more than that, between two looks at all of them: a fifteenth of the time
PAUSE_S = 50e-6


class Fingerprint:
    """How a directory lay there when it was listed."""

    def __init__(self, broker: Broker) -> None:
        self._quick, self._files = _quick_state(broker), sum(1 for _ in _files(broker))
        self._checked_s = time.monotonic()
        self._looked_s = -math.inf  # when it was found to be as it was

    def is_current(self, broker: Broker) -> bool:
        """Whether the directory is as it was, as far as it was looked at now.

        Args:
            broker: as it was listed then.
        """
        if run_queue.saw_after_asking(self._looked_s):
            return True
        looked_s = time.monotonic()
        if _quick_state(broker) != self._quick:
            return False
        if (
            self._files > MAX_QUICK_FILES
            and time.monotonic() - self._checked_s < self._files * PAUSE_S
        ):
            self._looked_s = looked_s
            return True
        is_unchanged = all(map(_is_same, _files(broker)))
        self._checked_s = time.monotonic()
        if is_unchanged:
            self._looked_s = looked_s
        return is_unchanged

    def key(self, broker: Broker, directory: bytes) -> str:
        """What the listing is known by: another one as soon as something has changed."""
        facts = np.fromiter(
            chain.from_iterable((info.size_bytes, info.mtime_ns) for info in _files(broker)),
            np.int64,
        )
        return hashlib.sha256(
            repr((directory, self._quick)).encode() + facts.tobytes()
        ).hexdigest()[:16]


def _quick_state(broker: Broker) -> tuple:
    """The times of the folders, the broker's own small files, the lengths of the logs that grow."""
    folders = [
        *(archive.enclosing_archive(source) or source for source in broker.sources),
        *(directory.path for directory in broker.log_directories),
        *(partition.path for partition in broker.partitions),
    ]
    own_files = [
        directory.path / name
        for directory in broker.log_directories
        for name in (*OWN_FILES, SERVER_PROPERTIES, f"../{SERVER_PROPERTIES}")
    ]
    active_logs = [partition.active.log.path for partition in broker.partitions if partition.active]
    return (
        tuple(map(mtime_ns, folders)),
        tuple(map(mtime_ns, own_files)),
        tuple(map(_size_bytes, active_logs)),
    )


def _files(broker: Broker) -> Iterator[FileInfo]:
    """Every file of its topic-partitions, as it was listed."""
    for partition in broker.partitions:
        for segment in partition.segments:
            yield from segment.files
        yield from partition.other_files


def _is_same(info: FileInfo) -> bool:
    try:
        status = os.stat(f"{info.directory}/{info.name}")
    except OSError:
        return False
    return status.st_size == info.size_bytes and status.st_mtime_ns == info.mtime_ns


def mtime_ns(path: Path) -> int | None:
    """When a file or folder was changed last.

    Returns:
        None where there is none.
    """
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return None


def _size_bytes(path: Path) -> int | None:
    try:
        return os.stat(path).st_size
    except OSError:
        return None
