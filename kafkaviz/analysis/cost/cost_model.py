"""What a lookup takes, in microseconds: headers and device reads priced by ranges.

A model, and called so; the counts are exact.

    p99 of 44 headers, 1.8 µs each and 2.2 µs before the first      81 µs, and with the range of
    both 43 to 180 µs
    from 4.1 on one read a header instead of two                    42 µs, 22 to 92 µs

Times were measured with Kafka's own LogSegment on three machines of two cores: on the slowest with
3.9, which are the likely values, on the others with 3.9.1, 4.3.1 and 4.4.0, where a header took
0.99, 0.51 and 0.49 µs, and 1.49, 0.74 and 0.73. Those of devices are what makers and others say.
`kafkaviz calibrate` measures the user's own reads.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from kafkaviz.format import offset_index, time_index
from kafkaviz.search.slots import PAGE_BYTES

READ_AHEAD_BYTES = 128 << 10  # Linux's read_ahead_kb where nobody set another
# The fit over 25 cold scans was 110 µs + 87 µs a read, on a disk whose single random read took 103
# µs: both as shares of that.
COLD_START_READS, COLD_EACH_READS = 110 / 103, 87 / 103
MAX_MAP_COUNT = 65_530  # vm.max_map_count of Linux where nobody set another
JVM_MAPS = 1000  # before the first index: 500 to 1500
# .index and .timeindex, once they are loaded; the .txnindex is read through a channel
MAPS_A_SEGMENT = 2
FILES_A_SEGMENT = 3
WARM_PAGES = 3  # that lookups near the end of an index touch: they alone stay in memory for sure


class Range(NamedTuple):
    """A number that is not known exactly.

    The least and the most that it may be, and what is likely.
    """

    low: float
    typical: float
    high: float

    def times(self, count: float) -> "Range":
        """So many of them."""
        return Range(*(value * count for value in self))

    def scale(self, shares: "Range") -> "Range":
        """The low end so many times, the likely value and the high end by shares of their own."""
        return Range(*(value * share for value, share in zip(self, shares, strict=True)))

    def plus(self, other: "Range") -> "Range":
        """Both, the low ends together and the high ends: the widest that can come."""
        return Range(*(ours + theirs for ours, theirs in zip(self, other, strict=True)))


HDD, OBJECT_STORE, CALIBRATED = "hdd", "object-store", "calibrated"


@dataclass(frozen=True)
class Storage:
    """What one random read of 4 KiB that is not in the page cache takes, in µs."""

    name: str
    read_us: Range
    source: str

    @property
    def seeks(self) -> bool:
        """Whether each read is a seek of an arm, by its name or as measured on this machine."""
        return self.name == HDD or (
            self.name == CALIBRATED and self.read_us.typical >= STORAGES[HDD].read_us.low
        )


STORAGES: dict[str, Storage] = {
    storage.name: storage for storage in (
        Storage("memory", Range(0.6, 1.1, 2.6), "pread of what is in the page cache, measured"),
        Storage("nvme", Range(50, 100, 200), "a little better than SATA on average; "
            "makers' 10 to 50 µs are for cached reads"),
        Storage("ssd", Range(80, 140, 400), "SATA, 140 µs on average"),
        Storage("hdd", Range(4000, 12_000, 25_000), "4 to 25 ms, 12 ms on average"),
        Storage("cloud-volume", Range(500, 1000, 5000), "a network volume such as gp3: "
            "designed for single-digit milliseconds"),
        Storage("object-store", Range(20_000, 50_000, 100_000), "one GET; "
            "an assumption, nobody measured it here"),
    )
}  # fmt: skip
DEFAULT_STORAGE = "nvme"

# two reads a header, up to 4.0: 0.99 µs on one machine, 1.49 on another, 1.81 to 1.84 on a third
HEADER_US = Range(0.95, 1.8, 4.0)
FAULT_US = Range(0.5, 1.0, 2.9)  # the first touch of a mapped page that is in the page cache
# before the first header: the search in the index, and what else there is
FIRST_US = Range(1.0, 2.2, 3.6)
# of it the search in an index that is in memory: once, and each probe
SEARCH_US, PROBE_US = Range(0.06, 0.1, 0.14), Range(0.009, 0.014, 0.019)


@dataclass(frozen=True, kw_only=True)
class LookupCosts:
    """What a lookup is priced with.

    Attributes:
        header_us: each header of a scan in the page cache.
        first_us: what comes before the first.
        fault_us: a page of an index that is in the page cache and touched for the first time.
        reads_once: whether header_us is of the scan with one read a header, from 4.1 on: half of
            that of two, as Kafka's own classes take (3.9.1, 4.3.1 and 4.4.0 in one run).
        calibrated: where the machine's own measures are from, if they are.
        one_read_share: of the headers, those of magic 0 and 1, which take one read where others
            take two.
    """

    header_us: Range = HEADER_US
    first_us: Range = FIRST_US
    storage: Storage = STORAGES[DEFAULT_STORAGE]
    read_ahead_bytes: int = READ_AHEAD_BYTES
    reads_once: bool = False
    calibrated: str | None = None
    fault_us: Range = FAULT_US
    one_read_share: float = 0.0

    @property
    def each_us(self) -> Range:
        """A header of this log."""
        return (
            self.header_us if self.reads_once else self.header_us.times(1 - self.one_read_share / 2)
        )

    def with_one_read_share(self, one_read_share: float) -> "LookupCosts":
        """The same for a log of which that share of the batches is of magic 0 and 1."""
        return replace(self, one_read_share=one_read_share)

    def warm_us(self, headers: float) -> Range:
        """A lookup that reads so many headers, everything in the page cache."""
        return self.first_us.plus(self.each_us.times(headers))

    def cold_us(
        self, headers: float, reads: float, index_reads: float = 0.0, index_pages: float = 0.0
    ) -> Range:
        """One that finds nothing in the page cache.

        So many device reads of the .log, and of an index of which it touches so many pages; pages
        that came along with another only take a fault.
        """
        if self.storage.name == "memory":
            return self.warm_us(headers)
        device = self.storage.read_us.times(
            COLD_START_READS + COLD_EACH_READS * reads + index_reads
        )
        return (
            self.warm_us(headers)
            .plus(device)
            .plus(self.fault_us.times(max(0.0, index_pages - index_reads)))
        )

    def cores(self, headers_mean: float, fetches_per_s: float) -> Range:
        """The processor cores that lookups keep busy.

        A fetch that waits at the log's end looks nothing up.
        """
        return self.warm_us(headers_mean).times(fetches_per_s / 1e6)


def lookup_costs(
    *,
    by_base_offset: bool,
    storage: str | None = None,
    calibration: Mapping | None = None,
) -> LookupCosts:
    """The costs for a release.

    Args:
        by_base_offset: one read a header, from 4.1 on.
        storage: a name of STORAGES; by default as measured, or nvme.
        calibration: what `kafkaviz calibrate` wrote, in place of presets; the JVM's part of a
            header is a share of its reads.
    """
    costs = LookupCosts(
        storage=STORAGES[storage or DEFAULT_STORAGE],
        reads_once=by_base_offset,
    )
    if calibration:
        costs = _with_calibration(costs, calibration)
        return replace(costs, storage=STORAGES[storage]) if storage else costs
    return replace(costs, header_us=costs.header_us.times(0.5)) if by_base_offset else costs


# Of 17 and 61 bytes read, which took 1.29, 0.91 and 1.58 µs on the three machines, a header took
# 1.4, 1.1 and 0.95 times as much, what comes before the first 1.7, 1.1 and 1.2 times.
HEADER_READS, FIRST_READS = Range(0.9, 1.12, 1.6), Range(0.8, 1.3, 2.8)


def _with_calibration(costs: LookupCosts, calibration: Mapping) -> LookupCosts:
    """The machine's own reads, one a header or two; what Java adds is a share of them."""
    small_read, large_read = (_range(calibration[name]) for name in ("pread_17_us", "pread_61_us"))
    both_reads = small_read.plus(large_read)
    header_reads = small_read if costs.reads_once else both_reads
    read_us, fault_us = calibration.get("random_read_us"), calibration.get("minor_fault_us")
    storage = (
        Storage(CALIBRATED, _range(read_us), "this machine's own disk, measured")
        if read_us
        else costs.storage
    )
    fault_field = {"fault_us": _range(fault_us)} if fault_us else {}
    return replace(
        costs,
        header_us=header_reads.scale(HEADER_READS),
        first_us=both_reads.scale(FIRST_READS),
        storage=storage,
        calibrated=calibration["measured_at"],
        **fault_field,
    )


def _range(measure: Mapping) -> Range:
    return Range(measure["min"], measure["median"], measure["p90"])


# ---- maps, memory and files


@dataclass(frozen=True)
class Footprint:
    """What a log's segments take beside their .log.

    Attributes:
        maps: where every segment's indexes are loaded.
        stale_maps: dead ones that wait for Java's collector, one of each index of a segment that
            was rolled, until KAFKA-19390.
        preallocated_bytes: how long the active segments' indexes look.
        resident_bytes: of indexes that stay in memory for readers at the end.
    """

    segments: int
    partitions: int
    index_bytes: int
    preallocated_bytes: int
    leaves_maps: bool = False

    @property
    def files(self) -> int:
        """A .log, an .index and a .timeindex each."""
        return FILES_A_SEGMENT * self.segments

    @property
    def maps(self) -> int:
        """Beside those of Java itself."""
        return MAPS_A_SEGMENT * self.segments

    @property
    def stale_maps(self) -> int:
        """At most, if none was collected since the rolls."""
        return MAPS_A_SEGMENT * max(0, self.segments - self.partitions) if self.leaves_maps else 0

    @property
    def resident_bytes(self) -> int:
        """The warm pages of the active segments' indexes."""
        return 2 * WARM_PAGES * PAGE_BYTES * self.partitions

    def maps_left(self) -> int:
        """What vm.max_map_count leaves.

        Returns:
            A number below 0 where a broker with these alone would end with "Map failed".
        """
        return MAX_MAP_COUNT - JVM_MAPS - self.maps - self.stale_maps


def footprint(
    segments: int,
    index_bytes: int,
    segment_index_bytes: Sequence[int],
    *,
    leaves_maps: bool = False,
) -> Footprint:
    """Of so many segments, one of each partition active.

    Args:
        segment_index_bytes: segment.index.bytes of each, as long as its two indexes look.
    """
    offset_bytes, time_bytes = offset_index.ENTRY.itemsize, time_index.ENTRY.itemsize
    preallocated_bytes = sum(
        size_bytes // offset_bytes * offset_bytes + size_bytes // time_bytes * time_bytes
        for size_bytes in segment_index_bytes
    )
    return Footprint(
        segments, len(segment_index_bytes), index_bytes, preallocated_bytes, leaves_maps
    )


# ---- the price that an interval implies


def implied_price_us(
    interval_bytes: float, batch_bytes: float, spread: float, header_us: float
) -> float:
    """µs of a mean lookup that one more MB of index a GiB of log would buy at this interval.

    This is the price that the interval implies. It follows from the smooth forms N = S / (I + a), H
    = (I + a) / 2µ + ...

    Args:
        spread: the standard deviation of the batch sizes over their mean.
    """
    overshoot = batch_bytes * (1 + spread**2) / 2
    return 1e6 * header_us * (interval_bytes + overshoot) ** 2 / (40 * 2**30 * batch_bytes)
