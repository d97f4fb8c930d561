"""Why, as values: what holds of a log whatever is decided, and what no interval changes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from kafkaviz.analyse import sweep
from kafkaviz.analyse.cost_model import Costs
from kafkaviz.analyse.held import Held
from kafkaviz.analyse.tuning.bounds import upper_bounds
from kafkaviz.analyse.tuning.measured import Measured, Today
from kafkaviz.analyse.tuning.priced import At, Budgets, unmet
from kafkaviz.simulate.config import LogConfig

TINY_BATCH_BYTES = 300
MOSTLY_INDEXED = 0.8  # of the batches that can have an entry


@dataclass(frozen=True)
class Reason:
    """Why, as values; words.py has the words."""

    code: str
    values: Mapping[str, object]


def differs(measured: Measured) -> bool:
    """Whether the indexes that are there are others than the replay of today's interval and some
    restarts would have written.
    """
    return measured.held is not None and (
        measured.held.gaps.is_coarse or measured.held.gaps.is_dense
    )


def facts(
    now: At, again: At, measured: Measured, today: Today, budgets: Budgets, costs: Costs
) -> tuple[Reason, ...]:
    """What holds of the log whatever is decided."""
    found = []
    least, all_indexed = (
        measured.parts.least_batch_bytes,
        measured.parts.batches - measured.parts.segments,
    )
    entries = int(now.row["entries"])
    if all_indexed and entries >= MOSTLY_INDEXED * all_indexed:
        is_default = now.interval_bytes == LogConfig().index_interval_bytes
        values = {
            "interval": now.interval_bytes,
            "entries": entries,
            "of": all_indexed,
            "is_default": is_default,
        }
        found.append(
            Reason(
                "every-batch-indexed" if entries == all_indexed else "most-batches-indexed", values
            )
        )
    if least is not None:
        found.append(
            Reason("plateau", {"least_batch_bytes": least, "interval": now.interval_bytes})
        )
    missed = unmet(now, budgets)
    found.append(
        Reason(
            "over-budget" if missed else "within-budget",
            {"at": now, "budgets": budgets, "missed": missed, "costs": costs},
        )
    )
    if measured.held is not None and (today.is_coarse or differs(measured)):
        found.append(_on_disk(now, again, measured, today))
    if measured.followers is not None and not today.is_coarse:
        row = measured.followers.sweep()[measured.followers.at(today.interval_bytes)]
        values = {
            "append_bytes": sweep.FOLLOWER_APPEND_BYTES,
            "headers_mean": float(row["headers_mean"]),
        }
        found.append(Reason("followers", values | {"headers_p99": int(row["headers_p99"])}))
    if today.is_coarse:
        found.append(Reason("coarse", {"append_bytes": sweep.FOLLOWER_APPEND_BYTES}))
    for cause, most in upper_bounds(measured, today, costs).items():
        found.append(Reason(f"bound-{cause}", {"most_bytes": most, "interval": now.interval_bytes}))
    return tuple(found)


def _on_disk(now: At, again: At, measured: Measured, today: Today) -> Reason:
    """How the indexes that are there differ from the replay of today's interval."""
    is_dense = not today.is_coarse and cast(Held, measured.held).gaps.is_dense
    values = {
        "interval": now.interval_bytes,
        "entries": int(now.row["entries"]),
        "entries_replayed": int(again.row["entries"]),
    }
    headers = {
        "headers_p99": int(now.row["headers_p99"]),
        "headers_p99_replayed": int(again.row["headers_p99"]),
    }
    return Reason(
        "denser" if is_dense else "on-disk" if today.is_coarse else "coarser", values | headers
    )


def not_fixed(one: At, measured: Measured, today: Today, costs: Costs) -> tuple[Reason, ...]:
    """What no interval changes, as far as it weighs for this log."""
    found = []
    if measured.batch_bytes < TINY_BATCH_BYTES:
        found.append(
            Reason(
                "tiny-batches",
                {"batch_bytes": measured.batch_bytes, "single_share": measured.single_share},
            )
        )
    if measured.single_share < 0.5:
        found.append(Reason("two-headers", {}))
    found.append(Reason("cold", {"at": one, "costs": costs}))
    found.append(Reason("old-segments", {}))
    return tuple(found)
