"""A log with today's interval compared with the same log and another interval.

Each row gives the change, whether it is better, and how the numbers are known.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from kafkaviz.analysis.cost.cost_model import LookupCosts, Range
from kafkaviz.analysis.rebuild import WhatIf
from kafkaviz.analysis.tuning import Budgets, IntervalCost
from kafkaviz.analysis.tuning.tuning_text import format_us
from kafkaviz.figures.text import roll_text
from kafkaviz.figures.tuning.tuning_verdict import change_text, is_same, range_text
from kafkaviz.messages import say, say_count
from kafkaviz.simulate.writer.roll_reason import RollCause
from kafkaviz.units import format_bytes, format_count

BETTER = "better"
WORSE = "worse"
NEUTRAL = ""
COLUMNS = ("what", "today", "considered", "kind")  # of the CSV file
FILE_KEYS = {  # names in files, where they include the unit
    "skipped": "skipped_bytes_mean",
    "both_indexes": "index_bytes",
    "warm_mean": "warm_mean_us",
    "warm_p99": "warm_p99_us",
    "cold_p99": "cold_p99_us",
}


@dataclass(frozen=True, kw_only=True)
class ComparisonRow:
    """One row of the comparison.

    Attributes:
        kind: "better", "worse" or "" if it is neither.
        key, values: the name of the row, and the values before and after, for programs.
    """

    name: str
    before: str
    after: str
    change: str
    kind: str
    basis: str
    key: str
    values: tuple[float | str, float | str]


def file_cells(rows: Iterable[ComparisonRow]) -> list[tuple[float | str, ...]]:
    """Returns COLUMNS of each row, the same in every language."""
    return [
        (
            row.key,
            *(round(value, 6) if isinstance(value, float) else value for value in row.values),
            row.kind,
        )
        for row in rows
    ]


def rows(
    current: IntervalCost,
    considered: IntervalCost,
    costs: LookupCosts,
    *,
    budgets: Budgets,
    times: tuple[int, int],
    binding_limits: Sequence[str],
) -> list[ComparisonRow]:
    """Returns the comparison. Less is better in all rows but the last two.

    Args:
        times: the number of time entries with the current and with the considered interval.
        binding_limits: the limit that ends a segment with the current and with the considered
            interval.
    """
    modelled = say(
        "before_after.modelled",
        first=f"{costs.first_us.typical:g}",
        each=f"{costs.header_us.typical:.2g}",
    )
    replay_basis = say("before_after.replayed")
    rows_by_target = {
        "headers_every": (current.every_row, considered.every_row),
        "headers_time": (current.time_row, considered.time_row),
    }
    comparison = [
        _row(
            "headers_mean",
            current.row["headers_mean"],
            considered.row["headers_mean"],
            _headers_text,
            say("before_after.replayed_batches"),
        ),
        _row(
            "headers_p99",
            int(current.row["headers_p99"]),
            int(considered.row["headers_p99"]),
            format_count,
            replay_basis,
        ),
        *(
            _row(key, *(int(row["headers_p99"]) for row in target_rows), format_count, replay_basis)
            for key, target_rows in rows_by_target.items()
        ),
        _row(
            "skipped",
            current.row["skipped_bytes_mean"],
            considered.row["skipped_bytes_mean"],
            format_bytes,
            replay_basis,
        ),
        _row(
            "offset_entries",
            int(current.row["entries"]),
            int(considered.row["entries"]),
            format_count,
            replay_basis,
        ),
        _row("time_entries", *times, format_count, replay_basis),
        _row(
            "both_indexes",
            int(current.row["index_bytes"]),
            int(considered.row["index_bytes"]),
            format_bytes,
            say("before_after.entry_bytes"),
        ),
        _row(
            "index_share",
            current.index_share,
            considered.index_share,
            lambda share: f"{100 * share:.2f} %",
            "",
        ),
        _row(
            "warm_mean", current.mean_us.typical, considered.mean_us.typical, _time_text, modelled
        ),
        _row(
            "warm_p99",
            current.p99_us.typical,
            considered.p99_us.typical,
            _time_text,
            _ranges_basis(current.p99_us, considered.p99_us),
        ),
        _row(
            "cold_p99",
            current.cold_p99_us.typical,
            considered.cold_p99_us.typical,
            _time_text,
            _cold_basis(costs, current, considered),
        ),
    ]
    if current.cores and considered.cores:
        fetches_basis = say_count(
            "before_after.modelled_fetches", round(budgets.fetches_per_s or 0)
        )
        comparison.append(
            _row(
                "cores",
                current.cores.typical,
                considered.cores.typical,
                lambda cores: f"≈ {cores:.2g}",
                fetches_basis,
            )
        )
    return [*comparison, _price_row(current, considered), _limit_row(*binding_limits)]


def _row(
    key: str, before: float, after: float, format_value: Callable[[float], str], basis: str
) -> ComparisonRow:
    if is_same(float(before), float(after)):
        kind = NEUTRAL
    elif after < before:
        kind = BETTER
    else:
        kind = WORSE
    name = say(f"before_after.{key}")
    difference = change_text(float(before), float(after))
    return ComparisonRow(
        name=name,
        before=format_value(before),
        after=format_value(after),
        change=difference,
        kind=kind,
        basis=basis,
        key=FILE_KEYS.get(key, key),
        values=_plain_numbers(before, after),
    )


def _plain_numbers(before: float, after: float) -> tuple[float, float]:
    before, after = (
        number if isinstance(number, int) else float(number) for number in (before, after)
    )
    return before, after


def _headers_text(headers: float) -> str:
    return f"{headers:.1f}"


def _time_text(us: float) -> str:
    return f"≈ {format_us(us)}"


def _ranges_basis(current: Range, considered: Range) -> str:
    return say(
        "before_after.modelled_ranges", now=range_text(current), other=range_text(considered)
    )


def _cold_basis(costs: LookupCosts, current: IntervalCost, considered: IntervalCost) -> str:
    return say(
        "before_after.modelled_reads",
        storage=costs.storage.name,
        now=format_count(current.cold_reads_p99),
        other=format_count(considered.cold_reads_p99),
    )


def _price_row(current: IntervalCost, considered: IntervalCost) -> ComparisonRow:
    """Returns the price that each interval implies for its index, which is not judged."""
    prices = _plain_numbers(current.price_us, considered.price_us)
    texts = [f"≈ {price:.2g} µs" for price in prices]
    return ComparisonRow(
        name=say("before_after.price"),
        before=texts[0],
        after=texts[1],
        change=change_text(current.price_us, considered.price_us),
        kind=NEUTRAL,
        basis=say("before_after.implied"),
        key="price_us",
        values=prices,
    )


def _limit_row(current: str, considered: str) -> ComparisonRow:
    names = [roll_text.cause_name(RollCause(cause)) for cause in (current, considered)]
    if current == considered:
        kind = NEUTRAL
    elif considered in roll_text.INDEXES:
        kind = WORSE
    else:
        kind = BETTER
    change_text = say("curves.same" if current == considered else "before_after.another")
    return ComparisonRow(
        name=say("before_after.ends_first"),
        before=names[0],
        after=names[1],
        change=change_text,
        kind=kind,
        basis=say("before_after.closed_form"),
        key="ends_first",
        values=(current, considered),
    )


def replay_rows(current: WhatIf, considered: WhatIf) -> list[ComparisonRow]:
    """Returns the comparison of two replays of the log, the second with other settings.

    The rows are changed settings, segments, rolls by cause, bytes, entries, files and maps.
    """
    causes = [
        cause for cause in RollCause if current.rolls.get(cause) or considered.rolls.get(cause)
    ]
    settings = [
        ComparisonRow(
            name=setting.replace("_", "."),
            before=format_count(old),
            after=format_count(new),
            change="",
            kind=NEUTRAL,
            basis=say("before_after.setting"),
            key=setting.replace("_", "."),
            values=(old, new),
        )
        for setting in (
            "segment_bytes",
            "segment_ms",
            "segment_index_bytes",
            "index_interval_bytes",
        )
        if (old := getattr(current.config, setting)) != (new := getattr(considered.config, setting))
    ]
    mean_bytes = (
        current.log_bytes / max(1, current.segments),
        considered.log_bytes / max(1, considered.segments),
    )
    return [
        *settings,
        _neutral_row(
            "segments",
            say("common.segments"),
            current.segments,
            after=considered.segments,
            format_value=format_count,
            basis=say("before_after.writers_rules"),
        ),
        *(
            _neutral_row(
                f"rolls_{roll_cause}",
                say("rolls.rolls_by", cause=roll_text.cause_name(roll_cause)),
                current.rolls.get(roll_cause, 0),
                considered.rolls.get(roll_cause, 0),
                format_value=format_count,
            )
            for roll_cause in causes
        ),
        _neutral_row(
            "segment_bytes_mean", say("rolls.mean_segment"), *mean_bytes, format_value=format_bytes
        ),
        _row(
            "offset_entries",
            current.offset_entries,
            considered.offset_entries,
            format_count,
            say("before_after.replayed"),
        ),
        _row(
            "time_entries",
            current.time_entries,
            considered.time_entries,
            format_count,
            say("before_after.with_last"),
        ),
        _row(
            "both_indexes",
            current.index_bytes,
            considered.index_bytes,
            format_bytes,
            say("before_after.entry_bytes"),
        ),
        _row(
            "files", current.files, considered.files, format_count, say("before_after.three_files")
        ),
        _row("maps", current.maps, considered.maps, format_count, say("before_after.two_maps")),
    ]


def _neutral_row(
    key: str,
    name: str,
    before: float,
    after: float,
    *,
    format_value: Callable[[float], str],
    basis: str = "",
) -> ComparisonRow:
    return ComparisonRow(
        name=name,
        before=format_value(before),
        after=format_value(after),
        change=change_text(float(before), float(after)),
        kind=NEUTRAL,
        basis=basis,
        key=key,
        values=_plain_numbers(before, after),
    )
