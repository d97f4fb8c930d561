"""Tiered storage: uploads, the cost of segment sizes, and the retention of remote segments."""
