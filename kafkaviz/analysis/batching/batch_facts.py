"""Counts the records, sizes and codecs of a topic's batches, per producer id.

Reads only headers. Two kinds of batches do not count for a producer id: transaction markers, and
batches of magic 0 or 1 whose number of records is unknown.
"""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from kafkaviz.binary import codec
from kafkaviz.format import batch as batch_format
from kafkaviz.format.batch import HEADER_BYTES, MAGIC_2
from kafkaviz.format.walk import BatchObserver

DEFAULT_BATCH_BYTES = 16 << 10  # batch.size of a producer without settings, up to 4.4.0
NO_PRODUCER_ID = -1
# at most this many producers are listed separately; the smaller ones are counted together
MAX_PRODUCERS = 1024
_EXACT = 64  # a histogram has a bin for each number below, and 32 bins for each doubling above
_BINS_PER_DOUBLING = 32
_BIN_COUNT = _EXACT + 32 * _BINS_PER_DOUBLING


@dataclass(frozen=True, kw_only=True)
class ProducerFacts:
    """Counts and sizes of the batches of one producer id, or of several.

    Medians and other quantiles above 64 are up to 3 % too low, because numbers are counted in bins.

    Attributes:
        producer_id: -1: batches without a producer id. None: several producers together.
        header_bytes: 61 bytes per batch of magic 2.
        codecs: (name, share of `stored_bytes`) of each codec, the largest first. "unknown": an id
            that Kafka does not know.
    """

    producer_id: int | None
    batches: int
    records: int
    stored_bytes: int
    header_bytes: int
    records_per_batch_mean: float
    records_per_batch_p50: int
    records_per_batch_p90: int
    records_per_batch_max: int
    batch_bytes_mean: float
    batch_bytes_p50: int
    batch_bytes_max: int
    codecs: tuple[tuple[str, float], ...]

    @property
    def fill(self) -> float:
        """The mean batch size divided by 16 KiB, the default of batch.size."""
        return self.batch_bytes_mean / DEFAULT_BATCH_BYTES

    @property
    def header_share(self) -> float:
        return self.header_bytes / self.stored_bytes if self.stored_bytes else 0.0


@dataclass(frozen=True, kw_only=True)
class BatchFacts:
    """Counts and sizes of the batches of a topic, in total and by producer id.

    Attributes:
        by_producer: the MAX_PRODUCERS producers with the most bytes, the largest first.
        others: the batches of all other producers. None: no such producers.
        other_producers: the number of these producers. The number may be too high: if the counts
            of a producer were merged into `others` twice, the producer counts twice.
        control_batches: the number of control batches, which no other field counts.
        legacy_batches: batches of magic 0 and 1. If the number of records is unknown, `total` does
            not count the batch.
    """

    total: ProducerFacts
    by_producer: tuple[ProducerFacts, ...]
    others: ProducerFacts | None
    other_producers: int
    control_batches: int
    legacy_batches: int
    append_time_batches: int


class BatchFactsBuilder(BatchObserver[BatchFacts]):
    """Counts batches per producer id. Counts small producers together, to bound the memory."""

    def __init__(self) -> None:
        self._by_producer: defaultdict[int, _Counts] = defaultdict(_Counts)
        self._others = _Counts()
        self._other_producers = 0
        self._control_batches = 0
        self._legacy_batches = 0
        self._append_time_batches = 0

    def observe(self, batches: np.ndarray) -> None:
        is_control = batch_format.is_control(batches)
        self._control_batches += int(is_control.sum())
        self._legacy_batches += int((batches["magic"] < MAGIC_2).sum())
        counted = batches[~is_control & (batches["record_count"] >= 0)]
        self._append_time_batches += int(batch_format.is_log_append_time(counted).sum())
        if not len(counted):
            return
        order = np.argsort(counted["producer_id"], kind="stable")
        producer_ids, starts = np.unique(counted["producer_id"][order], return_index=True)
        parts = np.split(order, starts[1:])
        for producer_id, rows in zip(producer_ids.tolist(), parts, strict=True):
            self._by_producer[producer_id].add(counted[rows])
        if len(self._by_producer) > 2 * MAX_PRODUCERS:
            self._merge_small_producers()

    def _merge_small_producers(self) -> list[int]:
        """Merges small producers into `_others`. Returns the ids that stay, most bytes first."""
        ids = sorted(self._by_producer, key=lambda name: -self._by_producer[name].stored_bytes)
        for producer_id in ids[MAX_PRODUCERS:]:
            self._others.merge(self._by_producer.pop(producer_id))
            self._other_producers += 1
        return ids[:MAX_PRODUCERS]

    def result(self) -> BatchFacts:
        ids = self._merge_small_producers()
        total = _Counts()
        for counts in (*self._by_producer.values(), self._others):
            total.merge(counts)
        return BatchFacts(
            total=total.facts(None),
            by_producer=tuple(self._by_producer[name].facts(name) for name in ids),
            others=self._others.facts(None) if self._other_producers else None,
            other_producers=self._other_producers,
            control_batches=self._control_batches,
            legacy_batches=self._legacy_batches,
            append_time_batches=self._append_time_batches,
        )


class _Counts:
    def __init__(self) -> None:
        self.batches = 0
        self.records = 0
        self.stored_bytes = 0
        self._header_bytes = 0
        self._most_records = 0
        self._most_bytes = 0
        self._codec_bytes = np.zeros(batch_format.CODEC_MASK + 1, np.int64)
        self._record_bins = np.zeros(_BIN_COUNT, np.int64)
        self._byte_bins = np.zeros(_BIN_COUNT, np.int64)

    def add(self, rows: np.ndarray) -> None:
        self.batches += len(rows)
        self.records += int(rows["record_count"].sum(dtype=np.int64))
        self.stored_bytes += int(rows["size_bytes"].sum())
        self._header_bytes += HEADER_BYTES * int((rows["magic"] >= MAGIC_2).sum())
        self._most_records = max(self._most_records, int(rows["record_count"].max()))
        self._most_bytes = max(self._most_bytes, int(rows["size_bytes"].max()))
        np.add.at(self._codec_bytes, batch_format.codec(rows), rows["size_bytes"])
        self._record_bins += np.bincount(_bins(rows["record_count"]), minlength=_BIN_COUNT)
        self._byte_bins += np.bincount(_bins(rows["size_bytes"]), minlength=_BIN_COUNT)

    def merge(self, other: "_Counts") -> None:
        self.batches += other.batches
        self.records += other.records
        self.stored_bytes += other.stored_bytes
        self._header_bytes += other._header_bytes
        self._most_records = max(self._most_records, other._most_records)
        self._most_bytes = max(self._most_bytes, other._most_bytes)
        self._codec_bytes += other._codec_bytes
        self._record_bins += other._record_bins
        self._byte_bins += other._byte_bins

    def facts(self, producer_id: int | None) -> ProducerFacts:
        count = max(self.batches, 1)
        return ProducerFacts(
            producer_id=producer_id,
            batches=self.batches,
            records=self.records,
            stored_bytes=self.stored_bytes,
            header_bytes=self._header_bytes,
            records_per_batch_mean=self.records / count,
            records_per_batch_p50=_quantile(self._record_bins, 0.5),
            records_per_batch_p90=_quantile(self._record_bins, 0.9),
            records_per_batch_max=self._most_records,
            batch_bytes_mean=self.stored_bytes / count,
            batch_bytes_p50=_quantile(self._byte_bins, 0.5),
            batch_bytes_max=self._most_bytes,
            codecs=self._codec_shares(),
        )

    def _codec_shares(self) -> tuple[tuple[str, float], ...]:
        names = codec.CODECS
        total = max(self.stored_bytes, 1)
        shares = [
            (name, float(share / total))
            for name, share in zip(names, self._codec_bytes, strict=False)
        ]
        shares.append(("unknown", float(self._codec_bytes[len(names) :].sum() / total)))
        return tuple(sorted((pair for pair in shares if pair[1]), key=lambda pair: -pair[1]))


def _bins(numbers: np.ndarray) -> np.ndarray:
    """Returns the bin in which each number is counted. Numbers are from 0 to 2^31 - 1."""
    values = numbers.astype(np.int64)
    exponents = np.frexp(np.maximum(values, 1))[1] - 1  # number of the highest bit
    doublings = exponents - (_EXACT.bit_length() - 1)
    shifts = np.maximum(doublings + 1, 0)
    steps = (values >> shifts) - _BINS_PER_DOUBLING
    return np.where(values < _EXACT, values, _EXACT + doublings * _BINS_PER_DOUBLING + steps)


def _quantile(bins: np.ndarray, share: float) -> int:
    """Returns a quantile of the counted numbers, such as `share=0.5` for the median.

    The result is the lowest number of the quantile's bin, or 0 if nothing was counted.
    """
    total = int(bins.sum())
    if not total:
        return 0
    rank = max(1, int(np.ceil(share * total - 1e-9)))
    number = int(np.searchsorted(np.cumsum(bins), rank))
    if number < _EXACT:
        return number
    doubling, step = divmod(number - _EXACT, _BINS_PER_DOUBLING)
    return (_BINS_PER_DOUBLING + step) << (doubling + 1)
