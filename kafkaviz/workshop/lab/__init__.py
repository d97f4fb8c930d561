"""Damaged copies of a log: the next start on them, what a consumer then reads, and both drawn."""
