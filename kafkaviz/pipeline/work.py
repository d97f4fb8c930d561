"""The tasks of a run, handed to Spark's workers; each sends back one summary a stretch, or one
answer a log to load.

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

    from kafkaviz.pipeline.checking import Loaded
    from kafkaviz.pipeline.plan import LoadTask, Task
    from kafkaviz.pipeline.summary import Summary


def done(
    spark: "SparkSession", tasks: Sequence["Task | LoadTask"], staging: Path
) -> list["Summary | Loaded"]:
    """Runs the tasks as one Spark job, a partition a task: what each tells, in the order of the
    tasks.

    staging: the run's own folder, which every worker sees at the same path.
    """
    from kafkaviz.pipeline.session import workers_with_kafkaviz

    work = spark.sparkContext.parallelize(tasks, len(tasks)).mapPartitions(partial(_told, staging))
    with workers_with_kafkaviz(spark.sparkContext):
        work.id()  # Spark has the job's Python and its environment from here on
    return list(chain.from_iterable(work.collect()))


def do(task: "Task | LoadTask", staging: Path) -> Sequence["Summary | Loaded"]:
    """One task, in this process."""
    from kafkaviz.pipeline.checking import loaded
    from kafkaviz.pipeline.plan import LoadTask
    from kafkaviz.pipeline.scan import scan

    return (
        [loaded(load) for load in task.loads] if isinstance(task, LoadTask) else scan(task, staging)
    )


def _told(
    staging: Path, tasks: Iterable["Task | LoadTask"]
) -> Iterator[Sequence["Summary | Loaded"]]:
    """Runs in a worker; a task's summaries count once its files are closed."""
    return (do(task, staging) for task in tasks)
