"""The open topic-partition as a broker would serve it, to look things up in."""

from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from kafkaviz import units
from kafkaviz.analysis import lookups
from kafkaviz.analysis.inference.interval import IntervalBounds, interval_bounds
from kafkaviz.app.cache import segment_cache
from kafkaviz.app.pages.lookup.source import LookupSource
from kafkaviz.app.state.page_location import SegmentLocation
from kafkaviz.figures.join_text import join_and, join_sentences
from kafkaviz.figures.stepper.context import LookupRecord
from kafkaviz.format import offset_index
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.search.bounds import find_bounds
from kafkaviz.search.log_view import LogView, SegmentView
from kafkaviz.search.profile import profile
from kafkaviz.units import group
from kafkaviz.words import say, say_count

READ_BYTES = 256 << 20  # of .log, read for the times of a whole partition
MOST_LABEL = 14


def open_partition(location: SegmentLocation) -> LookupSource:
    """The open topic-partition, its open segment first. Raises KafkavizError as reading it does."""
    partition, open_segment = location.partition, location.segment
    log = log_view(location)
    rows = _rows(partition, log, open_segment.base_offset)
    segment_view = next(
        (segment for segment in log.segments if segment.base_offset == open_segment.base_offset),
        log.segments[0],
    )
    first, last = (
        open_segment.base_offset,
        int(rows["last_offset"][-1]) if len(rows) else open_segment.base_offset,
    )
    times = rows["max_timestamp_ms"][rows["max_timestamp_ms"] >= 0]
    low_ms, high_ms = (
        (int(times.min()), int(times.max()))
        if len(times)
        else (0, segment_view.largest_timestamp_ms)
    )
    return LookupSource(
        f"{location.snapshot.key}|{partition.directory!r}|{segment_cache.key(open_segment)}",
        _title(location, log, segment_view),
        _note(location, log),
        log,
        log.log_start_offset,
        _last_offset(log),
        _earliest_ms(partition, low_ms),
        max(high_ms, max(segment.max_timestamp[0] for segment in log.segments)),
        first + (last - first) * 3 // 8,
        low_ms + (high_ms - low_ms) * 3 // 8 + 1,
        lambda base_offset: _rows(partition, log, base_offset),
        _record_reader(partition),
        _batch_reader(location, log),
    )


def _title(location: SegmentLocation, log: LogView, segment_view: SegmentView) -> str:
    number, name = (
        offset_index.count_entries(segment_view.offset_slots),
        units.escape_controls(location.partition.label),
    )
    entries = (
        say_count("lookup.entries", number, n=group(number)) if number else say("lookup.no_entries")
    )
    if len(log.segments) == 1:
        return say("lookup.place", name=name, entries=entries)
    stem = units.file_stem(segment_view.base_offset)
    return say(
        "lookup.place_among",
        name=name,
        entries=entries,
        segment=stem,
        count=group(len(log.segments)),
    )


def _note(location: SegmentLocation, log: LogView) -> str:
    bounds = _interval(
        f"{location.snapshot.key}|{segment_cache.key(location.segment)}", location.segment
    )
    notes = []
    if bounds.high_bytes is not None:
        notes.append(
            say("lookup.interval", low=group(bounds.low_bytes or 0), high=group(bounds.high_bytes))
        )
    if log.start_error:
        key = "start_fails_unopened" if lookups.has_unopened_log(log.segments) else "start_fails"
        notes.append(say(f"lookup.{key}", error=log.start_error))
    return join_sentences([*notes, *recovery_notes(log.recovered_files)])


def recovery_notes(names: Sequence[str]) -> list[str]:
    """That some files are shown as recovery would leave them, in a sentence; names: of all of
    them.
    """
    if not names:
        return []
    stems, ends = zip(*(name.split(".") for name in names), strict=True)
    if len(names) == 1:
        return [say("lookup.recovered_one", file=names[0])]
    if len(set(stems)) == 1:
        return [
            say("lookup.recovered_stem", stem=stems[0], ends=join_and(f".{end}" for end in ends))
        ]
    return [say_count("lookup.recovered_more", len(names) - 1, file=names[0], n=len(names) - 1)]


@st.cache_data(max_entries=32, show_spinner=False)
def _interval(key: str, _segment: Segment) -> IntervalBounds:
    """Which index.interval.bytes fits the open segment, as far as its entries tell."""
    anatomy = segment_cache.read(_segment)
    return interval_bounds(anatomy.batches, anatomy.index.entries)


def log_view(location: SegmentLocation) -> LogView:
    """The topic-partition as a broker has it open: where it was not stopped cleanly, as its next
    start would leave it.
    """
    return _log_view(
        f"{location.snapshot.key}|{location.partition.directory!r}", location.partition
    )


@st.cache_resource(max_entries=8, show_spinner=False)
def _log_view(key: str, _partition: Partition) -> LogView:
    return lookups.open_log_view(_partition)


def _rows(partition: Partition, log: LogView, base_offset: int) -> np.ndarray:
    """The batches of a segment, as far as the log that is served reaches."""
    return _clip_batches(
        segment_cache.read(partition.segment(base_offset)).batches, log, base_offset
    )


def _clip_batches(rows: np.ndarray, log: LogView, base_offset: int) -> np.ndarray:
    end = next(
        (segment.size_bytes for segment in log.segments if segment.base_offset == base_offset), 0
    )
    return rows[: int(np.searchsorted(rows["position"] + rows["size_bytes"], end, "right"))]


def _last_offset(log: LogView) -> int:
    return max(log.log_start_offset, find_bounds(log, profile()).end_offset - 1)


def _earliest_ms(partition: Partition, low_ms: int) -> int:
    """The time of the first record of the log, or an earlier one that is known."""
    first = next(partition.live[0].scan(0, 1 << 16).__iter__(), None)
    first_timestamps = [
        int(timestamp_ms)
        for timestamp_ms in (first["base_timestamp_ms"][:1] if first is not None else ())
        if timestamp_ms >= 0
    ]
    return min([low_ms, *first_timestamps])


def _record_reader(partition: Partition) -> Callable[[int, int], Sequence[LookupRecord]]:
    def records(base_offset: int, position: int) -> list[LookupRecord]:
        return [
            LookupRecord(record.offset, record.timestamp_ms, _label(record.key))
            for record in partition.segment(base_offset).records(position)
        ]

    return records


def _batch_reader(location: SegmentLocation, log: LogView) -> Callable[[int], np.ndarray | None]:
    partition, key = location.partition, f"{location.snapshot.key}|{location.partition.directory!r}"
    if partition.log_bytes > READ_BYTES:
        return lambda base_offset: (
            _rows(partition, log, base_offset)
            if base_offset == location.segment.base_offset
            else None
        )

    def times(base_offset: int) -> np.ndarray | None:
        rows = _all_batches(key, partition).get(base_offset)
        return None if rows is None else _clip_batches(rows, log, base_offset)

    return times


@st.cache_resource(max_entries=4, show_spinner=False)
def _all_batches(key: str, _partition: Partition) -> dict[int, np.ndarray]:
    return {segment.base_offset: segment.batches() for segment in _partition.live}


def _label(key: bytes | None) -> str:
    text = (key or b"")[: 4 * MOST_LABEL].decode("utf-8", "replace")
    return text[:MOST_LABEL] if text.isprintable() else ""
