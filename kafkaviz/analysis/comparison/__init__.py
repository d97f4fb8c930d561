"""A comparison of two directories: their common partitions, and the differences between them."""
