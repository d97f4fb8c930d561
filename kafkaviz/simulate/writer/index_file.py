"""An index file while Kafka writes it: its entries, its length, and what lies behind the entries.

As AbstractIndex and LazyIndex of Kafka 2.4 to 4.4.0. A new file is made as long as it may grow,
10485760 bytes of which none is written; a roll or a close cuts it to its entries. Truncation
forgets entries and leaves their bytes, until others take their place.
"""

import numpy as np


class IndexFile:
    """An offset or a time index of one segment. dtype: ENTRY of its format; numbers in it are
    relative to the base offset.
    """

    def __init__(self, dtype: np.dtype, content: bytes | None = None) -> None:
        """stored: what is on disk, of which every whole slot is believed to be an entry; None if no
        file was made yet.
        """
        self.dtype, self.exists, self.file_bytes = dtype, content is not None, len(content or b"")
        self.count = self._used_slots = self.file_bytes // dtype.itemsize
        self._slots = np.frombuffer(content or b"", dtype, self.count).copy()

    @property
    def entries(self) -> np.ndarray:
        """The entries in use."""
        return self._slots[: self.count]

    @property
    def slots(self) -> int:
        """How many entries the file has room for."""
        return self.file_bytes // self.dtype.itemsize

    def open(self, most_bytes: int) -> None:
        """Makes the file where there is none, as long as it may grow: whole slots alone."""
        if not self.exists:
            self.exists, self.file_bytes = (
                True,
                most_bytes // self.dtype.itemsize * self.dtype.itemsize,
            )

    def append(self, entries: np.ndarray) -> None:
        """Puts entries behind those that are there."""
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
        """Cuts the file, or makes room in it: a stretch that is new is zeros."""
        self.file_bytes = most_bytes // self.dtype.itemsize * self.dtype.itemsize
        self._used_slots = min(self._used_slots, self.slots)
        self._slots = self._slots[: max(self._used_slots, self.count)]

    def trim(self) -> None:
        """Cuts the file to its entries (trimToValidSize)."""
        self.resize(self.count * self.dtype.itemsize)

    def used_bytes(self) -> bytes:
        """The bytes up to the last slot that was ever used since the file was cut; the file goes on
        with zeros.
        """
        return self._slots[: self._used_slots].tobytes()

    def content(self) -> bytes:
        """The whole file."""
        data = self.used_bytes()
        return data + bytes(self.file_bytes - len(data))
