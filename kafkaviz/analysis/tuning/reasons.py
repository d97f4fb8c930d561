"""The reasons of a recommendation as values, and the costs that no interval changes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from kafkaviz.analysis import sweep
from kafkaviz.analysis.cost.cost_model import LookupCosts
from kafkaviz.analysis.segment.existing_index import ExistingIndexCost
from kafkaviz.analysis.tuning.bounds import upper_bounds
from kafkaviz.analysis.tuning.interval_cost import Budgets, IntervalCost, exceeded_budgets
from kafkaviz.analysis.tuning.log_measurement import CurrentConfig, LogMeasurement
from kafkaviz.simulate.config import LogConfig

TINY_BATCH_BYTES = 300
MOSTLY_INDEXED = 0.8  # share of the batches that can have an entry

ReasonCode = Literal[
    "every-batch-indexed",
    "most-batches-indexed",
    "plateau",
    "within-budget",
    "over-budget",
    "on-disk",
    "coarser",
    "denser",
    "coarse",
    "followers",
    "too-little-data",
    "unmeetable",
    "bound-tiered",
    "bound-hdd",
    "faster",
    "faster-too-little",
    "smaller",
    "smaller-too-little",
    "smaller-for-tiered",
    "topic-by-topic",
    "tiny-batches",
    "two-headers",
    "cold",
    "old-segments",
]


@dataclass(frozen=True)
class Reason:
    """A reason as values; tuning_text.py has the words."""

    code: ReasonCode
    values: Mapping[str, object]


def index_differs(measurement: LogMeasurement) -> bool:
    """Returns whether the existing indexes differ from a replay at today's interval.

    Differences that a few restarts explain do not count.
    """
    return measurement.index_cost is not None and (
        measurement.index_cost.gaps.is_coarse or measurement.index_cost.gaps.is_dense
    )


def standing_reasons(
    current: IntervalCost,
    replay: IntervalCost,
    measurement: LogMeasurement,
    *,
    today: CurrentConfig,
    budgets: Budgets,
    costs: LookupCosts,
) -> tuple[Reason, ...]:
    reasons = []
    least_batch_bytes = measurement.parts.least_batch_bytes
    all_indexed = measurement.parts.batches - measurement.parts.segments
    entries = int(current.row["entries"])
    if all_indexed and entries >= MOSTLY_INDEXED * all_indexed:
        is_default = current.interval_bytes == LogConfig().index_interval_bytes
        values = {
            "interval": current.interval_bytes,
            "entries": entries,
            "of": all_indexed,
            "is_default": is_default,
        }
        reasons.append(
            Reason(
                "every-batch-indexed" if entries == all_indexed else "most-batches-indexed", values
            )
        )
    if least_batch_bytes is not None:
        reasons.append(
            Reason(
                "plateau",
                {"least_batch_bytes": least_batch_bytes, "interval": current.interval_bytes},
            )
        )
    exceeded = exceeded_budgets(current, budgets)
    reasons.append(
        Reason(
            "over-budget" if exceeded else "within-budget",
            {"at": current, "budgets": budgets, "missed": exceeded, "costs": costs},
        )
    )
    if measurement.index_cost is not None and (today.is_coarse or index_differs(measurement)):
        reasons.append(_on_disk(current, replay, measurement, today))
    if measurement.followers is not None and not today.is_coarse:
        row = measurement.followers.sweep()[measurement.followers.index_of(today.interval_bytes)]
        values = {
            "append_bytes": sweep.FOLLOWER_APPEND_BYTES,
            "headers_mean": float(row["headers_mean"]),
        }
        reasons.append(Reason("followers", values | {"headers_p99": int(row["headers_p99"])}))
    if today.is_coarse:
        reasons.append(Reason("coarse", {"append_bytes": sweep.FOLLOWER_APPEND_BYTES}))
    for cause, most in upper_bounds(measurement, today, costs).items():
        reasons.append(
            Reason(
                "bound-tiered" if cause == "tiered" else "bound-hdd",
                {"most_bytes": most, "interval": current.interval_bytes},
            )
        )
    return tuple(reasons)


def _on_disk(
    current: IntervalCost, replay: IntervalCost, measurement: LogMeasurement, today: CurrentConfig
) -> Reason:
    """Returns how the existing indexes differ from the replay at today's interval."""
    is_dense = not today.is_coarse and cast(ExistingIndexCost, measurement.index_cost).gaps.is_dense
    values = {
        "interval": current.interval_bytes,
        "entries": int(current.row["entries"]),
        "entries_replayed": int(replay.row["entries"]),
    }
    headers = {
        "headers_p99": int(current.row["headers_p99"]),
        "headers_p99_replayed": int(replay.row["headers_p99"]),
    }
    if is_dense:
        code = "denser"
    elif today.is_coarse:
        code = "on-disk"
    else:
        code = "coarser"
    return Reason(code, values | headers)


def not_fixed(
    cost: IntervalCost, measurement: LogMeasurement, costs: LookupCosts
) -> tuple[Reason, ...]:
    """Returns the costs that no interval changes, if they matter for this log."""
    reasons = []
    if measurement.batch_bytes < TINY_BATCH_BYTES:
        reasons.append(
            Reason(
                "tiny-batches",
                {"batch_bytes": measurement.batch_bytes, "single_share": measurement.single_share},
            )
        )
    if measurement.single_share < 0.5:
        reasons.append(Reason("two-headers", {}))
    reasons.append(Reason("cold", {"at": cost, "costs": costs}))
    reasons.append(Reason("old-segments", {}))
    return tuple(reasons)
