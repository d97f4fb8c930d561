"""The facts next to the segment ruler: a few values for each file, as text."""

from typing import NamedTuple

import numpy as np

from kafkaviz import units
from kafkaviz.analysis.retention import LogRetention, SegmentRetention
from kafkaviz.analysis.segment.anatomy import Anatomy
from kafkaviz.analysis.segment.links import NONE
from kafkaviz.figures.text import retention_text
from kafkaviz.figures.text.segment_text import closing_event
from kafkaviz.figures.text.sentences import capitalize, end_sentence, join_sentences
from kafkaviz.format import offset_index, time_index
from kafkaviz.format.batch import is_log_append_time
from kafkaviz.log.file import FileInfo
from kafkaviz.log.segment import Index
from kafkaviz.messages import say, say_count

DAY_MS = 86_400_000
EXACT_BYTES = 100_000  # larger sizes are given in KiB or MiB
# garbage has the colour of a torn tail
TAILS = {"torn": "torn", "zeros": "zeros", "garbage": "torn"}


class Fact(NamedTuple):
    label: str
    value: str
    detail: str = ""  # a note in small type after the value
    hover: str = ""  # the exact value
    is_wrong: bool = False  # whether the fact is drawn as a fault


FactGroups = list[tuple[str, str, list[Fact]]]  # a colour token, a file name, its facts


def file_facts(
    anatomy: Anatomy,
    roll_reason: str | None,
    partition_state: str = "current",
    retention: tuple[LogRetention, SegmentRetention] | None = None,
) -> FactGroups:
    return [
        (
            "log",
            ".log",
            [
                *_log_facts(anatomy, roll_reason, partition_state),
                *_retention_facts(*retention or ()),
            ],
        ),
        ("offset", ".index", _index_facts(anatomy)),
        ("time", ".timeindex", _time_facts(anatomy)),
    ]


def _log_facts(anatomy: Anatomy, roll_reason: str | None, partition_state: str) -> list[Fact]:
    first = anatomy.counts.first
    rows = (
        [_bytes_fact(anatomy)]
        if first is None
        else [
            *_contents_facts(anatomy, first),
            _bytes_fact(anatomy),
            *_span_facts(first, anatomy.counts.newest_ms),
        ]
    )
    rows.append(_state_fact(anatomy, roll_reason, partition_state))
    if anatomy.tail:
        tail_text = say(
            f"segment.tail_of_{TAILS[anatomy.tail.kind]}",
            size=units.format_bytes(anatomy.tail.size_bytes),
        )
        rows.append(
            Fact(
                say("segment.after_last_batch"),
                tail_text,
                hover=f"{units.format_count(anatomy.tail.size_bytes)} B",
                is_wrong=True,
            )
        )
    return rows


def _missing_fact() -> Fact:
    return Fact(say("common.file"), say("segment.missing"), is_wrong=True)


def _contents_facts(anatomy: Anatomy, first: np.void) -> list[Fact]:
    counts = anatomy.counts
    first_offset = int(first["base_offset"])
    smallest_bytes = int(counts.sizes[0])
    largest_bytes = int(counts.sizes[-1])
    last_offset = units.format_count(counts.last_offset)
    is_known = counts.records is not None
    offsets = (
        f"{units.format_count(first_offset)} – {last_offset}"
        if first_offset >= 0
        else say("ruler.up_to", last=last_offset)
    )
    records = units.MISSING if counts.records is None else units.format_count(counts.records)
    sizes_bytes = units.format_count(smallest_bytes) + (
        f"–{units.format_count(largest_bytes)}" if smallest_bytes < largest_bytes else ""
    )
    return [
        Fact(say("common.offsets"), offsets, hover=offsets),
        Fact(say("common.records"), records, hover="" if is_known else say("segment.wrappers")),
        Fact(
            say("common.batches"),
            units.format_count(len(anatomy.batches)),
            say("segment.batch_sizes", sizes=sizes_bytes),
        ),
    ]


def _bytes_fact(anatomy: Anatomy) -> Fact:
    return Fact(
        say("segment.size_bytes"),
        units.format_bytes(anatomy.end.position),
        hover=f"{units.format_count(anatomy.end.position)} B",
    )


def _span_facts(first: np.void, last_ms: int) -> list[Fact]:
    """Returns the times of the first and newest record, with dates if a day or more apart."""
    first_ms = int(
        first["max_timestamp_ms"] if is_log_append_time(first) else first["base_timestamp_ms"]
    )
    spans_days = first_ms >= 0 and last_ms - first_ms >= DAY_MS
    time_text = (lambda ms: units.moment(ms, fraction=False)) if spans_days else units.clock
    labels_ms = ((say("segment.first_record"), first_ms), (say("segment.newest_record"), last_ms))
    return [Fact(label, time_text(ms), hover=_utc_text(ms)) for label, ms in labels_ms]


def _utc_text(ms: int) -> str:
    return say("segment.utc", moment=units.moment(ms)) if ms >= 0 else say("segment.no_timestamp")


def _state_fact(anatomy: Anatomy, roll_reason: str | None, partition_state: str) -> Fact:
    if partition_state == "delete" and anatomy.segment.is_in_use:
        return Fact(
            say("common.state"), say("common.kind_deleted"), hover=say("segment.topic_deleted")
        )
    if anatomy.segment.state != "closed":
        return Fact(say("common.state"), say(f"common.kind_{anatomy.segment.state}"))
    if roll_reason is None:
        return Fact(say("segment.rolled_by"), units.MISSING, hover=say("segment.rolled_unknown"))
    return Fact(
        say("segment.rolled_by"),
        say(f"rolls.cause_{roll_reason}"),
        say("segment.inferred"),
        say("segment.inferred_from"),
    )


def _retention_facts(
    log: LogRetention | None = None, segment: SegmentRetention | None = None
) -> list[Fact]:
    if log is None or segment is None:
        return []
    until_ms = (
        segment.gone_ms
        if segment.until_ms is None or segment.gone_ms is not None
        else segment.until_ms
    )
    more_text = (
        say("segment.kept_more", size=units.format_bytes(segment.more_bytes))
        if segment.state == "bytes"
        else units.MISSING
    )
    until_text = (
        {"unlimited": say("retention.no_limit")}.get(segment.state, more_text)
        if until_ms is None
        else retention_text.moment_text(until_ms)
    )
    rule = end_sentence(capitalize(retention_text.reason_text(log, segment)))
    aside = say("segment.by_default") if until_ms and log.limits.is_time_assumed else ""
    if until_ms is None and not log.limits.is_known:
        until_text = say("common.unknown")
        aside = say("segment.kept_unknown_why")
    return [
        Fact(
            say("segment.kept_until"),
            until_text,
            aside,
            hover=join_sentences([rule, end_sentence(retention_text.basis_text(log.limits))]),
        )
    ]


def _index_facts(anatomy: Anatomy) -> list[Fact]:
    index = anatomy.index
    wrong_slots = anatomy.links.wrong_entries
    if anatomy.segment.index is None:
        return [_missing_fact(), *_unindexed_facts(anatomy)]
    density = anatomy.density
    rows = [_entries_fact(index, anatomy.segment.index, offset_index.ENTRY.itemsize)]
    if density.gap_median_bytes is not None:
        rows.append(
            Fact(say("segment.gap_median"), f"{units.format_count(density.gap_median_bytes)} B")
        )
        smallest = units.format_count(density.gap_min_bytes)
        gaps = f"{smallest} – {units.format_count(density.gap_p99_bytes)} B"
        rows.append(Fact(say("segment.gap_range"), gaps))
        rows += _interval_facts(anatomy)
    if len(wrong_slots):
        rows.append(Fact(say("segment.leads_astray"), _slots_text(wrong_slots), is_wrong=True))
    return [*rows, *_end_facts(index), *_unindexed_facts(anatomy)]


def _end_facts(index: Index) -> list[Fact]:
    facts = []
    if index.trailing_bytes:
        facts.append(
            Fact(say("segment.after_last_slot"), f"{index.trailing_bytes} B", is_wrong=True)
        )
    if index.unwritten_slots:
        slots_text = say("segment.slots", n=units.format_count(index.unwritten_slots))
        facts.append(Fact(say("segment.never_written"), slots_text))
    return facts


def _entries_fact(index: Index, file: FileInfo, entry_bytes: int) -> Fact:
    count = len(index.entries)
    if not file.size_bytes:
        return Fact(say("segment.entries"), "0", say("segment.in_empty_file"))
    entries_bytes = count * entry_bytes
    entries_size = (
        f"{units.format_count(entries_bytes)} B"
        if entries_bytes < EXACT_BYTES
        else units.format_bytes(entries_bytes)
    )
    key = "segment.no_slack" if entries_bytes == file.size_bytes else "segment.of_file"
    hover = say_count("segment.in_the_file", file.size_bytes)
    return Fact(
        say("segment.entries"),
        units.format_count(count),
        say(key, used=entries_size, size=units.format_bytes(file.size_bytes)),
        hover,
    )


def _interval_facts(anatomy: Anatomy) -> list[Fact]:
    bounds = anatomy.interval
    if bounds.high_bytes is None:
        return []
    hover = say(
        "segment.interval_restarts" if bounds.restarts else "segment.interval_between",
        n=bounds.restarts,
    )
    low_text = units.format_count(bounds.low_bytes) if bounds.low_bytes is not None else "0"
    return [
        Fact(
            say("segment.interval_was"),
            f"{low_text} – {units.format_count(bounds.high_bytes)} B",
            hover=hover,
        )
    ]


def _unindexed_facts(anatomy: Anatomy) -> list[Fact]:
    count = len(anatomy.batches)
    unindexed_count = anatomy.density.never_indexed
    share = say("segment.share_of_batches", share=units.format_percent(unindexed_count, count))
    if count:
        return [Fact(say("segment.never_indexed"), units.format_count(unindexed_count), share)]
    return []


def _time_facts(anatomy: Anatomy) -> list[Fact]:
    links = anatomy.links
    times = anatomy.times
    if anatomy.segment.timeindex is None:
        return [_missing_fact()]
    rows = [_entries_fact(times, anatomy.segment.timeindex, time_index.ENTRY.itemsize)]
    if len(anatomy.index.entries):
        rows.append(
            Fact(
                say("segment.points_without"),
                units.format_count(int(np.count_nonzero(links.entry_time == NONE))),
                _no_time_entry_text(anatomy),
            )
        )
    event = closing_event(anatomy)
    lone_count = int(np.count_nonzero(links.time_slot == NONE))
    rows.append(
        Fact(
            say(f"segment.written_{event}" if event else "segment.without_entry"),
            units.format_count(lone_count),
        )
    )
    if len(links.wrong_times):
        rows.append(
            Fact(
                say("segment.not_in_log"),
                _slots_text(links.wrong_times),
                hover=say("segment.holds_another"),
                is_wrong=True,
            )
        )
    return [*rows, *_end_facts(times)]


def _no_time_entry_text(anatomy: Anatomy) -> str:
    """Says why some offset entries have no time entry; "" if the reason is unknown."""
    links = anatomy.links
    times = anatomy.times.entries
    without_time = (links.entry_time == NONE) & (links.entry_home != NONE)
    if not without_time.any():
        return ""
    newest = links.home_newest_ms[without_time]
    if (newest < 0).all():
        return say("segment.no_timestamps")
    # the largest timestamp of the entries before each one
    known_ms = np.maximum.accumulate(np.concatenate([[-1], times["timestamp_ms"]]))
    entry_counts = np.searchsorted(
        times["offset"], links.home_last_offset[without_time], side="right"
    )
    return say("ruler.no_newer") if (newest <= known_ms[entry_counts]).all() else ""


def _slots_text(slots: np.ndarray) -> str:
    return say_count("segment.slots", len(slots), slot=units.format_count(int(slots[0])))
