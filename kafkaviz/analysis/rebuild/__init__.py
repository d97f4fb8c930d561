"""Rebuilt indexes, and replays of a log with its own or other settings."""
