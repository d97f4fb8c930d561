"""One segment read completely: its batches, its indexes, and how they point at each other."""
