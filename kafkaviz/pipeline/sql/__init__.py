"""SQL queries on a catalog, run in a separate process."""
