"""The small files of a segment as JSON lines: entries, producers, aborted transactions, and slots never written."""

import os
from collections.abc import Callable
from contextlib import ExitStack

import numpy as np

from kafkaviz.commands.dumping import java, offset_entries, records_file, time_entries
from kafkaviz.commands.dumping.console import Console
from kafkaviz.commands.dumping.death import Death
from kafkaviz.commands.dumping.json_words import nullable, objects, problem, unwritten
from kafkaviz.commands.dumping.lines import render
from kafkaviz.commands.dumping.offset_entries import OffsetEntries, beside
from kafkaviz.commands.dumping.options import Options
from kafkaviz.commands.dumping.records_file import RecordsFile
from kafkaviz.commands.dumping.time_entries import Matches, TimeEntries
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import offset_index, producer_snapshot, time_index, txn_index
from kafkaviz.format.batch_records import until_fault


def dump_offset_index(path: str, options: Options, console: Console) -> None:
    """The entries of an .index, and those that do not lead to the batch they name."""
    base_offset, known = _base_offset(path, console)
    data = records_file.content(path)
    slots = offset_index.parse(data)
    index, count = offset_entries.read(path, base_offset), offset_index.written(slots)
    if _prints(options) and count:
        told = {"slot": np.arange(count), "relative_offset": slots["relative_offset"][:count]}
        told |= {"offset": nullable(index.offsets[:count], np.full(count, known)), "position": index.positions[:count]}
        console.write(memoryview(render(*objects("offset_entry", told))))
    _print_rest(data, count, offset_index.ENTRY.itemsize, "index-size-not-multiple", console)
    _print_sanity(index, "index-not-monotonic", options, console)
    if known and not options.index_sanity_check:
        _beside_log(path, console, lambda log: _check_offsets(index, count, log, options, console))


def dump_time_index(path: str, options: Options, console: Console) -> None:
    """The entries of a .timeindex, and those whose batch has another offset or timestamp."""
    base_offset, known = _base_offset(path, console)
    data = records_file.content(path)
    slots = time_index.parse(data)
    times, count = time_entries.read(path, base_offset), time_index.written(slots)
    if _prints(options) and count:
        told = {"slot": np.arange(count), "timestamp_ms": times.timestamps_ms[:count]}
        told |= {"relative_offset": slots["relative_offset"][:count], "offset": nullable(times.offsets[:count], np.full(count, known))}
        console.write(memoryview(render(*objects("time_entry", told))))
    _print_rest(data, count, time_index.ENTRY.itemsize, "timeindex-size-not-multiple", console)
    _print_sanity(times, "timeindex-not-monotonic", options, console)
    if known and not options.index_sanity_check:
        _beside_log(path, console, lambda log: _check_times(times, _index_beside(path, base_offset, console), count, log, console))


def dump_snapshot(path: str, console: Console) -> None:
    """The producers of a .snapshot; -1 where it stands for none is null."""
    data = records_file.content(path)
    try:
        rows = producer_snapshot.parse(data).producers
    except CorruptBytes as fault:
        console.write(problem("snapshot-bad-crc", 0, len(data), fault.what))
        return
    has_batch = rows["last_offset"] >= 0
    told = {"producer_id": rows["producer_id"], "producer_epoch": rows["producer_epoch"]}
    told |= {name: nullable(rows[name], has_batch) for name in ("last_sequence", "last_offset", "offset_delta")}
    told |= {"timestamp_ms": rows["timestamp_ms"]}
    told |= {name: nullable(rows[name], rows[name] != -1) for name in ("coordinator_epoch", "current_txn_first_offset")}
    if len(rows):
        console.write(memoryview(render(*objects("producer", told))))


def dump_txn_index(path: str, console: Console) -> None:
    """The aborted transactions of a .txnindex."""
    data = records_file.content(path)
    entries, entry_bytes = txn_index.parse(data), txn_index.ENTRY.itemsize
    if len(entries):
        names = ("producer_id", "first_offset", "last_offset", "last_stable_offset")
        console.write(memoryview(render(*objects("aborted_transaction", {name: entries[name] for name in names}))))
    try:
        txn_index.readable(entries)
    except CorruptBytes as fault:
        console.write(problem("txnindex-mismatch", fault.position, entry_bytes, fault.what))
    if left := len(data) % entry_bytes:
        console.write(problem("txnindex-torn", len(data) - left, left, f"{left} bytes of an entry of {entry_bytes}"))


def _prints(options: Options) -> bool:
    """Whether entries are shown, or only what is wrong with them."""
    return not options.verify_index_only and not options.index_sanity_check


def _base_offset(path: str, console: Console) -> tuple[int, bool]:
    """(the base offset in the name, True); 0 and False, and a problem, where the name has none."""
    try:
        return java.parse_long(path.rpartition("/")[2].partition(".")[0]), True
    except Death:
        console.write(problem("unknown-file", None, None, "the name says no base offset: no absolute offsets, nothing is checked"))
        return 0, False


def _print_rest(data: bytes, count: int, entry_bytes: int, code: str, console: Console) -> None:
    """The slots behind the written ones, and a last slot that was cut."""
    left = len(data) % entry_bytes
    if len(data) - left > count * entry_bytes:
        console.write(unwritten(count * entry_bytes, len(data) - left - count * entry_bytes))
    if left:
        console.write(problem(code, len(data) - left, left, f"found {len(data)} bytes which is no multiple of {entry_bytes}"))


def _print_sanity(entries: OffsetEntries | TimeEntries, code: str, options: Options, console: Console) -> None:
    """What Kafka's sanity check says, where that was asked for."""
    if options.index_sanity_check:
        try:
            entries.check()
        except Death as fault:
            console.write(problem(code, 0, entries.size_bytes, fault.message))


def _beside_log(path: str, console: Console, check: Callable[[RecordsFile], None]) -> None:
    """Compares with the .log of the segment, if there is one."""
    with ExitStack() as stack:
        try:
            log = stack.enter_context(records_file.opened(beside(path, ".log")))
        except Death as fault:
            console.write(problem("orphan-index", None, None, f"no .log of this segment can be read: {fault.message}"))
            return
        check(log)


def _check_offsets(index: OffsetEntries, count: int, log: RecordsFile, options: Options, console: Console) -> None:
    """A problem for each entry that is wrong."""
    matches = None
    for slot in range(count):
        position, offset = int(index.positions[slot]), int(index.offsets[slot])
        code, what = _offset_fault(log, position, offset, options)
        if code == "index-offset-mismatch":
            matches = matches or Matches.found(log, index.positions[:count], index.offsets[:count])
            code = _mismatch(matches.rows.get(slot), position, offset)
        if slot and offset <= index.offsets[slot - 1]:
            code, what = "index-not-monotonic", f"Index offset: {offset}, the one before: {index.offsets[slot - 1]}"
        if code:
            console.write(problem(code, slot * offset_index.ENTRY.itemsize, offset_index.ENTRY.itemsize, what))


def _offset_fault(log: RecordsFile, position: int, offset: int, options: Options) -> tuple[str | None, str]:
    """(code, words) of what is wrong with an entry, (None, "") for nothing."""
    if not 0 <= position < log.size_bytes:
        return "index-position-beyond-log", f"position {position} is not in a .log of {log.size_bytes} bytes"
    try:
        row = log.first_batch(position, log.checked_stop(position, options.max_message_bytes))
    except Death as fault:
        return "index-position-not-batch-start", fault.message
    if row is None:
        return "index-position-not-batch-start", f"no whole batch at position {position}"
    found_offset = int(row["last_offset"])
    return (None, "") if found_offset == offset else ("index-offset-mismatch", f"Index offset: {offset}, log offset: {found_offset}")


def _mismatch(match: np.void | None, position: int, offset: int) -> str:
    """The code of an entry whose batch ends elsewhere: one for an append of several batches names the first and the last of them."""
    stands_for_append = match is not None and match["position"] > position and match["last_offset"] == offset
    return "index-coarse" if stands_for_append else "index-offset-mismatch"


def _index_beside(path: str, base_offset: int, console: Console) -> OffsetEntries:
    """The .index of the same segment; without one each search starts at the first byte."""
    other = beside(path, ".index")
    if os.path.exists(other):
        return offset_entries.read(other, base_offset)
    console.write(problem("index-missing", None, None, "no .index of this segment: the .log is read from its start"))
    return OffsetEntries(other, base_offset, 0, np.empty(0, np.int64), np.empty(0, np.int64))


def _check_times(times: TimeEntries, index: OffsetEntries, count: int, log: RecordsFile, console: Console) -> None:
    """A problem for each entry that is wrong."""
    offsets = times.offsets[:count]
    matches = Matches.found(log, time_entries.floor_positions(index, offsets), offsets)
    for slot in range(count):
        for code, what in _time_faults(times, slot, matches, log):
            console.write(problem(code, slot * time_index.ENTRY.itemsize, time_index.ENTRY.itemsize, what))


def _has_record(log: RecordsFile, row: np.void, offset: int, timestamp_ms: int) -> bool:
    """Whether a batch has a record of this offset and time, as entries of leaders up to 3.6 name them."""
    records, _ = until_fault(log.bytes_at(int(row["position"]), int(row["size_bytes"])))
    return any(record.offset == offset and record.timestamp_ms == timestamp_ms for record in records)


def _time_faults(times: TimeEntries, slot: int, matches: Matches, log: RecordsFile) -> list[tuple[str, str]]:
    """(code, words) of all that is wrong with an entry; the bytes behind the batch that is found do not matter here."""
    timestamp_ms, offset, found = int(times.timestamps_ms[slot]), int(times.offsets[slot]), []
    if slot and timestamp_ms <= times.timestamps_ms[slot - 1]:
        what = f"Index timestamp: {timestamp_ms}, Previously indexed timestamp: {times.timestamps_ms[slot - 1]}"
        found.append(("timeindex-not-monotonic", what))
    match = matches.rows.get(slot)
    if match is None or match["last_offset"] != offset:
        found_offset = time_entries.NOT_FOUND if match is None else int(match["last_offset"])
        is_deep = match is not None and _has_record(log, match, offset, timestamp_ms)
        code = "timeindex-deep-offset" if is_deep else "timeindex-offset-mismatch"
        return [*found, (code, f"Indexed offset: {offset}, found log offset: {found_offset}")]
    try:
        largest_ms = time_entries.largest_timestamp(log, match)
    except Death as fault:
        return [*found, ("timeindex-timestamp-mismatch", f"the batch cannot be read: {fault.message}")]
    if largest_ms != timestamp_ms:
        found.append(("timeindex-timestamp-mismatch", f"Index timestamp: {timestamp_ms}, log timestamp: {largest_ms}"))
    return found
