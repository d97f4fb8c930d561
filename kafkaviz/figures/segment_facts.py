"""The facts beside the segment ruler: each file in a few figures, as text."""

from typing import NamedTuple

import numpy as np

from kafkaviz import units
from kafkaviz.analyse.anatomy import Anatomy
from kafkaviz.analyse.infer import interval_bounds
from kafkaviz.analyse.links import NONE
from kafkaviz.analyse.retention import Kept, LogRetention
from kafkaviz.figures import retention_words
from kafkaviz.figures.finding_words import capital, ended
from kafkaviz.figures.listed import sentences
from kafkaviz.figures.segment_words import closing
from kafkaviz.format import offset_index, time_index
from kafkaviz.format.batch import is_log_append_time
from kafkaviz.words import counted, say

DAY_MS = 86_400_000
EXACT_BYTES = 100_000  # more is told in KiB or MiB
TAILS = {"torn": "torn", "zeros": "zeros", "garbage": "torn"}  # torn is the colour of garbage too


class Fact(NamedTuple):
    """A label, its value, what stands behind it in small letters, and the exact value on hover;
    wrong ones are drawn as such.
    """

    label: str
    value: str
    small: str = ""
    hover: str = ""
    wrong: bool = False


FactGroups = list[tuple[str, str, list[Fact]]]  # a colour of ui/tokens.css, a file, and its facts


def facts(
    anatomy: Anatomy,
    roll_reason: str | None,
    partition_state: str = "current",
    kept: tuple[LogRetention, Kept] | None = None,
) -> FactGroups:
    """The facts of the three files.

    roll_reason: of a closed segment, as analyse.infer has it; partition_state: of its directory;
    kept: as analyse.kept has it.
    """
    return [
        ("log", ".log", [*_log(anatomy, roll_reason, partition_state), *_kept(*kept or ())]),
        ("offset", ".index", _index(anatomy)),
        ("time", ".timeindex", _times(anatomy)),
    ]


def _log(anatomy: Anatomy, roll_reason: str | None, partition_state: str) -> list[Fact]:
    batches, log = anatomy.batches, anatomy.segment.log
    if log is None:
        return [_missing()]
    rows = (
        [_bytes(anatomy)]
        if not len(batches)
        else [*_contents(batches), _bytes(anatomy), *_span(batches)]
    )
    rows.append(_state(anatomy, roll_reason, partition_state))
    if anatomy.tail:
        words = say(
            f"segment.tail_of_{TAILS[anatomy.tail.kind]}", size=units.size(anatomy.tail.size_bytes)
        )
        rows.append(
            Fact(
                say("segment.after_last_batch"),
                words,
                hover=f"{units.group(anatomy.tail.size_bytes)} B",
                wrong=True,
            )
        )
    return rows


def _missing() -> Fact:
    return Fact(say("segment.file"), say("segment.missing"), wrong=True)


def _contents(batches: np.ndarray) -> list[Fact]:
    first, sizes = int(batches["base_offset"][0]), batches["size_bytes"]
    low, high, last = (
        int(sizes.min()),
        int(sizes.max()),
        units.group(int(batches["last_offset"].max())),
    )
    known = bool((batches["record_count"] >= 0).all())
    offsets = (
        f"{units.group(first)} – {last}" if first >= 0 else say("segment.offsets_up_to", last=last)
    )
    records = units.group(int(batches["record_count"].sum())) if known else units.MISSING
    sizes_bytes = units.group(low) + (f"–{units.group(high)}" if low < high else "")
    return [
        Fact(say("segment.offsets"), offsets, hover=offsets),
        Fact(say("segment.records"), records, hover="" if known else say("segment.wrappers")),
        Fact(
            say("segment.batches"),
            units.group(len(batches)),
            say("segment.batch_sizes", sizes=sizes_bytes),
        ),
    ]


def _bytes(anatomy: Anatomy) -> Fact:
    return Fact(
        say("segment.size_bytes"),
        units.size(anatomy.end.position),
        hover=f"{units.group(anatomy.end.position)} B",
    )


def _span(batches: np.ndarray) -> list[Fact]:
    """The first record's time and the newest one's; the day is told where they are of different
    days.
    """
    newest = batches["max_timestamp_ms"]
    first = int(
        newest[0] if is_log_append_time(batches[:1])[0] else batches["base_timestamp_ms"][0]
    )
    last = int(newest.max())
    days = first >= 0 and last - first >= DAY_MS
    shown = (lambda ms: units.moment(ms, fraction=False)) if days else units.clock
    told = ((say("segment.first_record"), first), (say("segment.newest_record"), last))
    return [Fact(label, shown(ms), hover=_utc(ms)) for label, ms in told]


def _utc(ms: int) -> str:
    return say("segment.utc", moment=units.moment(ms)) if ms >= 0 else say("segment.no_timestamp")


def _state(anatomy: Anatomy, roll_reason: str | None, partition_state: str) -> Fact:
    if partition_state == "delete" and anatomy.segment.in_use:
        return Fact(
            say("segment.state"), say("common.kind_deleted"), hover=say("segment.topic_deleted")
        )
    if anatomy.segment.state != "closed":
        return Fact(say("segment.state"), say(f"common.kind_{anatomy.segment.state}"))
    if roll_reason is None:
        return Fact(say("segment.rolled_by"), units.MISSING, hover=say("segment.rolled_unknown"))
    return Fact(
        say("segment.rolled_by"),
        say(f"rolls.cause_{roll_reason}"),
        say("segment.inferred"),
        say("segment.inferred_from"),
    )


def _kept(log: LogRetention | None = None, one: Kept | None = None) -> list[Fact]:
    """Until when retention keeps the segment; on hover by which rule and settings."""
    if log is None or one is None:
        return []
    until_ms = one.gone_ms if one.until_ms is None or one.gone_ms is not None else one.until_ms
    more = (
        say("segment.kept_more", size=units.size(one.more_bytes))
        if one.state == "bytes"
        else units.MISSING
    )
    shown = (
        {"unlimited": say("retention.no_limit")}.get(one.state, more)
        if until_ms is None
        else retention_words.when(until_ms)
    )
    rule = ended(capital(retention_words.reason(log, one)))
    return [
        Fact(
            say("segment.kept_until"),
            shown,
            hover=sentences([rule, ended(retention_words.basis(log))]),
        )
    ]


def _index(anatomy: Anatomy) -> list[Fact]:
    index, wrong = anatomy.index, anatomy.links.wrong_entries
    if anatomy.segment.index is None:
        return [_missing(), *_unindexed(anatomy)]
    dense = anatomy.density
    rows = [_entries(anatomy, "index", offset_index.ENTRY.itemsize)]
    if dense.gap_median_bytes is not None:
        rows.append(Fact(say("segment.gap_median"), f"{units.group(dense.gap_median_bytes)} B"))
        gaps = f"{units.group(dense.gap_min_bytes)} – {units.group(dense.gap_p99_bytes)} B"
        rows.append(Fact(say("segment.gap_range"), gaps))
        rows += _interval(anatomy)
    if len(wrong):
        rows.append(Fact(say("segment.leads_astray"), _slots(wrong), wrong=True))
    if index.trailing_bytes:
        rows.append(Fact(say("segment.after_last_slot"), f"{index.trailing_bytes} B", wrong=True))
    if index.unwritten:
        rows.append(
            Fact(say("segment.never_written"), say("segment.slots", n=units.group(index.unwritten)))
        )
    return [*rows, *_unindexed(anatomy)]


def _entries(anatomy: Anatomy, kind: str, entry_bytes: int) -> Fact:
    index, file = (
        (anatomy.index, anatomy.segment.index)
        if kind == "index"
        else (anatomy.times, anatomy.segment.timeindex)
    )
    count = len(index.entries)
    if not file.size_bytes:
        return Fact(say("segment.entries"), "0", say("segment.in_empty_file"))
    taken_bytes = count * entry_bytes
    taken = (
        f"{units.group(taken_bytes)} B" if taken_bytes < EXACT_BYTES else units.size(taken_bytes)
    )
    key = "segment.no_slack" if taken_bytes == file.size_bytes else "segment.of_file"
    hover = say("segment.in_the_file", n=units.group(file.size_bytes))
    return Fact(
        say("segment.entries"),
        units.group(count),
        say(key, taken=taken, whole=units.size(file.size_bytes)),
        hover,
    )


def _interval(anatomy: Anatomy) -> list[Fact]:
    bounds = interval_bounds(anatomy.batches, anatomy.index.entries)
    if bounds.high_bytes is None:
        return []
    hover = say(
        "segment.interval_restarts" if bounds.restarts else "segment.interval_between",
        n=bounds.restarts,
    )
    low = units.group(bounds.low_bytes) if bounds.low_bytes is not None else "0"
    return [
        Fact(
            say("segment.interval_was"), f"{low} – {units.group(bounds.high_bytes)} B", hover=hover
        )
    ]


def _unindexed(anatomy: Anatomy) -> list[Fact]:
    count, never = len(anatomy.batches), int(np.count_nonzero(anatomy.links.batch_slot == NONE))
    share = say("segment.share_of_batches", share=units.share(never, count))
    return [Fact(say("segment.never_indexed"), units.group(never), share)] if count else []


def _times(anatomy: Anatomy) -> list[Fact]:
    links, times = anatomy.links, anatomy.times
    if anatomy.segment.timeindex is None:
        return [_missing()]
    rows = [_entries(anatomy, "timeindex", time_index.ENTRY.itemsize)]
    if len(anatomy.index.entries):
        rows.append(
            Fact(
                say("segment.points_without"),
                units.group(int(np.count_nonzero(links.entry_time == NONE))),
                _pointless(anatomy),
            )
        )
    when, alone = closing(anatomy), int(np.count_nonzero(links.time_slot == NONE))
    rows.append(
        Fact(
            say(f"segment.written_{when}" if when else "segment.without_entry"), units.group(alone)
        )
    )
    if len(links.wrong_times):
        rows.append(
            Fact(
                say("segment.not_in_log"),
                _slots(links.wrong_times),
                hover=say("segment.holds_another"),
                wrong=True,
            )
        )
    if times.trailing_bytes:
        rows.append(Fact(say("segment.after_last_slot"), f"{times.trailing_bytes} B", wrong=True))
    if times.unwritten:
        rows.append(
            Fact(say("segment.never_written"), say("segment.slots", n=units.group(times.unwritten)))
        )
    return rows


def _pointless(anatomy: Anatomy) -> str:
    """Why no time entry stands beside some offset entries; "" where the .timeindex does not have
    what was written.
    """
    batches, home, times = anatomy.batches, anatomy.links.entry_home, anatomy.times.entries
    alone = (anatomy.links.entry_time == NONE) & (home != NONE)
    if not len(batches) or not alone.any():
        return ""
    newest = np.maximum.accumulate(batches["max_timestamp_ms"])[home[alone]]
    if (newest < 0).all():
        return say("segment.no_timestamps")
    # by the entries up to each place
    known = np.maximum.accumulate(np.concatenate([[-1], times["timestamp_ms"]]))
    before = np.searchsorted(times["offset"], batches["last_offset"][home[alone]], side="right")
    return say("segment.no_newer") if (newest <= known[before]).all() else ""


def _slots(slots: np.ndarray) -> str:
    return counted(
        "segment.slots", len(slots), n=units.group(len(slots)), slot=units.group(int(slots[0]))
    )
