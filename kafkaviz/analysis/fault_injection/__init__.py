"""Damaged copies of a log: the next start on them, and what a consumer then reads."""
