"""The facts next to the segment ruler: a few values for each file, as text."""

from typing import NamedTuple

import numpy as np

from kafkaviz import units
from kafkaviz.analysis.retention import LogRetention, SegmentRetention
from kafkaviz.analysis.segment.anatomy import Anatomy
from kafkaviz.analysis.segment.links import NONE
from kafkaviz.format import offset_index, time_index
from kafkaviz.format.batch import is_log_append_time
from kafkaviz.log.file import FileInfo
from kafkaviz.log.segment import Index
from kafkaviz.messages import say, say_count
from kafkaviz.render import retention_text
from kafkaviz.render.segment_text import closing_event
from kafkaviz.render.sentences import capitalize, count_range, end_sentence, join_sentences

EXACT_BYTES = 100_000  # larger sizes are given in KiB or MiB
TAILS = {"torn": "torn", "zeros": "zeros", "garbage": "torn"}  # garbage looks like a torn tail


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
    log_facts = _log_facts(anatomy, roll_reason, partition_state)
    if retention:
        log_facts.append(_retention_fact(*retention))
    return [
        ("log", ".log", log_facts),
        ("offset", ".index", _index_facts(anatomy)),
        ("time", ".timeindex", _time_facts(anatomy)),
    ]


def _log_facts(anatomy: Anatomy, roll_reason: str | None, partition_state: str) -> list[Fact]:
    first = anatomy.counts.first
    rows = [_bytes_fact("segment.size_bytes", anatomy.end.position)]
    if first is not None:
        times = _span_facts(first, anatomy.counts.newest_ms)
        rows = [*_contents_facts(anatomy, first), *rows, *times]
    rows.append(_state_fact(anatomy, roll_reason, partition_state))
    if anatomy.tail:
        key = f"segment.tail_of_{TAILS[anatomy.tail.kind]}"
        fact = _bytes_fact("segment.after_last_batch", anatomy.tail.size_bytes)
        rows.append(fact._replace(value=say(key, size=fact.value), is_wrong=True))
    return rows


def _missing_fact() -> Fact:
    return Fact(say("common.file"), say("segment.missing"), is_wrong=True)


def _contents_facts(anatomy: Anatomy, first: np.void) -> list[Fact]:
    counts = anatomy.counts
    first_offset = int(first["base_offset"])
    last = units.format_count(counts.last_offset)
    offsets = say("ruler.up_to", last=last)
    if first_offset >= 0:
        offsets = f"{units.format_count(first_offset)} – {last}"
    records_hover = say("segment.wrappers") if counts.records is None else ""
    batches = units.format_count(len(anatomy.batches))
    sizes = count_range(int(counts.sizes[0]), int(counts.sizes[-1]))
    return [
        Fact(say("common.offsets"), offsets, hover=offsets),
        Fact(say("common.records"), units.format_count(counts.records), hover=records_hover),
        Fact(say("common.batches"), batches, say("segment.batch_sizes", sizes=sizes)),
    ]


def _bytes_fact(label_key: str, size_bytes: int) -> Fact:
    hover = f"{units.format_count(size_bytes)} B"
    return Fact(say(label_key), units.format_bytes(size_bytes), hover=hover)


def _span_facts(first: np.void, last_ms: int) -> list[Fact]:
    """Returns the times of the first and newest record, with dates if a day or more apart."""
    field = "max_timestamp_ms" if is_log_append_time(first) else "base_timestamp_ms"
    first_ms = int(first[field])
    spans_days = first_ms >= 0 and last_ms - first_ms >= units.DAY_MS
    time_text = (lambda ms: units.moment(ms, fraction=False)) if spans_days else units.clock
    labels_ms = ((say("segment.first_record"), first_ms), (say("segment.newest_record"), last_ms))
    return [Fact(label, time_text(ms), hover=_utc_text(ms)) for label, ms in labels_ms]


def _utc_text(ms: int) -> str:
    return say("segment.utc", moment=ms) if ms >= 0 else say("segment.no_timestamp")


def _state_fact(anatomy: Anatomy, roll_reason: str | None, partition_state: str) -> Fact:
    label = say("common.state")
    if partition_state == "delete" and anatomy.segment.is_in_use:
        return Fact(label, say("common.kind_deleted"), hover=say("segment.topic_deleted"))
    if anatomy.segment.state != "closed":
        return Fact(label, say(f"common.kind_{anatomy.segment.state}"))
    label = say("segment.rolled_by")
    if roll_reason is None:
        return Fact(label, units.MISSING, hover=say("segment.rolled_unknown"))
    cause = say(f"rolls.cause_{roll_reason}")
    return Fact(label, cause, say("segment.inferred"), say("segment.inferred_from"))


def _retention_fact(log: LogRetention, segment: SegmentRetention) -> Fact:
    until_ms = segment.until_ms if segment.gone_ms is None else segment.gone_ms
    aside = ""
    if until_ms is not None:
        until_text = retention_text.moment_text(until_ms)
        if until_ms and log.limits.is_time_assumed:
            aside = say("segment.by_default")
    elif not log.limits.is_known:
        until_text = say("common.unknown")
        aside = say("segment.kept_unknown_why")
    elif segment.state == "bytes":
        until_text = say("segment.kept_more", size=segment.more_bytes)
    elif segment.state == "unlimited":
        until_text = say("retention.no_limit")
    else:
        until_text = units.MISSING
    rule = end_sentence(capitalize(retention_text.reason_text(log, segment)))
    hover = join_sentences([rule, end_sentence(retention_text.basis_text(log.limits))])
    return Fact(say("segment.kept_until"), until_text, aside, hover)


def _index_facts(anatomy: Anatomy) -> list[Fact]:
    index = anatomy.index
    wrong_slots = anatomy.links.wrong_entries
    if anatomy.segment.index is None:
        return [_missing_fact(), *_unindexed_facts(anatomy)]
    density = anatomy.density
    rows = [_entries_fact(index, anatomy.segment.index, offset_index.ENTRY.itemsize)]
    if density.gap_median_bytes is not None:
        median = units.format_count(density.gap_median_bytes)
        smallest = units.format_count(density.gap_min_bytes)
        gaps = f"{smallest} – {units.format_count(density.gap_p99_bytes)} B"
        rows += [
            Fact(say("segment.gap_median"), f"{median} B"),
            Fact(say("segment.gap_range"), gaps),
            *_interval_facts(anatomy),
        ]
    if len(wrong_slots):
        rows.append(Fact(say("segment.leads_astray"), _slots_text(wrong_slots), is_wrong=True))
    return [*rows, *_end_facts(index), *_unindexed_facts(anatomy)]


def _end_facts(index: Index) -> list[Fact]:
    facts = []
    if index.trailing_bytes:
        cut_text = f"{index.trailing_bytes} B"
        facts.append(Fact(say("segment.after_last_slot"), cut_text, is_wrong=True))
    if index.unwritten_slots:
        slots_text = say("segment.slots", n=units.format_count(index.unwritten_slots))
        facts.append(Fact(say("segment.never_written"), slots_text))
    return facts


def _entries_fact(index: Index, file: FileInfo, entry_bytes: int) -> Fact:
    if not file.size_bytes:
        return Fact(say("segment.entries"), "0", say("segment.in_empty_file"))
    count = len(index.entries)
    used_bytes = count * entry_bytes
    used = units.format_bytes(used_bytes)
    if used_bytes < EXACT_BYTES:
        used = f"{units.format_count(used_bytes)} B"
    key = "segment.no_slack" if used_bytes == file.size_bytes else "segment.of_file"
    detail = say(key, used=used, size=units.format_bytes(file.size_bytes))
    hover = say_count("segment.in_the_file", file.size_bytes)
    return Fact(say("segment.entries"), units.format_count(count), detail, hover)


def _interval_facts(anatomy: Anatomy) -> list[Fact]:
    bounds = anatomy.interval
    if bounds.high_bytes is None:
        return []
    key = "segment.interval_restarts" if bounds.restarts else "segment.interval_between"
    low = units.format_count(bounds.low_bytes or 0)
    text = f"{low} – {units.format_count(bounds.high_bytes)} B"
    return [Fact(say("segment.interval_was"), text, hover=say(key, n=bounds.restarts))]


def _unindexed_facts(anatomy: Anatomy) -> list[Fact]:
    count = len(anatomy.batches)
    if not count:
        return []
    unindexed_count = anatomy.density.never_indexed
    share = say("segment.share_of_batches", share=units.format_percent(unindexed_count, count))
    return [Fact(say("segment.never_indexed"), units.format_count(unindexed_count), share)]


def _time_facts(anatomy: Anatomy) -> list[Fact]:
    links = anatomy.links
    times = anatomy.times
    if anatomy.segment.timeindex is None:
        return [_missing_fact()]
    rows = [_entries_fact(times, anatomy.segment.timeindex, time_index.ENTRY.itemsize)]
    if len(anatomy.index.entries):
        without = units.format_count(int(np.count_nonzero(links.entry_time == NONE)))
        rows.append(Fact(say("segment.points_without"), without, _no_time_entry_text(anatomy)))
    event = closing_event(anatomy)
    label = say(f"segment.written_{event}" if event else "segment.without_entry")
    rows.append(Fact(label, units.format_count(int(np.count_nonzero(links.time_slot == NONE)))))
    if len(links.wrong_times):
        slots = _slots_text(links.wrong_times)
        hover = say("segment.holds_another")
        rows.append(Fact(say("segment.not_in_log"), slots, hover=hover, is_wrong=True))
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
    last_offsets = links.home_last_offset[without_time]
    entry_counts = np.searchsorted(times["offset"], last_offsets, side="right")
    return say("ruler.no_newer") if (newest <= known_ms[entry_counts]).all() else ""


def _slots_text(slots: np.ndarray) -> str:
    return say_count("segment.slots", len(slots), slot=int(slots[0]))
