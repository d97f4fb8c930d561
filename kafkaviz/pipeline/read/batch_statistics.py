"""Statistics of batches, such as their number, first offset and codecs."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import or_

import numpy as np

from kafkaviz.analysis.inferred_settings import FirstBatch
from kafkaviz.format.batch import UNKNOWN, codec, has_delete_horizon, is_log_append_time
from kafkaviz.format.walk import BatchObserver


@dataclass(frozen=True, kw_only=True)
class BatchStatistics:
    """Statistics of consecutive batches.

    A value is None without batches, or if their format lacks the field.
    `min_timestamp_ms` comes from the batch headers, which have only the first record's timestamp,
    or the append time.
    """

    batches: int = 0
    records: int | None = 0
    first_offset: int | None = None
    last_offset: int | None = None
    min_timestamp_ms: int | None = None
    max_timestamp_ms: int | None = None
    first_batch: FirstBatch | None = None
    codecs: int = 0  # bit n is set if any batch has the codec with id n


def content(batches: np.ndarray) -> BatchStatistics:
    if not len(batches):
        return BatchStatistics()
    first = batches[0]
    counts = batches["record_count"]
    hidden = (counts == UNKNOWN) & (batches["magic"] < 2)
    return BatchStatistics(
        batches=len(batches),
        records=None if hidden.any() else int(counts.sum(dtype=np.int64)),
        first_offset=None if hidden[0] else int(first["base_offset"]),
        last_offset=int(batches["last_offset"][-1]),
        min_timestamp_ms=_smallest_timestamp(_earliest_ms(batches).tolist()),
        max_timestamp_ms=_most(batches["max_timestamp_ms"][~no_timestamp(batches)].tolist()),
        first_batch=FirstBatch.from_row(first),
        codecs=int(np.bitwise_or.reduce(1 << codec(batches).astype(np.int64))),
    )


class BatchStatisticsBuilder(BatchObserver[BatchStatistics]):
    """Collects the statistics of a split. `end_position`: the byte after the last batch."""

    def __init__(self) -> None:
        self._content = BatchStatistics()
        self.end_position: int | None = None

    def observe(self, batches: np.ndarray) -> None:
        if not len(batches):
            return
        self._content = merge((self._content, content(batches)))
        self.end_position = int(batches["position"][-1] + batches["size_bytes"][-1])

    def result(self) -> BatchStatistics:
        return self._content


def merge(parts: Iterable[BatchStatistics]) -> BatchStatistics:
    """Merges the statistics of consecutive parts of a segment.

    Example: one part has two batches, offsets 0-9 and 10-19. The next part has one, 20-24. The
    result is 3 batches, 25 records, first offset 0 and last offset 24.
    """
    parts = [part for part in parts if part.batches]
    if not parts:
        return BatchStatistics()
    first = parts[0]
    counts = [part.records for part in parts if part.records is not None]
    return BatchStatistics(
        batches=sum(part.batches for part in parts),
        records=sum(counts) if len(counts) == len(parts) else None,
        first_offset=first.first_offset,
        last_offset=parts[-1].last_offset,
        min_timestamp_ms=_smallest_timestamp(part.min_timestamp_ms for part in parts),
        max_timestamp_ms=_most(part.max_timestamp_ms for part in parts),
        first_batch=first.first_batch,
        codecs=reduce(or_, (part.codecs for part in parts)),
    )


def _earliest_ms(batches: np.ndarray) -> np.ndarray:
    hidden = (batches["magic"] < 2) & (batches["record_count"] == UNKNOWN)
    by_largest = is_log_append_time(batches) | has_delete_horizon(batches) | hidden
    earliest_ms = np.where(by_largest, batches["max_timestamp_ms"], batches["base_timestamp_ms"])
    return earliest_ms[~no_timestamp(batches)]


def no_timestamp(batches: np.ndarray) -> np.ndarray:
    return batches["magic"] < 1


def _smallest_timestamp(values: Iterable[int | None]) -> int | None:
    """Returns the smallest timestamp. -1 (no timestamp) counts only if all values are -1."""
    present = [value for value in values if value is not None]
    return min((value for value in present if value >= 0), default=min(present, default=None))


def _most(values: Iterable[int | None]) -> int | None:
    return max((value for value in values if value is not None), default=None)
