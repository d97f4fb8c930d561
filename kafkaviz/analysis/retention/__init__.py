"""Retention: the rules that keep or delete segments, and their dates."""
