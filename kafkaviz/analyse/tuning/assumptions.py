"""What would have to be true for another answer: each assumption of the model moved to either
end.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

from kafkaviz.analyse.cost_model import Costs, Range
from kafkaviz.analyse.tuning.measured import Measured, Today
from kafkaviz.analyse.tuning.priced import Budgets
from kafkaviz.analyse.tuning.rule import Recommendation, recommend


@dataclass(frozen=True)
class Assumption:
    """One assumption moved to either end while the others stay: the p99 of a warm lookup today, and
    the answer then.
    """

    name: str
    unit: str
    low: float
    typical: float
    high: float
    p99_us_low: float
    p99_us_high: float
    verdict_low: tuple[str, int]
    verdict_high: tuple[str, int]


def tornado(
    measured: Measured, today: Today, budgets: Budgets, costs: Costs
) -> tuple[Assumption, ...]:
    """Each assumption of the model, the one that moves the result most first; empty of a log
    without a batch.
    """
    if not measured.parts.batches:
        return ()
    # of what a header is priced with
    one_read, two_reads = (1.0, 2.0) if costs.is_modelled else (0.5, 1.0)
    reads = Range(1, 1 if costs.is_modelled else 2, 2)
    moved = [
        ("µs a header", "µs", costs.header_us, lambda us: replace(costs, header_us=_fixed(us))),
        (
            "µs before the first header",
            "µs",
            costs.first_us,
            lambda us: replace(costs, first_us=_fixed(us)),
        ),
        (
            "reads a header",
            "",
            reads,
            lambda count: replace(
                costs, header_us=costs.header_us.times(one_read if count == 1 else two_reads)
            ),
        ),
    ]
    if budgets.cold_p99_us is not None:
        read = costs.storage
        moved.append(
            (
                "µs a device read",
                "µs",
                read.read_us,
                lambda us: replace(costs, storage=replace(read, read_us=_fixed(us))),
            )
        )
    found = [
        _moved(name, unit, over, measured, priced, today, budgets)
        for name, unit, over, priced in moved
    ]
    return tuple(sorted(found, key=lambda one: one.p99_us_low - one.p99_us_high))


def _fixed(us: float) -> Range:
    return Range(us, us, us)


def _moved(
    name: str,
    unit: str,
    over: Range,
    measured: Measured,
    priced: Callable[[float], Costs],
    today: Today,
    budgets: Budgets,
) -> Assumption:
    ends = []
    for value in (over.low, over.high):
        answer = cast(Recommendation, recommend(measured, today, budgets, priced(value)))
        ends.append((answer.today.p99_us.typical, (str(answer.verdict), answer.value)))
    return Assumption(name, unit, *over, ends[0][0], ends[1][0], ends[0][1], ends[1][1])
