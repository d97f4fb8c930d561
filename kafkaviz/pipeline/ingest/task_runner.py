"""The tasks of a run, handed to Spark's workers.

Each sends back one summary a stretch, or one answer a log to load.

An RDD, since nothing here is a table: tasks go out as Python values and a few summaries come back,
while the rows lie in Parquet files already. The way through a DataFrame would load Spark's planner
first, 2 s of a run's start, and a data source two Python processes more.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kafkaviz.pipeline.ingest.ingest_checks import LoadResult
    from kafkaviz.pipeline.ingest.plan import IngestTask, LoadTask
    from kafkaviz.pipeline.ingest.summary import RangeSummary


def run_tasks(
    spark: "SparkSession", tasks: Sequence["IngestTask | LoadTask"], staging: Path
) -> list["RangeSummary | LoadResult"]:
    """Runs the tasks as one Spark job, a partition a task.

    What each gives, in the order of the tasks.

    Args:
        staging: the run's own folder, which every worker sees at the same path.
    """
    from kafkaviz.pipeline.spark.session import workers_with_kafkaviz

    rdd = spark.sparkContext.parallelize(tasks, len(tasks)).mapPartitions(
        partial(_run_all, staging)
    )
    with workers_with_kafkaviz(spark.sparkContext):
        rdd.id()  # Spark has the job's Python and its environment from here on
    return list(chain.from_iterable(rdd.collect()))


def run_task(task: "IngestTask | LoadTask", staging: Path) -> Sequence["RangeSummary | LoadResult"]:
    """One task, in this process."""
    from kafkaviz.pipeline.ingest.ingest_checks import load_log
    from kafkaviz.pipeline.ingest.plan import LoadTask
    from kafkaviz.pipeline.ingest.scan import scan

    return (
        [load_log(load) for load in task.loads]
        if isinstance(task, LoadTask)
        else scan(task, staging)
    )


def _run_all(
    staging: Path, tasks: Iterable["IngestTask | LoadTask"]
) -> Iterator[Sequence["RangeSummary | LoadResult"]]:
    """Runs in a worker; a task's summaries count once its files are closed."""
    return (run_task(task, staging) for task in tasks)
