"""Packs files in memory into a .tar.gz, with sub-second times and the same bytes each time."""

import gzip
import io
import tarfile
from collections.abc import Iterable

import numpy as np

from kafkaviz.binary.file_view import FileView

MS_NS = 1_000_000
LEVEL = 1  # gzip's fastest level, because a page waits for the archive


def archive(files: Iterable[FileView], root: str) -> bytes:
    """Returns the archive's bytes.

    Args:
        root: the folder that is put before all names.
    """
    buffer = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=buffer, mode="wb", compresslevel=LEVEL, mtime=0) as gzip_file,
        tarfile.open(fileobj=gzip_file, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for file in files:
            member = tarfile.TarInfo(f"{root}/{file.name}")
            member.size = file.size_bytes
            member.mtime = file.modified_ms // 1000
            member.pax_headers = {
                "mtime": f"{file.modified_ms // 1000}.{file.modified_ms % 1000:03d}"
            }
            with file.open_reader() as read:
                tar.addfile(member, io.BufferedReader(_FileStream(read, file.size_bytes)))
    return buffer.getvalue()


class _FileStream(io.RawIOBase):
    """A stream over read(position, buffer), from the beginning."""

    def __init__(self, read, size_bytes: int) -> None:
        self._read = read
        self._position = 0
        self._size_bytes = size_bytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        length = min(len(buffer), self._size_bytes - self._position)
        count = (
            self._read(self._position, np.frombuffer(buffer, np.uint8)[:length]) if length else 0
        )
        self._position += count
        return count
