"""A dump as text: prints what Kafka 4.3.1's DumpLogSegments prints on stdout and stderr.

This module prints .log, .checkpoint (KRaft snapshot), .snapshot and .txnindex files.
"""

from typing import TYPE_CHECKING

import numpy as np

from kafkaviz.cli.dumping import (
    MAX_INT,
    Console,
    DumpOptions,
    Report,
    index_entries,
    java,
    records_file,
)
from kafkaviz.cli.dumping.java import STATUS, JavaException
from kafkaviz.cli.dumping.lines import (
    OptionalNumber,
    Word,
    batch_lines,
    count_readable,
    fatal_line,
    render,
)
from kafkaviz.cli.dumping.records_file import RecordsFile
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import producer_snapshot, txn_index
from kafkaviz.format.names import BOOTSTRAP
from kafkaviz.log.archives import archive

if TYPE_CHECKING:
    from kafkaviz.cli.dumping.record_lines import RecordLines

# the digits in the name of a .checkpoint file
END_OFFSET = slice(0, 20)
EPOCH = slice(21, 31)


def dump(options: DumpOptions, console: Console) -> int:
    """Prints the files in order, then the faults. Returns 0, or 1 where Kafka's tool throws."""
    report = Report()
    try:
        for path in map(java.path, options.files):
            console.line(f"Dumping {archive.display_text(path)}")
            _dump_file(path, options, console, report)
    except JavaException as fault:
        console.write_error(fault.text())
        return STATUS
    console.write_error(report.text())
    return 0


def _dump_file(path: str, options: DumpOptions, console: Console, report: Report) -> None:
    _, dot, suffix = path.rpartition("/")[2].rpartition(".")
    match dot + suffix:
        case ".log" | ".checkpoint":
            _dump_log(path, options, console, report)
        case ".index":
            index_entries.dump_offset_index(path, options, console, report)
        case ".timeindex":
            index_entries.dump_time_index(path, options, console, report)
        case ".snapshot":
            dump_snapshot(path, console)
        case ".txnindex":
            dump_txn_index(path, console)
        case _:
            console.write_error(f"Ignoring unknown file {archive.display_text(path)}\n")


def _dump_log(path: str, options: DumpOptions, console: Console, report: Report) -> None:
    name = path.rpartition("/")[2]
    lines = None
    if options.deep:
        from kafkaviz.cli.dumping.record_lines import RecordLines  # an import that is slow

        lines = RecordLines(options, java.absolute(path), report)
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


def head_line(name: str) -> str:
    """Returns the first line, with the offset and epoch from the file's name."""
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
    count = count_readable(batches)
    if count:
        text, ends = batch_lines(batches[:count], records_file.are_valid(log, batches[:count]))
        if lines is None:
            console.write(text.data)
        else:
            ends = np.concatenate([[0], ends])
            first = 0
            for chunk, data in log.payloads(batches[:count]):
                lines.print(chunk, data, text, ends[first : first + len(chunk) + 1], console)
                first += len(chunk)
    if count < len(batches):
        text, fault = fatal_line(batches[count : count + 1])
        console.write(text.tobytes())
        raise fault


def dump_snapshot(path: str, console: Console) -> None:
    """Prints a line per producer; for a damaged file, a line on stderr."""
    try:
        producers = producer_snapshot.parse(records_file.content(path)).producers
    except CorruptBytes as fault:
        console.write_error(f"{fault.what}\n")
        return
    if len(producers):
        console.write(_producer_lines(producers).data)


def dump_txn_index(path: str, console: Console) -> None:
    """Prints a line per aborted transaction. Prints nothing if the file does not exist."""
    java.parse_long(path.rpartition("/")[2].partition(".")[0])
    try:
        entries = txn_index.ensure_readable(txn_index.parse(records_file.content(path)))
    except JavaException as fault:
        if fault.java_class.endswith("NoSuchFileException"):
            return
        raise
    except CorruptBytes as fault:
        prefix, comma, current = str(fault.what).partition(",")
        what = f"{prefix} in transaction index {java.absolute(path)}{comma}{current}"
        raise JavaException(java.KAFKA, what, position=fault.position) from None
    if len(entries):
        console.write(_aborted_lines(entries).data)


def _producer_lines(producers: np.ndarray) -> np.ndarray:
    is_open = producers["current_txn_first_offset"] >= 0
    has_batch = producers["last_offset"] >= 0
    return render(
        "producerId: ",
        producers["producer_id"],
        " producerEpoch: ",
        producers["producer_epoch"],
        " coordinatorEpoch: ",
        producers["coordinator_epoch"],
        " currentTxnFirstOffset: ",
        Word(is_open, ("OptionalLong.empty", "OptionalLong[")),
        OptionalNumber(producers["current_txn_first_offset"], is_open),
        Word(is_open, ("", "]")),
        " lastTimestamp: ",
        producers["timestamp_ms"],
        Word(has_batch, ("", " firstSequence: ")),
        OptionalNumber(producer_snapshot.first_sequence(producers), has_batch),
        Word(has_batch, ("", " lastSequence: ")),
        OptionalNumber(producers["last_sequence"], has_batch),
        Word(has_batch, ("", " lastOffset: ")),
        OptionalNumber(producers["last_offset"], has_batch),
        Word(has_batch, ("", " offsetDelta: ")),
        OptionalNumber(producers["offset_delta"], has_batch),
        Word(has_batch, ("", " timestamp: ")),
        OptionalNumber(producers["timestamp_ms"], has_batch),
        "\n",
    )


def _aborted_lines(entries: np.ndarray) -> np.ndarray:
    return render(
        "version: ",
        entries["version"].astype("i8") >> 8,
        " producerId: ",
        entries["producer_id"],
        " firstOffset: ",
        entries["first_offset"],
        " lastOffset: ",
        entries["last_offset"],
        " lastStableOffset: ",
        entries["last_stable_offset"],
        "\n",
    )
