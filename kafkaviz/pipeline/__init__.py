"""Floor 7: whole broker directories, read on Spark into a catalog of Parquet tables."""
