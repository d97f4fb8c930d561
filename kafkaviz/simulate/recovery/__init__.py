"""The part of a segment that a recovery keeps, and its indexes, transactions and producers."""
