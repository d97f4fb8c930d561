"""Indexes made anew, and a log appended once more."""
