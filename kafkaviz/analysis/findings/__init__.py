"""Findings about a directory, their rows in a catalog, and the badges of a topic-partition."""
