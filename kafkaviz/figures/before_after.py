"""A log with its interval beside the same log with another: what changes, which way, and how each
number is known.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from kafkaviz.analyse.cost_model import Costs, Range
from kafkaviz.analyse.tuning import At, Budgets
from kafkaviz.analyse.what_if import WhatIf
from kafkaviz.figures import roll_words
from kafkaviz.figures.tuning_terms import between, change, is_same, micros
from kafkaviz.simulate.writing.roll import Cause
from kafkaviz.units import group, size
from kafkaviz.words import say

BETTER, WORSE, QUIET = "better", "worse", ""
COLUMNS = ("what", "today", "considered", "kind")  # of Row.cells
IN_FILES = {  # lines whose key leaves the unit to their cells
    "skipped": "skipped_bytes_mean",
    "both_indexes": "index_bytes",
    "warm_mean": "warm_mean_us",
    "warm_p99": "warm_p99_us",
    "cold_p99": "cold_p99_us",
}


@dataclass(frozen=True)
class Row:
    """One line; kind: "better", "worse" or "", where it does not matter or is the same.

    key, values: its name, and before and after, for programs.
    """

    name: str
    before: str
    after: str
    change: str
    kind: str
    known: str
    key: str
    values: tuple[float | str, float | str]


def cells(rows: Iterable[Row]) -> list[tuple[float | str, ...]]:
    """The lines as a file has them, COLUMNS: the same in every language."""
    return [
        (
            one.key,
            *(round(value, 6) if isinstance(value, float) else value for value in one.values),
            one.kind,
        )
        for one in rows
    ]


def rows(
    now: At,
    other: At,
    costs: Costs,
    budgets: Budgets,
    times: tuple[int, int],
    ends: Sequence[str],
) -> list[Row]:
    """Less is better in every line but the last two. times: the time entries of both; ends: the
    limit that ends a segment with each.
    """
    how = say(
        "compare.modelled",
        first=f"{costs.first_us.typical:g}",
        each=f"{costs.header_us.typical:.2g}",
    )
    replayed = say("compare.replayed")
    by_target = {
        "headers_every": (now.every_row, other.every_row),
        "headers_time": (now.time_row, other.time_row),
    }
    found = [
        _row(
            "headers_mean",
            now.row["headers_mean"],
            other.row["headers_mean"],
            _one_place,
            say("compare.replayed_batches"),
        ),
        _row(
            "headers_p99",
            int(now.row["headers_p99"]),
            int(other.row["headers_p99"]),
            group,
            replayed,
        ),
        *(
            _row(key, *(int(one["headers_p99"]) for one in rows), group, replayed)
            for key, rows in by_target.items()
        ),
        _row(
            "skipped",
            now.row["skipped_bytes_mean"],
            other.row["skipped_bytes_mean"],
            size,
            replayed,
        ),
        _row("offset_entries", int(now.row["entries"]), int(other.row["entries"]), group, replayed),
        _row("time_entries", *times, group, replayed),
        _row(
            "both_indexes",
            int(now.row["index_bytes"]),
            int(other.row["index_bytes"]),
            size,
            say("compare.entry_bytes"),
        ),
        _row(
            "index_share", now.index_share, other.index_share, lambda one: f"{100 * one:.2f} %", ""
        ),
        _row("warm_mean", now.mean_us.typical, other.mean_us.typical, _about, how),
        _row(
            "warm_p99",
            now.p99_us.typical,
            other.p99_us.typical,
            _about,
            _ranges(now.p99_us, other.p99_us),
        ),
        _row(
            "cold_p99",
            now.cold_p99_us.typical,
            other.cold_p99_us.typical,
            _about,
            _cold(costs, now, other),
        ),
    ]
    if now.cores and other.cores:
        known = say("compare.modelled_fetches", n=group(round(budgets.fetches_per_s or 0)))
        found.append(
            _row("cores", now.cores.typical, other.cores.typical, lambda one: f"≈ {one:.2g}", known)
        )
    return [*found, _priced(now, other), _bound(*ends)]


def _row(key: str, before: float, after: float, words: Callable[[float], str], known: str) -> Row:
    kind = QUIET if is_same(float(before), float(after)) else BETTER if after < before else WORSE
    named, changed = say(f"compare.{key}"), change(float(before), float(after))
    return Row(
        named,
        words(before),
        words(after),
        changed,
        kind,
        known,
        IN_FILES.get(key, key),
        _plain(before, after),
    )


def _plain(before: float, after: float) -> tuple[float, float]:
    """As Python writes numbers, whatever they were read from."""
    before, after = (one if isinstance(one, int) else float(one) for one in (before, after))
    return before, after


def _one_place(headers: float) -> str:
    return f"{headers:.1f}"


def _about(us: float) -> str:
    return f"≈ {micros(us)}"


def _ranges(now: Range, other: Range) -> str:
    return say("compare.modelled_ranges", now=between(now), other=between(other))


def _cold(costs: Costs, now: At, other: At) -> str:
    reads = {"now": group(now.cold_reads_p99), "other": group(other.cold_reads_p99)}
    return say("compare.modelled_reads", storage=costs.storage.name, **reads)


def _priced(now: At, other: At) -> Row:
    """What an interval says that index is worth: no better and no worse."""
    prices = _plain(now.price_us, other.price_us)
    words = [f"≈ {one:.2g} µs" for one in prices]
    return Row(
        say("compare.price"),
        *words,
        change(now.price_us, other.price_us),
        QUIET,
        say("compare.implied"),
        "price_us",
        prices,
    )


def _bound(now: str, other: str) -> Row:
    names = [roll_words.name(Cause(one)) for one in (now, other)]
    kind = QUIET if now == other else WORSE if other in roll_words.INDEXES else BETTER
    changed = say("curves.same" if now == other else "compare.another")
    return Row(
        say("compare.ends_first"),
        *names,
        changed,
        kind,
        say("compare.closed_form"),
        "ends_first",
        (now, other),
    )


def replayed_rows(now: WhatIf, other: WhatIf) -> list[Row]:
    """The log written once more with its settings, and with others: segments, rolls by cause,
    bytes, files and maps.
    """
    causes = [cause for cause in Cause if now.rolls.get(cause) or other.rolls.get(cause)]
    settings = [
        Row(
            name.replace("_", "."),
            group(old),
            group(new),
            "",
            QUIET,
            say("compare.setting"),
            name.replace("_", "."),
            (old, new),
        )
        for name in ("segment_bytes", "segment_ms", "segment_index_bytes", "index_interval_bytes")
        if (old := getattr(now.config, name)) != (new := getattr(other.config, name))
    ]
    mean = now.log_bytes / max(1, now.segments), other.log_bytes / max(1, other.segments)
    return [
        *settings,
        _quiet(
            "segments",
            say("common.segments"),
            now.segments,
            other.segments,
            group,
            say("compare.writers_rules"),
        ),
        *(
            _quiet(
                f"rolls_{one}",
                say("rolls.rolls_by", cause=roll_words.name(one)),
                now.rolls.get(one, 0),
                other.rolls.get(one, 0),
                group,
            )
            for one in causes
        ),
        _quiet("segment_bytes_mean", say("rolls.mean_segment"), *mean, size),
        _row(
            "offset_entries",
            now.offset_entries,
            other.offset_entries,
            group,
            say("compare.replayed"),
        ),
        _row("time_entries", now.time_entries, other.time_entries, group, say("compare.with_last")),
        _row("both_indexes", now.index_bytes, other.index_bytes, size, say("compare.entry_bytes")),
        _row("files", now.files, other.files, group, say("compare.three_files")),
        _row("maps", now.maps, other.maps, group, say("compare.two_maps")),
    ]


def _quiet(
    key: str, name: str, before: float, after: float, words: Callable[[float], str], known: str = ""
) -> Row:
    """A number of which neither more nor less is better."""
    return Row(
        name,
        words(before),
        words(after),
        change(float(before), float(after)),
        QUIET,
        known,
        key,
        _plain(before, after),
    )
