"""The partitions of a topic with their records per minute and largest value, with pandas.

    python examples/records_pandas.py /var/lib/kafka --topic orders

Only the columns that are named are read into memory.
"""

import argparse
from collections.abc import Sequence

import pandas as pd

import kafkaviz as kv

COLUMNS = ("partition", "is_control", "timestamp_ms", "value_size_bytes")


def partitions(directories: Sequence[str], topic: str) -> pd.DataFrame:
    """Returns one row per partition; records without a time do not count."""
    frame = kv.records(directories, topics=topic, columns=COLUMNS).to_pandas()
    frame = frame[~frame["is_control"] & (frame["timestamp_ms"] >= 0)]
    summary = frame.groupby("partition").agg(
        records=("timestamp_ms", "size"),
        first_ms=("timestamp_ms", "min"),
        last_ms=("timestamp_ms", "max"),
        largest_value=("value_size_bytes", "max"),
    )
    minutes = (summary["last_ms"] - summary["first_ms"]) / 60_000
    return summary.assign(records_per_minute=(summary["records"] / minutes).round(1))


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "directories", metavar="DIR", nargs="+", help="a broker directory, or an archive of one"
    )
    parser.add_argument("--topic", required=True)
    options = parser.parse_args(arguments)
    print(partitions(options.directories, options.topic).to_string())


if __name__ == "__main__":
    main()
