"""Texts about a transaction: when it began, and what its coordinator knows about it."""

from kafkaviz import units
from kafkaviz.analysis.transactions.listing import Hold, Transaction
from kafkaviz.messages import say

# by begins_before_log: whether the transaction began before the first batch of this copy
_MARKS = {True: "< ", None: "≤ ", False: ""}


def start_cell(transaction: Transaction) -> str:
    """Returns the start time. "<": the real start is earlier. "≤": it may be earlier."""
    if transaction.start_ms is None:
        return units.MISSING
    return _MARKS[transaction.begins_before_log] + units.moment(transaction.start_ms)


def describe_verdict(hold: Hold) -> str:
    """Says what the coordinator knows about an open transaction."""
    return say(
        f"transactions.verdict_{hold.verdict.value}",
        state=hold.coordinator_state or "",
        timeout="" if hold.timeout_ms is None else units.duration(hold.timeout_ms),
        until="" if hold.until_ms is None else units.moment(hold.until_ms, fraction=False),
    )
