"""The recovery of a segment: its valid part, indexes, transactions and leader epochs."""
