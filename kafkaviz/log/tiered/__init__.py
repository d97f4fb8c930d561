"""Tiered storage: finds remote segments, and shows them like local segments."""
