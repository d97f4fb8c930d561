"""A dump as JSON lines: one object per line, continuing past damage that would end Kafka's tool.

The lines of small files are made here, those of a .log in json_logs.py.
"""

from pathlib import Path
from typing import cast

import numpy as np

from kafkaviz.cli.common import output
from kafkaviz.cli.dumping import java, json_logs, offset_entries, records_file, time_entries
from kafkaviz.cli.dumping.console import Console
from kafkaviz.cli.dumping.java import JavaException
from kafkaviz.cli.dumping.json_parts import (
    Columns,
    FileChecker,
    line,
    nullable,
    objects,
    problem,
    unwritten_line,
)
from kafkaviz.cli.dumping.lines import render
from kafkaviz.cli.dumping.offset_entries import OffsetEntries
from kafkaviz.cli.dumping.options import DumpOptions
from kafkaviz.cli.dumping.time_entries import TimeEntries
from kafkaviz.errors import CorruptBytes, KafkavizError
from kafkaviz.format import offset_index, producer_snapshot, time_index, txn_index
from kafkaviz.log import file
from kafkaviz.log.archives import archive
from kafkaviz.messages import message
from kafkaviz.units import replace_surrogates

FORMATS = ("log", "checkpoint", "index", "timeindex", "snapshot", "txnindex")


def dump(options: DumpOptions, console: Console) -> int:
    """Prints the files in order and returns 0.

    Raises:
        CannotOpen: a file cannot be read; the output before it is printed.
    """
    checker = FileChecker()
    try:
        for path in map(java.path, options.files):
            _print_file(path, options, console, checker)
    except JavaException as fault:
        raise fault.fault or KafkavizError(
            message("errors.of_path", path=path, problem=fault.message)
        ) from None
    finally:
        console.flush()
    return 0


def _print_file(path: str, options: DumpOptions, console: Console, checker: FileChecker) -> None:
    with file.reader(Path(path)):  # a file that cannot be read must not be announced
        info = file.info(Path(path))
    suffix = path.rpartition("/")[2].rpartition(".")[2]
    console.write(
        line(
            "file",
            schema=output.schema("dump"),
            path=replace_surrogates(archive.display_text(path)),
            format=suffix if suffix in FORMATS else None,
            size_bytes=info.size_bytes,
        )
    )
    _dump_file(path, suffix, options, console, checker)


def _dump_file(
    path: str, suffix: str, options: DumpOptions, console: Console, checker: FileChecker
) -> None:
    match suffix:
        case "log" | "checkpoint":
            json_logs.dump(path, options, console, checker)
        case "index":
            dump_offset_index(path, options, console, checker)
        case "timeindex":
            dump_time_index(path, options, console, checker)
        case "snapshot":
            dump_snapshot(path, console, checker)
        case "txnindex":
            dump_txn_index(path, console, checker)
        case _:
            text = f"Ignoring unknown file {archive.display_text(path)}"
            console.write(problem("unknown-file", None, None, text))


def dump_offset_index(
    path: str, options: DumpOptions, console: Console, checker: FileChecker
) -> None:
    base_offset, has_base_offset = _base_offset(path, console)
    data = records_file.content(path)
    slots = offset_index.parse(data)
    index = offset_entries.read(path, base_offset)
    count = offset_index.count_entries(slots)
    if _prints(options) and count:
        columns: Columns = {
            "slot": np.arange(count),
            "relative_offset": slots["relative_offset"][:count],
        }
        columns |= {
            "offset": nullable(index.offsets[:count], np.full(count, has_base_offset)),
            "position": index.positions[:count],
        }
        console.write(render(*objects("offset_entry", columns)).data)
    _print_unwritten(data, count, offset_index.ENTRY.itemsize, console)
    _print_problems(
        path,
        index,
        offset_index.ENTRY.itemsize,
        has_base_offset=has_base_offset,
        options=options,
        console=console,
        checker=checker,
    )


def dump_time_index(
    path: str, options: DumpOptions, console: Console, checker: FileChecker
) -> None:
    base_offset, has_base_offset = _base_offset(path, console)
    data = records_file.content(path)
    slots = time_index.parse(data)
    times = time_entries.read(path, base_offset)
    count = time_index.count_entries(slots)
    if _prints(options) and count:
        columns: Columns = {"slot": np.arange(count), "timestamp_ms": times.timestamps_ms[:count]}
        columns |= {
            "relative_offset": slots["relative_offset"][:count],
            "offset": nullable(times.offsets[:count], np.full(count, has_base_offset)),
        }
        console.write(render(*objects("time_entry", columns)).data)
    _print_unwritten(data, count, time_index.ENTRY.itemsize, console)
    _print_problems(
        path,
        times,
        time_index.ENTRY.itemsize,
        has_base_offset=has_base_offset,
        options=options,
        console=console,
        checker=checker,
    )


def dump_snapshot(path: str, console: Console, checker: FileChecker) -> None:
    """Prints the producers of a .snapshot; a -1 that means "none" becomes null."""
    data = records_file.content(path)
    try:
        rows = producer_snapshot.parse(data).producers
    except CorruptBytes:
        for line in checker.snapshot_problems(path):
            console.write(line)
        return
    has_batch = rows["last_offset"] >= 0
    columns: Columns = {
        "producer_id": rows["producer_id"],
        "producer_epoch": rows["producer_epoch"],
    }
    columns |= {
        name: nullable(rows[name], has_batch)
        for name in ("last_sequence", "last_offset", "offset_delta")
    }
    columns |= {"timestamp_ms": rows["timestamp_ms"]}
    columns |= {
        name: nullable(rows[name], rows[name] != -1)
        for name in ("coordinator_epoch", "current_txn_first_offset")
    }
    if len(rows):
        console.write(render(*objects("producer", columns)).data)


def dump_txn_index(path: str, console: Console, checker: FileChecker) -> None:
    data = records_file.content(path)
    entries = txn_index.parse(data)
    if len(entries):
        names = ("producer_id", "first_offset", "last_offset", "last_stable_offset")
        console.write(
            render(*objects("aborted_transaction", {name: entries[name] for name in names})).data
        )
    for problem_line in checker.txn_index_problems(path):
        console.write(problem_line)


def _prints(options: DumpOptions) -> bool:
    """Returns whether to print entries, not only problems."""
    return not options.verify_index_only and not options.index_sanity_check


def _base_offset(path: str, console: Console) -> tuple[int, bool]:
    """Returns the base offset in a file's name, and True.

    If the name has none, prints a problem and returns 0 and False.
    """
    try:
        return java.parse_long(path.rpartition("/")[2].partition(".")[0]), True
    except JavaException:
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
    remainder = len(data) % entry_bytes
    if len(data) - remainder > count * entry_bytes:
        console.write(
            unwritten_line(count * entry_bytes, len(data) - remainder - count * entry_bytes)
        )


def _print_problems(
    path: str,
    entries: OffsetEntries | TimeEntries,
    entry_bytes: int,
    *,
    has_base_offset: bool,
    options: DumpOptions,
    console: Console,
    checker: FileChecker,
) -> None:
    """Prints the findings of `kafkaviz check` for the file.

    Prints the result of Kafka's sanity check instead if that was requested, or if the base offset
    is unknown.
    """
    if has_base_offset and not options.index_sanity_check:
        for line in checker.problems(path, entries.base_offset):
            console.write(line)
        return
    try:
        entries.check()
    except JavaException as fault:
        family = path.rpartition(".")[2]
        remainder = entries.size_bytes % entry_bytes
        byte_range = (
            (entries.size_bytes - remainder, remainder) if remainder else (0, entries.size_bytes)
        )
        console.write(
            problem(
                f"{family}-{'size-not-multiple' if remainder else 'not-monotonic'}",
                *byte_range,
                cast(str, fault.message),
            )
        )
