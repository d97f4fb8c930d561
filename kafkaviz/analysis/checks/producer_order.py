"""The check for batches with a smaller producer epoch or a repeated sequence.

ProducerAppendInfo of Kafka 4.3.1 refuses both on a leader as long as it knows the producer. It
forgets a producer that was silent for producer.id.expiration.ms, and a producer may restart at
sequence 0; neither is reported. Sequence 0 follows 2147483647. Producers are followed within one
segment. For example, sequences 0 to 9 are followed by 5 to 8.
"""

from typing import NamedTuple

import numpy as np

from kafkaviz.format.batch import MAGIC_2

SEQUENCES = 2**31
MAX_STEPS = 10


class StepBack(NamedTuple):
    """A batch whose producer epoch or sequence goes back.

    Attributes:
        row: the batch.
        previous_epoch: the epoch of the producer's previous batch.
        previous_sequence: the last sequence of that batch; -1 if the epoch goes back.
    """

    row: np.void
    previous_epoch: int
    previous_sequence: int


class ProducerOrder:
    """Follows every producer through the batches of a segment.

    Attributes:
        steps: the first steps back.
        count: number of all steps back.
    """

    def __init__(self, expiration_ms: int) -> None:
        """Starts with no batch.

        Args:
            expiration_ms: a broker forgets a producer that was silent for so long.
        """
        self._expiration_ms = expiration_ms
        self.steps: list[StepBack] = []
        self.count = 0
        self._last_rows = np.empty(0)

    def take(self, rows: np.ndarray) -> None:
        is_producers = rows["crc_valid"] & (rows["magic"] >= MAGIC_2)
        is_producers &= rows["producer_id"] >= 0
        if not is_producers.any():
            return
        rows = rows[is_producers]
        if len(self._last_rows):
            rows = np.concatenate((self._last_rows, rows))
        rows = rows[np.argsort(rows["producer_id"], kind="stable")]
        has_sequence = rows["base_sequence"] >= 0
        self._find_epochs(rows)
        self._find_sequences(rows[has_sequence])
        # keep each producer's last batch, and its last batch with sequences
        is_last = _is_last(rows)
        is_last[np.flatnonzero(has_sequence)[_is_last(rows[has_sequence])]] = True
        self._last_rows = rows[is_last]

    def _find_epochs(self, rows: np.ndarray) -> None:
        is_back = self._is_followed(rows) & (np.diff(rows["producer_epoch"].astype(np.int64)) < 0)
        for place in np.flatnonzero(is_back).tolist():
            self._keep(StepBack(rows[place + 1], int(rows["producer_epoch"][place]), -1))

    def _find_sequences(self, rows: np.ndarray) -> None:
        if len(rows) < 2:
            return
        base = rows["base_sequence"].astype(np.int64)
        last = (base + rows["last_offset"] - rows["base_offset"]) % SEQUENCES
        distance = (base[1:] - last[:-1]) % SEQUENCES
        is_back = self._is_followed(rows) & (base[1:] != 0)
        is_back &= rows["producer_epoch"][1:] == rows["producer_epoch"][:-1]
        is_back &= (distance == 0) | (distance > SEQUENCES // 2)
        for place in np.flatnonzero(is_back).tolist():
            previous_epoch = int(rows["producer_epoch"][place])
            self._keep(StepBack(rows[place + 1], previous_epoch, int(last[place])))

    def _is_followed(self, rows: np.ndarray) -> np.ndarray:
        """Returns which rows are followed by one of the same producer before Kafka forgets it."""
        waited_ms = rows["max_timestamp_ms"][1:] - rows["max_timestamp_ms"][:-1]
        return (rows["producer_id"][1:] == rows["producer_id"][:-1]) & (
            waited_ms < self._expiration_ms
        )

    def _keep(self, step: StepBack) -> None:
        self.count += 1
        if len(self.steps) < MAX_STEPS:
            self.steps.append(step)


def _is_last(rows: np.ndarray) -> np.ndarray:
    is_last = np.ones(len(rows), bool)
    is_last[:-1] = rows["producer_id"][1:] != rows["producer_id"][:-1]
    return is_last
