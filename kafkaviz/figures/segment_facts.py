"""The facts beside the segment ruler: each file in a few figures, as text."""

from typing import NamedTuple

import numpy as np

from kafkaviz import units
from kafkaviz.analyse.anatomy import Anatomy
from kafkaviz.analyse.infer import interval_bounds
from kafkaviz.analyse.links import NONE
from kafkaviz.figures.segment_words import closing
from kafkaviz.format import offset_index, time_index
from kafkaviz.format.batch import is_log_append_time

DAY_MS = 86_400_000
EXACT_BYTES = 100_000  # more is told in KiB or MiB
ROLLS = {
    "size": "size",
    "time": "time",
    "offset-index-full": "full offset index",
    "time-index-full": "full time index",
    "offset-overflow": "offset overflow",
}
TAILS = {"torn": "torn", "zeros": "zeros", "garbage": "torn"}  # torn is the colour of garbage too


class Fact(NamedTuple):
    """A label, its value, what stands behind it in small letters, and the exact value on hover; wrong ones are drawn as such."""

    label: str
    value: str
    small: str = ""
    hover: str = ""
    wrong: bool = False


FactGroups = list[tuple[str, str, list[Fact]]]  # a colour of ui/tokens.css, a file, and its facts


def facts(anatomy: Anatomy, roll_reason: str | None, partition_state: str = "current") -> FactGroups:
    """The facts of the three files. roll_reason: of a closed segment, as analyse.infer has it; partition_state: of its directory."""
    return [
        ("log", ".log", _log(anatomy, roll_reason, partition_state)),
        ("offset", ".index", _index(anatomy)),
        ("time", ".timeindex", _times(anatomy)),
    ]


def _log(anatomy: Anatomy, roll_reason: str | None, partition_state: str) -> list[Fact]:
    batches, log = anatomy.batches, anatomy.segment.log
    if log is None:
        return [Fact("File", "missing", wrong=True)]
    rows = [_bytes(anatomy)] if not len(batches) else [*_contents(batches), _bytes(anatomy), *_span(batches)]
    rows.append(_state(anatomy, roll_reason, partition_state))
    if anatomy.tail:
        words = f"{units.size(anatomy.tail.size_bytes)}, {TAILS[anatomy.tail.kind]}"
        rows.append(Fact("After the last batch", words, hover=f"{units.group(anatomy.tail.size_bytes)} B", wrong=True))
    return rows


def _contents(batches: np.ndarray) -> list[Fact]:
    first, sizes = int(batches["base_offset"][0]), batches["size_bytes"]
    low, high, last = int(sizes.min()), int(sizes.max()), units.group(int(batches["last_offset"].max()))
    known = bool((batches["record_count"] >= 0).all())
    offsets = f"{units.group(first)} – {last}" if first >= 0 else f"up to {last}"
    records = units.group(int(batches["record_count"].sum())) if known else units.MISSING
    sizes_bytes = units.group(low) + (f"–{units.group(high)}" if low < high else "")
    return [
        Fact("Offsets", offsets, hover=offsets),
        Fact("Records", records, hover="" if known else "compressed wrappers do not tell"),
        Fact("Batches", units.group(len(batches)), f"of {sizes_bytes} B"),
    ]


def _bytes(anatomy: Anatomy) -> Fact:
    return Fact("Bytes", units.size(anatomy.end.position), hover=f"{units.group(anatomy.end.position)} B")


def _span(batches: np.ndarray) -> list[Fact]:
    """The first record's time and the newest one's; the day is told where they are of different days."""
    newest = batches["max_timestamp_ms"]
    first = int(newest[0] if is_log_append_time(batches[:1])[0] else batches["base_timestamp_ms"][0])
    last = int(newest.max())
    days = first >= 0 and last - first >= DAY_MS
    shown = (lambda ms: units.moment(ms, fraction=False)) if days else units.clock
    return [Fact("First record", shown(first), hover=_utc(first)), Fact("Newest record", shown(last), hover=_utc(last))]


def _utc(ms: int) -> str:
    return f"{units.moment(ms)} UTC" if ms >= 0 else "no timestamp"


def _state(anatomy: Anatomy, roll_reason: str | None, partition_state: str) -> Fact:
    if partition_state == "delete" and anatomy.segment.in_use:
        return Fact("State", "deleted", hover="its topic was deleted: a broker removes this directory")
    if anatomy.segment.state != "closed":
        return Fact("State", anatomy.segment.state)
    if roll_reason is None:
        return Fact("Rolled by", units.MISSING, hover="no setting explains it: compacted, truncated, or too few segments to tell")
    return Fact("Rolled by", ROLLS[roll_reason], "(inferred)", "from the sizes, times and entries of this topic-partition’s segments")


def _index(anatomy: Anatomy) -> list[Fact]:
    index, wrong = anatomy.index, anatomy.links.wrong_entries
    if anatomy.segment.index is None:
        return [Fact("File", "missing", wrong=True), *_unindexed(anatomy)]
    dense = anatomy.density
    rows = [_entries(anatomy, "index", offset_index.ENTRY.itemsize)]
    if dense.gap_median_bytes is not None:
        rows.append(Fact("Gap, median", f"{units.group(dense.gap_median_bytes)} B"))
        rows.append(Fact("Gap, min – p99", f"{units.group(dense.gap_min_bytes)} – {units.group(dense.gap_p99_bytes)} B"))
        rows += _interval(anatomy)
    if len(wrong):
        rows.append(Fact("Leads astray", _slots(wrong), wrong=True))
    if index.trailing_bytes:
        rows.append(Fact("After the last slot", f"{index.trailing_bytes} B", wrong=True))
    if index.unwritten:
        rows.append(Fact("Never written", f"{units.group(index.unwritten)} slots"))
    return [*rows, *_unindexed(anatomy)]


def _entries(anatomy: Anatomy, kind: str, entry_bytes: int) -> Fact:
    index, file = (anatomy.index, anatomy.segment.index) if kind == "index" else (anatomy.times, anatomy.segment.timeindex)
    count = len(index.entries)
    if not file.size_bytes:
        return Fact("Entries", "0", "in an empty file")
    whole = "no slack" if count * entry_bytes == file.size_bytes else f"of {units.size(file.size_bytes)}"
    joint = " " if whole.startswith("of") else ", "
    taken_bytes = count * entry_bytes
    taken = f"{units.group(taken_bytes)} B" if taken_bytes < EXACT_BYTES else units.size(taken_bytes)
    return Fact("Entries", units.group(count), f"= {taken}{joint}{whole}", f"{units.group(file.size_bytes)} B in the file")


def _interval(anatomy: Anatomy) -> list[Fact]:
    bounds = interval_bounds(anatomy.batches, anatomy.index.entries)
    if bounds.high_bytes is None:
        return []
    hover = "index.interval.bytes lies between the longest run without an entry and the shortest with one"
    hover += f"; {bounds.restarts} longer runs are restarts" if bounds.restarts else ""
    low = units.group(bounds.low_bytes) if bounds.low_bytes is not None else "0"
    return [Fact("Interval was", f"{low} – {units.group(bounds.high_bytes)} B", hover=hover)]


def _unindexed(anatomy: Anatomy) -> list[Fact]:
    count, never = len(anatomy.batches), int(np.count_nonzero(anatomy.links.batch_slot == NONE))
    return [Fact("Never indexed", units.group(never), f"batches, {units.share(never, count)}")] if count else []


def _times(anatomy: Anatomy) -> list[Fact]:
    links, times = anatomy.links, anatomy.times
    if anatomy.segment.timeindex is None:
        return [Fact("File", "missing", wrong=True)]
    rows = [_entries(anatomy, "timeindex", time_index.ENTRY.itemsize)]
    if len(anatomy.index.entries):
        rows.append(Fact("Index points without", units.group(int(np.count_nonzero(links.entry_time == NONE))), _pointless(anatomy)))
    when, alone = closing(anatomy), int(np.count_nonzero(links.time_slot == NONE))
    rows.append(Fact(f"Written {when}" if when else "Without an index entry", units.group(alone)))
    if len(links.wrong_times):
        rows.append(
            Fact("Not in the log", _slots(links.wrong_times), hover="the batch of this offset holds another newest time", wrong=True)
        )
    if times.trailing_bytes:
        rows.append(Fact("After the last slot", f"{times.trailing_bytes} B", wrong=True))
    if times.unwritten:
        rows.append(Fact("Never written", f"{units.group(times.unwritten)} slots"))
    return rows


def _pointless(anatomy: Anatomy) -> str:
    """Why no time entry stands beside some offset entries; "" where the .timeindex does not have what was written."""
    batches, home, times = anatomy.batches, anatomy.links.entry_home, anatomy.times.entries
    alone = (anatomy.links.entry_time == NONE) & (home != NONE)
    if not len(batches) or not alone.any():
        return ""
    newest = np.maximum.accumulate(batches["max_timestamp_ms"])[home[alone]]
    if (newest < 0).all():
        return "no timestamps"
    known = np.maximum.accumulate(np.concatenate([[-1], times["timestamp_ms"]]))  # by the entries up to each place
    before = np.searchsorted(times["offset"], batches["last_offset"][home[alone]], side="right")
    return "no newer record" if (newest <= known[before]).all() else ""


def _slots(slots: np.ndarray) -> str:
    return f"slot {units.group(int(slots[0]))}" if len(slots) == 1 else f"{units.group(len(slots))} slots"
