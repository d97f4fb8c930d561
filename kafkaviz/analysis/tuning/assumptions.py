"""The sensitivity of a recommendation: each assumption of the model is moved to both ends."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

from kafkaviz.analysis.cost.cost_model import LookupCosts, Range
from kafkaviz.analysis.tuning.interval_cost import Budgets
from kafkaviz.analysis.tuning.log_measurement import CurrentConfig, LogMeasurement
from kafkaviz.analysis.tuning.recommendation import Recommendation, recommend
from kafkaviz.messages import Message, message


@dataclass(frozen=True, kw_only=True)
class Assumption:
    """One assumption moved to either end while the others stay.

    It has the p99 of a warm lookup today, and the recommended verdict and value, at both ends.
    """

    name: Message
    unit: str
    low: float
    typical: float
    high: float
    p99_us_low: float
    p99_us_high: float
    verdict_low: tuple[str, int]
    verdict_high: tuple[str, int]


def tornado(
    measurement: LogMeasurement, today: CurrentConfig, budgets: Budgets, costs: LookupCosts
) -> tuple[Assumption, ...]:
    """Returns each assumption of the model, the one with the largest effect first.

    The result is empty for a log without a batch.
    """
    if not measurement.parts.batches:
        return ()
    # factors of header_us for one read and for two reads per header
    one_read, two_reads = (1.0, 2.0) if costs.reads_once else (0.5, 1.0)
    reads = Range(1, 1 if costs.reads_once else 2, 2)
    moves = [
        (
            message("curves.assumed_header"),
            "µs",
            costs.header_us,
            lambda us: replace(costs, header_us=_fixed(us)),
        ),
        (
            message("curves.assumed_first"),
            "µs",
            costs.first_us,
            lambda us: replace(costs, first_us=_fixed(us)),
        ),
        (
            message("curves.assumed_reads"),
            "",
            reads,
            lambda count: replace(
                costs, header_us=costs.header_us.times(one_read if count == 1 else two_reads)
            ),
        ),
    ]
    if budgets.cold_p99_us is not None:
        storage = costs.storage
        moves.append(
            (
                message("curves.assumed_device"),
                "µs",
                storage.read_us,
                lambda us: replace(costs, storage=replace(storage, read_us=_fixed(us))),
            )
        )
    assumptions = [
        _move(
            name,
            unit,
            cost_range,
            measurement=measurement,
            costs_at=costs_at,
            today=today,
            budgets=budgets,
        )
        for name, unit, cost_range, costs_at in moves
    ]
    return tuple(
        sorted(assumptions, key=lambda assumption: assumption.p99_us_low - assumption.p99_us_high)
    )


def _fixed(us: float) -> Range:
    return Range(us, us, us)


def _move(
    name: Message,
    unit: str,
    cost_range: Range,
    *,
    measurement: LogMeasurement,
    costs_at: Callable[[float], LookupCosts],
    today: CurrentConfig,
    budgets: Budgets,
) -> Assumption:
    ends = []
    for value in (cost_range.low, cost_range.high):
        answer = cast(Recommendation, recommend(measurement, today, budgets, costs_at(value)))
        ends.append((answer.current_cost.p99_us.typical, (str(answer.verdict), answer.value)))
    (p99_us_low, verdict_low), (p99_us_high, verdict_high) = ends
    return Assumption(
        name=name,
        unit=unit,
        low=cost_range.low,
        typical=cost_range.typical,
        high=cost_range.high,
        p99_us_low=p99_us_low,
        p99_us_high=p99_us_high,
        verdict_low=verdict_low,
        verdict_high=verdict_high,
    )
