"""A comparison of two directories: the partitions that both have, and how these differ."""
