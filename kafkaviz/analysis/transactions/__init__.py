"""The transactions of a partition, and what a read_committed consumer gets of it."""
