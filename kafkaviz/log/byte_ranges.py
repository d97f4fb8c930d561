"""A range of any file of a broker directory, as bytes and as named spans.

Only the range and what locates it are read, not the file from its start.
"""

from typing import NamedTuple

from kafkaviz import units
from kafkaviz.binary import spans
from kafkaviz.binary.spans import PAYLOAD, UNWRITTEN, Span, torn_span
from kafkaviz.errors import CorruptBytes
from kafkaviz.format import names, offset_index, spans_batch, spans_table, time_index
from kafkaviz.log import file, log_regions
from kafkaviz.log.file import FileInfo
from kafkaviz.log.log_regions import LogRegion
from kafkaviz.messages import message

TEXT_BYTES = 1 << 20  # text files are read whole; a larger one is not Kafka's
LOGS = ("log", "checkpoint")  # a snapshot of the cluster's metadata consists of batches too
TEXTS = (names.META_PROPERTIES, names.PARTITION_METADATA, names.QUORUM_STATE, names.CLEAN_SHUTDOWN)


class FileByteRange(NamedTuple):
    """The bytes from `start` to `stop` of a file.

    Attributes:
        size_bytes: the size of the whole file.
        spans: the spans that overlap the range. They are not cut, so they may begin before it and
            end after it.
    """

    start: int
    stop: int
    size_bytes: int
    data: bytes
    spans: list[Span]


class DecompressedByteRange(NamedTuple):
    """The bytes from `start` to `stop` of the decompressed records of a batch.

    Attributes:
        size_bytes: the size of all decompressed records.
        data: the bytes of the range.
        spans: the spans that overlap the range.
    """

    start: int
    stop: int
    size_bytes: int
    data: bytes
    spans: list[Span]


def read(info: FileInfo, start: int = 0, stop: int | None = None) -> FileByteRange:
    """Returns a range of any file and its spans; by default the whole file.

    Raises:
        CannotOpen: the file cannot be read.
    """
    stop = info.size_bytes if stop is None else min(stop, info.size_bytes)
    start = max(0, min(start, stop))
    file_spans = (
        spans.find_overlapping(_spans(info, start, stop), start, stop) if start < stop else []
    )
    return FileByteRange(
        start, stop, info.size_bytes, file.read(info.path, start, stop - start), file_spans
    )


def read_decompressed(
    log: FileInfo, position: int, start: int = 0, stop: int | None = None
) -> DecompressedByteRange | None:
    """Decompresses the batch at `position` and returns a range of its records.

    Returns:
        None if the batch is not compressed.

    Raises:
        CannotOpen: the file cannot be read.
        CorruptFile: the bytes cannot be decompressed.
    """
    try:
        content = spans_batch.decompress(
            log_regions.LogFile(log).batch(position), start=start, stop=stop
        )
    except CorruptBytes as fault:
        raise fault.in_file(log.path, position) from None
    if content is None:
        return None
    stop = len(content.data) if stop is None else min(stop, len(content.data))
    start = max(0, min(start, stop))
    return DecompressedByteRange(
        start,
        stop,
        len(content.data),
        content.data[start:stop],
        spans.find_overlapping(content.spans, start, stop),
    )


def _spans(info: FileInfo, start: int, stop: int) -> list[Span]:
    name = names.parse_file(info.name)
    if info.name == names.BOOTSTRAP:
        kind = "checkpoint"
    elif name:
        kind = name.kind
    else:
        kind = ""
    base_offset = name.base_offset if name else 0
    if kind in LOGS:
        log = log_regions.LogFile(info)
        return [
            span
            for region in log.regions(start, stop)
            for span in _region_spans(log, region, start, stop)
        ]
    if kind == "index":
        return _index_spans(
            info, offset_index, spans_table.offset_entries(base_offset), start, stop
        )
    if kind == "timeindex":
        return _index_spans(info, time_index, spans_table.time_entries(base_offset), start, stop)
    if kind == "txnindex":
        return _row_spans(info, spans_table.txn_entries(), info.size_bytes, start, stop)
    return _small_file_spans(info, kind, start, stop)


def _region_spans(log: log_regions.LogFile, region: LogRegion, start: int, stop: int) -> list[Span]:
    size_bytes = region.end - region.position
    if region.kind in (log_regions.BATCH, log_regions.TORN):
        data = file.read(log.info.path, region.position, min(size_bytes, log_regions.BATCH_BYTES))
        return spans_batch.batch(data, region.position, size_bytes, start, stop)
    if region.kind == log_regions.GARBAGE:
        return [
            torn_span(
                region.position,
                region.end,
                message("span.no_batch"),
                message("span.no_batch_note"),
            )
        ]
    note = (
        message("span.zeros_ahead")
        if size_bytes <= log_regions.TAIL_BYTES
        else message("span.zeros_looked_at")
    )
    return [
        Span(
            region.position,
            region.end,
            message("span.zero_padding"),
            units.format_bytes(size_bytes),
            UNWRITTEN,
            note,
        )
    ]


def _index_spans(
    info: FileInfo, layout, row_format: spans_table.RowFormat, start: int, stop: int
) -> list[Span]:
    data, _ = file.read_data(info.path)
    slots = layout.parse(data.ljust(len(data) + -len(data) % row_format.layout.itemsize, b"\0"))
    return _row_spans(
        info, row_format, layout.count_entries(slots) * row_format.layout.itemsize, start, stop
    )


def _row_spans(
    info: FileInfo, row_format: spans_table.RowFormat, written_bytes: int, start: int, stop: int
) -> list[Span]:
    row_bytes = row_format.layout.itemsize
    first = start - start % row_bytes
    last = stop + -stop % row_bytes
    data = file.read(info.path, first, max(0, min(last, written_bytes) - first))
    return spans_table.rows(
        row_format, data, first, last, written_bytes=written_bytes, size_bytes=info.size_bytes
    )


def _small_file_spans(info: FileInfo, kind: str, start: int, stop: int) -> list[Span]:
    """Returns the spans of a producer snapshot, a text file, or a file that Kafka does not write.

    A file that Kafka does not write, or a text file over TEXT_BYTES, is a single unknown span.
    """
    if info.size_bytes > TEXT_BYTES and kind != "snapshot":
        return [_unknown_file_span(info)]
    data = file.read(info.path)
    if kind == "snapshot":
        return spans_table.snapshot(data, start, stop)
    if info.name in TEXTS or info.name.endswith("-checkpoint"):
        return spans_table.lines(data, info.name, start, stop)
    return [_unknown_file_span(info)]


def _unknown_file_span(info: FileInfo) -> Span:
    return Span(
        0,
        info.size_bytes,
        message("span.unknown_file"),
        units.format_bytes(info.size_bytes),
        PAYLOAD,
        message("span.unknown_file_note"),
    )
