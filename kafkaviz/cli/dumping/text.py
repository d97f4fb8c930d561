"""A dump as text: prints what Kafka 4.3.1's DumpLogSegments prints on stdout and stderr.

This module prints .log, .checkpoint (KRaft snapshot), .snapshot and .txnindex files.
"""

from typing import TYPE_CHECKING

import numpy as np

from kafkaviz.cli.dumping import MAX_INT, Console, DumpOptions, Report, TextDump, java, records_file
from kafkaviz.cli.dumping.index_entries import base_offset_of, dump_index
from kafkaviz.cli.dumping.java import STATUS, JavaException
from kafkaviz.cli.dumping.lines import (
    OptionalNumber,
    Part,
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
    """Prints the files, then the faults found in them. Returns 1 if Kafka's tool throws, else 0."""
    report = Report()
    try:
        for path in map(java.path, options.files):
            console.line(f"Dumping {archive.display_text(path)}")
            _dump_file(path, TextDump(options, console, report))
    except JavaException as fault:
        console.write_error(fault.text())
        return STATUS
    console.write_error(report.text())
    return 0


def _dump_file(path: str, dump: TextDump) -> None:
    _, dot, suffix = path.rpartition("/")[2].rpartition(".")
    match dot + suffix:
        case ".log" | ".checkpoint":
            _dump_log(path, dump)
        case ".index" | ".timeindex":
            dump_index(path, dump)
        case ".snapshot":
            _dump_snapshot(path, dump.console)
        case ".txnindex":
            _dump_txn_index(path, dump.console)
        case _:
            dump.console.write_error(f"Ignoring unknown file {archive.display_text(path)}\n")


def _dump_log(path: str, dump: TextDump) -> None:
    name = path.rpartition("/")[2]
    lines = None
    if dump.options.deep:
        from kafkaviz.cli.dumping.record_lines import RecordLines  # a slow import

        lines = RecordLines(dump, java.absolute(path))
    dump.console.line(_head_line(name))
    with records_file.open_log(path) as log:
        stop = log.slice_stop(0, dump.options.max_bytes)
        batches = log.batches(0, stop)
        for chunk in batches:
            _print(chunk, log, dump.console, lines)
        if fault := batches.exception():
            raise fault
    trailing_bytes = stop - batches.end.position
    if trailing_bytes > 0 and dump.options.max_bytes == MAX_INT:
        dump.console.line(f"Found {trailing_bytes} invalid bytes at the end of {name}")


def _head_line(name: str) -> str:
    """Returns the line before the batches, with the offset and epoch from the file's name."""
    if not name.endswith(".checkpoint"):
        return f"Log starting offset: {java.parse_long(name.partition('.')[0])}"
    if name == BOOTSTRAP:
        return "KRaft bootstrap snapshot"
    for part in (END_OFFSET, EPOCH):
        if len(name) < part.stop:
            what = f"begin {part.start}, end {part.stop}, length {len(name)}"
            raise JavaException("java.lang.StringIndexOutOfBoundsException", what)
    end_offset = java.parse_long(name[END_OFFSET])
    return f"Snapshot end offset: {end_offset}, epoch: {java.parse_long(name[EPOCH])}"


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
                lines.print(chunk, data, text, ends[first : first + len(chunk) + 1])
                first += len(chunk)
    if count < len(batches):
        text, fault = fatal_line(batches[count : count + 1])
        console.write(text.tobytes())
        raise fault


def _dump_snapshot(path: str, console: Console) -> None:
    """Prints a line per producer; for a damaged file, a line on stderr."""
    try:
        producers = producer_snapshot.parse(records_file.content(path)).producers
    except CorruptBytes as fault:
        console.write_error(f"{fault.what}\n")
        return
    if not len(producers):
        return
    is_open = producers["current_txn_first_offset"] >= 0
    has_batch = producers["last_offset"] >= 0
    optional: list[Part] = []
    for label, column in (
        ("firstSequence", producer_snapshot.first_sequence(producers)),
        ("lastSequence", producers["last_sequence"]),
        ("lastOffset", producers["last_offset"]),
        ("offsetDelta", producers["offset_delta"]),
        ("timestamp", producers["timestamp_ms"]),
    ):
        optional += [Word(has_batch, ("", f" {label}: ")), OptionalNumber(column, has_batch)]
    lines = render(
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
        *optional,
        "\n",
    )
    console.write(lines.data)


def _dump_txn_index(path: str, console: Console) -> None:
    """Prints a line per aborted transaction. Prints nothing if the file does not exist."""
    base_offset_of(path)  # Kafka's tool throws without one
    try:
        entries = txn_index.ensure_readable(txn_index.parse(records_file.content(path)))
    except JavaException as fault:
        if fault.java_class.endswith("NoSuchFileException"):
            return
        raise
    except CorruptBytes as fault:
        prefix, comma, current = str(fault.what).partition(",")
        what = f"{prefix} in transaction index {java.absolute(path)}{comma}{current}"
        raise JavaException(java.KAFKA, what) from None
    if not len(entries):
        return
    lines = render(
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
    console.write(lines.data)
