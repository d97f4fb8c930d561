"""The leader epochs of a log, with their start offsets, as in leader-epoch-checkpoint.

Follows LeaderEpochFileCache of Kafka 4.3.1. For example, a log has the epochs (0, 0), (3, 500), (5,
900). After a truncation to 800, (0, 0) and (3, 500) remain. If the log start offset then rises to
600, only (3, 600) remains.
"""

from collections.abc import Iterable

import numpy as np

from kafkaviz.format.batch import MAGIC_2

Epoch = tuple[int, int]  # (epoch, start offset)


class LeaderEpochs:
    """The leader epochs of one log. Epochs and start offsets increase."""

    def __init__(self, entries: Iterable[Epoch] = ()) -> None:
        self.entries: list[Epoch] = []
        for epoch, start in entries:
            self.assign(epoch, start)

    @property
    def latest(self) -> int:
        """The newest epoch; -1 if none is known."""
        return self.entries[-1][0] if self.entries else -1

    def assign(self, epoch: int, start: int) -> None:
        """Adds an epoch that begins at an offset, and removes epochs that contradict it."""
        if self.entries and epoch == self.entries[-1][0] and start >= self.entries[-1][1]:
            return
        while self.entries and (self.entries[-1][0] >= epoch or self.entries[-1][1] >= start):
            self.entries.pop()
        self.entries.append((epoch, start))

    def take(self, batches: np.ndarray) -> None:
        """Adds each epoch in the batches (rows of BATCH) that is newer than all earlier epochs."""
        epochs = np.where(batches["magic"] >= MAGIC_2, batches["leader_epoch"], -1)
        newest = np.maximum.accumulate(np.concatenate([[self.latest], epochs]))
        for row in np.flatnonzero(newest[1:] > newest[:-1]).tolist():
            self.assign(int(epochs[row]), int(batches["base_offset"][row]))

    def cut_to(self, log_start: int, log_end: int) -> bool:
        """Removes the epochs at or above `log_end`, and those that end at or below `log_start`.

        Returns whether Kafka rewrites the file.
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
        """Returns the leader-epoch-checkpoint that Kafka writes for these epochs."""
        lines = [
            "0",
            str(len(self.entries)),
            *(f"{epoch} {start}" for epoch, start in self.entries),
        ]
        return "".join(f"{line}\n" for line in lines).encode()
