"""The small files of a segment as JSON lines: entries, producers, aborted transactions, and slots
never written.
"""

from typing import cast

import numpy as np

from kafkaviz.commands.dumping import java, offset_entries, records_file, time_entries
from kafkaviz.commands.dumping.console import Console
from kafkaviz.commands.dumping.death import Death
from kafkaviz.commands.dumping.json_words import Columns, nullable, objects, problem, unwritten
from kafkaviz.commands.dumping.judged import Judge
from kafkaviz.commands.dumping.lines import render
from kafkaviz.commands.dumping.offset_entries import OffsetEntries
from kafkaviz.commands.dumping.options import Options
from kafkaviz.commands.dumping.time_entries import TimeEntries
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import offset_index, producer_snapshot, time_index, txn_index


def dump_offset_index(path: str, options: Options, console: Console, judge: Judge) -> None:
    """The entries of an .index, and what is wrong with them."""
    base_offset, known = _base_offset(path, console)
    data = records_file.content(path)
    slots = offset_index.parse(data)
    index, count = offset_entries.read(path, base_offset), offset_index.written(slots)
    if _prints(options) and count:
        told: Columns = {
            "slot": np.arange(count),
            "relative_offset": slots["relative_offset"][:count],
        }
        told |= {
            "offset": nullable(index.offsets[:count], np.full(count, known)),
            "position": index.positions[:count],
        }
        console.write(render(*objects("offset_entry", told)).data)
    _print_unwritten(data, count, offset_index.ENTRY.itemsize, console)
    _print_problems(path, index, offset_index.ENTRY.itemsize, known, options, console, judge)


def dump_time_index(path: str, options: Options, console: Console, judge: Judge) -> None:
    """The entries of a .timeindex, and what is wrong with them."""
    base_offset, known = _base_offset(path, console)
    data = records_file.content(path)
    slots = time_index.parse(data)
    times, count = time_entries.read(path, base_offset), time_index.written(slots)
    if _prints(options) and count:
        told: Columns = {"slot": np.arange(count), "timestamp_ms": times.timestamps_ms[:count]}
        told |= {
            "relative_offset": slots["relative_offset"][:count],
            "offset": nullable(times.offsets[:count], np.full(count, known)),
        }
        console.write(render(*objects("time_entry", told)).data)
    _print_unwritten(data, count, time_index.ENTRY.itemsize, console)
    _print_problems(path, times, time_index.ENTRY.itemsize, known, options, console, judge)


def dump_snapshot(path: str, console: Console, judge: Judge) -> None:
    """The producers of a .snapshot; -1 where it stands for none is null."""
    data = records_file.content(path)
    try:
        rows = producer_snapshot.parse(data).producers
    except CorruptBytes:
        for wrong in judge.of_snapshot(path):
            console.write(wrong)
        return
    has_batch = rows["last_offset"] >= 0
    told: Columns = {"producer_id": rows["producer_id"], "producer_epoch": rows["producer_epoch"]}
    told |= {
        name: nullable(rows[name], has_batch)
        for name in ("last_sequence", "last_offset", "offset_delta")
    }
    told |= {"timestamp_ms": rows["timestamp_ms"]}
    told |= {
        name: nullable(rows[name], rows[name] != -1)
        for name in ("coordinator_epoch", "current_txn_first_offset")
    }
    if len(rows):
        console.write(render(*objects("producer", told)).data)


def dump_txn_index(path: str, console: Console, judge: Judge) -> None:
    """The aborted transactions of a .txnindex."""
    data = records_file.content(path)
    entries = txn_index.parse(data)
    if len(entries):
        names = ("producer_id", "first_offset", "last_offset", "last_stable_offset")
        console.write(
            render(*objects("aborted_transaction", {name: entries[name] for name in names})).data
        )
    for wrong in judge.of_txn_index(path):
        console.write(wrong)


def _prints(options: Options) -> bool:
    """Whether entries are shown, or only what is wrong with them."""
    return not options.verify_index_only and not options.index_sanity_check


def _base_offset(path: str, console: Console) -> tuple[int, bool]:
    """(the base offset in the name, True); 0 and False, and a problem, where the name has none."""
    try:
        return java.parse_long(path.rpartition("/")[2].partition(".")[0]), True
    except Death:
        console.write(
            problem(
                "unknown-file",
                None,
                None,
                "the name says no base offset: no absolute offsets, nothing is checked",
            )
        )
        return 0, False


def _print_unwritten(data: bytes, count: int, entry_bytes: int, console: Console) -> None:
    """The slots behind the written ones."""
    left = len(data) % entry_bytes
    if len(data) - left > count * entry_bytes:
        console.write(unwritten(count * entry_bytes, len(data) - left - count * entry_bytes))


def _print_problems(
    path: str,
    entries: OffsetEntries | TimeEntries,
    entry_bytes: int,
    known: bool,
    options: Options,
    console: Console,
    judge: Judge,
) -> None:
    """What `kafkaviz check` finds in the file; what Kafka's sanity check says where that was asked
    for, or where no more is known.
    """
    if known and not options.index_sanity_check:
        for line in judge.problems(path, entries.base_offset):
            console.write(line)
        return
    try:
        entries.check()
    except Death as fault:
        family, left = path.rpartition(".")[2], entries.size_bytes % entry_bytes
        place = (entries.size_bytes - left, left) if left else (0, entries.size_bytes)
        console.write(
            problem(
                f"{family}-{'size-not-multiple' if left else 'not-monotonic'}",
                *place,
                cast(str, fault.message),
            )
        )
