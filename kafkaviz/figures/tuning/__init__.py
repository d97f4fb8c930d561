"""Figures and verdicts of the Tuning page: index interval, index size, batches and codec."""
