"""The Compare page: two directories, their topic-partitions, logs and batches."""
