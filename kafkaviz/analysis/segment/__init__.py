"""One segment, read completely: its batches, its indexes, and how these point to each other."""
