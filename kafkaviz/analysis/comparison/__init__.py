"""Two directories: which partitions are in both, what differs, and what each would lose."""
