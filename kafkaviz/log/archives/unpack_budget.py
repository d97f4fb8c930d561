"""What one archive may use while it is unpacked: bytes, headers, files and time.

Members that are passed over, headers, holes and what follows the end count like contents: an
archive of a few KB can ask for any of them without end. docs/serve.md names the numbers.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path

from kafkaviz.errors import CannotOpen
from kafkaviz.messages import Message, message

# read or left as holes; what is really written is bounded by the space on disk
LIMIT_BYTES = 1 << 40
LIMIT_HEADERS = 4_000_000  # of whatever kind: also of links, notes and long names
LIMIT_FILES = 1_000_000  # files and folders, also those that only a path names
LIMIT_DEPTH = 64  # folders in one another: whoever walks or removes them needs a call for each
BASE_S = 300
BYTES_PER_S = 1 << 20  # of the packed file: a large archive has longer
PROGRESS_INTERVAL_S = 0.25  # how often the progress is reported
UNPACK_YOURSELF = message("archive.unpack_yourself")

ProgressCallback = Callable[[int], None]


class UnpackBudget:
    """The budget of one archive.

    Its methods raise CannotOpen of kind "archive" when something is used up.
    """

    def __init__(self, path: Path, on_progress: ProgressCallback | None = None) -> None:
        """Starts the clock.

        Args:
            on_progress: called a few times a second with the number of bytes read so far; what it
                raises ends the unpacking.
        """
        self.path, self._on_progress = path, on_progress
        self._headers = self._files = self._bytes = 0
        self._limit_s = BASE_S + os.stat(path).st_size // BYTES_PER_S
        self._deadline_s = time.monotonic() + self._limit_s
        self._next_progress_s = time.monotonic() + PROGRESS_INTERVAL_S

    def add_bytes(self, count: int) -> None:
        """Counts bytes before they are read, or before a hole is read as them."""
        self._bytes += count
        self.expect_bytes(0)
        self.check_time()

    def expect_bytes(self, count: int) -> None:
        """Refuses so many more bytes where they would be too many; they are not counted yet."""
        if self._bytes + count > LIMIT_BYTES:
            raise self._refusal(message("archive.too_many_bytes", limit=LIMIT_BYTES))

    def add_headers(self, count: int = 1) -> None:
        self._headers += count
        if self._headers > LIMIT_HEADERS:
            raise self._refusal(message("archive.too_many_headers", limit=LIMIT_HEADERS))

    def add_file(self) -> None:
        """Counts a new file or folder."""
        self._files += 1
        if self._files > LIMIT_FILES:
            raise self._refusal(message("archive.too_many_files", limit=LIMIT_FILES))

    def check_depth(self, folders: int) -> None:
        """Refuses a path of too many folders."""
        if folders > LIMIT_DEPTH:
            raise self._refusal(message("archive.too_deep", limit=LIMIT_DEPTH))

    def check_time(self) -> None:
        """Refuses what takes too long, and reports the progress."""
        now_s = time.monotonic()
        if now_s > self._deadline_s:
            raise self._refusal(message("archive.takes_too_long", limit=self._limit_s))
        if self._on_progress and now_s >= self._next_progress_s:
            self._next_progress_s = now_s + PROGRESS_INTERVAL_S
            self._on_progress(self._bytes)

    def _refusal(self, problem: Message) -> CannotOpen:
        return CannotOpen(self.path, problem, UNPACK_YOURSELF, kind="archive")
