"""What producers send: a workload read from a file, and the batches that follow from it."""
