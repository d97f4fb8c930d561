"""The transactions in a partition, and which records a read_committed consumer gets."""
