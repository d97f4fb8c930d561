"""Logs and queries that Kafka's own classes recorded, as inputs of a search."""

import base64
import gzip
import json
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from kafkaviz.binary.file_view import FileView
from kafkaviz.search.log_view import LogView, SegmentView
from kafkaviz.units import file_stem
from tests.support.bytes_reader import reader


def lines(path: Path) -> Iterator[dict]:
    with gzip.open(path, "rt") as file:
        yield from map(json.loads, file)


def in_memory(name: str, data: bytes, modified_ms: int = 0) -> FileView:
    return FileView(
        name=name,
        size_bytes=len(data),
        open_reader=partial(nullcontext, reader(data)),
        modified_ms=modified_ms,
    )


def unpacked(packed: str) -> bytes:
    return gzip.decompress(base64.b64decode(packed))


def content(recorded: dict) -> bytes:
    """Returns an index file; bytes missing from the hex are zeros."""
    written = bytes.fromhex(recorded["hex"]) if "hex" in recorded else unpacked(recorded["gz"])
    return written.ljust(recorded["file_len"], b"\0")


def segment(
    base_offset: int, log: bytes, index: dict | None, timeindex: dict | None, modified_ms: int = 0
) -> SegmentView:
    stem = file_stem(base_offset)
    return SegmentView(
        base_offset=base_offset,
        log=in_memory(f"{stem}.log", log, modified_ms),
        index=in_memory(f"{stem}.index", content(index)) if index else None,
        timeindex=in_memory(f"{stem}.timeindex", content(timeindex)) if timeindex else None,
    )


def log_of(recorded: dict, segments: list[dict]) -> LogView:
    served_segments = (
        segment(
            segment_line["base"],
            unpacked(segment_line["log_gz"]),
            segment_line["index"],
            segment_line["timeindex"],
            segment_line["log_mtime_ms"],
        )
        for segment_line in segments
    )
    return LogView("t-0", tuple(served_segments), recorded["log_start"])
