"""The work list of a run as a Spark data source: a partition a task, a row a stretch that was read.

Spark starts a Python process to make the source and another to plan it, beside those that read. So this module imports
only what those two need: what reads segments is imported where it is read.
"""

import gc
import pickle
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from kafkaviz.pipeline.plan import Task

PLAN = "plan.pickle"


class Scan(DataSource):
    """spark.read.format("kafkaviz_scan").option("staging", FOLDER): runs the tasks of FOLDER/plan.pickle.

    The frame's columns are those of pipeline.summary.SCHEMA; they are always all read.
    """

    @classmethod
    def name(cls) -> str:
        """What spark.read.format takes."""
        return "kafkaviz_scan"

    def reader(self, schema: object) -> "ScanReader":
        """Reads what the driver has planned."""
        return ScanReader(Path(self.options["staging"]))


class ScanReader(DataSourceReader):
    """Runs in two places: partitions() beside the driver, read() in each worker."""

    def __init__(self, staging: Path) -> None:
        self._staging = staging

    def partitions(self) -> list[InputPartition]:
        """One a task, still packed."""
        return [InputPartition(task) for task in pickle.loads((self._staging / PLAN).read_bytes())]

    def read(self, partition: InputPartition) -> Iterator["pa.RecordBatch"]:
        """The task's summaries, once its files are closed."""
        _settle()
        from kafkaviz.pipeline.scan import scan
        from kafkaviz.pipeline.summary import to_arrow

        yield to_arrow(scan(pickle.loads(partition.value), self._staging))


def planned(spark: "SparkSession", tasks: Sequence["Task"], staging: Path) -> "DataFrame":
    """The frame of these tasks' summaries; nothing is read until it is asked for.

    staging: the run's own folder, which every worker sees at the same path. The plan goes there as a file: with a
    hundred thousand segments it is too long for an option.
    """
    from kafkaviz.pipeline.schema import ddl
    from kafkaviz.pipeline.summary import SCHEMA

    (staging / PLAN).write_bytes(pickle.dumps([pickle.dumps(task) for task in tasks]))
    spark.dataSource.register(Scan)
    with _warming(spark):
        return spark.read.format(Scan.name()).schema(ddl(SCHEMA)).option("staging", str(staging)).load()


@contextmanager
def _warming(spark: "SparkSession") -> Iterator[None]:
    """Has the workers import what they will need while Spark makes the source: of a first run it takes some seconds away."""

    def warm() -> None:
        cores = spark.sparkContext.defaultParallelism
        with suppress(Exception):  # whatever is wrong, the tasks themselves will say it
            spark.range(0, cores, 1, cores).mapInArrow(_imported, "id long").toArrow()

    thread = threading.Thread(target=warm, name="kafkaviz-warming", daemon=True)
    thread.start()
    yield
    thread.join()


def _imported(batches: Iterator["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
    """Runs in a worker."""
    from kafkaviz.format.walk import walk

    _settle()
    walk(b"")  # loads what numba has compiled
    yield from batches


@cache
def _settle() -> None:
    """Imports what reads. pyspark collects garbage after each task: it need not look at all of this every time, 30 ms a task."""
    import kafkaviz.pipeline.scan  # noqa: F401

    gc.freeze()
