"""Tiered storage: remote segments, where they are, and a view that shows them like local ones."""
