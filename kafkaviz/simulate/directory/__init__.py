"""Whole logs: writes or replays a log, with its files, and its folder on disk."""
