"""What the Lookup page looks things up in: the open topic-partition, a log made for a lesson, or keys that somebody typed.

Each is a Source; of a source and a question `made` gives the whole path, and `costs` what all other targets would have cost.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np
import streamlit as st

from kafkaviz import units, versions
from kafkaviz.analyse import cost, lookups, why_offset
from kafkaviz.analyse.cost import HEADERS, PROBES, Costs
from kafkaviz.analyse.infer.interval import IntervalBounds, interval_bounds
from kafkaviz.analyse.infer.version import Assumed, assumed_version
from kafkaviz.errors import KafkavizError
from kafkaviz.figures import why_offset as why_figure
from kafkaviz.figures.stepper import Made, Seen
from kafkaviz.figures.why_offset import WhyView
from kafkaviz.format import batch_records, names, offset_index
from kafkaviz.log.partition import Partition
from kafkaviz.log.segment import Segment
from kafkaviz.search import by_time, index, slots
from kafkaviz.search.bounds import READ_UNCOMMITTED, Bounds, bounds_of
from kafkaviz.search.index import ENTRY_BYTES
from kafkaviz.search.lookup import Lookup, by_offset, by_timestamp
from kafkaviz.search.profile import SearchProfile, profile
from kafkaviz.search.served import ServedLog, ServedSegment
from kafkaviz.search.slots import PAGE_BYTES, PLAIN, WARM
from kafkaviz.simulate.lessons import practice
from kafkaviz.simulate.lessons.practice import Practice
from kafkaviz.ui import anatomies
from kafkaviz.ui.pick import Place
from kafkaviz.units import group
from kafkaviz.words import counted, language, say

OFFSET, TIMESTAMP = "offset", "timestamp"
TARGETS = (OFFSET, TIMESTAMP)  # as all choices of this page: short words, as they stand in the address
OWN, KEYS = "real", "keys"
PRACTICE = {"five": practice.five, "twenty": practice.twenty, "full": practice.full}
SETS = (*PRACTICE, KEYS)
VERSIONS = {versions.NEWEST: "newest", "3.9": "middle", "2.0": "oldest"}
SINCE = {versions.NEWEST: (4, 1), "3.9": (2, 1), "2.0": (0,)}  # the first release of each
KAFKAS_WARM = slots.warm_entries(ENTRY_BYTES[index.OFFSET])  # entries of the offset index
WARM_ENTRIES = (2, 4, 8, 16, 64, 256, KAFKAS_WARM)  # to choose from for a lesson
SMALL_PAGE_SLOTS, SMALL_WARM = 4, 64  # slots of a page where fewer entries than that are warm
MOST_KEYS, MOST_LABEL = 4096, 14
READ_BYTES = 256 << 20  # of .log, read for the times of a whole partition
EXACT = 1 << 53  # a slider of the browser counts no further


@dataclass(frozen=True)
class Source:
    """Something to look things up in.

    key: changes when its content does. first, last: the offsets that can be asked for; first_ms, last_ms: the times, None without any.
    offset, timestamp_ms: a target to begin with. batches, records: as of figures.stepper.Made. times: the batches of a segment as far
    as they may be read for a picture of the whole partition, else None.
    """

    key: str
    title: str
    note: str
    log: ServedLog
    first: int
    last: int
    first_ms: int | None
    last_ms: int | None
    offset: int
    timestamp_ms: int
    batches: Callable[[int], np.ndarray]
    records: Callable[[int, int], Sequence[Seen]]
    times: Callable[[int], np.ndarray | None]
    is_made: bool = False
    is_alone: bool = False

    def default(self, by: str) -> int:
        """The target to begin with."""
        return self.timestamp_ms if by == TIMESTAMP else self.offset

    def span(self, by: str) -> tuple[int, int] | None:
        """The first and last target that a slider offers; None where there are none, or too large for one."""
        low, high = (self.first_ms, self.last_ms) if by == TIMESTAMP else (self.first, self.last)
        return (low, high) if low is not None and low < high < EXACT else None


# ---- sources


def of_place(place: Place) -> Source:
    """The open topic-partition, its open segment first. Raises KafkavizError as reading it does."""
    partition, shown = place.partition, place.segment
    log = served(place)
    rows = _rows(partition, log, shown.base_offset)
    of = next((one for one in log.segments if one.base_offset == shown.base_offset), log.segments[0])
    first, last = shown.base_offset, int(rows["last_offset"][-1]) if len(rows) else shown.base_offset
    times = rows["max_timestamp_ms"][rows["max_timestamp_ms"] >= 0]
    low_ms, high_ms = (int(times.min()), int(times.max())) if len(times) else (0, of.largest_timestamp_ms)
    return Source(
        f"{place.listed.key}|{partition.directory}|{anatomies.key(shown)}", _title(place, log, of), _note(place, log), log,
        log.log_start_offset, _end(log), _earliest(partition, low_ms), max(high_ms, max(one.max_timestamp[0] for one in log.segments)),
        first + (last - first) * 3 // 8, low_ms + (high_ms - low_ms) * 3 // 8 + 1,
        lambda base_offset: _rows(partition, log, base_offset), _records_of(partition), _times_of(place, log),
    )  # fmt: skip


def _title(place: Place, log: ServedLog, of: ServedSegment) -> str:
    number, name = offset_index.written(of.offset_slots), units.legible(place.partition.label)
    entries = counted("lookup.entries", number, n=group(number)) if number else say("lookup.no_entries")
    if len(log.segments) == 1:
        return say("lookup.place", name=name, entries=entries)
    stem = units.file_stem(of.base_offset)
    return say("lookup.place_among", name=name, entries=entries, segment=stem, count=group(len(log.segments)))


def _note(place: Place, log: ServedLog) -> str:
    bounds = _interval(f"{place.listed.key}|{anatomies.key(place.segment)}", place.segment)
    told = []
    if bounds.high_bytes is not None:
        told.append(say("lookup.interval", low=group(bounds.low_bytes or 0), high=group(bounds.high_bytes)))
    if log.start_error:
        told.append(say("lookup.start_fails", error=log.start_error))
    return " ".join([*told, *recovered_words(log.recovered)])


def recovered_words(names: Sequence[str]) -> list[str]:
    """That some files are shown as recovery would leave them, in a sentence; names: of all of them."""
    if not names:
        return []
    stems, ends = zip(*(name.split(".") for name in names), strict=True)
    if len(names) == 1:
        return [say("lookup.recovered_one", file=names[0])]
    if len(set(stems)) == 1:
        return [say("lookup.recovered_stem", stem=stems[0], ends=", ".join(f".{end}" for end in ends[:-1]), last=f".{ends[-1]}")]
    return [say("lookup.recovered_more", file=names[0], n=len(names) - 1)]


@st.cache_data(max_entries=32, show_spinner=False)
def _interval(key: str, _segment: Segment) -> IntervalBounds:
    """Which index.interval.bytes fits the open segment, as far as its entries tell."""
    anatomy = anatomies.read(_segment)
    return interval_bounds(anatomy.batches, anatomy.index.entries)


def served(place: Place) -> ServedLog:
    """The topic-partition as a broker has it open: where it was not stopped cleanly, as its next start would leave it."""
    return _served(f"{place.listed.key}|{place.partition.directory}", place.partition)


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
    known = [int(one) for one in (first["base_timestamp_ms"][:1] if first is not None else ()) if one >= 0]
    return min([low_ms, *known])


def _records_of(partition: Partition) -> Callable[[int, int], Sequence[Seen]]:
    def records(base_offset: int, position: int) -> list[Seen]:
        return [Seen(one.offset, one.timestamp_ms, _label(one.key)) for one in partition.segment(base_offset).records(position)]

    return records


def _times_of(place: Place, log: ServedLog) -> Callable[[int], np.ndarray | None]:
    partition, key = place.partition, f"{place.listed.key}|{place.partition.directory}"
    if partition.log_bytes > READ_BYTES:
        return lambda base_offset: _rows(partition, log, base_offset) if base_offset == place.segment.base_offset else None

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


def of_practice(name: str) -> Source:
    """A log made for lessons, by its name in PRACTICE."""
    made, title, note = _practice(name), say(f"lookup.{name}_title"), say(f"lookup.{name}_note")
    rows = made.batches

    def records(base_offset: int, position: int) -> list[Seen]:
        row = rows[np.searchsorted(rows["position"], position)]
        return [Seen(one.offset, one.timestamp_ms) for one in batch_records.of_batch(practice.batch_bytes(row, made.apart_ms))]

    return Source(
        name, title, note, made.log, 0, int(rows["last_offset"][-1]), int(rows["max_timestamp_ms"][0]),
        int(rows["max_timestamp_ms"][-1]), made.offset, made.timestamp_ms, lambda base_offset: rows, records, lambda base_offset: rows,
        is_made=True,
    )  # fmt: skip


@st.cache_resource(show_spinner=False)
def _practice(name: str) -> Practice:
    return PRACTICE[name]()


def of_keys(keys: Sequence[int]) -> Source:
    """An index of these keys, without a log."""
    title = counted("lookup.keys_title", len(keys), n=group(len(keys)))
    low, high = (min(keys), max(keys)) if keys else (0, 0)
    return Source(
        f"keys {' '.join(map(str, keys))}", title, say("lookup.keys_note"), practice.typed(keys), min(0, low), high + 1, None, None,
        keys[len(keys) * 3 // 5] + 1 if keys else 0, 0, lambda base_offset: np.empty(0, practice.ROW), lambda base_offset, position: (),
        lambda base_offset: None, is_made=True, is_alone=True,
    )  # fmt: skip


def parsed_keys(text: str) -> list[int]:
    """The whole numbers of a line; ValueError in words for what is none, is too large for an index, or too much."""
    parts = re.split(r"[\s,;]+", text.strip()) if text.strip() else []
    for part in parts:
        if not re.fullmatch(r"-?\d{1,10}", part) or abs(int(part)) >= 1 << 31:
            raise ValueError(say("lookup.no_key", said=part[:20]))
    if len(parts) > MOST_KEYS:
        raise ValueError(say("lookup.many_keys", n=group(len(parts)), most=group(MOST_KEYS)))
    return [int(part) for part in parts]


# ---- targets


def parsed(text: str, by: str) -> int:
    """A target as people write it: 2 247, 2_247, and of a timestamp also 2026-11-21 09:29:44.123 in UTC. ValueError for anything else.

    Of a timestamp also earliest, latest and max, which Kafka knows by numbers below 0; those numbers are no times.
    """
    if by == TIMESTAMP and text.strip().lower() in by_time.NAMES:
        return by_time.NAMES[text.strip().lower()]
    plain = re.sub(r"[\s_,\u202f]", "", text)
    if re.fullmatch(r"-?\d{1,19}", plain):
        target = int(plain)
    elif by == TIMESTAMP:
        moment = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
        target = round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
    else:
        raise ValueError(text)
    if not (0 if by == TIMESTAMP else -names.MAX_OFFSET) <= target <= names.MAX_OFFSET:
        raise ValueError(text)
    return target


# ---- the lookup


def written(target: int, by: str) -> str:
    """A target as its field shows it."""
    return named(target) or str(target) if by == TIMESTAMP else units.group(target)


def named(timestamp_ms: int | None) -> str:
    """earliest, latest or max; "" for a time."""
    return next((name for name, value in by_time.NAMES.items() if value == timestamp_ms), "")


def assumed(place: Place) -> Assumed:
    """The release that the open directory looks like."""
    return _assumed(place.listed.key, place)


@st.cache_resource(max_entries=8, show_spinner=False)
def _assumed(key: str, _place: Place) -> Assumed:
    return assumed_version(_place.broker)


def like(version: str) -> str | None:
    """Which of VERSIONS searches as this one does: 3.9 for 3.6; None for what is no release. Also plain and warm are taken."""
    if version in (PLAIN, WARM):
        return "2.0" if version == PLAIN else versions.NEWEST
    try:
        return next(name for name, first in SINCE.items() if versions.parse(version) >= first)
    except KafkavizError:
        return None


def release(version: str, warm_entries: int, by: str) -> SearchProfile:
    """What a release does; warm_entries: of the index that is searched first, Kafka's are 8 KiB of them."""
    of = profile(version)
    if warm_entries == KAFKAS_WARM:
        return of
    return replace(of, warm_bytes=warm_entries * entry_bytes(by))


def made(source: Source, by: str, target: int, of: SearchProfile, isolation: str = READ_UNCOMMITTED) -> Made:
    """The lookup and what is drawn around it. Raises CorruptFile where the way leads into damage."""
    found = _in_keys(source.log, target, of) if source.is_alone else _looked_up(source.key, by, target, of, isolation, source.log)
    return Made(found, source.log, source.batches, source.records, page_bytes(of, by), source.is_alone)


def _in_keys(log: ServedLog, target: int, of: SearchProfile) -> Lookup:
    """A search in an index that has no log."""
    searches = (index.find_offset(log.segments[0], target, of),)
    return Lookup(log.name, of, Bounds(0, 0, 0, 0, 0), (), searches, (), None, None, offset=target)


def page_bytes(of: SearchProfile, by: str) -> int:
    """The pages that are drawn: 4 KiB, or of a lesson with a small warm section four slots."""
    return SMALL_PAGE_SLOTS * entry_bytes(by) if of.warm_bytes < SMALL_WARM * ENTRY_BYTES[index.OFFSET] else PAGE_BYTES


def entry_bytes(by: str) -> int:
    """Of the index that is searched first."""
    return ENTRY_BYTES[index.TIME if by == TIMESTAMP else index.OFFSET]


@st.cache_data(max_entries=64, show_spinner=False)
def _looked_up(key: str, by: str, target: int, of: SearchProfile, isolation: str, _log: ServedLog) -> Lookup:
    bounds = _bounds(key, of.version, isolation, _log)
    return (by_timestamp if by == TIMESTAMP else by_offset)(_log, target, of, isolation, bounds)


@st.cache_resource(max_entries=32, show_spinner=False)
def _bounds(key: str, version: str, isolation: str, _log: ServedLog) -> Bounds:
    return bounds_of(_log, profile(version), isolation)


def chosen(found: Made) -> ServedSegment | None:
    """The first segment that was searched."""
    if found.found.scans:
        return found.segment(found.found.scans[0].segment)
    if not found.found.searches:
        return None
    return next((found.segment(one.base_offset) for one in found.found.choices if one.chosen), found.log.segments[0])


def costs(source: Source, found: Made, by: str, of: SearchProfile) -> Costs | None:
    """Of all targets of the segment that was searched."""
    segment = chosen(found)
    return _costs(source.key, segment.base_offset, by, of, found) if segment else None


@st.cache_resource(max_entries=32, show_spinner=False)
def _costs(key: str, base_offset: int, by: str, of: SearchProfile, _found: Made) -> Costs | None:
    segment, rows = _found.segment(base_offset), _found.batches(base_offset)
    if by == TIMESTAMP:
        return cost.of_timestamps(segment, rows, of, _found.page_bytes)
    return cost.of_offsets(segment, rows, of, _found.page_bytes)


def why(source: Source, found: Made, of: SearchProfile) -> WhyView:
    """Why a timestamp gave this offset."""
    return _why(source.key, found.target, of, found.found.bounds, language(), source, found)


@st.cache_data(max_entries=32, show_spinner=False)
def _why(key: str, target_ms: int, of: SearchProfile, bounds: Bounds, spoken: str, _source: Source, _found: Made) -> WhyView:
    return why_figure.view(why_offset.why(_found.found, _found.log, _source.times, _source.records))


def other(of: SearchProfile) -> SearchProfile:
    """The other search: plain for warm, warm for plain."""
    return replace(of, search=PLAIN if of.warm else WARM)


def count_of(found: Made, what: str) -> int:
    """How many probes, pages or headers this lookup takes, counted as `costs` counts."""
    if what == HEADERS:
        return len({read.position for scan in found.found.scans[:1] for read in scan.reads})
    first = found.found.searches[0]
    touched = (slots.pages_of(probe.slot, ENTRY_BYTES[first.kind], found.page_bytes) for probe in first.found.probes)
    return len(first.found.probes) if what == PROBES else len({page for pages in touched for page in pages})
