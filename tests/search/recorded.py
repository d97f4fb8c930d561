"""Logs and queries that Kafka's own classes recorded, as inputs of a search."""

from kafkaviz.binary.file_view import in_memory
from kafkaviz.search.log_view import LogView, SegmentView
from kafkaviz.units import file_stem
from tests.support.vectors import content, unpacked


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
    views = [
        segment(
            line["base"],
            unpacked(line["log_gz"]),
            line["index"],
            line["timeindex"],
            line["log_mtime_ms"],
        )
        for line in segments
    ]
    return LogView("t-0", tuple(views), recorded["log_start"])
