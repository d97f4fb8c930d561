"""The files that a report covers, with their SHA-256.

With these, a reader can check whether a directory is still the same.
"""

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from kafkaviz.analysis.checks.plan import is_lone
from kafkaviz.errors import KafkavizError
from kafkaviz.log import file
from kafkaviz.log.archives import archive
from kafkaviz.log.broker import Broker
from kafkaviz.messages import Message, message

PIECE_BYTES = 4 << 20


@dataclass(frozen=True)
class Digest:
    """The checksum of a file or of the archive that was opened.

    Attributes:
        name: the path below the directory, or the archive's name.
        sha256: None if the file could not be read; then `fault` says why.
    """

    name: str
    size_bytes: int
    sha256: str | None
    fault: str | Message = ""
    is_archive: bool = False


def digests(
    broker: Broker, on_progress: Callable[[Message], None] = lambda _what: None
) -> Iterator[Digest]:
    """Yields the archives first, then the files of the directory, sorted by name.

    If one partition was opened, only its files are read.
    """
    for source in filter(archive.is_archive, broker.sources):
        on_progress(message("report_progress.sha256", name=source.name))
        yield replace(_digest(source, source.name), is_archive=True)
    if is_lone(broker):
        yield from _file_digests(broker.partitions[0].path, broker.path, on_progress)
        return
    for directory in broker.log_directories:
        has_others = len(broker.log_directories) > 1
        base = directory.path.parent if has_others else directory.path
        yield from _file_digests(directory.path, base, on_progress)


def _file_digests(
    root: Path, base: Path, on_progress: Callable[[Message], None]
) -> Iterator[Digest]:
    """Yields each file below `root`, named by its path relative to `base`."""
    for folder, subfolders, names in os.walk(root):
        subfolders.sort()
        on_progress(message("report_progress.sha256", name=Path(folder).name))
        for name in sorted(names):
            path = Path(folder) / name
            if path.is_file() and not path.is_symlink():
                yield _digest(path, str(path.relative_to(base)))


def _digest(path: Path, name: str) -> Digest:
    digest = hashlib.sha256()
    buffer = np.empty(PIECE_BYTES, np.uint8)
    done_bytes = 0
    try:
        with file.reader(path) as read:
            while length := read(done_bytes, buffer):
                digest.update(buffer[:length].data)
                done_bytes += length
    except KafkavizError as fault:
        return Digest(name, done_bytes, None, getattr(fault, "what", fault.message))
    return Digest(name, done_bytes, digest.hexdigest())
