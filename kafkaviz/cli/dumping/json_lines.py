"""A dump as JSON lines, one object per line. Skips damage that ends Kafka's tool."""

from base64 import b64encode
from pathlib import Path
from typing import cast

import numpy as np

from kafkaviz.analysis.checks.log_scan import UnreadRange
from kafkaviz.analysis.findings import TAIL_CODES
from kafkaviz.analysis.segment.anatomy import Tail
from kafkaviz.binary.codec import CODECS
from kafkaviz.cli.common import output
from kafkaviz.cli.dumping import MAX_INT, Console, DumpOptions, index_entries, java, records_file
from kafkaviz.cli.dumping.index_entries import OffsetEntries, TimeEntries
from kafkaviz.cli.dumping.java import JavaException
from kafkaviz.cli.dumping.json_parts import (
    Columns,
    FileChecker,
    flag_or_null,
    line,
    nullable,
    objects,
    problem,
    unwritten_line,
)
from kafkaviz.cli.dumping.lines import (
    Word,
    flag,
    last_sequence,
    render,
    render_lines,
    timestamp_type,
)
from kafkaviz.cli.dumping.records_file import Batches, RecordsFile
from kafkaviz.errors import CorruptBytes, CorruptFile, FaultKind, KafkavizError, NotRead
from kafkaviz.format import (
    batch,
    control,
    legacy_messages,
    offset_index,
    producer_snapshot,
    time_index,
    txn_index,
)
from kafkaviz.format.batch import MAGIC_2
from kafkaviz.format.batch_records import BatchRecord, iterate
from kafkaviz.format.legacy_messages import TIMESTAMP_TYPES
from kafkaviz.log import file
from kafkaviz.log.archives import archive
from kafkaviz.messages import message
from kafkaviz.units import replace_surrogates

FORMATS = ("log", "checkpoint", "index", "timeindex", "snapshot", "txnindex")
_CODEC_WORDS = tuple(f'"{name}"' for name in CODECS) + ("null",) * 3
_TYPE_WORDS = tuple(f'"{name}"' for name in TIMESTAMP_TYPES)
CRC = "batch-crc-mismatch"


def dump(options: DumpOptions, console: Console) -> int:
    """Prints the files in order. Returns the exit status, always 0.

    Raises:
        CannotOpen: a file cannot be read. The files before it are printed.
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
    with file.reader(Path(path)):  # a file that cannot be read must not be announced by a line
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
            dump_log(path, options, console, checker)
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
    index = index_entries.read_offset_entries(path, base_offset)
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
    times = index_entries.read_time_entries(path, base_offset)
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
    """Prints the producers of a .snapshot. A -1 that means "none" is printed as null."""
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
    return not options.verify_index_only and not options.index_sanity_check


def _base_offset(path: str, console: Console) -> tuple[int, bool]:
    """Returns (base offset in a file's name, True).

    If the name has no base offset, prints a problem and returns (0, False).
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
    """Prints what `kafkaviz check` finds in the file.

    If Kafka's sanity check was requested, or the base offset is unknown, prints only what Kafka's
    sanity check finds.
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


def dump_log(path: str, options: DumpOptions, console: Console, checker: FileChecker) -> None:
    """Prints the lines of a .log.

    Skips the ranges that no broker can read, as `kafkaviz check` does.
    """
    position: int | None = 0
    with records_file.open_log(path) as log:
        stop = min(log.size_bytes, max(0, options.max_bytes))
        while position is not None:
            position = _dump_range(
                log, position, stop, options=options, console=console, checker=checker
            )


def _dump_range(
    log: RecordsFile,
    start: int,
    stop: int,
    *,
    options: DumpOptions,
    console: Console,
    checker: FileChecker,
) -> int | None:
    """Prints the batches from `start`, and the next unreadable range.

    Returns:
        The end of the unreadable range; None if there is none, or if it ends at `stop` or later.
    """
    batches = log.batches(start, stop)
    for chunk in batches:
        valid = records_file.are_valid(log, chunk)
        unread_range = (
            None if valid.all() else checker.unread_range_at(log.path, chunk["position"][~valid])
        )
        count = (
            len(chunk)
            if unread_range is None
            else int(np.searchsorted(chunk["position"], unread_range.start))
        )
        if count:
            _print(chunk[:count], valid[:count], log, options, console)
        if unread_range is not None:
            return _print_unread_range(
                unread_range, "the length of the batch is wrong", stop, console
            )
    end = batches.end.position
    unread_range = checker.unread_range_at(log.path, np.array([end])) if end < stop else None
    if unread_range is not None:
        return _print_unread_range(unread_range, _end_reason(batches), stop, console)
    if end < stop and options.max_bytes == MAX_INT:
        _print_tail(checker.reading(log.path).tail, batches, console)
    return None


def _print_unread_range(
    unread_range: UnreadRange, message: str, stop: int, console: Console
) -> int | None:
    """Prints an unreadable range. Returns its end; None if the end is `stop` or later."""
    console.write(
        problem(
            "batch-bad-length",
            unread_range.start,
            unread_range.stop - unread_range.start,
            message,
        )
    )
    return unread_range.stop if unread_range.stop < stop else None


def _end_reason(batches: Batches) -> str:
    fault = batches.exception()
    return cast(str, fault.message) if fault else "a batch is longer than the bytes that follow it"


def _print_tail(tail: Tail | None, batches: Batches, console: Console) -> None:
    if tail is None:
        return
    message = (
        _end_reason(batches)
        if batches.exception()
        else f"Found {tail.size_bytes} invalid bytes at the end"
    )
    console.write(problem(TAIL_CODES[tail.kind], tail.position, tail.size_bytes, message))
    if tail.kind == "zeros":
        console.write(unwritten_line(tail.position, tail.size_bytes))


def _print(
    batches: np.ndarray, valid: np.ndarray, log: RecordsFile, options: DumpOptions, console: Console
) -> None:
    text, ends = render_lines(
        *objects("batch", _columns(batches, valid, _base_offsets(log, batches)))
    )
    quiet = (
        valid
        & (batch.codec(batches) < len(CODECS))
        & (batches["magic"] >= 0)
        & (batches["magic"] <= MAGIC_2)
    )
    if quiet.all() and not options.deep:
        console.write(text.data)
        return
    start = 0
    for row, end, is_quiet, is_valid in zip(
        batches, ends.tolist(), quiet.tolist(), valid.tolist(), strict=True
    ):
        console.write(text[start:end].tobytes())
        start = end
        if not is_quiet:
            _print_batch_problem(row, console)
        if options.deep:
            _print_records(
                row,
                log.bytes_at(int(row["position"]), int(row["size_bytes"])),
                path=log.path,
                is_valid=is_valid,
                console=console,
            )


def _print_batch_problem(row: np.void, console: Console) -> None:
    rows = row.reshape(1)
    byte_range = (int(row["position"]), int(row["size_bytes"]))
    magic = int(row["magic"])
    codec_id = int(batch.codec(rows)[0])
    if not 0 <= magic <= MAGIC_2:
        console.write(problem("batch-bad-magic", *byte_range, f"magic is {magic}"))
    elif codec_id >= len(CODECS):
        console.write(
            problem("decompress-failed", *byte_range, f"Unknown compression type id: {codec_id}")
        )
    else:
        console.write(problem(CRC, *byte_range, f"the checksum of the batch is not {row['crc']}"))


def _print_records(
    row: np.void, data: bytes, *, path: str, is_valid: bool, console: Console
) -> None:
    is_control = bool(batch.is_control(row.reshape(1))[0])
    has_time = row["magic"] != 0
    try:
        for record in iterate(data):
            fields, fault_text = _control(record) if is_control else (None, None)
            console.write(_record_line(record, has_time=bool(has_time), fields=fields))
            if fault_text:
                what = f"control record at offset {record.offset}: {fault_text}"
                console.write(
                    problem(
                        "record-malformed" if is_valid else CRC,
                        int(row["position"]),
                        len(data),
                        what,
                    )
                )
    except NotRead as fault:
        raise CorruptFile(path, int(row["position"]), fault.what) from None
    except CorruptBytes as fault:
        if not is_valid:
            code = CRC
        elif fault.kind is FaultKind.CODEC:
            code = "decompress-failed"
        else:
            code = "record-malformed"
        console.write(
            problem(
                code,
                int(row["position"]) + fault.position,
                len(data) - fault.position,
                str(fault.what),
            )
        )


def _record_line(record: BatchRecord, *, has_time: bool, fields: dict | None) -> bytes:
    return line(
        "record",
        offset=record.offset,
        timestamp_ms=record.timestamp_ms if has_time else None,
        sequence=record.sequence,
        key=_base64(record.key),
        value=_base64(record.value),
        headers=[[name, _base64(value)] for name, value in record.headers],
        control=fields,
    )


def _control(record: BatchRecord) -> tuple[dict | None, str | None]:
    try:
        control_record = control.decode(record.key, record.value)
    except CorruptBytes as fault:
        return None, str(fault.what)
    return {"type": control_record.name, **(_printable(control_record.values) or {})}, None


def _printable(value):
    if isinstance(value, bytes):
        return _base64(value)
    if isinstance(value, dict):
        return {name: _printable(part) for name, part in value.items()}
    return [_printable(part) for part in value] if isinstance(value, list | tuple) else value


def _base64(data: bytes | None) -> str | None:
    return None if data is None else b64encode(data).decode()


def _base_offsets(log: RecordsFile, batches: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the base offset of each batch, and whether the offset is known.

    A compressed wrapper (magic 0 and 1) has the offset of its first message. The offset is unknown
    if the wrapper has no readable message.
    """
    offsets = batches["base_offset"].copy()
    is_present = np.ones(len(batches), np.bool_)
    for place in np.flatnonzero(
        (batches["magic"] < MAGIC_2) & (batch.codec(batches) != 0)
    ).tolist():
        row = batches[place]
        messages = legacy_messages.read(
            log.bytes_at(int(row["position"]), int(row["size_bytes"]))
        ).rows
        is_present[place] = bool(len(messages))
        offsets[place] = messages["offset"][0] if len(messages) else 0
    return offsets, is_present


def _columns(
    batches: np.ndarray, valid: np.ndarray, base_offsets: tuple[np.ndarray, np.ndarray]
) -> Columns:
    """Returns one column for each field of the batches.

    A field is null if the batch's magic has no such field, or if the field is a -1 for "none".
    """
    is_magic_2 = batches["magic"] >= MAGIC_2
    horizon = batch.has_delete_horizon(batches)
    has_sequence = is_magic_2 & (batches["base_sequence"] != -1)
    return {
        "position": batches["position"],
        "size_bytes": batches["size_bytes"],
        "base_offset": nullable(*base_offsets),
        "last_offset": batches["last_offset"],
        "leader_epoch": nullable(
            batches["leader_epoch"], is_magic_2 & (batches["leader_epoch"] != -1)
        ),
        "magic": batches["magic"],
        "codec": Word(batch.codec(batches), _CODEC_WORDS),
        "timestamp_type": Word(timestamp_type(batches), _TYPE_WORDS),
        "is_transactional": flag_or_null(batch.is_transactional(batches), is_magic_2),
        "is_control": flag_or_null(batch.is_control(batches), is_magic_2),
        "delete_horizon_ms": nullable(batches["base_timestamp_ms"], horizon),
        "record_count": nullable(batches["record_count"], is_magic_2),
        "base_timestamp_ms": nullable(batches["base_timestamp_ms"], is_magic_2),
        "max_timestamp_ms": nullable(batches["max_timestamp_ms"], batches["magic"] != 0),
        "producer_id": nullable(
            batches["producer_id"], is_magic_2 & (batches["producer_id"] != -1)
        ),
        "producer_epoch": nullable(
            batches["producer_epoch"], is_magic_2 & (batches["producer_epoch"] != -1)
        ),
        "base_sequence": nullable(batches["base_sequence"], has_sequence),
        "last_sequence": nullable(last_sequence(batches), has_sequence),
        "crc": batches["crc"],
        "crc_valid": flag(valid),
    }
