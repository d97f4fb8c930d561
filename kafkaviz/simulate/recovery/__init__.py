"""The recovery of a segment: its valid part, its indexes, transactions and leader epochs."""
