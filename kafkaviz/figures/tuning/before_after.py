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
    "price": "price_us",
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
    """Returns the values of COLUMNS for each row, which are not translated."""
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
    ranges = say(
        "before_after.modelled_ranges",
        now=range_text(current.p99_us),
        other=range_text(considered.p99_us),
    )
    reads = say(
        "before_after.modelled_reads",
        storage=costs.storage.name,
        now=format_count(current.cold_reads_p99),
        other=format_count(considered.cold_reads_p99),
    )

    def counted(
        key: str,
        column: str,
        format_value: Callable[[float], str],
        basis: str = replay_basis,
        target: str = "row",
    ) -> ComparisonRow:
        before, after = (getattr(cost, target)[column].item() for cost in (current, considered))
        return _row(key, before, after, format_value, basis)

    comparison = [
        counted(
            "headers_mean",
            "headers_mean",
            lambda headers: f"{headers:.1f}",
            say("before_after.replayed_batches"),
        ),
        counted("headers_p99", "headers_p99", format_count),
        counted("headers_every", "headers_p99", format_count, target="every_row"),
        counted("headers_time", "headers_p99", format_count, target="time_row"),
        counted("skipped", "skipped_bytes_mean", format_bytes),
        counted("offset_entries", "entries", format_count),
        _row("time_entries", *times, format_count, replay_basis),
        counted("both_indexes", "index_bytes", format_bytes, say("before_after.entry_bytes")),
        _row(
            "index_share",
            current.index_share,
            considered.index_share,
            lambda share: f"{100 * share:.2f} %",
        ),
        _time_row("warm_mean", current.mean_us, considered.mean_us, modelled),
        _time_row("warm_p99", current.p99_us, considered.p99_us, ranges),
        _time_row("cold_p99", current.cold_p99_us, considered.cold_p99_us, reads),
    ]
    if current.cores and considered.cores:
        comparison.append(
            _row(
                "cores",
                current.cores.typical,
                considered.cores.typical,
                lambda cores: f"≈ {cores:.2g}",
                say_count("before_after.modelled_fetches", round(budgets.fetches_per_s or 0)),
            )
        )
    # the price that each interval implies for its index; it is not judged
    price_row = _row(
        "price",
        current.price_us,
        considered.price_us,
        lambda price: f"≈ {price:.2g} µs",
        say("before_after.implied"),
        is_judged=False,
    )
    return [*comparison, price_row, _limit_row(*binding_limits)]


def _row(
    key: str,
    before: float,
    after: float,
    format_value: Callable[[float], str],
    basis: str = "",
    *,
    name: str = "",
    is_judged: bool = True,
) -> ComparisonRow:
    """Returns the row of a number.

    Args:
        name: the first cell; by default the message of the key.
        is_judged: whether less is better; otherwise the change is neither better nor worse.
    """
    # Python's own numbers, also for those of NumPy
    before, after = (
        number if isinstance(number, int) else float(number) for number in (before, after)
    )
    if is_same(before, after) or not is_judged:
        kind = NEUTRAL
    elif after < before:
        kind = BETTER
    else:
        kind = WORSE
    return ComparisonRow(
        name=name or say(f"before_after.{key}"),
        before=format_value(before),
        after=format_value(after),
        change=change_text(before, after),
        kind=kind,
        basis=basis,
        key=FILE_KEYS.get(key, key),
        values=(before, after),
    )


def _time_row(key: str, before: Range, after: Range, basis: str) -> ComparisonRow:
    return _row(key, before.typical, after.typical, lambda us: f"≈ {format_us(us)}", basis)


def _limit_row(current: str, considered: str) -> ComparisonRow:
    if current == considered:
        kind = NEUTRAL
    elif considered in roll_text.INDEXES:
        kind = WORSE
    else:
        kind = BETTER
    return ComparisonRow(
        name=say("before_after.ends_first"),
        before=roll_text.cause_name(RollCause(current)),
        after=roll_text.cause_name(RollCause(considered)),
        change=say("curves.same" if current == considered else "before_after.another"),
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

    def counted(
        name: str, basis_key: str, format_value: Callable[[float], str] = format_count
    ) -> ComparisonRow:
        before, after = (
            getattr(what_if, FILE_KEYS.get(name, name)) for what_if in (current, considered)
        )
        return _row(name, before, after, format_value, say(f"before_after.{basis_key}"))

    return [
        *settings,
        _row(
            "segments",
            current.segments,
            considered.segments,
            format_count,
            say("before_after.writers_rules"),
            name=say("common.segments"),
            is_judged=False,
        ),
        *(
            _row(
                f"rolls_{cause}",
                current.rolls.get(cause, 0),
                considered.rolls.get(cause, 0),
                format_count,
                name=say("rolls.rolls_by", cause=roll_text.cause_name(cause)),
                is_judged=False,
            )
            for cause in causes
        ),
        _row(
            "segment_bytes_mean",
            current.log_bytes / max(1, current.segments),
            considered.log_bytes / max(1, considered.segments),
            format_bytes,
            name=say("rolls.mean_segment"),
            is_judged=False,
        ),
        counted("offset_entries", "replayed"),
        counted("time_entries", "with_last"),
        counted("both_indexes", "entry_bytes", format_bytes),
        counted("files", "three_files"),
        counted("maps", "two_maps"),
    ]
