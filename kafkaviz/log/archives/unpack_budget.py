"""Limits for unpacking one archive: bytes, headers, files and time.

Skipped members, headers, holes and bytes after the end count like contents, because an archive of a
few KB could ask for an endless amount of each. docs/serve.md lists the limits.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path

from kafkaviz.errors import CannotOpen
from kafkaviz.messages import Message, message

# bytes that are read or left as holes; free disk space limits the bytes that are written
LIMIT_BYTES = 1 << 40
LIMIT_HEADERS = 4_000_000  # of every kind, including links, notes and long names
LIMIT_FILES = 1_000_000  # files and folders, including folders that only a path names
LIMIT_DEPTH = 64  # nested folders; listing or removing them needs a call for each level
BASE_S = 300
BYTES_PER_S = 1 << 20  # a larger packed file gets more time
PROGRESS_INTERVAL_S = 0.25  # how often the progress is reported
UNPACK_YOURSELF = message("archive.unpack_yourself")

ProgressCallback = Callable[[int], None]


class UnpackBudget:
    """The budget of one archive.

    The methods raise CannotOpen of kind "archive" when a limit is exceeded.
    """

    def __init__(self, path: Path, on_progress: ProgressCallback | None = None) -> None:
        """Starts the clock.

        Args:
            on_progress: called a few times per second with the number of bytes read so far. An
                exception that it raises ends the unpacking.
        """
        self.path = path
        self._on_progress = on_progress
        self._headers = self._files = self._bytes = 0
        self._limit_s = BASE_S + os.stat(path).st_size // BYTES_PER_S
        self._deadline_s = time.monotonic() + self._limit_s
        self._next_progress_s = time.monotonic() + PROGRESS_INTERVAL_S

    def add_bytes(self, count: int) -> None:
        """Counts bytes before they are read, or the bytes of a hole."""
        self._bytes += count
        self.expect_bytes(0)
        self.check_time()

    def expect_bytes(self, count: int) -> None:
        """Refuses a number of further bytes if it exceeds the limit, without counting them."""
        if self._bytes + count > LIMIT_BYTES:
            raise self._refusal(message("archive.too_many_bytes", limit=LIMIT_BYTES))

    def add_headers(self, count: int = 1) -> None:
        self._headers += count
        if self._headers > LIMIT_HEADERS:
            raise self._refusal(message("archive.too_many_headers", limit=LIMIT_HEADERS))

    def add_file(self) -> None:
        self._files += 1
        if self._files > LIMIT_FILES:
            raise self._refusal(message("archive.too_many_files", limit=LIMIT_FILES))

    def check_depth(self, folders: int) -> None:
        if folders > LIMIT_DEPTH:
            raise self._refusal(message("archive.too_deep", limit=LIMIT_DEPTH))

    def check_time(self) -> None:
        """Checks the deadline and reports the progress."""
        now_s = time.monotonic()
        if now_s > self._deadline_s:
            raise self._refusal(message("archive.takes_too_long", limit=self._limit_s))
        if self._on_progress and now_s >= self._next_progress_s:
            self._next_progress_s = now_s + PROGRESS_INTERVAL_S
            self._on_progress(self._bytes)

    def _refusal(self, problem: Message) -> CannotOpen:
        return CannotOpen(self.path, problem, UNPACK_YOURSELF, kind="archive")
