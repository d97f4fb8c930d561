"""Sums over retention: when the bytes of a log are deleted, with the current or other limits."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import cast

from kafkaviz.analysis.retention import DUE_STATES, LogRetention
from kafkaviz.format.names import natural_sort_key
from kafkaviz.units import DAY_MS, HOUR_MS

DATED_STATES = ("until", "behind")  # kept until a known time
SCHEDULE_MS = (HOUR_MS, DAY_MS, 7 * DAY_MS)


@dataclass(frozen=True, kw_only=True)
class DeletionSchedule:
    """When a log's bytes are deleted if nothing more is written. Each byte counts once."""

    due_bytes: int
    # bytes deleted in the first hour, in the rest of the first day, and in the rest of the first
    # 7 days
    within_bytes: tuple[int, ...]
    later_bytes: int  # bytes deleted after 7 days
    undated_bytes: Mapping[str, int]  # bytes without a date, per state in KEPT_STATES


def deletion_schedule(log: LogRetention) -> DeletionSchedule:
    within_bytes = [0] * (len(SCHEDULE_MS) + 1)
    undated_bytes: Counter[str] = Counter()
    for segment in log.segments:
        size_bytes = segment.age.size_bytes
        if segment.is_due:
            continue
        if segment.state in DATED_STATES:
            # a pass deletes the segment once the clock is after gone_ms
            delay_ms = cast(int, segment.gone_ms) + 1 - log.now_ms
            within_bytes[bisect_left(SCHEDULE_MS, delay_ms)] += size_bytes
        else:
            undated_bytes[segment.state] += size_bytes
    return DeletionSchedule(
        due_bytes=log.due_bytes,
        within_bytes=tuple(within_bytes[:-1]),
        later_bytes=within_bytes[-1],
        undated_bytes=undated_bytes,
    )


@dataclass(frozen=True, kw_only=True)
class RetentionChange:
    """The .log bytes of a group of logs in each of STATES, with the current and proposed limits."""

    name: str
    current_bytes: Mapping[str, int]
    proposed_bytes: Mapping[str, int]

    @property
    def log_bytes(self) -> int:
        return sum(self.current_bytes.values())

    @property
    def current_due_bytes(self) -> int:
        return _sum_bytes(self.current_bytes, DUE_STATES)

    @property
    def due_bytes(self) -> int:
        return _sum_bytes(self.proposed_bytes, DUE_STATES)

    @property
    def dated_bytes(self) -> int:
        """The .log bytes that stay until a known time if the proposed limits apply."""
        return _sum_bytes(self.proposed_bytes, DATED_STATES)

    @property
    def undated_bytes(self) -> int:
        return self.log_bytes - self.due_bytes - self.dated_bytes


def _sum_bytes(sizes: Mapping[str, int], states: Iterable[str]) -> int:
    return sum(sizes.get(state, 0) for state in states)


def retention_changes(
    logs: Iterable[LogRetention],
    proposed_logs: Iterable[LogRetention],
    name_of: Callable[[LogRetention], str],
) -> list[RetentionChange]:
    """Returns one RetentionChange per group of logs, the largest group first.

    `proposed_logs` are the same logs in the same order. `name_of` returns the name of a log's
    group.
    """
    current_bytes: dict[str, Counter[str]] = defaultdict(Counter)
    proposed_bytes: dict[str, Counter[str]] = defaultdict(Counter)
    for log, proposed in zip(logs, proposed_logs, strict=True):
        current_bytes[name_of(log)].update(log.bytes_by_state())
        proposed_bytes[name_of(log)].update(proposed.bytes_by_state())
    changes = [
        RetentionChange(name=name, current_bytes=current, proposed_bytes=proposed_bytes[name])
        for name, current in current_bytes.items()
    ]
    return sorted(changes, key=lambda change: (-change.log_bytes, natural_sort_key(change.name)))
