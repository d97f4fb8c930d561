"""The catalog: a folder of Parquet tables, and a JSON file that describes them."""
