"""The tasks of a run, handed to Spark's workers; each sends back one summary a stretch.

An RDD, since nothing here is a table: tasks go out as Python values and a few summaries come back, while the rows lie in
Parquet files already. The way through a DataFrame would load Spark's planner first, 2 s of a run's start, and a data
source two Python processes more.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kafkaviz.pipeline.plan import Task
    from kafkaviz.pipeline.summary import Summary


def done(spark: "SparkSession", tasks: Sequence["Task"], staging: Path) -> list["Summary"]:
    """Runs the tasks as one Spark job, a partition a task: their summaries, in the order of the tasks.

    staging: the run's own folder, which every worker sees at the same path.
    """
    work = spark.sparkContext.parallelize(tasks, len(tasks))
    return list(chain.from_iterable(work.mapPartitions(partial(_summaries, staging)).collect()))


def _summaries(staging: Path, tasks: Iterator["Task"]) -> Iterator[list["Summary"]]:
    """Runs in a worker; a task's summaries count once its files are closed."""
    from kafkaviz.pipeline.scan import scan

    return (scan(task, staging) for task in tasks)
