"""The line of each record below its batch, and what goes on from record to record.

Offsets that do not follow each other.
"""

import zlib
from collections.abc import Iterator
from itertools import pairwise
from typing import cast

import numpy as np

from kafkaviz.binary import codec
from kafkaviz.binary.codec import LIMIT_BYTES
from kafkaviz.cli.dumping import java_exception
from kafkaviz.cli.dumping.batch_lines import TIMESTAMP_TYPES, timestamp_type
from kafkaviz.cli.dumping.compiled_records import (
    DONE,
    NEEDS_ROOM,
    OTHER,
    LineBuffer,
    write,
    write_large,
)
from kafkaviz.cli.dumping.console import Console
from kafkaviz.cli.dumping.decoders import control_text, decoder
from kafkaviz.cli.dumping.java_exception import JavaException
from kafkaviz.cli.dumping.options import STRING_DECODER, DumpOptions
from kafkaviz.cli.dumping.report import Report
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import batch, legacy_messages, record
from kafkaviz.format.batch import HEADER_BYTES, MAGIC_2
from kafkaviz.format.batch_records import BatchRecord, iterate, iterate_messages

_GZIP_HEADER_BYTES = 10  # of a member without a name, as Java writes it
_TRAILER = "java.util.zip.ZipException: Corrupt GZIP trailer"
_CHECKSUM_FAULTS = tuple(
    f"gzip: Error -3 while decompressing data: incorrect {part} check"
    for part in ("data", "length")
)
# of the data: whoever asks for more meets the checksum
_END_FAULTS = ("premature EOF", "payload reached EOF")


def exception_of(
    fault: CorruptBytes, body: bytes, record_count: int, position: int
) -> JavaException | None:
    """What iterating over the batch throws.

    Args:
        body: all behind the batch's header.

    Returns:
        None where the fault is another one.
    """
    if str(fault.what) not in _CHECKSUM_FAULTS:
        return None
    try:
        plain = zlib.decompressobj(-zlib.MAX_WBITS).decompress(
            body[_GZIP_HEADER_BYTES:], LIMIT_BYTES
        )
    except zlib.error:
        return None
    first_fault = record.first_fault(plain, record_count, is_compressed=True)
    if first_fault and any(words in str(first_fault.what) for words in _END_FAULTS):
        return None
    if first_fault:
        return JavaException(
            java_exception.INVALID_RECORD, str(first_fault.what), position=position
        )
    return JavaException(
        java_exception.KAFKA,
        "Error checking for remaining bytes after reading batch",
        (_TRAILER,),
        position,
    )


class RecordLines:
    """Prints the batches of one file with their records, in their order.

    The offset before the first is -1, so a file whose first record has another offset than 0 is
    reported, as by Kafka's tool since it is written in Java.
    """

    def __init__(self, options: DumpOptions, absolute_path: str, report: Report) -> None:
        self._options, self._absolute_path, self._report = options, absolute_path, report
        self._decode = decoder(options) if options.prints else None
        self._buffer = LineBuffer()
        is_text = options.decoder is None and {
            options.key_decoder_class,
            options.value_decoder_class,
        } == {STRING_DECODER}
        self._is_plain = not options.skip_record_metadata and (is_text or not options.prints)

    def print(
        self,
        batches: np.ndarray,
        data: np.ndarray,
        lines: np.ndarray,
        ends: np.ndarray,
        console: Console,
    ) -> None:
        """Prints batches whose bytes follow each other in data.

        Ends are the bounds of their lines, one more than batches.

        Raises:
            JavaException: a record cannot be read.
        """
        starts = batches["position"] - batches["position"][0]
        for first, end in self._runs(batches):
            chunk, bounds = batches[first:end], ends[first : end + 1]
            body = starts[first:end] + HEADER_BYTES, starts[first:end] + chunk["size_bytes"]
            self._print_run(chunk, data, body, lines=lines, ends=bounds, console=console)
        self._flush_buffer(console)

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
        *,
        lines: np.ndarray,
        ends: np.ndarray,
        console: Console,
    ) -> None:
        """Compiled as far as that goes, and batch by batch where it does not."""
        index, (starts, stops) = 0, body
        while index < len(batches):
            plain = self._plain(batches[index], data, int(starts[index]), int(stops[index]))
            count, code = 0, OTHER
            if plain is not None:
                bounds = (
                    (starts[index:], stops[index:])
                    if plain is data
                    else (np.array([0]), np.array([len(plain)]))
                )
                count, code = write(
                    self._buffer,
                    batches[index:],
                    plain,
                    *bounds,
                    compressed=plain is not data,
                    prints=self._options.prints,
                    lines=lines,
                    line_ends=ends[index:],
                )
                index += count
            if code != DONE:
                self._flush_buffer(console)
            if code == NEEDS_ROOM:
                start, end = int(bounds[0][count]), int(bounds[1][count])
                if self._buffer.has_room(
                    batches[index], end - start, int(ends[index + 1] - ends[index])
                ):
                    continue
                text, code = lines[ends[index] : ends[index + 1]].tobytes(), OTHER
                for _ in write_large(
                    self._buffer,
                    batches[index],
                    cast(np.ndarray, plain),
                    (start, end),
                    compressed=plain is not data,
                    prints=self._options.prints,
                ):
                    console.write(text)
                    self._flush_buffer(console)
                    text, code = b"", DONE
                index += code == DONE
            if code == OTHER:
                console.write(lines[ends[index] : ends[index + 1]].tobytes())
                self._print_batch(
                    batches[index],
                    data[starts[index] - HEADER_BYTES : stops[index]].tobytes(),
                    console,
                )
                index += 1

    def _plain(self, row: np.void, data: np.ndarray, start: int, stop: int) -> np.ndarray | None:
        """What holds the records of a batch: data itself, or what they decompress to.

        Returns:
            None where neither is for compiled lines.
        """
        if not self._is_plain or row["magic"] < MAGIC_2 or stop < start:
            return None
        codec_id = int(batch.codec(row.reshape(1))[0])
        if codec_id == 0 or row["record_count"] <= 0:
            return data
        try:
            return np.frombuffer(
                codec.decompress(codec.name(codec_id), data[start:stop].data), np.uint8
            )
        except CorruptBytes:
            return None

    def _flush_buffer(self, console: Console) -> None:
        """Prints what was written, and notes the offsets that do not follow each other."""
        text, gaps = self._buffer.take()
        console.write(text)
        if gaps:
            self._report.non_consecutive.setdefault(self._absolute_path, {}).update(
                cast("list[tuple[int, int]]", gaps)
            )

    def _print_batch(self, row: np.void, data: bytes, console: Console) -> None:
        """Prints the records of a batch (a row of format.batch.BATCH, its bytes).

        Raises:
            JavaException: one cannot be read.
        """
        is_control = bool(batch.is_control(row.reshape(1))[0])
        time_label = f"{TIMESTAMP_TYPES[int(timestamp_type(row.reshape(1))[0])]}: "
        try:
            for record, sizes in _sized_records(row, data):
                self._check(record.offset)
                if not self._options.skip_record_metadata:
                    console.write(_metadata(record, time_label, sizes))
                console.write(self._content(record, is_control=is_control) + b"\n")
        except CorruptBytes as fault:
            raise _exception(row, data, fault) from None

    def _check(self, offset: int) -> None:
        """Notes an offset that is not the one after the last."""
        if offset != self._buffer.last_offset + 1:
            self._report.non_consecutive.setdefault(self._absolute_path, {})[
                self._buffer.last_offset
            ] = offset
        self._buffer.last_offset = offset

    def _content(self, record: BatchRecord, *, is_control: bool) -> bytes:
        """What follows the metadata of a record; without metadata, the line."""
        bare = self._options.skip_record_metadata
        if is_control:
            return b"" if bare else b" " + control_text(record)
        if not self._decode:
            return b""
        parts = self._decode(record)
        return b"".join([b"| " if bare and parts else b" " if parts else b"", b" ".join(parts)])


def _exception(row: np.void, data: bytes, fault: CorruptBytes) -> JavaException:
    """What ends the run at a batch whose records cannot all be read."""
    position, is_legacy = int(row["position"]) + fault.position, bool(row["magic"] < MAGIC_2)
    gzip_exception = (
        None
        if is_legacy
        else exception_of(fault, data[HEADER_BYTES:], int(row["record_count"]), position)
    )
    return gzip_exception or java_exception.from_records(
        str(fault.what), is_legacy=is_legacy, position=position
    )


def _sized_records(row: np.void, data: bytes) -> Iterator[tuple[BatchRecord, tuple[int, int]]]:
    """The records of a batch, each with the sizes of key and value, -1 for null.

    A message of magic 0 or 1 shows what it stores, which damage may have lowered.

    Raises:
        CorruptBytes: a record cannot be read.
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
    messages = legacy_messages.read(data)
    for record, message in zip(iterate_messages(messages), messages.rows, strict=False):
        yield record, (int(message["key_size_bytes"]), int(message["value_size_bytes"]))
    if messages.fault:
        raise messages.fault


def _metadata(record: BatchRecord, time_label: str, sizes: tuple[int, int]) -> bytes:
    """| offset: 7 CreateTime: 1790000000000 keySize: -1 valueSize: 5, and what the magic adds."""
    key_bytes, value_bytes = sizes
    text = (
        f"| offset: {record.offset} {time_label}{record.timestamp_ms} keySize: {key_bytes} "
        f"valueSize: {value_bytes}"
    )
    if record.crc is not None:
        return (
            f"{text} isValid: {'true' if record.is_valid else 'false'} crc: {record.crc}".encode()
        )
    names = ",".join(name for name, _ in record.headers)
    return (
        f"{text} sequence: {-1 if record.sequence is None else record.sequence} headerKeys: ["
        f"{names}]"
    ).encode()
