"""Simulated producers: a workload read from a file, and its batches."""
