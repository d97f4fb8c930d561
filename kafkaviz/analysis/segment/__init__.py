"""One segment, read completely: its batches, its indexes, and how they point to each other."""
