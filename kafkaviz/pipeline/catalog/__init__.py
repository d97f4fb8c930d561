"""The folder of Parquet tables, and what it says of itself."""
