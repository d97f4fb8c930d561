"""The queries of the Explore page, answered by a warm DuckDB process, against Spark.

Spark answers the same SQL over the same catalog. Over the catalog of 10 GiB of logs, the rival is
DuckDB alone.
"""

import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks import row
from benchmarks.bench_pages import prepare

ROUNDS = 5
LARGE_BATCHES = 655_360  # of 16 KiB, in 10 GiB of logs
LARGE_TABLES = ("batches", "offset_entries", "time_entries")


def run() -> list[str]:
    """Returns rows for the median of all queries, for the first one, whose process must start, and
    for the median over a larger catalog.
    """
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KAFKAVIZ_CACHE"] = folder
        directory = prepare()
        return [*measured(directory), measured_large(directory, Path(folder, "large"))]


def measured(directory: Path) -> list[str]:
    """Returns both rows for the catalog of the sample broker."""
    from kafkaviz.app.cache import broker_cache
    from kafkaviz.figures.questions import QUESTIONS
    from kafkaviz.pipeline.sql.query import Query

    catalog = broker_cache.catalog_path(broker_cache.broker(directory))
    ask = lambda sql: Query(catalog, sql).wait()  # noqa: E731
    first_s = timed(ask, QUESTIONS[0].sql)
    spark = of_spark(catalog)
    spark_first_s = timed(spark, QUESTIONS[0].sql)
    texts = [question.sql for question in QUESTIONS]
    ours_s, theirs_s = (
        [statistics.median(timed(engine, text) for _ in range(ROUNDS)) for text in texts]
        for engine in (ask, spark)
    )
    ours, theirs = statistics.median(ours_s), statistics.median(theirs_s)
    what = f"a question of Explore, median of {len(texts)}, warm"
    text = f"{1000 * ours:.0f} ms, the slowest {1000 * max(ours_s):.0f} ms"
    return [
        row(what, text, f"Spark's SQL, running, {1000 * theirs:.0f} ms", f"{theirs / ours:.0f} ×"),
        row(
            "the first question, the process included",
            f"{first_s:.2f} s",
            f"the first of a Spark that runs, {spark_first_s:.2f} s",
            f"{spark_first_s / first_s:.1f} ×",
        ),
    ]


def measured_large(directory: Path, folder: Path) -> str:
    """Returns the row for a catalog as large as that of 10 GiB of logs."""
    from kafkaviz.app.cache import broker_cache
    from kafkaviz.figures.questions import QUESTIONS
    from kafkaviz.pipeline.sql.query import MAX_ROWS, POOL

    tables = enlarge(broker_cache.catalog_path(broker_cache.broker(directory)), folder)
    worker = POOL.take(threading.Event())
    assert worker is not None
    request = {"folder": str(folder), "tables": tables, "most_rows": MAX_ROWS}

    def ask(text: str) -> None:
        head, _ = worker.ask(request | {"text": text})
        assert "seconds" in head, head

    ours_s, theirs_s = [], []
    plain = of_duckdb(folder, tables)
    for question in QUESTIONS:
        ask(question.sql)
        ours_s.append(statistics.median(timed(ask, question.sql) for _ in range(ROUNDS)))
        theirs_s.append(statistics.median(timed(plain, question.sql) for _ in range(ROUNDS)))
    POOL.give_back(worker)
    ours, theirs = statistics.median(ours_s), statistics.median(theirs_s)
    return row(
        f"the same over the catalog of 10 GiB in batches of 16 KiB, which are {LARGE_BATCHES}",
        f"{1000 * ours:.0f} ms, the slowest {1000 * max(ours_s):.0f} ms",
        f"DuckDB by itself, no limits and no process beside it, {1000 * theirs:.0f} ms",
        f"{theirs / ours:.1f} ×",
    )


def enlarge(path: Path, folder: Path) -> dict[str, list[str]]:
    """A copy of a catalog whose large tables are repeated, each time with other partitions.

    Returns:
        The files of each table.
    """
    from kafkaviz.pipeline.catalog import catalog

    tables = {name: list(files) for name, files in catalog.read(path).info.tables.items()}
    for name, files in tables.items():
        (folder / name).mkdir(parents=True)
        if not files:
            continue
        rows = pq.read_table([str(path / name / file) for file in files])
        column = rows.schema.get_field_index("partition")
        copies = max(1, LARGE_BATCHES // rows.num_rows) if name in LARGE_TABLES else 1
        repeated_rows = [
            rows.set_column(
                column,
                rows.schema.field(column),
                pc.call_function(
                    "add", [rows["partition"], pa.scalar(100 * copy, rows["partition"].type)]
                ),
            )
            if copy
            else rows
            for copy in range(copies)
        ]
        pq.write_table(
            pa.concat_tables(repeated_rows), folder / name / "all.parquet", compression="zstd"
        )
        tables[name] = ["all.parquet"]
    return tables


def of_duckdb(folder: Path, tables: Mapping[str, Sequence[str]]) -> Callable[[str], object]:
    """Asks DuckDB in this process, with the same number of threads and rows."""
    from kafkaviz.pipeline.sql.query import MAX_ROWS

    database = duckdb.connect(config={"threads": "2"})
    for name, files in tables.items():
        if files:
            paths = [str(folder / name / file) for file in files]
            database.read_parquet(paths).create_view(name)
    return lambda text: database.sql(text).limit(MAX_ROWS).to_arrow_table()


def of_spark(path: Path) -> Callable[[str], object]:
    """Asks Spark, which has the catalog's tables as views."""
    from kafkaviz.pipeline.catalog import catalog
    from kafkaviz.pipeline.spark.session import session

    spark = session("local[2]")
    for name, files in catalog.read(path).info.tables.items():
        if files:
            spark.read.parquet(
                *(str(path / name / file) for file in files)
            ).createOrReplaceTempView(name)
    return lambda text: spark.sql(text).toArrow()


def timed(ask: Callable[[str], object], text: str) -> float:
    """Returns the seconds that one answer takes."""
    start = time.perf_counter()
    ask(text)
    return time.perf_counter() - start
