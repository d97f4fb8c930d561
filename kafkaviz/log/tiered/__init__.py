"""Tiered storage: remote segments, where they are, and a view that shows them as partitions."""
