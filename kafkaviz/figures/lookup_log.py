"""The reads of a scan as steps: which header, what it says, and what follows from it."""

from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

import numpy as np

from kafkaviz import units
from kafkaviz.figures.lookup_text import count_text
from kafkaviz.format.batch import HEADER_BYTES, MAGIC_END
from kafkaviz.search.profile import BASE_OFFSET
from kafkaviz.search.scan import ForwardScan
from kafkaviz.units import clock, group
from kafkaviz.words import say

# steps of one scan; batches drawn before the first read, and at least
MOST_STEPS, BATCHES_BEFORE, LEAST_BATCHES = 120, 2, 8
LARGEST = "largest"
COLUMNS = (
    "position",
    "size_bytes",
    "base_offset",
    "last_offset",
    "max_timestamp_ms",
    "record_count",
)


class ScanStep(NamedTuple):
    """A step of a scan: one header, or many that are passed over together.

    sizes: of its reads, in bytes. line: of the pseudocode. reads_done: how many reads of the scan
    lie behind it.
    """

    position: int
    sizes: tuple[int, ...]
    text: str
    line: int
    reads_done: int


class ReadCounts(NamedTuple):
    """Reads up to a step: of 17 bytes, and of whole headers."""

    short_reads: int
    long_reads: int


@dataclass(frozen=True)
class ScanView:
    """A scan as it is drawn. batches: rows of COLUMNS around it; end_position: of the .log; found:
    the position of the batch, or None.
    """

    scan: ForwardScan
    steps: tuple[ScanStep, ...]
    batches: np.ndarray
    end_position: int
    found_position: int | None

    def count_reads(self, read_count: int) -> ReadCounts:
        """How many of the first reads were short ones, and long ones."""
        sizes = [read.size for read in self.scan.reads[:read_count]]
        batch_sizes = {int(row["size_bytes"]) for row in self.batches} - {MAGIC_END, HEADER_BYTES}
        return ReadCounts(
            sizes.count(MAGIC_END),
            sum(size != MAGIC_END and size not in batch_sizes for size in sizes),
        )


def view(
    scan: ForwardScan,
    batches: np.ndarray,
    end_position: int,
    target: int,
    is_by_time: bool,
    scan_rule: str,
) -> ScanView:
    """A scan; batches: all of its .log. scan_rule: "base_offset" or "last_offset"; of a time
    "largest" where only the target itself answers.
    """
    describe_reads = (
        _largest_time_steps
        if scan_rule == LARGEST
        else _time_steps
        if is_by_time
        else _base_offset_steps
        if scan_rule == BASE_OFFSET
        else _last_offset_steps
    )
    steps = describe_reads(scan, batches, target)
    if scan.batch is None:
        steps.append(ScanStep(-1, (), say("lookup_log.end"), -1, len(scan.reads)))
    return ScanView(
        scan,
        tuple(shorten(steps)),
        batches_around(scan, batches),
        end_position,
        scan.batch.position if scan.batch else None,
    )


def batches_around(scan: ForwardScan, batches: np.ndarray) -> np.ndarray:
    """The batches to draw: those that were read, two before, and some behind."""
    first_row = max(0, _row_at(batches, scan.from_position) - BATCHES_BEFORE)
    last_row = max(
        (_row_at(batches, header_read.position) for header_read in scan.reads), default=first_row
    )
    return batches[list(COLUMNS)][
        first_row : min(
            len(batches), max(last_row + 3, first_row + LEAST_BATCHES), first_row + 4 * MOST_STEPS
        )
    ]


def shorten(steps: list[ScanStep]) -> list[ScanStep]:
    """At most 120 steps: those in the middle of a long scan become one."""
    if len(steps) <= MOST_STEPS:
        return steps
    half = MOST_STEPS // 2
    left_out = steps[half : len(steps) - half + 1]
    text = say("lookup_log.more", n=group(len(left_out)), position=group(left_out[-1].position))
    return [*steps[:half], left_out[-1]._replace(text=text), *steps[len(steps) - half + 1 :]]


def _row_at(batches: np.ndarray, position: int) -> int:
    return max(0, int(np.searchsorted(batches["position"], position, "right")) - 1)


def _base_offset_steps(scan: ForwardScan, batches: np.ndarray, target: int) -> list[ScanStep]:
    steps, previous_row = [], None
    for number, header_read in enumerate(scan.reads, 1):
        row, is_last = batches[_row_at(batches, header_read.position)], number == len(scan.reads)
        base_offset = int(row["base_offset"])
        if header_read.size != MAGIC_END:
            steps.append(
                ScanStep(
                    header_read.position,
                    (header_read.size,),
                    _reaches_text(row, header_read.position, target, header_read.size),
                    4,
                    number,
                )
            )
            continue
        name, line = (
            ("base_equal", 2)
            if base_offset == target
            else ("base_above", 3)
            if base_offset > target
            else ("base_below", 5)
        )
        if name == "base_above" and not is_last and previous_row is not None:
            name = "base_above_back"
        values = {
            "position": group(header_read.position),
            "base": group(base_offset),
            "target": group(target),
        }
        text = say(f"lookup_log.{name}", size=group(int(row["size_bytes"])), **values)
        steps.append(ScanStep(header_read.position, (header_read.size,), text, line, number))
        previous_row = previous_row if base_offset > target else row
    return steps


def _reaches_text(row: np.void, position: int, target: int, size: int) -> str:
    """Whether the batch before holds the target."""
    last_offset = int(row["last_offset"])
    key = "lookup_log.reaches" if last_offset >= target else "lookup_log.reaches_not"
    return say(
        key,
        read=group(size),
        position=group(position),
        last=group(last_offset),
        target=group(target),
    )


def _group_reads(scan: ForwardScan) -> list[tuple[int, tuple[int, ...], int]]:
    """(position, sizes, number of reads up to there) of reads that follow one another at one
    position.
    """
    groups, number = [], 0
    for position, reads in groupby(scan.reads, key=lambda header_read: header_read.position):
        sizes = tuple(header_read.size for header_read in reads)
        number += len(sizes)
        groups.append((position, sizes, number))
    return groups


def _last_offset_steps(scan: ForwardScan, batches: np.ndarray, target: int) -> list[ScanStep]:
    steps = []
    for position, sizes, number in _group_reads(scan):
        row = batches[_row_at(batches, position)]
        last_offset = int(row["last_offset"])
        key = "lookup_log.last_found" if last_offset >= target else "lookup_log.last_below"
        values = {
            "last": group(last_offset),
            "target": group(target),
            "size": group(int(row["size_bytes"])),
        }
        text = say(key, position=group(position), sizes=_sizes_text(sizes), **values)
        steps.append(ScanStep(position, sizes, text, 3 if last_offset >= target else 2, number))
    return steps


def _time_steps(scan: ForwardScan, batches: np.ndarray, target_ms: int) -> list[ScanStep]:
    steps = []
    for position, sizes, number in _group_reads(scan):
        row = batches[_row_at(batches, position)]
        is_late = int(row["max_timestamp_ms"]) >= target_ms
        is_answer = scan.batch and scan.batch.position == position
        text = _header_text(
            "time_found" if is_late and is_answer else "time_hidden" if is_late else "time_early",
            position,
            row,
        )
        steps.append(ScanStep(position, sizes, text, 3 if is_late else 2, number))
    return steps


def _largest_time_steps(scan: ForwardScan, batches: np.ndarray, largest_ms: int) -> list[ScanStep]:
    steps = []
    for position, sizes, number in _group_reads(scan):
        is_answer = scan.batch and scan.batch.position == position
        text = _header_text(
            "largest_found" if is_answer else "largest_not",
            position,
            batches[_row_at(batches, position)],
        )
        steps.append(ScanStep(position, sizes, text, 3 if is_answer else 2, number))
    return steps


def _header_text(name: str, position: int, row: np.void) -> str:
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


def _sizes_text(sizes: tuple[int, ...]) -> str:
    first_size, *more_sizes = sizes
    return (
        say("lookup_log.sizes", first=first_size, then=more_sizes[0])
        if more_sizes
        else say("lookup_log.size", first=first_size)
    )


def title(scan_view: ScanView, read_count: int, is_over: bool) -> str:
    """What the figure of the log shows after so many reads."""
    if not read_count and not is_over:
        return say("lookup_log.waiting")
    if not is_over:
        return say("lookup_log.reading", position=group(scan_view.scan.from_position))
    counts = scan_view.count_reads(len(scan_view.scan.reads))
    key = (
        f"lookup_log.found{'_none' if scan_view.found_position is None else ''}"
        f"{'_long' if counts.long_reads else ''}"
    )
    reads_text = count_text("lookup_log.n_reads", counts.short_reads)
    return say(
        key, reads=reads_text, long=group(counts.long_reads), short=MAGIC_END, whole=HEADER_BYTES
    )


def hint_text(scan_view: ScanView) -> str:
    """Which bytes are drawn."""
    if not len(scan_view.batches):
        return say("lookup_log.no_batch")
    first_batch, last_batch = scan_view.batches[0], scan_view.batches[-1]
    end = group(int(last_batch["position"] + last_batch["size_bytes"]))
    return say(
        "lookup_log.drawn",
        first=group(int(first_batch["position"])),
        last=end,
        end=group(scan_view.end_position),
    )


def browser_object(scan_view: ScanView) -> dict:
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
        for row in scan_view.batches
    ]
    return {
        "rows": rows,
        "start": scan_view.scan.from_position,
        "reads": [[step.position, list(step.sizes)] for step in scan_view.steps],
        "found": scan_view.found_position,
        "end": scan_view.end_position,
        "hint": hint_text(scan_view),
    }
