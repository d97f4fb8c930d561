"""The ingest, which reads brokers into a catalog: tasks, workers and the commit."""
