"""Findings about a directory, their rows in a catalog, and the badges for a topic-partition."""
