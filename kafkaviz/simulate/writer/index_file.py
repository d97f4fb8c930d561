"""An index file while Kafka writes it: its entries, its length, and the bytes after the entries.

As AbstractIndex and LazyIndex of Kafka 2.4 to 4.4.0. A new file has its full length, 10485760 bytes
by default, without entries. A roll or a close trims it to its entries. A truncation forgets entries
but leaves their bytes, until new entries replace them.
"""

import numpy as np


class IndexFile:
    """An offset or time index of one segment.

    Attributes:
        dtype: the ENTRY of its format; offsets are relative to the base offset.
    """

    def __init__(self, dtype: np.dtype, content: bytes | None = None) -> None:
        """Loads the file.

        Args:
            content: the bytes on disk, each complete slot of which counts as an entry; None if the
                file does not exist yet.
        """
        self.dtype = dtype
        self.exists = content is not None
        self.file_bytes = len(content or b"")
        self.count = self._used_slots = self.file_bytes // dtype.itemsize
        self._slots = np.zeros(0, dtype)
        if content:
            self._slots = np.frombuffer(content, dtype, self.count).copy()

    @property
    def entries(self) -> np.ndarray:
        return self._slots[: self.count]

    @property
    def slots(self) -> int:
        """The number of entries that fit into the file."""
        return self.file_bytes // self.dtype.itemsize

    def open(self, most_bytes: int) -> None:
        """Creates a missing file with its full length, rounded down to complete slots."""
        if not self.exists:
            self.exists = True
            self.file_bytes = most_bytes // self.dtype.itemsize * self.dtype.itemsize

    def append(self, entries: np.ndarray) -> None:
        end = self.count + len(entries)
        if end > len(self._slots):
            larger = np.zeros(max(end, 2 * len(self._slots), 16), self.dtype)
            larger[: self._used_slots] = self._slots[: self._used_slots]
            self._slots = larger
        self._slots[self.count : end] = entries
        self.count = end
        self._used_slots = max(end, self._used_slots)

    def truncate(self, count: int) -> None:
        """Forgets all entries but the first `count`; their bytes stay (truncateToEntries)."""
        self.count = count

    def resize(self, most_bytes: int) -> None:
        """Cuts the file, or extends it with zeros."""
        self.file_bytes = most_bytes // self.dtype.itemsize * self.dtype.itemsize
        self._used_slots = min(self._used_slots, self.slots)
        self._slots = self._slots[: max(self._used_slots, self.count)]

    def trim(self) -> None:
        """Cuts the file to its entries (trimToValidSize)."""
        self.resize(self.count * self.dtype.itemsize)

    def used_bytes(self) -> bytes:
        """Returns the bytes up to the last slot that was used since the file was last cut.

        The rest of the file is zeros.
        """
        return self._slots[: self._used_slots].tobytes()

    def content(self) -> bytes:
        data = self.used_bytes()
        return data + bytes(self.file_bytes - len(data))
