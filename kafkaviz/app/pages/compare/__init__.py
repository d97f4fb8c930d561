"""What the Compare page consists of.

The second directory, the map and table of partitions, two logs on one axis, batches side by side.
"""
