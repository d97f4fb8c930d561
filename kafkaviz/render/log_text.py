"""Texts about a log: what the cleaner does with its records and why, and its transactions."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kafkaviz import units
from kafkaviz.analysis.compaction.decision import CleaningDecision, DecisionReason, OpenTransaction
from kafkaviz.config_def import DIRTY_RATIO
from kafkaviz.log.settings import SettingValue
from kafkaviz.messages import Message, message, say

if TYPE_CHECKING:
    from kafkaviz.analysis.compaction.compaction import DecidedLog
    from kafkaviz.analysis.compaction.record_fates import KeyRecord, LogRecord
    from kafkaviz.analysis.transactions.listing import Hold, Transaction


def describe_reason(
    decision: CleaningDecision, settings: Mapping[str, SettingValue], *, is_short: bool = False
) -> Message:
    """Says whether the cleaner takes the log now, and why."""
    name = decision.reason.name.lower()
    if decision.reason == DecisionReason.RATIO_TOO_LOW and not decision.cleanable_bytes:
        name = "nothing_new"  # a lower min.cleanable.dirty.ratio would change nothing
    setting = settings[DIRTY_RATIO]
    limit = setting.value
    if not setting.is_given:
        key = "limit_assumed_short" if is_short else "limit_assumed"
        limit = message(f"compaction.{key}", limit=setting.value, source=setting.source)
    return message(
        f"compaction.{'now' if is_short else 'reason'}_{name}",
        ratio=f"{decision.cleanable_ratio or 0.0:.4g}",
        limit=limit,
        delay=decision.max_compaction_delay_ms,
    )


def describe_barrier(
    decision: CleaningDecision, oldest_transaction: OpenTransaction | None
) -> Message:
    """Says what ends the cleanable part of a log, in words that follow "because"."""
    return message(
        f"compaction.barrier_{decision.held_by.name.lower()}",
        offset=decision.first_uncleanable_offset,
        producer=oldest_transaction.producer_id if oldest_transaction else None,
    )


def describe_fate(record: "KeyRecord | LogRecord", log: "DecidedLog") -> Message:
    """Says whether a cleaning at this moment would keep a record, and why."""
    return message(
        f"key_story.fate_{record.fate.replace('-', '_')}",
        offset=record.replaced_by,
        time=units.moment(record.delete_horizon_ms),
        barrier=describe_barrier(log.decision, log.state.oldest_transaction),
    )


# by whether the transaction began before the first batch of this copy; None: it may have
_MARKS = {True: "< ", None: "≤ ", False: ""}


def start_cell(transaction: "Transaction") -> str:
    """Returns the start time. "<": the real start is earlier. "≤": it may be earlier."""
    if transaction.start_ms is None:
        return units.MISSING
    return _MARKS[transaction.begins_before_log] + units.moment(transaction.start_ms)


def describe_verdict(hold: "Hold") -> str:
    """Says what the coordinator knows about an open transaction."""
    return say(
        f"transactions.verdict_{hold.verdict.value}",
        state=hold.coordinator_state or "",
        timeout="" if hold.timeout_ms is None else units.duration(hold.timeout_ms),
        until="" if hold.until_ms is None else units.moment(hold.until_ms, fraction=False),
    )
