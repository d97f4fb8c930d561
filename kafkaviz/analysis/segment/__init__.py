"""One segment read whole: its batches, its indexes, and how they point at each other."""
