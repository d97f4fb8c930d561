"""The keys of a topic that most records have, and the last value of each, with Polars.

    python examples/records_polars.py /var/lib/kafka --topic orders

Needs Polars: pip install polars. Keys and values are text; bytes that are not UTF-8 are shown as
base64: and their base64.
"""

import argparse
from collections.abc import Sequence

import polars as pl

import kafkaviz as kv

COLUMNS = ("partition", "offset", "is_control", "key", "value")


def keys(directories: Sequence[str], topic: str, count: int = 20) -> pl.DataFrame:
    """Returns one row per key, the most frequent first."""
    frame = kv.records(directories, topics=topic, columns=COLUMNS, payload="text").to_polars()
    return (
        frame.filter(~pl.col("is_control"))
        .sort("partition", "offset")
        .group_by("key")
        .agg(pl.len().alias("records"), pl.col("value").last().alias("last_value"))
        .sort(["records", "key"], descending=[True, False])
        .head(count)
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "directories", metavar="DIR", nargs="+", help="a broker directory, or an archive of one"
    )
    parser.add_argument("--topic", required=True)
    options = parser.parse_args(arguments)
    print(keys(options.directories, options.topic))


if __name__ == "__main__":
    main()
