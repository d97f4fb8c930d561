"""The questions of the page Explore, answered by a warm process of DuckDB, against Spark's SQL of
the same words over the same catalog.
"""

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import row
from benchmarks.bench_pages import prepare

ROUNDS = 5


def run() -> list[str]:
    """A row for the median of all questions, and one for the first question, whose process must
    start.
    """
    with tempfile.TemporaryDirectory() as folder:
        os.environ["KAFKAVIZ_CACHE"] = folder
        return measured(prepare())


def measured(directory: Path) -> list[str]:
    """Both rows, over the catalog of the sample broker."""
    from kafkaviz.app.cache import broker_cache
    from kafkaviz.figures.explore.questions import QUESTIONS
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
    """Seconds of one answer."""
    start = time.perf_counter()
    ask(text)
    return time.perf_counter() - start
