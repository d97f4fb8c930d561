"""A dump as JSON lines, one object per line. It continues after damage, unlike Kafka's tool."""

from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

from kafkaviz.analysis.checks.log_scan import UnreadRange
from kafkaviz.analysis.findings import TAIL_CODES
from kafkaviz.binary.codec import CODECS
from kafkaviz.cli.common import output
from kafkaviz.cli.dumping import MAX_INT, Console, DumpOptions, java, records_file
from kafkaviz.cli.dumping.index_entries import LAYOUTS, base_offset_of, parse_entries
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
    Part,
    Word,
    flag,
    last_sequence,
    render,
    render_lines,
    timestamp_type,
)
from kafkaviz.cli.dumping.records_file import Batches, RecordsFile
from kafkaviz.errors import CorruptBytes, CorruptFile, FaultKind, KafkavizError, NotRead
from kafkaviz.format import batch, control, legacy_messages, producer_snapshot, txn_index
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

    Raises CannotOpen at a file that cannot be read, after printing the files before it.
    """
    json_dump = _JsonDump(options, console, FileChecker())
    try:
        for path in map(java.path, options.files):
            json_dump.print_file(path)
    except JavaException as fault:
        raise fault.fault or KafkavizError(
            message("errors.of_path", path=path, problem=fault.message)
        ) from None
    finally:
        console.flush()
    return 0


@dataclass(frozen=True)
class _JsonDump:
    """Prints files as JSON lines."""

    options: DumpOptions
    console: Console
    checker: FileChecker

    def print_file(self, path: str) -> None:
        with file.reader(Path(path)):  # a file that cannot be read must not be announced by a line
            info = file.info(Path(path))
        suffix = path.rpartition("/")[2].rpartition(".")[2]
        head = line(
            "file",
            schema=output.schema("dump"),
            path=replace_surrogates(archive.display_text(path)),
            format=suffix if suffix in FORMATS else None,
            size_bytes=info.size_bytes,
        )
        self.console.write(head)
        match suffix:
            case "log" | "checkpoint":
                self._print_log(path)
            case "index" | "timeindex":
                self._print_index(path)
            case "snapshot":
                self._print_snapshot(path)
            case "txnindex":
                self._print_txn_index(path)
            case _:
                text = f"Ignoring unknown file {archive.display_text(path)}"
                self._print_problem("unknown-file", None, None, text)

    def _print_problem(
        self, code: str, position: int | None, size_bytes: int | None, text: str
    ) -> None:
        self.console.write(problem(code, position, size_bytes, text))

    def _print_objects(self, kind: str, columns: Columns) -> None:
        self.console.write(render(*objects(kind, columns)).data)

    def _print_lines(self, lines: Iterable[bytes]) -> None:
        for printed_line in lines:
            self.console.write(printed_line)

    def _print_index(self, path: str) -> None:
        kind = path.rpartition(".")[2]
        base_offset, has_base_offset = self._base_offset(path)
        data = records_file.content(path)
        layout = LAYOUTS[kind]
        slots = layout.parse(data)
        index = parse_entries(path, base_offset, data)
        count = layout.count_entries(slots)
        is_printed = not self.options.verify_index_only and not self.options.index_sanity_check
        if is_printed and count:
            offsets = nullable(index.offsets[:count], np.full(count, has_base_offset))
            relative_offsets = slots["relative_offset"][:count]
            columns: Columns = {"slot": np.arange(count)}
            if kind == "timeindex":
                columns["timestamp_ms"] = index.values[:count]
            columns |= {"relative_offset": relative_offsets, "offset": offsets}
            if kind == "index":
                columns["position"] = index.values[:count]
            self._print_objects("time_entry" if kind == "timeindex" else "offset_entry", columns)
        entry_bytes = slots.itemsize
        remainder = len(data) % entry_bytes
        unwritten_bytes = len(data) - remainder - count * entry_bytes
        if unwritten_bytes > 0:
            self.console.write(unwritten_line(count * entry_bytes, unwritten_bytes))
        if has_base_offset and not self.options.index_sanity_check:
            self._print_lines(self.checker.problems(path, base_offset))
            return
        # without a base offset, only Kafka's sanity check is possible
        try:
            index.check()
        except JavaException as fault:
            name = "size-not-multiple" if remainder else "not-monotonic"
            position = len(data) - remainder if remainder else 0
            what = cast(str, fault.message)
            self._print_problem(f"{kind}-{name}", position, len(data) - position, what)

    def _base_offset(self, path: str) -> tuple[int, bool]:
        """Returns (base offset in a file's name, True).

        If the name has no base offset, prints a problem and returns (0, False).
        """
        try:
            return base_offset_of(path), True
        except JavaException:
            what = "the name says no base offset: no absolute offsets, nothing is checked"
            self._print_problem("unknown-file", None, None, what)
            return 0, False

    def _print_snapshot(self, path: str) -> None:
        """Prints the producers of a .snapshot. A -1 that means "none" is printed as null."""
        try:
            rows = producer_snapshot.parse(records_file.content(path)).producers
        except CorruptBytes:
            self._print_lines(self.checker.snapshot_problems(path))
            return
        if not len(rows):
            return
        columns: Columns = {name: rows[name] for name in ("producer_id", "producer_epoch")}
        for name in ("last_sequence", "last_offset", "offset_delta"):
            columns[name] = nullable(rows[name], rows["last_offset"] >= 0)
        columns["timestamp_ms"] = rows["timestamp_ms"]
        for name in ("coordinator_epoch", "current_txn_first_offset"):
            columns[name] = nullable(rows[name], rows[name] != -1)
        self._print_objects("producer", columns)

    def _print_txn_index(self, path: str) -> None:
        entries = txn_index.parse(records_file.content(path))
        if len(entries):
            names = ("producer_id", "first_offset", "last_offset", "last_stable_offset")
            self._print_objects("aborted_transaction", {name: entries[name] for name in names})
        self._print_lines(self.checker.txn_index_problems(path))

    def _print_log(self, path: str) -> None:
        """Prints a .log. Skips ranges that no broker can read, as `kafkaviz check` does."""
        position: int | None = 0
        with records_file.open_log(path) as log:
            stop = min(log.size_bytes, max(0, self.options.max_bytes))
            while position is not None:
                position = self._print_range(log, position, stop)

    def _print_range(self, log: RecordsFile, start: int, stop: int) -> int | None:
        """Prints the batches from `start` to the next unreadable range, and a line for the range.

        Returns the end of the range, or None if there is nothing left to print before `stop`.
        """
        batches = log.batches(start, stop)
        for chunk in batches:
            valid = records_file.are_valid(log, chunk)
            positions = chunk["position"]
            unread_range = None
            if not valid.all():
                unread_range = self.checker.unread_range_at(log.path, positions[~valid])
            if unread_range is None:
                self._print_batches(chunk, valid, log)
                continue
            count = int(np.searchsorted(positions, unread_range.start))
            if count:
                self._print_batches(chunk[:count], valid[:count], log)
            text = "the length of the batch is wrong"
            return self._print_unread_range(unread_range, text, stop)
        end = batches.end.position
        if end >= stop:
            return None
        if unread_range := self.checker.unread_range_at(log.path, np.array([end])):
            return self._print_unread_range(unread_range, _end_reason(batches), stop)
        tail = self.checker.reading(log.path).tail
        if self.options.max_bytes == MAX_INT and tail is not None:
            text = f"Found {tail.size_bytes} invalid bytes at the end"
            if batches.exception():
                text = _end_reason(batches)
            self._print_problem(TAIL_CODES[tail.kind], tail.position, tail.size_bytes, text)
            if tail.kind == "zeros":
                self.console.write(unwritten_line(tail.position, tail.size_bytes))
        return None

    def _print_unread_range(self, unread_range: UnreadRange, text: str, stop: int) -> int | None:
        """Prints a line for an unreadable range.

        Returns the end of the range, or None if the end is `stop` or later.
        """
        start = unread_range.start
        self._print_problem("batch-bad-length", start, unread_range.stop - start, text)
        return unread_range.stop if unread_range.stop < stop else None

    def _print_batches(self, batches: np.ndarray, valid: np.ndarray, log: RecordsFile) -> None:
        columns = _columns(batches, valid, _base_offsets(log, batches))
        text, ends = render_lines(*objects("batch", columns))
        quiet = (
            valid
            & (batch.codec(batches) < len(CODECS))
            & (batches["magic"] >= 0)
            & (batches["magic"] <= MAGIC_2)
        )
        if quiet.all() and not self.options.deep:
            self.console.write(text.data)
            return
        start = 0
        for row, end, is_quiet, is_valid in zip(
            batches, ends.tolist(), quiet.tolist(), valid.tolist(), strict=True
        ):
            self.console.write(text[start:end].tobytes())
            start = end
            if not is_quiet:
                self._print_batch_problem(row)
            if self.options.deep:
                self._print_records(row, log, is_valid=is_valid)

    def _print_batch_problem(self, row: np.void) -> None:
        magic = int(row["magic"])
        codec_id = int(batch.codec(row.reshape(1))[0])
        code = CRC
        text = f"the checksum of the batch is not {row['crc']}"
        if not 0 <= magic <= MAGIC_2:
            code = "batch-bad-magic"
            text = f"magic is {magic}"
        elif codec_id >= len(CODECS):
            code = "decompress-failed"
            text = f"Unknown compression type id: {codec_id}"
        self._print_problem(code, int(row["position"]), int(row["size_bytes"]), text)

    def _print_records(self, row: np.void, log: RecordsFile, *, is_valid: bool) -> None:
        data = log.batch_bytes(row)
        position = int(row["position"])
        is_control = bool(batch.is_control(row.reshape(1))[0])
        has_time = bool(row["magic"] != 0)
        code = "record-malformed" if is_valid else CRC
        try:
            for record in iterate(data):
                fields, fault_text = _control(record) if is_control else (None, None)
                self.console.write(_record_line(record, has_time=has_time, fields=fields))
                if fault_text:
                    what = f"control record at offset {record.offset}: {fault_text}"
                    self._print_problem(code, position, len(data), what)
        except NotRead as fault:
            raise CorruptFile(log.path, position, fault.what) from None
        except CorruptBytes as fault:
            if is_valid and fault.kind is FaultKind.CODEC:
                code = "decompress-failed"
            start = fault.position
            self._print_problem(code, position + start, len(data) - start, str(fault.what))


def _end_reason(batches: Batches) -> str:
    fault = batches.exception()
    return cast(str, fault.message) if fault else "a batch is longer than the bytes that follow it"


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

    The base offset of a compressed wrapper (magic 0 and 1) is the offset of its first message. It
    is unknown if the wrapper has no readable message.
    """
    offsets = batches["base_offset"].copy()
    is_present = np.ones(len(batches), np.bool_)
    for place in np.flatnonzero(
        (batches["magic"] < MAGIC_2) & (batch.codec(batches) != 0)
    ).tolist():
        messages = legacy_messages.read(log.batch_bytes(batches[place])).rows
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
    has_sequence = is_magic_2 & (batches["base_sequence"] != -1)

    def unless_none(name: str) -> list[Part]:
        return nullable(batches[name], is_magic_2 & (batches[name] != -1))

    return {
        "position": batches["position"],
        "size_bytes": batches["size_bytes"],
        "base_offset": nullable(*base_offsets),
        "last_offset": batches["last_offset"],
        "leader_epoch": unless_none("leader_epoch"),
        "magic": batches["magic"],
        "codec": Word(batch.codec(batches), _CODEC_WORDS),
        "timestamp_type": Word(timestamp_type(batches), _TYPE_WORDS),
        "is_transactional": flag_or_null(batch.is_transactional(batches), is_magic_2),
        "is_control": flag_or_null(batch.is_control(batches), is_magic_2),
        "delete_horizon_ms": nullable(
            batches["base_timestamp_ms"], batch.has_delete_horizon(batches)
        ),
        "record_count": nullable(batches["record_count"], is_magic_2),
        "base_timestamp_ms": nullable(batches["base_timestamp_ms"], is_magic_2),
        "max_timestamp_ms": nullable(batches["max_timestamp_ms"], batches["magic"] != 0),
        "producer_id": unless_none("producer_id"),
        "producer_epoch": unless_none("producer_epoch"),
        "base_sequence": unless_none("base_sequence"),
        "last_sequence": nullable(last_sequence(batches), has_sequence),
        "crc": batches["crc"],
        "crc_valid": flag(valid),
    }
