"""Whole logs: a run that writes or replays one, its files, and its folder on disk."""
