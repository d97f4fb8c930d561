"""The listing of segments and the pass over each of them, for the ingest and the data source."""
