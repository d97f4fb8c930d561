"""The times of a transaction, for the tables of the command and of the page."""

from kafkaviz import units
from kafkaviz.analysis.transactions.listing import Transaction

# by begins_before_log: how the start relates to the time of the first batch in this copy
_MARKS = {True: "< ", None: "≤ ", False: ""}


def start_cell(transaction: Transaction) -> str:
    """Returns when a transaction began, such as "< 2026-11-21 09:29:45.807"."""
    if transaction.start_ms is None:
        return units.MISSING
    return _MARKS[transaction.begins_before_log] + units.moment(transaction.start_ms)
