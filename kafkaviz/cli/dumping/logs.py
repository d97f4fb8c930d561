"""A .log or KRaft snapshot (.checkpoint) as text: a line per batch, and per record if requested."""

from typing import TYPE_CHECKING

import numpy as np

from kafkaviz.cli.dumping import java, records_file
from kafkaviz.cli.dumping.batch_lines import batch_lines, count_readable, fatal_line
from kafkaviz.cli.dumping.console import Console
from kafkaviz.cli.dumping.java_exception import JavaException
from kafkaviz.cli.dumping.options import MAX_INT, DumpOptions
from kafkaviz.cli.dumping.records_file import RecordsFile
from kafkaviz.cli.dumping.report import Report
from kafkaviz.format.names import BOOTSTRAP

if TYPE_CHECKING:
    from kafkaviz.cli.dumping.record_lines import RecordLines

# the digits in the name of a .checkpoint file
END_OFFSET = slice(0, 20)
EPOCH = slice(21, 31)


def dump(path: str, options: DumpOptions, console: Console, report: Report) -> None:
    """Prints one file; raises JavaException if Kafka's tool would die."""
    name = path.rpartition("/")[2]
    lines = _record_lines(path, options, report) if options.deep else None
    console.line(head_line(name))
    with records_file.open_log(path) as log:
        stop = log.slice_stop(0, options.max_bytes)
        batches = log.batches(0, stop)
        for chunk in batches:
            _print(chunk, log, console, lines)
        if fault := batches.exception():
            raise fault
    trailing_bytes = stop - batches.end.position
    if trailing_bytes > 0 and options.max_bytes == MAX_INT:
        console.line(f"Found {trailing_bytes} invalid bytes at the end of {name}")


def _record_lines(path: str, options: DumpOptions, report: Report) -> "RecordLines":
    from kafkaviz.cli.dumping.record_lines import RecordLines

    return RecordLines(options, java.absolute(path), report)


def head_line(name: str) -> str:
    """Returns the first line, which shows the offset and epoch in the file's name."""
    if not name.endswith(".checkpoint"):
        return f"Log starting offset: {java.parse_long(name.partition('.')[0])}"
    if name == BOOTSTRAP:
        return "KRaft bootstrap snapshot"
    if len(name) < EPOCH.stop:
        begin, end = (
            (END_OFFSET.start, END_OFFSET.stop)
            if len(name) < END_OFFSET.stop
            else (EPOCH.start, EPOCH.stop)
        )
        raise JavaException(
            "java.lang.StringIndexOutOfBoundsException",
            f"begin {begin}, end {end}, length {len(name)}",
        )
    return (
        f"Snapshot end offset: {java.parse_long(name[END_OFFSET])}, epoch: "
        f"{java.parse_long(name[EPOCH])}"
    )


def _print(
    batches: np.ndarray, log: RecordsFile, console: Console, lines: "RecordLines | None"
) -> None:
    """Prints the lines of some batches, up to one that ends the run."""
    count = count_readable(batches)
    if count:
        text, ends = batch_lines(batches[:count], records_file.are_valid(log, batches[:count]))
        if lines is None:
            console.write(text.data)
        else:
            _print_deep(
                batches[:count],
                log,
                console,
                lines=lines,
                text=text,
                ends=np.concatenate([[0], ends]),
            )
    if count < len(batches):
        text, fault = fatal_line(batches[count : count + 1])
        console.write(text.tobytes())
        raise fault


def _print_deep(
    batches: np.ndarray,
    log: RecordsFile,
    console: Console,
    *,
    lines: "RecordLines",
    text: np.ndarray,
    ends: np.ndarray,
) -> None:
    first = 0
    for chunk, data in log.payloads(batches):
        lines.print(chunk, data, text, ends[first : first + len(chunk) + 1], console)
        first += len(chunk)
