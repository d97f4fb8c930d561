"""The open topic-partition as a broker would serve it, to look things up in."""

from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from kafkaviz import units
from kafkaviz.analyse import lookups
from kafkaviz.analyse.infer.interval import IntervalBounds, interval_bounds
from kafkaviz.figures.listed import named, sentences
from kafkaviz.figures.lookup_made import Seen
from kafkaviz.format import offset_index
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.search.bounds import bounds_of
from kafkaviz.search.profile import profile
from kafkaviz.search.served import ServedLog, ServedSegment
from kafkaviz.ui import anatomies
from kafkaviz.ui.lookup.source import Source
from kafkaviz.ui.pick import InSegment
from kafkaviz.units import group
from kafkaviz.words import counted, say

READ_BYTES = 256 << 20  # of .log, read for the times of a whole partition
MOST_LABEL = 14


def of_place(place: InSegment) -> Source:
    """The open topic-partition, its open segment first. Raises KafkavizError as reading it does."""
    partition, shown = place.partition, place.segment
    log = served(place)
    rows = _rows(partition, log, shown.base_offset)
    of = next(
        (one for one in log.segments if one.base_offset == shown.base_offset), log.segments[0]
    )
    first, last = (
        shown.base_offset,
        int(rows["last_offset"][-1]) if len(rows) else shown.base_offset,
    )
    times = rows["max_timestamp_ms"][rows["max_timestamp_ms"] >= 0]
    low_ms, high_ms = (
        (int(times.min()), int(times.max())) if len(times) else (0, of.largest_timestamp_ms)
    )
    return Source(
        f"{place.listed.key}|{partition.directory!r}|{anatomies.key(shown)}",
        _title(place, log, of),
        _note(place, log),
        log,
        log.log_start_offset,
        _end(log),
        _earliest(partition, low_ms),
        max(high_ms, max(one.max_timestamp[0] for one in log.segments)),
        first + (last - first) * 3 // 8,
        low_ms + (high_ms - low_ms) * 3 // 8 + 1,
        lambda base_offset: _rows(partition, log, base_offset),
        _records_of(partition),
        _times_of(place, log),
    )


def _title(place: InSegment, log: ServedLog, of: ServedSegment) -> str:
    number, name = offset_index.written(of.offset_slots), units.legible(place.partition.label)
    entries = (
        counted("lookup.entries", number, n=group(number)) if number else say("lookup.no_entries")
    )
    if len(log.segments) == 1:
        return say("lookup.place", name=name, entries=entries)
    stem = units.file_stem(of.base_offset)
    return say(
        "lookup.place_among",
        name=name,
        entries=entries,
        segment=stem,
        count=group(len(log.segments)),
    )


def _note(place: InSegment, log: ServedLog) -> str:
    bounds = _interval(f"{place.listed.key}|{anatomies.key(place.segment)}", place.segment)
    told = []
    if bounds.high_bytes is not None:
        told.append(
            say("lookup.interval", low=group(bounds.low_bytes or 0), high=group(bounds.high_bytes))
        )
    if log.start_error:
        key = "start_fails_unopened" if lookups.log_unopened(log.segments) else "start_fails"
        told.append(say(f"lookup.{key}", error=log.start_error))
    return sentences([*told, *recovered_words(log.recovered)])


def recovered_words(names: Sequence[str]) -> list[str]:
    """That some files are shown as recovery would leave them, in a sentence; names: of all of
    them.
    """
    if not names:
        return []
    stems, ends = zip(*(name.split(".") for name in names), strict=True)
    if len(names) == 1:
        return [say("lookup.recovered_one", file=names[0])]
    if len(set(stems)) == 1:
        return [say("lookup.recovered_stem", stem=stems[0], ends=named(f".{end}" for end in ends))]
    return [counted("lookup.recovered_more", len(names) - 1, file=names[0], n=len(names) - 1)]


@st.cache_data(max_entries=32, show_spinner=False)
def _interval(key: str, _segment: Segment) -> IntervalBounds:
    """Which index.interval.bytes fits the open segment, as far as its entries tell."""
    anatomy = anatomies.read(_segment)
    return interval_bounds(anatomy.batches, anatomy.index.entries)


def served(place: InSegment) -> ServedLog:
    """The topic-partition as a broker has it open: where it was not stopped cleanly, as its next
    start would leave it.
    """
    return _served(f"{place.listed.key}|{place.partition.directory!r}", place.partition)


@st.cache_resource(max_entries=8, show_spinner=False)
def _served(key: str, _partition: Partition) -> ServedLog:
    return lookups.served(_partition)


def _rows(partition: Partition, log: ServedLog, base_offset: int) -> np.ndarray:
    """The batches of a segment, as far as the log that is served reaches."""
    return _within(anatomies.read(partition.segment(base_offset)).batches, log, base_offset)


def _within(rows: np.ndarray, log: ServedLog, base_offset: int) -> np.ndarray:
    end = next((one.size_bytes for one in log.segments if one.base_offset == base_offset), 0)
    return rows[: int(np.searchsorted(rows["position"] + rows["size_bytes"], end, "right"))]


def _end(log: ServedLog) -> int:
    return max(log.log_start_offset, bounds_of(log, profile()).end_offset - 1)


def _earliest(partition: Partition, low_ms: int) -> int:
    """The time of the first record of the log, or an earlier one that is known."""
    first = next(partition.live[0].scan(0, 1 << 16).__iter__(), None)
    known = [
        int(one)
        for one in (first["base_timestamp_ms"][:1] if first is not None else ())
        if one >= 0
    ]
    return min([low_ms, *known])


def _records_of(partition: Partition) -> Callable[[int, int], Sequence[Seen]]:
    def records(base_offset: int, position: int) -> list[Seen]:
        return [
            Seen(one.offset, one.timestamp_ms, _label(one.key))
            for one in partition.segment(base_offset).records(position)
        ]

    return records


def _times_of(place: InSegment, log: ServedLog) -> Callable[[int], np.ndarray | None]:
    partition, key = place.partition, f"{place.listed.key}|{place.partition.directory!r}"
    if partition.log_bytes > READ_BYTES:
        return lambda base_offset: (
            _rows(partition, log, base_offset) if base_offset == place.segment.base_offset else None
        )

    def times(base_offset: int) -> np.ndarray | None:
        rows = _all_batches(key, partition).get(base_offset)
        return None if rows is None else _within(rows, log, base_offset)

    return times


@st.cache_resource(max_entries=4, show_spinner=False)
def _all_batches(key: str, _partition: Partition) -> dict[int, np.ndarray]:
    return {one.base_offset: one.batches() for one in _partition.live}


def _label(key: bytes | None) -> str:
    text = (key or b"")[: 4 * MOST_LABEL].decode("utf-8", "replace")
    return text[:MOST_LABEL] if text.isprintable() else ""
