"""What the readers of archives give: members, and their content in pieces."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

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
