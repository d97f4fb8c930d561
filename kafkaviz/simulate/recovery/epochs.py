"""The leader epochs of a log: which began at which offset, as leader-epoch-checkpoint keeps it.

As LeaderEpochFileCache of Kafka 4.3.1. Epochs (0, 0), (3, 500), (5, 900) of a log that is cut to
end at 800 become (0, 0), (3, 500); if it also starts at 600 now, (3, 600).
"""

from collections.abc import Iterable

import numpy as np

from kafkaviz.format.batch import MAGIC_2

Epoch = tuple[int, int]  # (epoch, start offset)


class LeaderEpochs:
    """The epochs of one log, both columns ascending."""

    def __init__(self, entries: Iterable[Epoch] = ()) -> None:
        """Takes the epochs of a file.

        Args:
            entries: as the file has them; one that does not fit those before it removes them.
        """
        self.entries: list[Epoch] = []
        for epoch, start in entries:
            self.assign(epoch, start)

    @property
    def latest(self) -> int:
        """The newest epoch; -1 if none is known."""
        return self.entries[-1][0] if self.entries else -1

    def assign(self, epoch: int, start: int) -> None:
        """Notes that an epoch began at an offset."""
        if self.entries and epoch == self.entries[-1][0] and start >= self.entries[-1][1]:
            return
        while self.entries and (self.entries[-1][0] >= epoch or self.entries[-1][1] >= start):
            self.entries.pop()
        self.entries.append((epoch, start))

    def take(self, batches: np.ndarray) -> None:
        """Notes each epoch in batches that is newer than all before.

        Messages of magic 0 and 1 have none.

        Args:
            batches: rows of format.batch.BATCH.
        """
        epochs = np.where(batches["magic"] >= MAGIC_2, batches["leader_epoch"], -1)
        newest = np.maximum.accumulate(np.concatenate([[self.latest], epochs]))
        for row in np.flatnonzero(newest[1:] > newest[:-1]).tolist():
            self.assign(int(epochs[row]), int(batches["base_offset"][row]))

    def cut_to(self, log_start: int, log_end: int) -> bool:
        """Forgets what lies at or above the log's end, and what ended before its start.

        Returns:
            Whether Kafka writes the file for that.
        """
        count_before = len(self.entries)
        self.entries = [(epoch, start) for epoch, start in self.entries if start < log_end]
        epochs_before = [epoch for epoch, start in self.entries if start <= log_start]
        if epochs_before:
            self.entries = [
                (epochs_before[-1], log_start),
                *((epoch, start) for epoch, start in self.entries if start > log_start),
            ]
        return bool(epochs_before) or len(self.entries) < count_before

    def text(self) -> bytes:
        """The file that Kafka writes for them."""
        lines = [
            "0",
            str(len(self.entries)),
            *(f"{epoch} {start}" for epoch, start in self.entries),
        ]
        return "".join(f"{line}\n" for line in lines).encode()
