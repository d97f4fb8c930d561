"""The line of each record below its batch, and what goes on from record to record: offsets that do
not follow each other.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import cast

import numpy as np

from kafkaviz.binary import codec
from kafkaviz.commands.dumping import death, gzip_records
from kafkaviz.commands.dumping.batch_lines import TIMESTAMP_TYPES, timestamp_type
from kafkaviz.commands.dumping.compiled_records import (
    DONE,
    NEEDS_ROOM,
    OTHER,
    Written,
    write,
    write_large,
)
from kafkaviz.commands.dumping.console import Console
from kafkaviz.commands.dumping.death import Death
from kafkaviz.commands.dumping.decoders import control_text, decoder
from kafkaviz.commands.dumping.options import STRING_DECODER, Options
from kafkaviz.commands.dumping.report import Report
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import batch, legacy
from kafkaviz.format.batch import HEADER_BYTES, MAGIC_2
from kafkaviz.format.batch_records import BatchRecord, iterate, of_messages


class RecordLines:
    """Prints the batches of one file with their records, in their order.

    The offset before the first is -1, so a file whose first record has another offset than 0 is
    reported, as by Kafka's tool since it is written in Java.
    """

    def __init__(self, options: Options, absolute_path: str, report: Report) -> None:
        self._options, self._absolute_path, self._report = options, absolute_path, report
        self._decode = decoder(options) if options.prints else None
        self._written = Written()
        of_text = options.decoder is None and {
            options.key_decoder_class,
            options.value_decoder_class,
        } == {STRING_DECODER}
        self._is_plain = not options.skip_record_metadata and (of_text or not options.prints)

    def print(
        self,
        batches: np.ndarray,
        data: np.ndarray,
        lines: np.ndarray,
        ends: np.ndarray,
        console: Console,
    ) -> None:
        """Prints batches whose bytes follow each other in data; ends are the bounds of their lines,
        one more than batches.

        A Death where a record cannot be read.
        """
        starts = batches["position"] - batches["position"][0]
        for first, behind in self._runs(batches):
            some, bounds = batches[first:behind], ends[first : behind + 1]
            body = starts[first:behind] + HEADER_BYTES, starts[first:behind] + some["size_bytes"]
            self._print_run(some, data, body, lines, bounds, console)
        self._hand_on(console)

    def _runs(self, batches: np.ndarray) -> Iterator[tuple[int, int]]:
        """Stretches of batches that are not compressed; each other batch by itself."""
        single = (batch.codec(batches) != 0) | (batches["magic"] < MAGIC_2)
        cuts = np.flatnonzero(single[1:] | single[:-1]) + 1
        yield from pairwise([0, *cuts.tolist(), len(batches)])

    def _print_run(
        self,
        batches: np.ndarray,
        data: np.ndarray,
        body: tuple[np.ndarray, np.ndarray],
        lines: np.ndarray,
        ends: np.ndarray,
        console: Console,
    ) -> None:
        """Compiled as far as that goes, and batch by batch where it does not."""
        at, (starts, behind) = 0, body
        while at < len(batches):
            plain = self._plain(batches[at], data, int(starts[at]), int(behind[at]))
            count, code = 0, OTHER
            if plain is not None:
                bounds = (
                    (starts[at:], behind[at:])
                    if plain is data
                    else (np.array([0]), np.array([len(plain)]))
                )
                count, code = write(
                    self._written,
                    batches[at:],
                    plain,
                    *bounds,
                    plain is not data,
                    self._options.prints,
                    lines,
                    ends[at:],
                )
                at += count
            if code != DONE:
                self._hand_on(console)
            if code == NEEDS_ROOM:
                start, end = int(bounds[0][count]), int(bounds[1][count])
                if self._written.has_room(batches[at], end - start, int(ends[at + 1] - ends[at])):
                    continue
                text, code = lines[ends[at] : ends[at + 1]].tobytes(), OTHER
                for _ in write_large(
                    self._written,
                    batches[at],
                    cast(np.ndarray, plain),
                    (start, end),
                    plain is not data,
                    self._options.prints,
                ):
                    console.write(text)
                    self._hand_on(console)
                    text, code = b"", DONE
                at += code == DONE
            if code == OTHER:
                console.write(lines[ends[at] : ends[at + 1]].tobytes())
                self._print_one(
                    batches[at], data[starts[at] - HEADER_BYTES : behind[at]].tobytes(), console
                )
                at += 1

    def _plain(self, row: np.void, data: np.ndarray, start: int, behind: int) -> np.ndarray | None:
        """What holds the records of a batch: data itself, or what they decompress to; None where
        neither is for compiled lines.
        """
        if not self._is_plain or row["magic"] < MAGIC_2 or behind < start:
            return None
        codec_id = int(batch.codec(row.reshape(1))[0])
        if codec_id == 0 or row["record_count"] <= 0:
            return data
        try:
            return np.frombuffer(
                codec.decompress(codec.name(codec_id), data[start:behind].data), np.uint8
            )
        except CorruptBytes:
            return None

    def _hand_on(self, console: Console) -> None:
        """Prints what was written, and notes the offsets that do not follow each other."""
        text, gaps = self._written.take()
        console.write(text)
        if gaps:
            self._report.non_consecutive.setdefault(self._absolute_path, {}).update(
                cast("list[tuple[int, int]]", gaps)
            )

    def _print_one(self, row: np.void, data: bytes, console: Console) -> None:
        """Prints the records of a batch (a row of format.batch.BATCH, its bytes); a Death where one
        cannot be read.
        """
        is_control = bool(batch.is_control(row.reshape(1))[0])
        time_label = f"{TIMESTAMP_TYPES[int(timestamp_type(row.reshape(1))[0])]}: "
        try:
            for record, sizes in _sized_records(row, data):
                self._check(record.offset)
                if not self._options.skip_record_metadata:
                    console.write(_metadata(record, time_label, sizes))
                console.write(self._content(record, is_control) + b"\n")
        except CorruptBytes as fault:
            raise _death(row, data, fault) from None

    def _check(self, offset: int) -> None:
        """Notes an offset that is not the one after the last."""
        if offset != self._written.last_offset + 1:
            self._report.non_consecutive.setdefault(self._absolute_path, {})[
                self._written.last_offset
            ] = offset
        self._written.last_offset = offset

    def _content(self, record: BatchRecord, is_control: bool) -> bytes:
        """What follows the metadata of a record; without metadata, the line."""
        bare = self._options.skip_record_metadata
        if is_control:
            return b"" if bare else b" " + control_text(record)
        if not self._decode:
            return b""
        shown = self._decode(record)
        return b"".join([b"| " if bare and shown else b" " if shown else b"", b" ".join(shown)])


def _death(row: np.void, data: bytes, fault: CorruptBytes) -> Death:
    """What ends the run at a batch whose records cannot all be read."""
    position, is_legacy = int(row["position"]) + fault.position, bool(row["magic"] < MAGIC_2)
    late = (
        None
        if is_legacy
        else gzip_records.death_of(fault, data[HEADER_BYTES:], int(row["record_count"]), position)
    )
    return late or death.of_records(fault.what, is_legacy, position)


def _sized_records(row: np.void, data: bytes) -> Iterator[tuple[BatchRecord, tuple[int, int]]]:
    """The records of a batch, each with the sizes of key and value, -1 for null; CorruptBytes where
    one cannot be read.

    A message of magic 0 or 1 shows what it stores, which damage may have made lower.
    """
    if row["magic"] >= MAGIC_2:
        for record in iterate(data):
            yield (
                record,
                (
                    -1 if record.key is None else len(record.key),
                    -1 if record.value is None else len(record.value),
                ),
            )
        return
    messages = legacy.read(data)
    for record, stored in zip(of_messages(messages), messages.rows, strict=False):
        yield record, (int(stored["key_size_bytes"]), int(stored["value_size_bytes"]))
    if messages.fault:
        raise messages.fault


def _metadata(record: BatchRecord, time_label: str, sizes: tuple[int, int]) -> bytes:
    """| offset: 7 CreateTime: 1790000000000 keySize: -1 valueSize: 5, and what the magic adds."""
    key_bytes, value_bytes = sizes
    told = (
        f"| offset: {record.offset} {time_label}{record.timestamp_ms} keySize: {key_bytes} "
        f"valueSize: {value_bytes}"
    )
    if record.crc is not None:
        return (
            f"{told} isValid: {'true' if record.is_valid else 'false'} crc: {record.crc}".encode()
        )
    names = ",".join(name for name, _ in record.headers)
    return (
        f"{told} sequence: {-1 if record.sequence is None else record.sequence} headerKeys: ["
        f"{names}]"
    ).encode()
