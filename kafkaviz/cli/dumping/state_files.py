"""A .snapshot or .txnindex as text: its producers or aborted transactions."""

import numpy as np

from kafkaviz.cli.dumping import java, java_exception, records_file
from kafkaviz.cli.dumping.console import Console
from kafkaviz.cli.dumping.java_exception import JavaException
from kafkaviz.cli.dumping.lines import OptionalNumber, Word, render
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import producer_snapshot, txn_index


def dump_snapshot(path: str, console: Console) -> None:
    """Prints a line per producer; a damaged file gives one line on stderr."""
    try:
        producers = producer_snapshot.parse(records_file.content(path)).producers
    except CorruptBytes as fault:
        console.complain(f"{fault.what}\n")
        return
    if len(producers):
        console.write(_producer_lines(producers).data)


def dump_txn_index(path: str, console: Console) -> None:
    """Prints a line per aborted transaction; nothing if the file does not exist."""
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
        raise JavaException(java_exception.KAFKA, what, position=fault.position) from None
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
