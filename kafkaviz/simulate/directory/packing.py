"""Files that lie nowhere yet as a .tar.gz, with their times to the nanosecond, the same bytes each
time.
"""

import gzip
import io
import tarfile
from collections.abc import Iterable

import numpy as np

from kafkaviz.binary.file_view import FileView

MS_NS = 1_000_000
LEVEL = 1  # of gzip: a page waits for it


def archive(files: Iterable[FileView], root: str) -> bytes:
    """The archive; root: the folder that all names are put into."""
    buffer = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=buffer, mode="wb", compresslevel=LEVEL, mtime=0) as gzip_file,
        tarfile.open(fileobj=gzip_file, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for file in files:
            member = tarfile.TarInfo(f"{root}/{file.name}")
            member.size, member.mtime = file.size_bytes, file.modified_ms // 1000
            member.pax_headers = {
                "mtime": f"{file.modified_ms // 1000}.{file.modified_ms % 1000:03d}"
            }
            with file.open_reader() as read:
                tar.addfile(member, io.BufferedReader(_FileStream(read, file.size_bytes)))
    return buffer.getvalue()


class _FileStream(io.RawIOBase):
    """read(position, buffer) as a stream from the beginning on."""

    def __init__(self, read, size_bytes: int) -> None:
        self._read, self._position, self._size_bytes = read, 0, size_bytes

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer) -> int:
        """The next bytes."""
        length = min(len(buffer), self._size_bytes - self._position)
        count = (
            self._read(self._position, np.frombuffer(buffer, np.uint8)[:length]) if length else 0
        )
        self._position += count
        return count
