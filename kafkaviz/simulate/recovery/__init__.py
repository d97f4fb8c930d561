"""The part of a segment that a recovery keeps, and the indexes, transactions and producers of
it.
"""
