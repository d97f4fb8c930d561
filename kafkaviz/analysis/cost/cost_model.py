"""Estimates the time of a lookup, as a range, from its numbers of headers and device reads.

For example, if the 99th percentile of lookups reads 44 headers:

- Up to Kafka 4.0: 1.8 µs per header and 2.2 µs before the first one give 81 µs (43 to 180 µs).
- Since Kafka 4.1: a header takes one read instead of two, which gives 42 µs (22 to 92 µs).

The times were measured with Kafka's own LogSegment on three machines with two cores. The likely
values come from the slowest machine, which ran Kafka 3.9. On the other two machines, a header took
0.99 and 1.49 µs with Kafka 3.9.1, 0.51 and 0.74 µs with 4.3.1, and 0.49 and 0.73 µs with 4.4.0. The
times of devices are published figures.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from kafkaviz.format import offset_index, time_index
from kafkaviz.search.binary_search import PAGE_BYTES

READ_AHEAD_BYTES = 128 << 10  # the default of Linux's read_ahead_kb
# A fit over 25 cold scans gave 110 µs + 87 µs per read, on a disk whose single random read took
# 103 µs. The two times are kept as shares of a random read.
COLD_START_READS = 110 / 103
COLD_EACH_READS = 87 / 103
MAX_MAP_COUNT = 65_530  # the default of Linux's vm.max_map_count
JVM_MAPS = 1000  # maps of a JVM before the first index: 500 to 1500
# .index and .timeindex once loaded; Kafka reads the .txnindex through a channel, without a map
MAPS_PER_SEGMENT = 2
FILES_PER_SEGMENT = 3
# lookups near the end of an index touch this many pages; only these are sure to stay in memory
WARM_PAGES = 3


class Range(NamedTuple):
    """The least, the likely and the greatest value of an uncertain number."""

    low: float
    typical: float
    high: float

    def times(self, count: float) -> "Range":
        return Range(*(value * count for value in self))

    def scale(self, shares: "Range") -> "Range":
        """Multiplies low by low, typical by typical and high by high."""
        return Range(*(value * share for value, share in zip(self, shares, strict=True)))

    def plus(self, other: "Range") -> "Range":
        return Range(*(ours + theirs for ours, theirs in zip(self, other, strict=True)))


HDD = "hdd"
OBJECT_STORE = "object-store"
CALIBRATED = "calibrated"


@dataclass(frozen=True)
class Storage:
    """A kind of storage, and its time in µs for a random 4 KiB read that misses the page cache."""

    name: str
    read_us: Range

    @property
    def seeks(self) -> bool:
        """Whether each read is a disk seek: an "hdd", or a calibrated disk that is as slow."""
        return self.name == HDD or (
            self.name == CALIBRATED and self.read_us.typical >= STORAGES[HDD].read_us.low
        )


STORAGES: dict[str, Storage] = {
    storage.name: storage
    for storage in (
        Storage("memory", Range(0.6, 1.1, 2.6)),  # measured: pread from the page cache
        # a little better than SATA on average; the makers' 10 to 50 µs are for cached reads
        Storage("nvme", Range(50, 100, 200)),
        Storage("ssd", Range(80, 140, 400)),  # SATA
        Storage("hdd", Range(4000, 12_000, 25_000)),
        # a network volume such as gp3: designed for single-digit milliseconds
        Storage("cloud-volume", Range(500, 1000, 5000)),
        Storage("object-store", Range(20_000, 50_000, 100_000)),  # assumed: one GET
    )
}
DEFAULT_STORAGE = "nvme"

# two reads per header, up to Kafka 4.0: 0.99, 1.49 and 1.81 to 1.84 µs on the three machines
HEADER_US = Range(0.95, 1.8, 4.0)
FAULT_US = Range(0.5, 1.0, 2.9)  # first access to a mapped page that is in the page cache
# time before the first header is read, including the search of the index
FIRST_US = Range(1.0, 2.2, 3.6)
# the part of FIRST_US for the search of an index in memory: this time once, and once per probe
SEARCH_US = Range(0.06, 0.1, 0.14)
PROBE_US = Range(0.009, 0.014, 0.019)


@dataclass(frozen=True, kw_only=True)
class LookupCosts:
    """The times from which the cost of a lookup is computed.

    Attributes:
        header_us: the time per header that a scan reads from the page cache.
        first_us: the time before the first header.
        reads_once: whether a header takes one read instead of two, and so half the time (since
            Kafka 4.1).
        calibrated: when this machine was calibrated; None if presets are used.
        fault_us: the time of the first access to an index page that is in the page cache.
        one_read_share: the share of headers of magic 0 and 1, which always take one read.
    """

    header_us: Range = HEADER_US
    first_us: Range = FIRST_US
    storage: Storage = STORAGES[DEFAULT_STORAGE]
    reads_once: bool = False
    calibrated: str | None = None
    fault_us: Range = FAULT_US
    one_read_share: float = 0.0

    @property
    def is_modelled(self) -> bool:
        """Whether `header_us` is not measured, but estimated as half the time of two reads."""
        return self.reads_once and not self.calibrated

    @property
    def each_us(self) -> Range:
        if self.reads_once:
            return self.header_us
        return self.header_us.times(1 - self.one_read_share / 2)

    def with_one_read_share(self, one_read_share: float) -> "LookupCosts":
        return replace(self, one_read_share=one_read_share)

    def warm_us(self, headers: float) -> Range:
        return self.first_us.plus(self.each_us.times(headers))

    def cold_us(
        self, headers: float, reads: float, index_reads: float = 0.0, index_pages: float = 0.0
    ) -> Range:
        """Returns the time of a lookup in µs if nothing is in the page cache.

        `reads` and `index_reads` are device reads of the .log and of the index. A touched index
        page (`index_pages`) that needs no device read costs the time of a page fault.
        """
        warm = self.warm_us(headers)
        if self.storage.name == "memory":
            return warm
        device_reads = COLD_START_READS + COLD_EACH_READS * reads + index_reads
        faults = self.fault_us.times(max(0.0, index_pages - index_reads))
        return warm.plus(self.storage.read_us.times(device_reads)).plus(faults)

    def cores(self, headers_mean: float, fetches_per_s: float) -> Range:
        """Returns how many cores lookups keep busy. Fetches at the log end need no lookup."""
        return self.warm_us(headers_mean).times(fetches_per_s / 1e6)


def lookup_costs(
    *, by_base_offset: bool, storage: str | None = None, calibration: Mapping | None = None
) -> LookupCosts:
    """Returns the times from which the cost of a lookup is computed.

    Args:
        by_base_offset: whether a search reads each header with one read, as since Kafka 4.1.
        storage: a name in STORAGES. The default is the disk in `calibration`, or nvme without it.
        calibration: the result of `kafkaviz calibrate`. Its times replace the built-in times.
    """
    costs = LookupCosts(storage=STORAGES[storage or DEFAULT_STORAGE], reads_once=by_base_offset)
    if calibration:
        costs = _with_calibration(costs, calibration)
        return replace(costs, storage=STORAGES[storage]) if storage else costs
    return replace(costs, header_us=costs.header_us.times(0.5)) if by_base_offset else costs


# Reading 17 and 61 bytes took 1.29, 0.91 and 1.58 µs on the three machines. A header took 1.4, 1.1
# and 0.95 times as long, and the part before the first header 1.7, 1.1 and 1.2 times.
HEADER_READS = Range(0.9, 1.12, 1.6)
FIRST_READS = Range(0.8, 1.3, 2.8)


def _with_calibration(costs: LookupCosts, calibration: Mapping) -> LookupCosts:
    """Returns `costs` with this machine's times. Scales the times of cached reads to Java's."""
    small_read, large_read = (_range(calibration[name]) for name in ("pread_17_us", "pread_61_us"))
    both_reads = small_read.plus(large_read)
    header_reads = small_read if costs.reads_once else both_reads
    read_us = calibration.get("random_read_us")
    fault_us = calibration.get("minor_fault_us")
    return replace(
        costs,
        header_us=header_reads.scale(HEADER_READS),
        first_us=both_reads.scale(FIRST_READS),
        storage=Storage(CALIBRATED, _range(read_us)) if read_us else costs.storage,
        calibrated=calibration["measured_at"],
        fault_us=_range(fault_us) if fault_us else costs.fault_us,
    )


def _range(measure: Mapping) -> Range:
    return Range(measure["min"], measure["median"], measure["p90"])


def footprint(
    segments: int,
    index_bytes: int,
    segment_index_bytes: Sequence[int],
    *,
    leaves_maps: bool = False,
) -> dict[str, int]:
    """Returns how many files, memory maps and bytes the indexes of all segments take.

    - `maps`: the memory maps if every index is loaded
    - `stale_maps`: the unused maps that rolls left, if the JVM has freed none of them
    - `maps_left`: what vm.max_map_count leaves; if negative, a broker would stop with "Map failed"
    - `preallocated_bytes`: the apparent length of the active segments' indexes
    - `resident_bytes`: the part of the indexes that lookups near the end keep in memory

    Args:
        segment_index_bytes: segment.index.bytes of each partition; each has one active segment.
        leaves_maps: whether a roll leaves unused maps, as before KAFKA-19390.
    """
    offset_bytes = offset_index.ENTRY.itemsize
    time_bytes = time_index.ENTRY.itemsize
    partitions = len(segment_index_bytes)
    maps = MAPS_PER_SEGMENT * segments
    stale_maps = MAPS_PER_SEGMENT * max(0, segments - partitions) if leaves_maps else 0
    return {
        "segments": segments,
        "files": FILES_PER_SEGMENT * segments,
        "maps": maps,
        "stale_maps": stale_maps,
        "maps_left": MAX_MAP_COUNT - JVM_MAPS - maps - stale_maps,
        "index_bytes": index_bytes,
        "preallocated_bytes": sum(
            size_bytes // offset_bytes * offset_bytes + size_bytes // time_bytes * time_bytes
            for size_bytes in segment_index_bytes
        ),
        "resident_bytes": 2 * WARM_PAGES * PAGE_BYTES * partitions,
    }


def implied_price_us(
    interval_bytes: float, batch_bytes: float, spread: float, header_us: float
) -> float:
    """Returns by how many µs a mean lookup gets faster for each MB of index added per GiB of log.

    A log of S bytes has S / (I + a) entries, and a mean lookup reads (I + a) / 2b headers plus
    a constant. I is the interval, a is the mean distance of two entries minus the interval, and b
    is the mean batch size.

    Args:
        spread: the standard deviation of the batch sizes divided by their mean.
    """
    overshoot = batch_bytes * (1 + spread**2) / 2
    return 1e6 * header_us * (interval_bytes + overshoot) ** 2 / (40 * 2**30 * batch_bytes)
