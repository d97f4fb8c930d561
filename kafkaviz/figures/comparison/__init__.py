"""Figures that compare two directories: all partitions, two logs on one axis, batches in pairs."""
