"""The cost of a lookup: its probes, pages, headers and device reads, and their time."""
