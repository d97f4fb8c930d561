"""Simulated producers: reads a workload from a file and generates its batches."""
