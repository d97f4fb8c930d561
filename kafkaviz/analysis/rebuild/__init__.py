"""Indexes rebuilt, and a log appended once more."""
