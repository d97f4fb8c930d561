"""Lists segments and reads their files, for the ingest and the data source."""
