"""What the Broker page consists of.

The path to open, what the directory holds, the ways on, the map of its segments, its table.
"""
