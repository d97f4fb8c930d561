"""Whole brokers into a catalog: tasks, workers, the commit."""
