"""A log with its interval beside the same log with another: what changes, which way, and how each number is known."""

from collections.abc import Callable
from dataclasses import dataclass

from kafkaviz.analyse.cost_model import Costs
from kafkaviz.analyse.tuning import At, Budgets
from kafkaviz.analyse.what_if import WhatIf
from kafkaviz.figures import roll_words
from kafkaviz.figures.tuning_terms import between, change, micros
from kafkaviz.simulate.writing.roll import Cause
from kafkaviz.units import group, size

BETTER, WORSE, QUIET = "better", "worse", ""
REPLAYED = "replayed"
INDEXES = (Cause.OFFSET_INDEX_FULL, Cause.TIME_INDEX_FULL)


@dataclass(frozen=True)
class Row:
    """One line; kind: "better", "worse" or "", where it does not matter or is the same."""

    name: str
    before: str
    after: str
    change: str
    kind: str
    known: str


def rows(now: At, other: At, costs: Costs, budgets: Budgets, times: tuple[int, int], ends: tuple[str, str]) -> list[Row]:
    """Less is better in every line but the last two. times: the time entries of both; ends: the limit that ends a segment with each."""
    how = f"modelled: {costs.first_us.typical:g} + {costs.header_us.typical:.2g} µs a header"
    found = [
        _row("Headers a lookup reads, mean", now.row["headers_mean"], other.row["headers_mean"], _one_place, "replayed, every batch once"),
        _row("Headers, p99", int(now.row["headers_p99"]), int(other.row["headers_p99"]), group, REPLAYED),
        _row("Log stepped over, mean", now.row["skipped_bytes_mean"], other.row["skipped_bytes_mean"], size, REPLAYED),
        _row("Offset entries", int(now.row["entries"]), int(other.row["entries"]), group, REPLAYED),
        _row("Time entries", *times, group, REPLAYED),
        _row("Both indexes", int(now.row["index_bytes"]), int(other.row["index_bytes"]), size, "8 B and 12 B an entry"),
        _row("Index, share of the log", now.index_share, other.index_share, lambda one: f"{100 * one:.2f} %", ""),
        _row("Lookup in page cache, mean", now.mean_us.typical, other.mean_us.typical, _about, how),
        _row("Lookup in page cache, p99", now.p99_us.typical, other.p99_us.typical, _about, _ranges(now.p99_us, other.p99_us)),
        _row("Lookup from the device, p99", now.cold_p99_us.typical, other.cold_p99_us.typical, _about, _cold(costs, now, other)),
    ]  # fmt: skip
    if now.cores and other.cores:
        known = f"modelled: {group(round(budgets.fetches_per_s or 0))} fetches/s that find data"
        found.append(_row("Cores for lookups", now.cores.typical, other.cores.typical, lambda one: f"≈ {one:.2g}", known))
    return [*found, _priced(now, other), _bound(*ends)]


def _row(name: str, before: float, after: float, words: Callable[[float], str], known: str) -> Row:
    told = change(float(before), float(after))
    kind = QUIET if told == "same" else BETTER if after < before else WORSE
    return Row(name, words(before), words(after), told, kind, known)


def _one_place(headers: float) -> str:
    return f"{headers:.1f}"


def _about(us: float) -> str:
    return f"≈ {micros(us)}"


def _ranges(now, other) -> str:
    return f"modelled: {between(now)}, then {between(other)}"


def _cold(costs: Costs, now: At, other: At) -> str:
    return f"modelled, {costs.storage.name}: {group(now.cold_reads_p99)}, then {group(other.cold_reads_p99)} reads"


def _priced(now: At, other: At) -> Row:
    """What an interval says that index is worth: no better and no worse."""
    words = [f"≈ {one.price_us:.2g} µs" for one in (now, other)]
    return Row(
        "What 1 MB of index a GiB is worth",
        *words,
        change(now.price_us, other.price_us),
        QUIET,
        "implied: µs of a mean lookup, square-root law",
    )


def _bound(now: str, other: str) -> Row:
    names = [roll_words.NAMES[Cause(one)] for one in (now, other)]
    kind = QUIET if now == other else WORSE if other in INDEXES else BETTER
    return Row("Ends a segment first", *names, "same" if now == other else "another", kind, "closed form, see the map below")


def replayed_rows(now: WhatIf, other: WhatIf) -> list[Row]:
    """The log written once more with its settings, and with others: segments, rolls by cause, bytes, files and maps."""
    causes = [cause for cause in Cause if now.rolls.get(cause) or other.rolls.get(cause)]
    settings = [
        Row(name.replace("_", "."), *map(group, (getattr(now.config, name), getattr(other.config, name))), "", QUIET, "a setting")
        for name in ("segment_bytes", "segment_ms", "segment_index_bytes", "index_interval_bytes")
        if getattr(now.config, name) != getattr(other.config, name)
    ]
    return [
        *settings,
        _quiet("Segments", now.segments, other.segments, group, "the writer’s rules, batch by batch"),
        *(_quiet(f"Rolls by {roll_words.NAMES[one]}", now.rolls.get(one, 0), other.rolls.get(one, 0), group, "") for one in causes),
        _quiet("A segment, on average", now.log_bytes / max(1, now.segments), other.log_bytes / max(1, other.segments), size, ""),
        _row("Offset entries", now.offset_entries, other.offset_entries, group, REPLAYED),
        _row("Time entries", now.time_entries, other.time_entries, group, "with the last one of each segment"),
        _row("Both indexes", now.index_bytes, other.index_bytes, size, "8 B and 12 B an entry"),
        _row("Files", now.files, other.files, group, "a .log, an .index, a .timeindex each"),
        _row("Maps, all indexes loaded", now.maps, other.maps, group, "two a segment; vm.max_map_count is often 65 530"),
    ]  # fmt: skip


def _quiet(name: str, before: float, after: float, words: Callable[[float], str], known: str) -> Row:
    """A number of which neither more nor less is better."""
    return Row(name, words(before), words(after), change(float(before), float(after)), QUIET, known)
