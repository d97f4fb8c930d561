"""A scan of a .log: a text for each header that is read, and the figure of the batches."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kafkaviz import units
from kafkaviz.analysis.segment.batch_table import BatchTable
from kafkaviz.figures.lookup import LookupContext
from kafkaviz.format.batch import HEADER_BYTES, MAGIC_END
from kafkaviz.messages import say, say_count
from kafkaviz.search.scan import ForwardScan, HeaderDecision, HeaderOutcome, ReadPart
from kafkaviz.units import clock, format_count

MAX_STEPS = 120  # most steps of a scan
BATCHES_BEFORE = 2  # batches drawn before the first one that is read
MIN_BATCHES = 8  # fewest batches drawn
COLUMNS = (
    "position", "size_bytes", "base_offset", "last_offset", "max_timestamp_ms", "record_count",
)  # fmt: skip
# the line of the pseudocode that each outcome runs
LINES = {
    HeaderOutcome.BASE_EQUAL: 2, HeaderOutcome.BASE_ABOVE: 3, HeaderOutcome.BASE_ABOVE_BACK: 3,
    HeaderOutcome.REACHES: 4, HeaderOutcome.REACHES_NOT: 4, HeaderOutcome.BASE_BELOW: 5,
    HeaderOutcome.LAST_BELOW: 2, HeaderOutcome.LAST_FOUND: 3,
    HeaderOutcome.TIME_EARLY: 2, HeaderOutcome.TIME_HIDDEN: 3, HeaderOutcome.TIME_FOUND: 3,
    HeaderOutcome.LARGEST_NOT: 2, HeaderOutcome.LARGEST_FOUND: 3,
}  # fmt: skip
TIMES = (
    HeaderOutcome.TIME_EARLY, HeaderOutcome.TIME_HIDDEN, HeaderOutcome.TIME_FOUND,
    HeaderOutcome.LARGEST_NOT, HeaderOutcome.LARGEST_FOUND,
)  # fmt: skip


class ScanStep(NamedTuple):
    """A step of a scan: one header, or many that are skipped together."""

    position: int
    sizes: tuple[int, ...]  # bytes of each read in this step
    text: str
    line: int  # the line of the pseudocode, -1 for none
    reads_done: int  # number of reads from the start of the scan to the end of this step


@dataclass(frozen=True)
class ScanView:
    scan: ForwardScan
    steps: tuple[ScanStep, ...]
    batches: np.ndarray  # the batches to draw, with `COLUMNS`
    end_position: int  # the size of the .log

    def count_reads(self, read_count: int) -> tuple[int, int]:
        """Returns (reads of 17 bytes, reads of a whole header) in the first `read_count` reads."""
        reads = self.scan.reads[:read_count]
        starts = [read for read in reads if read.part is ReadPart.START]
        headers = [
            read for read in reads if read.part is ReadPart.HEADER or read.size == HEADER_BYTES
        ]
        return len(starts), len(headers)


def view(context: LookupContext, scan: ForwardScan) -> ScanView:
    batches = _batches_around(scan, context.batches(scan.base_offset))
    segment = context.find_segment(scan.base_offset)
    return ScanView(scan, tuple(describe_headers(scan)), batches, segment.size_bytes)


def _batches_around(scan: ForwardScan, batches: BatchTable) -> np.ndarray:
    first_row = max(0, _row_at(batches, scan.from_position) - BATCHES_BEFORE)
    last_position = max((read.position for read in scan.reads), default=None)
    last_row = first_row if last_position is None else _row_at(batches, last_position)
    stop = min(max(last_row + 3, first_row + MIN_BATCHES), first_row + 4 * MAX_STEPS)
    return batches.window(first_row, stop)[list(COLUMNS)]


def _row_at(batches: BatchTable, position: int) -> int:
    return max(0, batches.row_before_byte(position))


def describe_headers(scan: ForwardScan) -> list[ScanStep]:
    """Returns the steps of a scan, usually one per header.

    A scan with more than `MAX_STEPS` headers has one step for all headers in the middle.
    """
    end = []
    if not scan.batch:
        text = say("log_scan.end")
        if scan.fault:
            text = say("log_scan.damaged", position=format_count(scan.fault.position))
        end.append(ScanStep(-1, (), text, -1, len(scan.reads)))
    header_count = len(scan.headers)
    count = header_count + len(end)
    if count <= MAX_STEPS:
        return [_header_step(scan, number) for number in range(header_count)] + end
    half = MAX_STEPS // 2
    last_left_out = count - half
    more_step = _header_step(scan, last_left_out)
    position = format_count(more_step.position)
    text = say_count("log_scan.more", count - 2 * half + 1, position=position)
    return [
        *(_header_step(scan, number) for number in range(half)),
        more_step._replace(text=text),
        *(_header_step(scan, number) for number in range(last_left_out + 1, header_count)),
        *end,
    ]


def _header_step(scan: ForwardScan, number: int) -> ScanStep:
    header = scan.headers[number]
    reads_before = scan.headers[number - 1].reads if number else 0
    sizes = tuple(
        read.size
        for read in scan.reads[reads_before : header.reads]
        if read.position == header.position
    )
    text = _header_text(header, scan.target, sizes)
    return ScanStep(header.position, sizes, text, LINES[header.outcome], header.reads)


def _header_text(header: HeaderDecision, target: int, sizes: tuple[int, ...]) -> str:
    key = f"log_scan.{header.outcome}"
    position = format_count(header.position)
    size = format_count(header.size_bytes)
    value = header.value
    if header.outcome in TIMES:
        newest = say("log_scan.newest", at=clock(value)) if value >= 0 else say("log_scan.no_time")
        return say(key, position=position, newest=newest, size=size)
    sizes_text = say("log_scan.size", first=sizes[0]) if sizes else ""
    if len(sizes) > 1:
        sizes_text = say("log_scan.sizes", first=sizes[0], then=sizes[1])
    return say(
        key,
        position=position,
        base=format_count(value),
        last=format_count(value),
        target=format_count(target),
        size=size,
        sizes=sizes_text,
        # of a message of magic 0 or 1, Kafka reads nothing more
        read=format_count(sizes[-1] if sizes else header.size_bytes),
    )


def title(scan_view: ScanView, read_count: int, *, is_over: bool) -> str:
    scan = scan_view.scan
    if not read_count and not is_over:
        return say("log_scan.waiting")
    if not is_over:
        return say("log_scan.reading", position=format_count(scan.from_position))
    short_reads, long_reads = scan_view.count_reads(len(scan.reads))
    return say(
        f"log_scan.found{'' if scan.batch else '_none'}{'_long' if long_reads else ''}",
        reads=say_count("log_scan.n_reads", short_reads),
        long=format_count(long_reads),
        short=MAGIC_END,
        long_bytes=HEADER_BYTES,
    )


def _hint_text(scan_view: ScanView) -> str:
    if not len(scan_view.batches):
        return say("log_scan.no_batch")
    first_batch = scan_view.batches[0]
    last_batch = scan_view.batches[-1]
    return say(
        "log_scan.drawn",
        first=format_count(int(first_batch["position"])),
        last=format_count(int(last_batch["position"] + last_batch["size_bytes"])),
        end=format_count(scan_view.end_position),
    )


def browser_object(scan_view: ScanView) -> dict:
    scan = scan_view.scan
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
        "start": scan.from_position,
        "reads": [[step.position, list(step.sizes)] for step in scan_view.steps],
        "found": scan.batch.position if scan.batch else None,
        "end": scan_view.end_position,
        "hint": _hint_text(scan_view),
    }
