"""Tiered storage: remote log segments, where they are, and as partitions like any other."""
