"""How many records and bytes each topic got in each hour, with SQL in DuckDB and without Spark.

    python examples/records_duckdb.py /var/lib/kafka --topics 'orders,clicks-*'

DuckDB reads the records as a stream of Arrow batches, so the memory does not grow with the logs.
"""

import argparse
from collections.abc import Sequence

import duckdb

import kafkaviz as kv

HOURS = """
SELECT topic, date_trunc('hour', timestamp AT TIME ZONE 'UTC') AS hour, count(*) AS records,
       sum(value_size_bytes)::BIGINT AS value_bytes
FROM rows
WHERE NOT is_control
GROUP BY ALL
ORDER BY ALL
"""


def hours(directories: Sequence[str], topics: str = "*") -> list[tuple]:
    """Returns one row per topic and hour."""
    columns = "topic,is_control,timestamp,value_size_bytes"
    with duckdb.connect() as connection:
        connection.register("rows", kv.records(directories, topics=topics, columns=columns))
        return connection.sql(HOURS).fetchall()


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "directories", metavar="DIR", nargs="+", help="a broker directory, or an archive of one"
    )
    parser.add_argument("--topics", default="*", help="topics or patterns (default: all)")
    options = parser.parse_args(arguments)
    for row in hours(options.directories, options.topics):
        print(*row, sep="\t")


if __name__ == "__main__":
    main()
