"""What the Broker page is made of.

The path to open, what the directory holds, the ways on, the map of its segments, its table.
"""
