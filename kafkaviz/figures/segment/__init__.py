"""A segment: its ruler, its bytes, its tables."""
