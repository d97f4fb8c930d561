"""The catalog: a folder of Parquet tables with a description of itself."""
