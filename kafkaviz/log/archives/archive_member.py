"""Members of an archive and their content in pieces, as all archive readers return them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from kafkaviz.messages import Message

PIECE_BYTES = 1 << 20
# (position in the file, bytes), ascending; the gaps between them are holes
Pieces = Iterator[tuple[int, bytes]]


@dataclass(frozen=True)
class ArchiveMember:
    path: PurePosixPath
    is_directory: bool
    size_bytes: int
    mtime_ns: int


class BadArchive(ValueError):
    """The archive is damaged, unsupported or unsafe."""

    def __init__(self, problem: Message) -> None:
        super().__init__(str(problem))
        self.problem = problem
