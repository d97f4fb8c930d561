"""Logs from beginning to end: a run that writes or replays one, and its files and folder."""
