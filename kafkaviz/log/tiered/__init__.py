"""Tiered storage: finds remote segments, and shows them as if they were local."""
