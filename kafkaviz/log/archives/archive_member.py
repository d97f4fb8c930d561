"""What the readers of archives have in common: members, and their content in pieces."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from kafkaviz.messages import Message

PIECE_BYTES = 1 << 20
# (byte of the file, what stands there), ascending; between them are holes
Pieces = Iterator[tuple[int, bytes]]


@dataclass(frozen=True)
class ArchiveMember:
    """One regular file or directory of an archive."""

    path: PurePosixPath
    is_directory: bool
    size_bytes: int
    mtime_ns: int


class BadArchive(ValueError):
    """The fault that makes an archive unreadable."""

    def __init__(self, problem: Message) -> None:
        super().__init__(str(problem))
        self.problem = problem
