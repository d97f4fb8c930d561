"""The ingest, which reads brokers into a catalog: planning, tasks, tables and the commit."""
