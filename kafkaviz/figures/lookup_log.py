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
from kafkaviz.words import say

# steps of one scan; batches drawn before the first read, and at least
MOST_STEPS, BEFORE, LEAST_BATCHES = 120, 2, 8
LARGEST = "largest"
COLUMNS = (
    "position",
    "size_bytes",
    "base_offset",
    "last_offset",
    "max_timestamp_ms",
    "record_count",
)


class Reading(NamedTuple):
    """A step of a scan: one header, or many that are passed over together.

    sizes: of its reads, in bytes. line: of the pseudocode. read: how many reads of the scan lie
    behind it.
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
    """A scan as it is drawn. batches: rows of COLUMNS around it; end_position: of the .log; found:
    the position of the batch, or None.
    """

    scan: Scan
    readings: tuple[Reading, ...]
    batches: np.ndarray
    end_position: int
    found: int | None

    def tally(self, reads: int) -> Tally:
        """How many of the first reads were short ones, and long ones."""
        sizes = [one.size for one in self.scan.reads[:reads]]
        whole = {int(row["size_bytes"]) for row in self.batches} - {MAGIC_END, HEADER_BYTES}
        return Tally(
            sizes.count(MAGIC_END), sum(size != MAGIC_END and size not in whole for size in sizes)
        )


def view(
    scan: Scan, batches: np.ndarray, end_position: int, target: int, by_time: bool, how: str
) -> ScanView:
    """A scan; batches: all of its .log. how: "base_offset" or "last_offset"; of a time "largest"
    where only the target itself answers.
    """
    tell = (
        _largest
        if how == LARGEST
        else _timed
        if by_time
        else _by_base
        if how == BASE_OFFSET
        else _by_last
    )
    steps = tell(scan, batches, target)
    if scan.batch is None:
        steps.append(Reading(-1, (), say("lookup_log.end"), -1, len(scan.reads)))
    return ScanView(
        scan,
        tuple(shortened(steps)),
        around(scan, batches),
        end_position,
        scan.batch.position if scan.batch else None,
    )


def around(scan: Scan, batches: np.ndarray) -> np.ndarray:
    """The batches to draw: those that were read, two before, and some behind."""
    first = max(0, _row(batches, scan.from_position) - BEFORE)
    last = max((_row(batches, read.position) for read in scan.reads), default=first)
    return batches[list(COLUMNS)][
        first : min(len(batches), max(last + 3, first + LEAST_BATCHES), first + 4 * MOST_STEPS)
    ]


def shortened(steps: list[Reading]) -> list[Reading]:
    """At most 120 steps: those in the middle of a long scan become one."""
    if len(steps) <= MOST_STEPS:
        return steps
    half = MOST_STEPS // 2
    left_out = steps[half : len(steps) - half + 1]
    text = say("lookup_log.more", n=group(len(left_out)), position=group(left_out[-1].position))
    return [*steps[:half], left_out[-1]._replace(text=text), *steps[len(steps) - half + 1 :]]


def _row(batches: np.ndarray, position: int) -> int:
    return max(0, int(np.searchsorted(batches["position"], position, "right")) - 1)


def _by_base(scan: Scan, batches: np.ndarray, target: int) -> list[Reading]:
    steps, before = [], None
    for number, read in enumerate(scan.reads, 1):
        row, last = batches[_row(batches, read.position)], number == len(scan.reads)
        base = int(row["base_offset"])
        if read.size != MAGIC_END:
            steps.append(
                Reading(
                    read.position,
                    (read.size,),
                    _reaches(row, read.position, target, read.size),
                    4,
                    number,
                )
            )
            continue
        name, line = (
            ("base_equal", 2)
            if base == target
            else ("base_above", 3)
            if base > target
            else ("base_below", 5)
        )
        if name == "base_above" and not last and before is not None:
            name = "base_above_back"
        values = {"position": group(read.position), "base": group(base), "target": group(target)}
        text = say(f"lookup_log.{name}", size=group(int(row["size_bytes"])), **values)
        steps.append(Reading(read.position, (read.size,), text, line, number))
        before = before if base > target else row
    return steps


def _reaches(row: np.void, position: int, target: int, size: int) -> str:
    """Whether the batch before holds the target."""
    last = int(row["last_offset"])
    key = "lookup_log.reaches" if last >= target else "lookup_log.reaches_not"
    return say(
        key, read=group(size), position=group(position), last=group(last), target=group(target)
    )


def _grouped(scan: Scan) -> list[tuple[int, tuple[int, ...], int]]:
    """(position, sizes, number of reads up to there) of reads that follow one another at one
    position.
    """
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
        last = int(row["last_offset"])
        key = "lookup_log.last_found" if last >= target else "lookup_log.last_below"
        values = {
            "last": group(last),
            "target": group(target),
            "size": group(int(row["size_bytes"])),
        }
        told = say(key, position=group(position), sizes=_sizes(sizes), **values)
        steps.append(Reading(position, sizes, told, 3 if last >= target else 2, number))
    return steps


def _timed(scan: Scan, batches: np.ndarray, target_ms: int) -> list[Reading]:
    steps = []
    for position, sizes, number in _grouped(scan):
        row = batches[_row(batches, position)]
        late = int(row["max_timestamp_ms"]) >= target_ms
        answers = scan.batch and scan.batch.position == position
        told = _header(
            "time_found" if late and answers else "time_hidden" if late else "time_early",
            position,
            row,
        )
        steps.append(Reading(position, sizes, told, 3 if late else 2, number))
    return steps


def _largest(scan: Scan, batches: np.ndarray, largest_ms: int) -> list[Reading]:
    steps = []
    for position, sizes, number in _grouped(scan):
        found = scan.batch and scan.batch.position == position
        told = _header(
            "largest_found" if found else "largest_not", position, batches[_row(batches, position)]
        )
        steps.append(Reading(position, sizes, told, 3 if found else 2, number))
    return steps


def _header(name: str, position: int, row: np.void) -> str:
    """What a header says of its batch's newest time, and what follows."""
    newest_ms = int(row["max_timestamp_ms"])
    newest = (
        say("lookup_log.newest", at=clock(newest_ms))
        if newest_ms >= 0
        else say("lookup_log.no_time")
    )
    return say(
        f"lookup_log.{name}",
        position=group(position),
        newest=newest,
        size=group(int(row["size_bytes"])),
    )


def _sizes(sizes: tuple[int, ...]) -> str:
    first, *rest = sizes
    return (
        say("lookup_log.sizes", first=first, then=rest[0])
        if rest
        else say("lookup_log.size", first=first)
    )


def title(shown: ScanView, reads: int, over: bool) -> str:
    """What the figure of the log shows after so many reads."""
    if not reads and not over:
        return say("lookup_log.waiting")
    if not over:
        return say("lookup_log.reading", position=group(shown.scan.from_position))
    tally = shown.tally(len(shown.scan.reads))
    key = f"lookup_log.found{'_none' if shown.found is None else ''}{'_long' if tally.long else ''}"
    read = count("lookup_log.n_reads", tally.short)
    return say(key, reads=read, long=group(tally.long), short=MAGIC_END, whole=HEADER_BYTES)


def hint(shown: ScanView) -> str:
    """Which bytes are drawn."""
    if not len(shown.batches):
        return say("lookup_log.no_batch")
    first, last = shown.batches[0], shown.batches[-1]
    end = group(int(last["position"] + last["size_bytes"]))
    return say(
        "lookup_log.drawn",
        first=group(int(first["position"])),
        last=end,
        end=group(shown.end_position),
    )


def sent(shown: ScanView) -> dict:
    """What the browser draws of it."""
    rows = [
        [
            int(row["position"]),
            int(row["size_bytes"]),
            str(row["base_offset"]),
            str(row["last_offset"]),
            units.moment(int(row["max_timestamp_ms"])),
            int(row["record_count"]),
        ]
        for row in shown.batches
    ]
    return {
        "rows": rows,
        "start": shown.scan.from_position,
        "reads": [[one.position, list(one.sizes)] for one in shown.readings],
        "found": shown.found,
        "end": shown.end_position,
        "hint": hint(shown),
    }
