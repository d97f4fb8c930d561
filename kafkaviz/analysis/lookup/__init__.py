"""Lookups in a partition directory, and explanations of their results."""
