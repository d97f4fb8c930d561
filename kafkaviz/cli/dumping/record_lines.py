"""Prints batches with a line per record, and reports offsets that are not consecutive."""

import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from kafkaviz.binary import codec
from kafkaviz.binary.codec import LIMIT_BYTES
from kafkaviz.binary.decoders.runs import RunDecompressor
from kafkaviz.cli.dumping import STRING_DECODER, DumpOptions, TextDump, java
from kafkaviz.cli.dumping.compiled_records import LineBuffer
from kafkaviz.cli.dumping.java import JavaException, decode_utf8
from kafkaviz.cli.dumping.lines import timestamp_type
from kafkaviz.errors import CorruptBytes, CorruptFile, FaultKind, NotRead
from kafkaviz.format import (
    batch,
    control,
    coordinator_records,
    legacy_messages,
    metadata,
    record,
    remote_metadata,
)
from kafkaviz.format.batch import HEADER_BYTES, MAGIC_2
from kafkaviz.format.batch_records import BatchRecord, iterate, iterate_messages
from kafkaviz.format.java import INVALID_RECORD
from kafkaviz.format.legacy_messages import TIMESTAMP_TYPES
from kafkaviz.format.message import KafkaParseError

_GZIP_HEADER_BYTES = 10  # header of a gzip member without a file name, as Java writes it
EMPTY_SNAPPY = "org.xerial.snappy.SnappyIOException: [EMPTY_INPUT] Cannot decompress empty stream"
_TRAILER = "java.util.zip.ZipException: Corrupt GZIP trailer"
_CHECKSUM_FAULTS = tuple(
    f"gzip: Error -3 while decompressing data: incorrect {part} check"
    for part in ("data", "length")
)


def _gzip_exception(fault: CorruptBytes, body: bytes, record_count: int) -> JavaException | None:
    """Returns Kafka's exception for gzip data with a wrong checksum or length, else None."""
    if str(fault.what) not in _CHECKSUM_FAULTS:
        return None
    deflated = body[_GZIP_HEADER_BYTES:]
    try:
        plain = zlib.decompressobj(-zlib.MAX_WBITS).decompress(deflated, LIMIT_BYTES)
    except zlib.error:
        return None
    first_fault = record.first_fault(plain, record_count, is_compressed=True)
    # if the fault is at the end of the data, Java's next read verifies the checksum instead
    if first_fault and first_fault.kind is FaultKind.END:
        return None
    if first_fault:
        return JavaException(INVALID_RECORD, str(first_fault.what))
    what = "Error checking for remaining bytes after reading batch"
    return JavaException(java.KAFKA, what, (_TRAILER,))


@dataclass(frozen=True, slots=True, kw_only=True)
class _PrintJob:
    """Batches to print, and a heading for each batch: the line before its records.

    Attributes:
        data: the bytes of all batches. A batch's records are `data[start:stop]`.
        lines: the headings, one after another, as bytes (uint8).
        line_ends: positions in `lines`: heading `i` is `lines[line_ends[i]:line_ends[i + 1]]`.
    """

    batches: np.ndarray
    data: np.ndarray
    starts: np.ndarray
    stops: np.ndarray
    lines: np.ndarray
    line_ends: np.ndarray

    def part(self, first: int, end: int) -> "_PrintJob":
        rows = slice(first, end)
        return replace(
            self,
            batches=self.batches[rows],
            starts=self.starts[rows],
            stops=self.stops[rows],
            line_ends=self.line_ends[first : end + 1],
        )

    def line(self, index: int) -> bytes:
        return self.lines[self.line_ends[index] : self.line_ends[index + 1]].tobytes()

    def batch_bytes(self, index: int) -> bytes:
        return self.data[self.starts[index] - HEADER_BYTES : self.stops[index]].tobytes()


@dataclass(frozen=True, slots=True)
class _Records:
    """The records of batches. Batch `i` has the bytes `data[starts[i]:stops[i]]`."""

    data: np.ndarray
    starts: np.ndarray
    stops: np.ndarray
    is_decompressed: bool


class RecordLines:
    """Prints the batches of one file in order, with their records.

    Reports a first offset other than 0 as a gap after -1, like Kafka's tool since its rewrite in
    Java.
    """

    def __init__(self, dump: TextDump, absolute_path: str) -> None:
        options = dump.options
        self._options = options
        self._console = dump.console
        self._report = dump.report
        self._absolute_path = absolute_path
        self._decode = _decoder(options) if options.prints else None
        self._buffer = LineBuffer()
        self._decompressor = RunDecompressor()
        classes = {options.key_decoder_class, options.value_decoder_class}
        is_text = options.decoder is None and classes == {STRING_DECODER}
        self._is_plain = not options.skip_record_metadata and (is_text or not options.prints)

    def print(
        self, batches: np.ndarray, data: np.ndarray, lines: np.ndarray, ends: np.ndarray
    ) -> None:
        """Prints batches. Raises JavaException if a record cannot be read.

        `data` holds the bytes of the batches. `lines[ends[i]:ends[i + 1]]` is the heading of batch
        `i`: the line before its records.
        """
        starts = batches["position"] - batches["position"][0]
        stops = starts + batches["size_bytes"]
        starts = starts + HEADER_BYTES
        job = _PrintJob(
            batches=batches, data=data, starts=starts, stops=stops, lines=lines, line_ends=ends
        )
        for first, end, codec_id in self._codec_runs(batches, stops - starts):
            stretch = job.part(first, end)
            if codec_id > 0:
                self._print_compressed(stretch, codec.CODECS[codec_id])
            elif codec_id == 0:
                records = _Records(data, stretch.starts, stretch.stops, is_decompressed=False)
                self._print_run(stretch, records)
            else:
                self._print_run(stretch, None)

    def _codec_runs(
        self, batches: np.ndarray, records_bytes: np.ndarray
    ) -> Iterator[tuple[int, int, int]]:
        """Yields (first, end, codec) per run of consecutive batches with the same codec.

        The codec is 0 (uncompressed) for a batch without records, and -1 for a batch that compiled
        code cannot print.
        """
        codec_ids = np.where(batches["record_count"] > 0, batch.codec(batches), 0)
        is_known = (batches["magic"] >= MAGIC_2) & (records_bytes >= 0)
        is_known &= codec_ids < len(codec.CODECS)
        codec_ids = np.where(is_known & self._is_plain, codec_ids, -1)
        cuts = np.flatnonzero(np.diff(codec_ids)) + 1
        for first, end in pairwise([0, *cuts.tolist(), len(batches)]):
            yield first, end, int(codec_ids[first])

    def _print_compressed(self, job: _PrintJob, codec_name: str) -> None:
        """Prints batches of one codec. Decompresses many per call. Raises at a corrupt batch."""
        printed = 0
        for run in self._decompressor.runs(codec_name, job.data, job.starts, job.stops):
            starts = np.append(0, run.ends[:-1])
            cuts = np.flatnonzero(np.diff(run.places) != 1) + 1
            for first, end in pairwise([0, *cuts.tolist(), len(run.places)]):
                place = int(run.places[first])
                self._print_run(job.part(printed, place), None)
                printed = place + end - first
                rows = slice(first, end)
                records = _Records(run.data, starts[rows], run.ends[rows], is_decompressed=True)
                self._print_run(job.part(place, printed), records)
        self._print_run(job.part(printed, len(job.batches)), None)

    def _print_run(self, job: _PrintJob, records: _Records | None) -> None:
        """Prints batches. Without `records`, or where compiled code cannot, Python prints them."""
        index = 0
        while index < len(job.batches):
            count = self._print_compiled(job, records, index) if records else 0
            if count == 0:
                self._console.write(job.line(index))
                self._print_batch(job.batches[index], job.batch_bytes(index))
                count = 1
            index += count

    def _print_compiled(self, job: _PrintJob, records: _Records, first: int) -> int:
        """Prints batches from index `first` on, until one needs Python. Returns how many."""
        count, text, gaps = self._buffer.print(
            job.batches[first:],
            records.data,
            records.starts[first:],
            records.stops[first:],
            compressed=records.is_decompressed,
            prints=self._options.prints,
            lines=job.lines,
            line_ends=job.line_ends[first:],
        )
        self._console.write(text)
        if gaps:
            self._report.non_consecutive[self._absolute_path] |= gaps
        return count

    def _print_batch(self, row: np.void, data: bytes) -> None:
        is_control = bool(batch.is_control(row.reshape(1))[0])
        time_label = f"{TIMESTAMP_TYPES[int(timestamp_type(row.reshape(1))[0])]}: "
        try:
            for record, sizes in _sized_records(row, data):
                last_offset = self._buffer.last_offset
                if record.offset != last_offset + 1:
                    self._report.non_consecutive[self._absolute_path][last_offset] = record.offset
                self._buffer.last_offset = record.offset
                if not self._options.skip_record_metadata:
                    self._console.write(_metadata(record, time_label, sizes))
                self._console.write(self._content(record, is_control=is_control) + b"\n")
        except NotRead as fault:
            raise CorruptFile(self._absolute_path, int(row["position"]), fault.what) from None
        except CorruptBytes as fault:
            raise _exception(row, data, fault) from None

    def _content(self, record: BatchRecord, *, is_control: bool) -> bytes:
        bare = self._options.skip_record_metadata
        if is_control:
            return b"" if bare else b" " + _control_text(record)
        parts = self._decode(record) if self._decode else []
        if not parts:
            return b""
        return (b"| " if bare else b" ") + b" ".join(parts)


def _exception(row: np.void, data: bytes, fault: CorruptBytes) -> JavaException:
    if row["magic"] < MAGIC_2:
        return java.from_records(fault, at_open=True)
    body = data[HEADER_BYTES:]
    is_bare = _is_bare_block(row, body)
    if is_bare and not body:
        return JavaException(java.KAFKA, EMPTY_SNAPPY, (EMPTY_SNAPPY,))
    gzip_exception = _gzip_exception(fault, body, int(row["record_count"]))
    return gzip_exception or java.from_records(fault, at_open=is_bare)


def _is_bare_block(row: np.void, body: bytes) -> bool:
    """Returns whether a batch is a snappy block without a stream header.

    SnappyInputStream 1.1.10 already decompresses such a block while it opens the stream.
    """
    codec_id = int(batch.codec(row.reshape(1))[0])
    return codec.name(codec_id) == "snappy" and not body.startswith(codec.XERIAL_MAGIC)


def _sized_records(row: np.void, data: bytes) -> Iterator[tuple[BatchRecord, tuple[int, int]]]:
    """Yields each record with (key size, value size); -1 means null.

    For magic 0 and 1, the sizes are those in the file, which may be wrong in a damaged record.
    """
    if row["magic"] >= MAGIC_2:
        for record in iterate(data):
            key_bytes = -1 if record.key is None else len(record.key)
            value_bytes = -1 if record.value is None else len(record.value)
            yield record, (key_bytes, value_bytes)
        return
    messages = legacy_messages.read(data)
    for record, message in zip(iterate_messages(messages), messages.rows, strict=False):
        yield record, (int(message["key_size_bytes"]), int(message["value_size_bytes"]))
    if messages.fault:
        raise messages.fault


def _metadata(record: BatchRecord, time_label: str, sizes: tuple[int, int]) -> bytes:
    """Returns a record's metadata, such as "| offset: 7 CreateTime: 17900 keySize: -1 ..."."""
    key_bytes, value_bytes = sizes
    text = (
        f"| offset: {record.offset} {time_label}{record.timestamp_ms} keySize: {key_bytes} "
        f"valueSize: {value_bytes}"
    )
    if record.crc is not None:
        is_valid = "true" if record.is_valid else "false"
        return f"{text} isValid: {is_valid} crc: {record.crc}".encode()
    sequence = -1 if record.sequence is None else record.sequence
    names = ",".join(name for name, _ in record.headers)
    return f"{text} sequence: {sequence} headerKeys: [{names}]".encode()


# returns the parts of a record to print: key, payload, both or neither
Decoder = Callable[[BatchRecord], list[bytes]]
_TOPICS = {"offsets": "offsets", "transaction-log": "transactions", "share-group-state": "share"}
_PACKAGE = "org.apache.kafka.tools.api."


def _decoder(options: DumpOptions) -> Decoder:
    """Returns the requested decoder. Raises JavaException for an unknown Java class."""
    if options.decoder == "cluster-metadata":
        return lambda record: [metadata.dump_text(record.value, record.offset).encode()]
    if options.decoder == "remote-log-metadata":
        return lambda record: [remote_metadata.dump_text(record.value, record.offset).encode()]
    if options.decoder:
        return _coordinator_decoder(_TOPICS[options.decoder])
    key = _find_class(options.key_decoder_class)
    value = _find_class(options.value_decoder_class)

    def decode(record: BatchRecord) -> list[bytes]:
        parts = [] if record.key is None else [b"key: " + key(record.key)]
        return parts if record.value is None else [*parts, b"payload: " + value(record.value)]

    return decode


def _control_text(record: BatchRecord) -> bytes:
    """Returns the text of a control record. Raises JavaException if the record cannot be read."""
    try:
        return control.dump_text(record.key, record.value).encode()
    except KafkaParseError as fault:
        raise JavaException(fault.java_class, fault.java_message) from None


def _coordinator_decoder(topic: str) -> Decoder:
    dump_text = coordinator_records.dump_text

    def decode(record: BatchRecord) -> list[bytes]:
        try:
            return [dump_text(record.key, record.value, record.offset, topic).encode()]
        except KafkaParseError as fault:
            raise JavaException(fault.java_class, fault.java_message) from None

    return decode


def _find_class(name: str) -> Callable[[bytes], bytes]:
    decoder_class = _CLASSES.get(name)
    if decoder_class is None:
        cause = f"java.lang.ClassNotFoundException: {name}"
        raise JavaException(java.RUNTIME, "Failed to load decoder class", (cause,))
    return decoder_class


def _number(layout: str) -> Callable[[bytes], bytes]:
    parser = struct.Struct(layout)

    def decode(data: bytes) -> bytes:
        if len(data) < parser.size:
            raise JavaException("java.nio.BufferUnderflowException")
        return str(parser.unpack_from(data)[0]).encode()

    return decode


def _byte_array_text(_data: bytes) -> bytes:
    """Returns what Java prints for a byte array: type and identity hash.

    The hash differs in each run of Java; here it is always 0.
    """
    return b"[B@0"


_CLASSES = {
    f"{_PACKAGE}StringDecoder": decode_utf8,
    f"{_PACKAGE}LongDecoder": _number(">q"),
    f"{_PACKAGE}IntegerDecoder": _number(">i"),
    f"{_PACKAGE}DefaultDecoder": _byte_array_text,
}
