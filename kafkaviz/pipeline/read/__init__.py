"""The inventory and the pass over a segment, for the ingest and the data source."""
