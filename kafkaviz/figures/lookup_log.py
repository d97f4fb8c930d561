"""The reads of a scan as steps: which header, what it says, and what follows from it."""

from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np

from kafkaviz import units
from kafkaviz.figures.lookup_words import count
from kafkaviz.format.batch import HEADER_BYTES, MAGIC_END
from kafkaviz.search.profile import BASE_OFFSET
from kafkaviz.search.scan import Scan
from kafkaviz.units import clock, group

MOST_STEPS, BEFORE, LEAST_BATCHES = 120, 2, 8  # steps of one scan; batches drawn before the first read, and at least
LARGEST = "largest"
COLUMNS = ("position", "size_bytes", "base_offset", "last_offset", "max_timestamp_ms", "record_count")


class Reading(NamedTuple):
    """A step of a scan: one header, or many that are passed over together.

    sizes: of its reads, in bytes. line: of the pseudocode. read: how many reads of the scan lie behind it.
    """

    position: int
    sizes: tuple[int, ...]
    text: str
    line: int
    read: int


class Tally(NamedTuple):
    """Reads up to a step: of 17 bytes, and of whole headers."""

    short: int
    long: int


@dataclass(frozen=True)
class ScanView:
    """A scan as it is drawn. batches: rows of COLUMNS around it; end_position: of the .log; found: the position of the batch, or None."""

    scan: Scan
    readings: tuple[Reading, ...]
    batches: np.ndarray
    end_position: int
    found: int | None

    def tally(self, reads: int) -> Tally:
        """How many of the first reads were short ones, and long ones."""
        sizes = [one.size for one in self.scan.reads[:reads]]
        whole = {int(row["size_bytes"]) for row in self.batches} - {MAGIC_END, HEADER_BYTES}
        return Tally(sizes.count(MAGIC_END), sum(size != MAGIC_END and size not in whole for size in sizes))


def view(scan: Scan, batches: np.ndarray, end_position: int, target: int, by_time: bool, how: str) -> ScanView:
    """A scan; batches: all of its .log. how: "base_offset" or "last_offset"; of a time "largest" where only the target itself answers."""
    tell = _largest if how == LARGEST else _timed if by_time else _by_base if how == BASE_OFFSET else _by_last
    steps = tell(scan, batches, target)
    if scan.batch is None:
        steps.append(Reading(-1, (), "End of the segment: no batch in it answers.", -1, len(scan.reads)))
    return ScanView(scan, tuple(shortened(steps)), around(scan, batches), end_position, scan.batch.position if scan.batch else None)


def around(scan: Scan, batches: np.ndarray) -> np.ndarray:
    """The batches to draw: those that were read, two before, and some behind."""
    first = max(0, _row(batches, scan.from_position) - BEFORE)
    last = max((_row(batches, read.position) for read in scan.reads), default=first)
    return batches[list(COLUMNS)][first : min(len(batches), max(last + 3, first + LEAST_BATCHES), first + 4 * MOST_STEPS)]


def shortened(steps: list[Reading]) -> list[Reading]:
    """At most 120 steps: those in the middle of a long scan become one."""
    if len(steps) <= MOST_STEPS:
        return steps
    half = MOST_STEPS // 2
    left_out = steps[half : len(steps) - half + 1]
    text = f"{group(len(left_out))} more headers in the same way, up to byte {group(left_out[-1].position)}; none of them ends the scan."
    return [*steps[:half], left_out[-1]._replace(text=text), *steps[len(steps) - half + 1 :]]


def _row(batches: np.ndarray, position: int) -> int:
    return max(0, int(np.searchsorted(batches["position"], position, "right")) - 1)


def _by_base(scan: Scan, batches: np.ndarray, target: int) -> list[Reading]:
    steps, before = [], None
    for number, read in enumerate(scan.reads, 1):
        row, last = batches[_row(batches, read.position)], number == len(scan.reads)
        at, base, sizes = group(read.position), int(row["base_offset"]), (read.size,)
        if read.size != MAGIC_END:
            steps.append(Reading(read.position, sizes, _reaches(row, at, target, read.size, bool(steps) and before is row), 4, number))
            continue
        starts = f"17 bytes at {at}: this batch starts at"
        if base == target:
            steps.append(Reading(read.position, sizes, f"{starts} offset {group(base)}, exactly the target. Found.", 2, number))
        elif base > target:
            then = "It is the first that can." if last or before is None else "The batch before must hold it, if it reaches far enough."
            steps.append(Reading(read.position, sizes, f"{starts} {group(base)}, above {group(target)}. {then}", 3, number))
            continue
        else:
            onward = f"It may hold the target; look at the next header, {group(int(row['size_bytes']))} bytes on."
            steps.append(Reading(read.position, sizes, f"{starts} {group(base)}, below {group(target)}. {onward}", 5, number))
        before = row
    return steps


def _reaches(row: np.void, at: str, target: int, size: int, at_end: bool) -> str:
    """Whether the batch before holds the target."""
    last = int(row["last_offset"])
    holds = f"not below {group(target)}. Found." if last >= target else f"below {group(target)}. The target was compacted away."
    return f"{group(size)} bytes at {at}: the batch before ends at {group(last)}, {holds}"


def _grouped(scan: Scan) -> list[tuple[int, tuple[int, ...], int]]:
    """(position, sizes, number of reads up to there) of reads that follow one another at one position."""
    found, number = [], 0
    for position, same in groupby(scan.reads, key=lambda read: read.position):
        sizes = tuple(read.size for read in same)
        number += len(sizes)
        found.append((position, sizes, number))
    return found


def _by_last(scan: Scan, batches: np.ndarray, target: int) -> list[Reading]:
    steps = []
    for position, sizes, number in _grouped(scan):
        row = batches[_row(batches, position)]
        last, onward = int(row["last_offset"]), f"Jump {group(int(row['size_bytes']))} bytes."
        ends, found = f"It ends at {group(last)}", last >= target
        then = f"not below {group(target)}. This is the batch." if found else f"below {group(target)}. {onward}"
        told = f"At byte {group(position)}: {_sizes(sizes)} for the last offset. {ends}, {then}"
        steps.append(Reading(position, sizes, told, 3 if found else 2, number))
    return steps


def _timed(scan: Scan, batches: np.ndarray, target_ms: int) -> list[Reading]:
    steps = []
    for position, sizes, number in _grouped(scan):
        row = batches[_row(batches, position)]
        newest, size_bytes = int(row["max_timestamp_ms"]), int(row["size_bytes"])
        late = newest >= target_ms
        then = "late enough. This is the batch." if late else f"too early. Jump {group(size_bytes)} bytes to the next header."
        if late and not (scan.batch and scan.batch.position == position):
            then = "late enough, but no record of it is, behind the log start. Go on."
        says = f"newest record {clock(newest)}" if newest >= 0 else "no record has a time"
        told = f"At byte {group(position)} the header says: {says}, {then}"
        steps.append(Reading(position, sizes, told, 3 if late else 2, number))
    return steps


def _largest(scan: Scan, batches: np.ndarray, largest_ms: int) -> list[Reading]:
    steps = []
    for position, sizes, number in _grouped(scan):
        row = batches[_row(batches, position)]
        newest, found = int(row["max_timestamp_ms"]), scan.batch and scan.batch.position == position
        onward = f"not the largest. Jump {group(int(row['size_bytes']))} bytes to the next header."
        then = "the largest. This is the batch." if found else onward
        told = f"At byte {group(position)} the header says: newest record {clock(newest)}, {then}"
        steps.append(Reading(position, sizes, told, 3 if found else 2, number))
    return steps


def _sizes(sizes: tuple[int, ...]) -> str:
    first, *rest = sizes
    return f"{first} bytes, then {rest[0]}" if rest else f"{first} bytes"


def title(shown: ScanView, reads: int, over: bool) -> str:
    """What the figure of the log shows after so many reads."""
    if not reads and not over:
        return "The log, waiting for a start position"
    if not over:
        return f"Reading headers from byte {group(shown.scan.from_position)}"
    tally = shown.tally(len(shown.scan.reads))
    long = f" and {group(tally.long)} of {HEADER_BYTES}" if tally.long else ""
    found = "found the batch" if shown.found is not None else "found no batch"
    return f"{count(tally.short, 'read')} of {MAGIC_END} bytes{long} {found}"


def hint(shown: ScanView) -> str:
    """Which bytes are drawn."""
    if not len(shown.batches):
        return "No batch in this log."
    first, last = shown.batches[0], shown.batches[-1]
    end = group(int(last["position"] + last["size_bytes"]))
    return f"Bytes {group(int(first['position']))} to {end} of {group(shown.end_position)}. Only headers are read; payload is jumped over."


def sent(shown: ScanView) -> dict:
    """What the browser draws of it."""
    rows = [
        [int(row["position"]), int(row["size_bytes"]), str(row["base_offset"]), str(row["last_offset"]),
         units.moment(int(row["max_timestamp_ms"])), int(row["record_count"])]
        for row in shown.batches
    ]  # fmt: skip
    return {
        "rows": rows,
        "start": shown.scan.from_position,
        "reads": [[one.position, list(one.sizes)] for one in shown.readings],
        "found": shown.found,
        "end": shown.end_position,
        "hint": hint(shown),
    }
