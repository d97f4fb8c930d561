"""An index file while Kafka writes it: its entries, its length, and what lies behind the entries.

As AbstractIndex and LazyIndex of Kafka 2.4 to 4.4.0. A new file is as long as it may grow, 10485760
bytes of which none is written; a roll or a close cuts it to its entries. Truncation forgets entries
and leaves their bytes, until others take their place.
"""

import numpy as np


class IndexFile:
    """An offset or a time index of one segment.

    Attributes:
        dtype: ENTRY of its format; numbers in it are relative to the base offset.
    """

    def __init__(self, dtype: np.dtype, content: bytes | None = None) -> None:
        """Takes the file as it is on disk.

        Args:
            content: of which every complete slot is taken for an entry; None if there is no file
                yet.
        """
        self.dtype, self.exists, self.file_bytes = dtype, content is not None, len(content or b"")
        self.count = self._used_slots = self.file_bytes // dtype.itemsize
        self._slots = np.zeros(0, dtype)
        if content:
            self._slots = np.frombuffer(content, dtype, self.count).copy()

    @property
    def entries(self) -> np.ndarray:
        """The entries in use."""
        return self._slots[: self.count]

    @property
    def slots(self) -> int:
        """How many entries the file has space for."""
        return self.file_bytes // self.dtype.itemsize

    def open(self, most_bytes: int) -> None:
        """Creates a missing file, as long as it may grow, in complete slots."""
        if not self.exists:
            self.exists, self.file_bytes = (
                True,
                most_bytes // self.dtype.itemsize * self.dtype.itemsize,
            )

    def append(self, entries: np.ndarray) -> None:
        end = self.count + len(entries)
        if end > len(self._slots):
            larger = np.zeros(max(end, 2 * len(self._slots), 16), self.dtype)
            larger[: self._used_slots] = self._slots[: self._used_slots]
            self._slots = larger
        self._slots[self.count : end] = entries
        self.count, self._used_slots = end, max(end, self._used_slots)

    def truncate(self, count: int) -> None:
        """Forgets the entries from that slot on; their bytes stay (truncateToEntries)."""
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
        """The bytes up to the last slot that was ever used since the file was cut.

        The file goes on with zeros.
        """
        return self._slots[: self._used_slots].tobytes()

    def content(self) -> bytes:
        """All bytes of the file."""
        data = self.used_bytes()
        return data + bytes(self.file_bytes - len(data))
