"""Files that lie nowhere yet as a .tar.gz, with their times to the nanosecond, the same bytes each
time.
"""

import gzip
import io
import tarfile
from collections.abc import Iterable

import numpy as np

from kafkaviz.simulate.stored import StoredFile

MS_NS = 1_000_000
LEVEL = 1  # of gzip: a page waits for it


def archive(files: Iterable[StoredFile], root: str) -> bytes:
    """The archive; root: the folder that all names are put into."""
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=LEVEL, mtime=0) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for file in files:
            member = tarfile.TarInfo(f"{root}/{file.name}")
            member.size, member.mtime = file.size_bytes, file.modified_ms // 1000
            member.pax_headers = {
                "mtime": f"{file.modified_ms // 1000}.{file.modified_ms % 1000:03d}"
            }
            with file.opened() as read:
                tar.addfile(member, io.BufferedReader(_Reading(read, file.size_bytes)))
    return packed.getvalue()


class _Reading(io.RawIOBase):
    """read(position, buffer) as a stream from the beginning on."""

    def __init__(self, read, size_bytes: int) -> None:
        self._read, self._position, self._size_bytes = read, 0, size_bytes

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer) -> int:
        """The next bytes."""
        wanted = min(len(buffer), self._size_bytes - self._position)
        got = self._read(self._position, np.frombuffer(buffer, np.uint8)[:wanted]) if wanted else 0
        self._position += got
        return got
