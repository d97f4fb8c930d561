"""What ingest and data source share: the inventory, and the pass over a segment."""
